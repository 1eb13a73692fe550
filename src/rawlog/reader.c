/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reads one block at a time and returns pointers into it: no record is copied. Memory is allocated as bytes
 * arrive, so a false length costs nothing.
 */
#include "rawlog/rawlog.h"

#include <errno.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rawlog/format.h"

struct block_buffer {
	uint8_t *data;
	size_t capacity;
};

struct rawlog_reader {
	int fd;
	bool header_complete, ended;
	int failed;      /* sticky: the negative errno that was returned */
	uint64_t offset; /* of the byte after the last one read */
	uint64_t block_offset;
	uint64_t sequence;      /* of the next block */
	uint32_t records;       /* left in the block */
	size_t at, size;        /* in payload */
	const uint8_t *payload; /* the current block's payload: points to stored or inflated */
	struct block_buffer stored, inflated;
};

#define READ_STEP (1u << 20)

/* Reserves size bytes and keeps the contents. */
static int block_buffer_reserve(struct block_buffer *buffer, size_t size)
{
	uint8_t *data;

	if (size <= buffer->capacity)
		return 0;
	data = realloc(buffer->data, size);
	if (!data)
		return -ENOMEM;
	buffer->data = data;
	buffer->capacity = size;
	return 0;
}

/* Returns the number of bytes read, less than size only at the end of the file, or a negative errno. */
static ssize_t read_full(struct rawlog_reader *reader, void *data, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = read(reader->fd, (uint8_t *)data + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	reader->offset += done;
	return (ssize_t)done;
}

static int read_error(const struct rawlog_reader *reader, int ret, struct error *err)
{
	return error_set(err, -ret, "raw log: cannot read at byte %llu: %s",
			 (unsigned long long)reader->offset, strerror(-ret));
}

static int bad_block(const struct rawlog_reader *reader, const char *what, struct error *err)
{
	return error_set(err, EBADMSG, "raw log: the block at byte %llu %s; all before it was read",
			 (unsigned long long)reader->block_offset, what);
}

static int check_file_header(const struct file_header *header, ssize_t n, struct error *err)
{
	if (n >= 5 && memcmp(header->magic, "go 1.", 5) == 0)
		return error_set(err, EBADMSG, "raw log: this is a trace; use gotrace check or gotrace dump");
	if (n < (ssize_t)sizeof(header->magic) ||
	    memcmp(header->magic, FILE_MAGIC, sizeof(header->magic)) != 0)
		return error_set(err, EBADMSG,
				 "raw log: this is not a raw log of gotrace (wrong first bytes)");
	if (n < (ssize_t)sizeof(*header))
		return error_set(err, EBADMSG, "raw log: truncated in its header at byte %zd", n);
	if (header->crc != libdeflate_crc32(0, header, offsetof(struct file_header, crc)))
		return error_set(err, EBADMSG, "raw log: the header at byte 0 has a wrong checksum");
	if (header->version != FILE_VERSION)
		return error_set(
			err, ENOTSUP,
			"raw log: version %u, this gotrace reads version %u; use the gotrace that wrote it",
			header->version, FILE_VERSION);
	return 0;
}

static int read_file_header(struct rawlog_reader *reader, struct error *err)
{
	struct file_header header = {0};
	ssize_t n = read_full(reader, &header, sizeof(header));
	int ret;

	if (n < 0)
		return read_error(reader, (int)n, err);
	ret = check_file_header(&header, n, err);
	reader->header_complete = header.flags & FILE_COMPLETE;
	return ret;
}

struct rawlog_reader *rawlog_reader_new(int fd, struct error *err)
{
	struct rawlog_reader *reader = calloc(1, sizeof(*reader));

	if (!reader) {
		error_set(err, ENOMEM, "raw log: out of memory");
		return NULL;
	}
	reader->fd = fd;
	if (read_file_header(reader, err)) {
		rawlog_reader_free(reader);
		return NULL;
	}
	return reader;
}

void rawlog_reader_free(struct rawlog_reader *reader)
{
	if (!reader)
		return;
	free(reader->stored.data);
	free(reader->inflated.data);
	free(reader);
}

bool rawlog_reader_complete(const struct rawlog_reader *reader)
{
	return reader->header_complete || reader->ended;
}

static const char *block_fault(const struct rawlog_reader *reader, const struct block_header *header)
{
	bool compressed = header->flags & BLOCK_COMPRESSED;
	uint32_t most = compressed ? MAX_COMPRESSED : MAX_BLOCK;

	if (header->magic != BLOCK_MAGIC)
		return "has no block header";
	if (header->crc != libdeflate_crc32(0, header, offsetof(struct block_header, crc)))
		return "has a wrong checksum in its header";
	if (header->flags & ~(uint32_t)(BLOCK_COMPRESSED | BLOCK_END))
		return "has unknown flags";
	if (header->sequence != reader->sequence)
		return "is out of sequence";
	if (header->stored > most || header->size > most || (!compressed && header->stored != header->size))
		return "is too large";
	if (header->records > header->size / sizeof(struct record_header))
		return "has more records than fit";
	return NULL;
}

static int read_payload(struct rawlog_reader *reader, uint32_t size, struct error *err)
{
	for (size_t done = 0; done < size;) {
		size_t step = size - done < READ_STEP ? size - done : READ_STEP;
		/* Doubling keeps the total copying for a large block linear. */
		size_t space = done + step <= reader->stored.capacity ? done + step : done * 2 + step;
		ssize_t n;

		if (block_buffer_reserve(&reader->stored, space))
			return error_set(err, ENOMEM, "raw log: out of memory for a block of %u bytes", size);
		n = read_full(reader, reader->stored.data + done, step);
		if (n < 0)
			return read_error(reader, (int)n, err);
		if ((size_t)n < step)
			return bad_block(reader, "is truncated by the end of the file", err);
		done += step;
	}
	return 0;
}

/* Decompresses the stored bytes. Returns whether they were a zlib stream of exactly `size` bytes. */
static bool inflate_all(struct rawlog_reader *reader, const struct block_header *header)
{
	struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
	enum libdeflate_result result = LIBDEFLATE_BAD_DATA;

	if (decompressor)
		result = libdeflate_zlib_decompress(decompressor, reader->stored.data, header->stored,
						    reader->inflated.data, header->size, NULL);
	libdeflate_free_decompressor(decompressor);
	return result == LIBDEFLATE_SUCCESS;
}

static int inflate_payload(struct rawlog_reader *reader, const struct block_header *header, struct error *err)
{
	if (header->size / MAX_RATIO > header->stored)
		return bad_block(reader, "is compressed more than gotrace compresses blocks", err);
	if (block_buffer_reserve(&reader->inflated, header->size))
		return error_set(err, ENOMEM, "raw log: out of memory for a block of %u bytes", header->size);
	if (!inflate_all(reader, header))
		return bad_block(reader, "cannot be decompressed", err);
	return 0;
}

static int take_payload(struct rawlog_reader *reader, const struct block_header *header, struct error *err)
{
	int ret = read_payload(reader, header->stored, err);

	if (ret)
		return ret;
	if (header->payload_crc != libdeflate_crc32(0, reader->stored.data, header->stored))
		return bad_block(reader, "has a wrong checksum", err);
	free(reader->inflated.data);
	reader->inflated = (struct block_buffer){0};
	if (header->flags & BLOCK_COMPRESSED)
		ret = inflate_payload(reader, header, err);
	reader->payload = header->flags & BLOCK_COMPRESSED ? reader->inflated.data : reader->stored.data;
	reader->at = 0;
	reader->size = header->size;
	reader->records = header->records;
	return ret;
}

/* Nothing may follow the end block. Returns 0 or a negative errno. */
static int rawlog_block_finish(struct rawlog_reader *reader, const struct block_header *header,
			       struct error *err)
{
	uint8_t byte;
	ssize_t n;

	if (header->stored || header->records)
		return bad_block(reader, "is an end block with records", err);
	reader->ended = true;
	n = read_full(reader, &byte, 1);
	if (n < 0)
		return read_error(reader, (int)n, err);
	if (n > 0)
		return error_set(err, EBADMSG, "raw log: bytes follow its end block, from byte %llu on",
				 (unsigned long long)reader->offset - 1);
	return 0;
}

/* The file ends where a block would begin: valid only if the header does not say that the writer finished. */
static int end_of_file(struct rawlog_reader *reader, struct error *err)
{
	if (reader->header_complete)
		return bad_block(reader, "is missing, although the log is marked complete", err);
	return 0;
}

/* Returns 1 if there is a block, 0 at the end, or a negative errno. */
static int next_block(struct rawlog_reader *reader, struct error *err)
{
	struct block_header header;
	const char *fault;
	ssize_t n;
	int ret;

	reader->block_offset = reader->offset;
	n = read_full(reader, &header, sizeof(header));
	if (n < 0)
		return read_error(reader, (int)n, err);
	if (n == 0)
		return end_of_file(reader, err);
	if (n < (ssize_t)sizeof(header))
		return bad_block(reader, "is truncated by the end of the file", err);
	fault = block_fault(reader, &header);
	if (fault)
		return bad_block(reader, fault, err);
	if (header.flags & BLOCK_END)
		return rawlog_block_finish(reader, &header, err);
	ret = take_payload(reader, &header, err);
	if (ret)
		return ret;
	reader->sequence++;
	return 1;
}

static int check_record(const struct rawlog_reader *reader, const struct log_record *record,
			struct error *err)
{
	struct error why;

	if (rawlog_check_record(record, &why) == 0)
		return 0;
	return error_set(err, EBADMSG, "%s (in the block at byte %llu)", why.text,
			 (unsigned long long)reader->block_offset);
}

/* Gets the next record of the block, whose size has been checked. Returns 0 or a negative errno. */
static int next_record(struct rawlog_reader *reader, struct log_record *record, struct error *err)
{
	struct record_header header;
	size_t space = reader->size - reader->at;

	if (space < sizeof(header))
		return bad_block(reader, "has fewer records than its header says", err);
	memcpy(&header, reader->payload + reader->at, sizeof(header));
	if (header.size > space - sizeof(header) || record_space(header.size) > space)
		return bad_block(reader, "has a record that is longer than the block", err);
	record->type = header.type;
	record->size = header.size;
	record->data = reader->payload + reader->at + sizeof(header);
	reader->at += record_space(header.size);
	reader->records--;
	return check_record(reader, record, err);
}

static bool is_known_log_type(uint32_t type)
{
	return type >= LOG_TARGET && type <= LOG_LAST;
}

static int next_known(struct rawlog_reader *reader, struct log_record *record, struct error *err)
{
	int ret;

	do {
		while (reader->records == 0) {
			if (reader->at != reader->size)
				return bad_block(reader, "has more bytes than records", err);
			ret = reader->ended ? 0 : next_block(reader, err);
			if (ret <= 0)
				return ret;
		}
		ret = next_record(reader, record, err);
		if (ret)
			return ret;
	} while (!is_known_log_type(record->type));
	return 1;
}

int rawlog_reader_next(struct rawlog_reader *reader, struct log_record *record, struct error *err)
{
	int ret;

	if (reader->failed)
		return error_set(err, -reader->failed, "raw log: cannot continue after an earlier error");
	ret = next_known(reader, record, err);
	if (ret < 0)
		reader->failed = ret;
	return ret;
}
