/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Arbitrary bytes as a raw log file. If the first byte is odd, checksums and sequence numbers are corrected
 * first, so that the code behind their checks is reached. That byte is not part of the file.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "rawlog/format.h"
#include "rawlog/rawlog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_right(uint8_t *file, size_t size)
{
	struct file_header *header = (struct file_header *)file;
	uint64_t sequence = 0;

	if (size < sizeof(*header))
		return;
	memcpy(header->magic, FILE_MAGIC, sizeof(header->magic));
	header->version = FILE_VERSION;
	header->crc = (uint32_t)crc32(0, file, offsetof(struct file_header, crc));
	for (size_t at = sizeof(*header); at + sizeof(struct block_header) <= size;) {
		struct block_header *block = (struct block_header *)(file + at);
		size_t space = size - at - sizeof(*block);

		block->magic = BLOCK_MAGIC;
		block->sequence = sequence++;
		if (block->stored <= space)
			block->payload_crc = (uint32_t)crc32(0, file + at + sizeof(*block), block->stored);
		block->crc = (uint32_t)crc32(0, file + at, offsetof(struct block_header, crc));
		if (block->stored > space || block->stored % RECORD_ALIGN)
			break;
		at += sizeof(*block) + block->stored;
	}
}

/* Reads every byte, for the sanitizer to check. */
static void touch(const struct log_record *record)
{
	const uint8_t *bytes = record->data;
	unsigned sum = 0;

	if ((uintptr_t)bytes % RECORD_ALIGN || rawlog_check_record(record, NULL))
		abort();
	for (uint32_t i = 0; i < record->size; i++)
		sum += bytes[i];
	__asm__ volatile("" : : "r"(sum));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rawlog_reader *reader;
	struct log_record record;
	uint8_t *file;
	int fd, ret;

	if (size < 1)
		return 0;
	file = malloc(size);
	memcpy(file, data + 1, size - 1);
	if (data[0] & 1)
		put_right(file, size - 1);
	fd = memfd_create("log", 0);
	if (fd < 0 || write(fd, file, size - 1) != (ssize_t)(size - 1) || lseek(fd, 0, SEEK_SET) != 0)
		abort();
	reader = rawlog_reader_new(fd, NULL);
	if (reader) {
		while ((ret = rawlog_reader_next(reader, &record, NULL)) > 0)
			touch(&record);
		/* After an error or the end, every further call returns the same. */
		if (rawlog_reader_next(reader, &record, NULL) != ret)
			abort();
	}
	rawlog_reader_free(reader);
	close(fd);
	free(file);
	return 0;
}
