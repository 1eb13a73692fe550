/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Collects records in blocks and writes each block with one system call. */
#include "rawlog/rawlog.h"

#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "rawlog/format.h"

struct rawlog_writer {
	int fd;
	/* Negative errno of the first failed write: nothing may be written after a truncated block. */
	int failed;
	off_t start;      /* of the file header; -1 if it cannot be rewritten */
	uint64_t written; /* bytes, in whole blocks */
	uint64_t sequence;
	uint32_t records; /* in the block */
	size_t fill;      /* payload bytes in the block */
	uint8_t *block;   /* a block header, then BLOCK_FILL bytes of payload */
};

/* Waits until fd is writable: a pipe or terminal that another process shares may be non-blocking. */
static int wait_writable(int fd)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};

	return poll(&poll_fd, 1, -1) < 0 && errno != EINTR ? -errno : 0;
}

static int rawlog_write_all(int fd, const uint8_t *data, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, data, size);

		if (n >= 0) {
			data += n;
			size -= (size_t)n;
		} else if (errno == EAGAIN) {
			int ret = wait_writable(fd);

			if (ret)
				return ret;
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

/* Removes the torn block, if the file can be truncated. */
static int rawlog_writer_fail(struct rawlog_writer *writer, int ret, struct error *err)
{
	if (!writer->failed && writer->start >= 0 &&
	    ftruncate(writer->fd, writer->start + (off_t)writer->written) == 0)
		lseek(writer->fd, 0, SEEK_END);
	writer->failed = ret;
	return error_set(err, -ret, "raw log: cannot write at byte %llu: %s",
			 (unsigned long long)writer->written, strerror(-ret));
}

static int rawlog_emit(struct rawlog_writer *writer, const void *data, size_t size, struct error *err)
{
	int ret = rawlog_write_all(writer->fd, data, size);

	return ret ? rawlog_writer_fail(writer, ret, err) : 0;
}

static struct file_header make_file_header(uint32_t flags)
{
	struct file_header header = {.version = FILE_VERSION, .flags = flags};

	memcpy(header.magic, FILE_MAGIC, sizeof(header.magic));
	header.crc = libdeflate_crc32(0, &header, offsetof(struct file_header, crc));
	return header;
}

static void seal(struct block_header *header, struct rawlog_writer *writer, const uint8_t *payload)
{
	header->magic = BLOCK_MAGIC;
	header->sequence = writer->sequence++;
	header->payload_crc = libdeflate_crc32(0, payload, header->stored);
	header->crc = libdeflate_crc32(0, header, offsetof(struct block_header, crc));
}

/* Returns the position of the header, or -1 if it cannot be rewritten: in a pipe, or with O_APPEND. */
static off_t rewritable_at(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 || (flags & O_APPEND) ? -1 : lseek(fd, 0, SEEK_CUR);
}

struct rawlog_writer *rawlog_writer_new(int fd, struct error *err)
{
	struct rawlog_writer *writer = calloc(1, sizeof(*writer));
	struct file_header header = make_file_header(0);
	int ret;

	if (writer)
		writer->block = malloc(sizeof(struct block_header) + BLOCK_FILL);
	if (!writer || !writer->block) {
		rawlog_writer_free(writer);
		errno = -error_set(err, ENOMEM, "raw log: out of memory");
		return NULL;
	}
	writer->fd = fd;
	writer->start = rewritable_at(fd);
	ret = rawlog_emit(writer, &header, sizeof(header), err);
	if (ret) {
		rawlog_writer_free(writer);
		errno = -ret;
		return NULL;
	}
	writer->written = sizeof(header);
	return writer;
}

void rawlog_writer_free(struct rawlog_writer *writer)
{
	if (!writer)
		return;
	free(writer->block);
	free(writer);
}

uint64_t rawlog_writer_bytes(const struct rawlog_writer *writer)
{
	bool more = writer->fill && !writer->failed;

	return writer->written + (more ? sizeof(struct block_header) + writer->fill : 0);
}

int rawlog_writer_flush(struct rawlog_writer *writer, struct error *err)
{
	struct block_header header = {
		.stored = (uint32_t)writer->fill, .size = (uint32_t)writer->fill, .records = writer->records};
	int ret;

	if (writer->failed)
		return rawlog_writer_fail(writer, writer->failed, err);
	if (!writer->records)
		return 0;
	seal(&header, writer, writer->block + sizeof(header));
	memcpy(writer->block, &header, sizeof(header));
	writer->fill = 0;
	writer->records = 0;
	ret = rawlog_emit(writer, writer->block, sizeof(header) + header.stored, err);
	if (!ret)
		writer->written += sizeof(header) + header.stored;
	return ret;
}

/* Writes a record's bytes to `at`, which has space for record_space bytes. */
static void rawlog_place_record(uint8_t *at, const struct log_record *record)
{
	struct record_header header = {.type = record->type, .size = record->size};
	size_t end = sizeof(header) + record->size;

	memcpy(at, &header, sizeof(header));
	if (record->size)
		memcpy(at + sizeof(header), record->data, record->size);
	memset(at + end, 0, record_space(record->size) - end);
}

static bool deflate_piece(z_stream *stream, const void *data, size_t size, int flush)
{
	/* zlib does not write to its input, but older headers have no const. */
	stream->next_in = (Bytef *)(uintptr_t)data;
	stream->avail_in = (uInt)size;
	return deflate(stream, flush) == (flush == Z_FINISH ? Z_STREAM_END : Z_OK) && stream->avail_in == 0;
}

/* Compresses the record as rawlog_place_record() would write it. Returns whether all of it was consumed. */
static bool deflate_record(z_stream *stream, const struct log_record *record, uint8_t *out, size_t size)
{
	static const uint8_t zeros[RECORD_ALIGN];
	struct record_header header = {.type = record->type, .size = record->size};
	size_t padding = record_space(record->size) - sizeof(header) - record->size;

	stream->next_out = out;
	stream->avail_out = (uInt)size;
	return deflate_piece(stream, &header, sizeof(header), Z_NO_FLUSH) &&
	       deflate_piece(stream, record->data, record->size, Z_NO_FLUSH) &&
	       deflate_piece(stream, zeros, padding, Z_FINISH);
}

/* Returns the payload as one zlib stream, to be freed by the caller, or NULL if out of memory. */
static uint8_t *pack_at(int level, const struct log_record *record, struct block_header *header)
{
	z_stream stream = {0};
	uint8_t *out;
	size_t size;

	if (deflateInit(&stream, level) != Z_OK)
		return NULL;
	size = deflateBound(&stream, header->size);
	out = malloc(size);
	if (out && !deflate_record(&stream, record, out, size)) {
		free(out);
		out = NULL;
	}
	header->stored = (uint32_t)stream.total_out;
	header->flags |= BLOCK_COMPRESSED;
	deflateEnd(&stream);
	return out;
}

/*
 * Compresses at level 1, because it runs while the target is traced. A payload that compresses better than
 * readers accept is stored uncompressed.
 */
static uint8_t *writer_pack(const struct log_record *record, struct block_header *header)
{
	uint8_t *out = pack_at(1, record, header);

	if (!out || header->size / MAX_RATIO <= header->stored)
		return out;
	free(out);
	return pack_at(0, record, header);
}

static uint8_t *lay_out(const struct log_record *record)
{
	uint8_t *payload = malloc(record_space(record->size));

	if (payload)
		rawlog_place_record(payload, record);
	return payload;
}

static int rawlog_write_block(struct rawlog_writer *writer, struct block_header *header,
			      const uint8_t *payload, struct error *err)
{
	int ret;

	seal(header, writer, payload);
	ret = rawlog_emit(writer, header, sizeof(*header), err);
	if (!ret)
		ret = rawlog_emit(writer, payload, header->stored, err);
	if (!ret)
		writer->written += sizeof(*header) + header->stored;
	return ret;
}

/* Writes a record in a block of its own. */
static int put_alone(struct rawlog_writer *writer, const struct log_record *record, struct error *err)
{
	uint32_t space = (uint32_t)record_space(record->size);
	struct block_header header = {.stored = space, .size = space, .records = 1};
	uint8_t *payload = log_is_table(record->type) ? writer_pack(record, &header) : lay_out(record);
	int ret;

	if (!payload)
		return error_set(err, ENOMEM, "raw log: out of memory for a record of %u bytes",
				 record->size);
	ret = rawlog_write_block(writer, &header, payload, err);
	free(payload);
	return ret;
}

static int check_put(const struct rawlog_writer *writer, const struct log_record *record, struct error *err)
{
	uint32_t most = log_is_table(record->type) ? MAX_COMPRESSED : MAX_BLOCK;

	if (writer->failed)
		return error_set(err, -writer->failed, "raw log: an earlier write failed: %s",
				 strerror(-writer->failed));
	if (record->size > most - sizeof(struct record_header) - RECORD_ALIGN)
		return error_set(err, EFBIG, "raw log: a record of type %u has %u bytes, at most %u fit",
				 record->type, record->size, most);
	return rawlog_check_record(record, err);
}

int rawlog_writer_put(struct rawlog_writer *writer, const struct log_record *record, struct error *err)
{
	size_t space;
	int ret = check_put(writer, record, err);

	if (ret)
		return ret;
	space = record_space(record->size);
	if (space > BLOCK_FILL - writer->fill || log_is_table(record->type)) {
		ret = rawlog_writer_flush(writer, err);
		if (ret)
			return ret;
	}
	if (space > BLOCK_FILL || log_is_table(record->type))
		return put_alone(writer, record, err);
	rawlog_place_record(writer->block + sizeof(struct block_header) + writer->fill, record);
	writer->fill += space;
	writer->records++;
	return 0;
}

static int mark_complete(struct rawlog_writer *writer, struct error *err)
{
	struct file_header header = make_file_header(FILE_COMPLETE);
	ssize_t n;

	if (writer->start < 0)
		return 0;
	n = pwrite(writer->fd, &header, sizeof(header), writer->start);
	if (n != (ssize_t)sizeof(header))
		return rawlog_writer_fail(writer, n < 0 ? -errno : -EIO, err);
	return 0;
}

int rawlog_writer_finish(struct rawlog_writer *writer, struct error *err)
{
	struct block_header end = {.flags = BLOCK_END};
	int ret = rawlog_writer_flush(writer, err);

	if (!ret)
		ret = rawlog_write_block(writer, &end, writer->block, err);
	if (!ret)
		ret = mark_complete(writer, err);
	return ret;
}
