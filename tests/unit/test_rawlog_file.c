/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What was written is read back. Damaged logs are rejected after all intact blocks. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

#include "rawlog/format.h"
#include "rawlog/rawlog.h"

enum { MAX_RECORDS = 512 };

/* Records as they were put, for comparison. */
struct sample {
	struct log_record records[MAX_RECORDS];
	size_t count;
};

static uint64_t random_state;

static uint32_t next_random(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32) % below;
}

/* Adds a record of random bytes with valid contents. Returns its payload. */
static void *add(struct sample *sample, uint32_t type, size_t size)
{
	uint8_t *data = malloc(size + 1);

	for (size_t i = 0; i < size; i++)
		data[i] = (uint8_t)next_random(256);
	assert_true(sample->count < MAX_RECORDS);
	sample->records[sample->count++] =
		(struct log_record){.type = type, .size = (uint32_t)size, .data = data};
	return data;
}

static void add_target(struct sample *sample)
{
	memset(add(sample, LOG_TARGET, sizeof(struct log_target)), 0, sizeof(struct log_target));
}

static void add_reason(struct sample *sample, uint32_t len)
{
	struct log_reason *reason = add(sample, LOG_REASON, sizeof(*reason) + len);

	reason->len = len;
}

static void add_functab(struct sample *sample, uint32_t size)
{
	struct log_functab *functab = add(sample, LOG_FUNCTAB, sizeof(*functab) + size);

	functab->pclntab_size = size - size / 4;
	functab->gofunc_size = size / 4;
	memset(functab + 1, 'f', size / 2); /* compressible */
}

static void add_records(struct sample *sample, uint32_t n)
{
	struct raw_record *records = add(sample, LOG_RECORDS, n * sizeof(*records));

	for (uint32_t i = 0; i < n; i++)
		records[i].time >>= 8;
}

static void add_random(struct sample *sample)
{
	switch (next_random(8)) {
	case 0:
		add_reason(sample, next_random(40));
		break;
	case 1:
		add_functab(sample, 1 + next_random(5000));
		break;
	case 2:
		add(sample, LOG_SNAPSHOT_END, 0);
		break;
	case 3:
		add(sample, LOG_GS, next_random(30) * sizeof(struct log_g));
		break;
	default:
		add_records(sample, next_random(100));
	}
}

static void free_sample(struct sample *sample)
{
	for (size_t i = 0; i < sample->count; i++)
		free((void *)(uintptr_t)sample->records[i].data);
	free(sample);
}

static void add_note(struct sample *sample, uint32_t len)
{
	struct log_note *note = add(sample, LOG_NOTE, sizeof(*note) + len);

	note->time = 1;
	note->len = len;
}

static struct sample *new_sample(uint64_t seed)
{
	random_state = seed * 0x9e3779b97f4a7c15ull + 1;
	return calloc(1, sizeof(struct sample));
}

/* A few records of each shape, in three blocks. */
static struct sample *small_sample(void)
{
	struct sample *sample = new_sample(1);

	add_target(sample);
	add_reason(sample, 3);
	add_functab(sample, 90);
	add_records(sample, 1);
	add(sample, LOG_SNAPSHOT_END, 0);
	add_note(sample, 5);
	return sample;
}

static void put_all(struct rawlog_writer *writer, const struct sample *sample)
{
	struct error err;

	for (size_t i = 0; i < sample->count; i++)
		assert_int_equal(rawlog_writer_put(writer, &sample->records[i], &err), 0);
}

static void write_log(int fd, const struct sample *sample, bool finish)
{
	struct error err;
	struct rawlog_writer *writer = rawlog_writer_new(fd, &err);

	assert_non_null(writer);
	put_all(writer, sample);
	assert_int_equal(rawlog_writer_flush(writer, &err), 0);
	if (finish)
		assert_int_equal(rawlog_writer_finish(writer, &err), 0);
	rawlog_writer_free(writer);
}

static int new_file(void)
{
	int fd = memfd_create("rawlog", 0);

	assert_true(fd >= 0);
	return fd;
}

static bool is_same(const struct log_record *a, const struct log_record *b)
{
	return a->type == b->type && a->size == b->size && (uintptr_t)a->data % 8 == 0 &&
	       memcmp(a->data, b->data, a->size) == 0;
}

/* Reads to the end, comparing every record with the sample. Returns the last result of next. */
static int read_records(struct rawlog_reader *reader, const struct sample *sample, size_t *count,
			struct error *err)
{
	struct log_record record;
	int ret;

	*count = 0;
	while ((ret = rawlog_reader_next(reader, &record, err)) > 0) {
		assert_true(*count < sample->count);
		assert_true(is_same(&record, &sample->records[*count]));
		(*count)++;
	}
	return ret;
}

static void expect_whole(int fd, const struct sample *sample, bool complete)
{
	struct error err;
	struct rawlog_reader *reader = rawlog_reader_new(fd, &err);
	size_t count;

	assert_non_null(reader);
	assert_int_equal(read_records(reader, sample, &count, &err), 0);
	assert_int_equal(count, sample->count);
	assert_int_equal(rawlog_reader_complete(reader), complete);
	rawlog_reader_free(reader);
}

static void round_trip(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct sample *sample = new_sample(seed);
		int fd = new_file();

		add_target(sample);
		for (unsigned left = next_random(300); left > 0; left--)
			add_random(sample);
		write_log(fd, sample, seed % 2);
		lseek(fd, 0, SEEK_SET);
		expect_whole(fd, sample, seed % 2);
		close(fd);
		free_sample(sample);
	}
}

/* A log may begin at any offset in its file. */
static void header_is_rewritten_in_place(void **state)
{
	struct sample *sample = small_sample();
	int fd = new_file();
	char before[100];

	(void)state;
	memset(before, '#', sizeof(before));
	assert_int_equal(write(fd, before, sizeof(before)), sizeof(before));
	write_log(fd, sample, true);
	lseek(fd, sizeof(before), SEEK_SET);
	expect_whole(fd, sample, true);
	lseek(fd, 0, SEEK_SET);
	assert_int_equal(read(fd, before, sizeof(before)), sizeof(before));
	assert_int_equal(before[0], '#');
	close(fd);
	free_sample(sample);
}

static void pipe_ends_with_its_end_block(void **state)
{
	struct sample *sample = small_sample();

	(void)state;
	for (int finish = 0; finish < 2; finish++) {
		int ends[2];

		assert_int_equal(pipe(ends), 0);
		write_log(ends[1], sample, finish);
		close(ends[1]);
		expect_whole(ends[0], sample, finish);
		close(ends[0]);
	}
	free_sample(sample);
}

/* In append mode, pwrite() would append. */
static void append_mode_is_like_a_pipe(void **state)
{
	struct sample *sample = small_sample();
	int fd = new_file();

	(void)state;
	assert_int_equal(fcntl(fd, F_SETFL, O_APPEND), 0);
	write_log(fd, sample, true);
	lseek(fd, 0, SEEK_SET);
	expect_whole(fd, sample, true);
	close(fd);
	free_sample(sample);
}

static void large_records_have_their_own_block(void **state)
{
	struct sample *sample = new_sample(5);
	int fd = new_file();

	(void)state;
	add_target(sample);
	add_records(sample, 50000);
	add_functab(sample, 8u << 20);
	add_records(sample, 1);
	write_log(fd, sample, true);
	assert_true(lseek(fd, 0, SEEK_END) < (off_t)(50000 * sizeof(struct raw_record) + (5u << 20)));
	lseek(fd, 0, SEEK_SET);
	expect_whole(fd, sample, true);
	close(fd);
	free_sample(sample);
}

static void later_types_are_skipped(void **state)
{
	struct sample *sample = small_sample();
	struct error err;
	struct rawlog_writer *writer;
	struct log_record later = {.type = 1000, .size = 5, .data = "later"};
	int fd = new_file();

	(void)state;
	writer = rawlog_writer_new(fd, &err);
	assert_int_equal(rawlog_writer_put(writer, &later, &err), 0);
	put_all(writer, sample);
	assert_int_equal(rawlog_writer_put(writer, &later, &err), 0);
	assert_int_equal(rawlog_writer_finish(writer, &err), 0);
	rawlog_writer_free(writer);
	lseek(fd, 0, SEEK_SET);
	expect_whole(fd, sample, true);
	close(fd);
	free_sample(sample);
}

static void bytes_are_counted(void **state)
{
	struct sample *sample = small_sample();
	struct error err;
	int fd = new_file();
	struct rawlog_writer *writer = rawlog_writer_new(fd, &err);
	uint64_t gathered;

	(void)state;
	put_all(writer, sample);
	gathered = rawlog_writer_bytes(writer);
	assert_int_equal(rawlog_writer_flush(writer, &err), 0);
	assert_int_equal(rawlog_writer_bytes(writer), gathered);
	assert_int_equal(lseek(fd, 0, SEEK_END), gathered);
	rawlog_writer_free(writer);
	close(fd);
	free_sample(sample);
}

static void full_disk_is_reported_and_stays(void **state)
{
	struct log_record record = {.type = LOG_SNAPSHOT_END};
	struct error err;
	struct rawlog_writer *writer;
	int fd = open("/dev/full", O_WRONLY), ends[2];

	(void)state;
	assert_true(fd >= 0);
	assert_null(rawlog_writer_new(fd, &err));
	assert_non_null(strstr(err.text, "No space left"));
	assert_int_equal(pipe(ends), 0);
	writer = rawlog_writer_new(ends[1], &err);
	assert_non_null(writer);
	dup2(fd, ends[1]);
	assert_int_equal(rawlog_writer_put(writer, &record, &err), 0);
	assert_int_equal(rawlog_writer_flush(writer, &err), -ENOSPC);
	assert_int_equal(rawlog_writer_put(writer, &record, &err), -ENOSPC);
	assert_int_equal(rawlog_writer_finish(writer, &err), -ENOSPC);
	rawlog_writer_free(writer);
	close(ends[0]);
	close(ends[1]);
	close(fd);
}

/* A limit on the size of files makes writes fail as a full disk does. */
static void full_disk_leaves_whole_blocks(void **state)
{
	struct sample *sample = small_sample();
	struct log_record record;
	struct error err = {""};
	struct rlimit old, low;
	int fd = new_file(), rc = 0;
	struct rawlog_writer *writer = rawlog_writer_new(fd, &err);
	struct rawlog_reader *reader;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	low = (struct rlimit){.rlim_cur = 10000, .rlim_max = old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
	for (size_t i = 0; rc == 0; i = (i + 1) % sample->count) {
		rc = rawlog_writer_put(writer, &sample->records[i], &err);
		if (rc == 0)
			rc = rawlog_writer_flush(writer, &err);
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(rc, -EFBIG);
	/* Nothing follows the torn block, which is removed. */
	assert_int_equal(rawlog_writer_finish(writer, &err), -EFBIG);
	assert_in_range(lseek(fd, 0, SEEK_END), 1, 9999);
	assert_int_equal(rawlog_writer_bytes(writer), lseek(fd, 0, SEEK_END));
	rawlog_writer_free(writer);
	lseek(fd, 0, SEEK_SET);
	reader = rawlog_reader_new(fd, &err);
	assert_non_null(reader);
	while ((rc = rawlog_reader_next(reader, &record, &err)) == 1)
		continue;
	assert_int_equal(rc, 0);
	assert_false(rawlog_reader_complete(reader));
	rawlog_reader_free(reader);
	close(fd);
	free_sample(sample);
}

static void illegal_records_are_not_written(void **state)
{
	struct log_record bad = {.type = LOG_RECORDS, .size = 63, .data = "x"};
	struct log_record huge = {.type = LOG_RECORDS, .size = MAX_BLOCK, .data = "x"};
	struct error err;
	int fd = new_file();
	struct rawlog_writer *writer = rawlog_writer_new(fd, &err);

	(void)state;
	assert_int_equal(rawlog_writer_put(writer, &bad, &err), -EBADMSG);
	assert_int_equal(rawlog_writer_put(writer, &huge, &err), -EFBIG);
	assert_int_equal(rawlog_writer_bytes(writer), sizeof(struct file_header));
	rawlog_writer_free(writer);
	close(fd);
}

/* A table of zeros would shrink to a thousandth, which a reader may reject. */
static void what_shrinks_too_well_is_stored(void **state)
{
	enum { SIZE = 4 << 20 };
	struct log_functab *functab = calloc(1, sizeof(*functab) + SIZE);
	struct log_record record = {.type = LOG_FUNCTAB, .size = sizeof(*functab) + SIZE, .data = functab};
	struct error err;
	int fd = new_file();
	struct rawlog_writer *writer = rawlog_writer_new(fd, &err);
	struct rawlog_reader *reader;

	(void)state;
	functab->pclntab_size = SIZE;
	assert_int_equal(rawlog_writer_put(writer, &record, &err), 0);
	assert_true(rawlog_writer_bytes(writer) > SIZE);
	assert_int_equal(rawlog_writer_finish(writer, &err), 0);
	rawlog_writer_free(writer);
	lseek(fd, 0, SEEK_SET);
	reader = rawlog_reader_new(fd, &err);
	assert_int_equal(rawlog_reader_next(reader, &record, &err), 1);
	assert_int_equal(record.size, sizeof(*functab) + SIZE);
	rawlog_reader_free(reader);
	free(functab);
	close(fd);
}

/* Tables of plugins are as big as the executable's. */
static void tables_of_plugins_are_compressed(void **state)
{
	enum { SIZE = 3 << 20 };
	struct log_functab *functab = calloc(1, sizeof(*functab) + SIZE);
	struct log_record record = {
		.type = LOG_PLUGIN_FUNCTAB, .size = sizeof(*functab) + SIZE, .data = functab};
	uint8_t *bytes = (uint8_t *)(functab + 1);
	struct error err;
	int fd = new_file();
	struct rawlog_writer *writer = rawlog_writer_new(fd, &err);
	struct rawlog_reader *reader;

	(void)state;
	functab->pclntab_size = SIZE;
	for (unsigned i = 0; i < SIZE; i++)
		bytes[i] = (uint8_t)(i * 2654435761u >> 28);
	assert_int_equal(rawlog_writer_put(writer, &record, &err), 0);
	assert_int_equal(rawlog_writer_put(writer, &record, &err), 0);
	assert_true(rawlog_writer_bytes(writer) < SIZE);
	assert_int_equal(rawlog_writer_finish(writer, &err), 0);
	rawlog_writer_free(writer);
	lseek(fd, 0, SEEK_SET);
	reader = rawlog_reader_new(fd, &err);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(rawlog_reader_next(reader, &record, &err), 1);
		assert_int_equal(record.type, LOG_PLUGIN_FUNCTAB);
		assert_int_equal(record.size, sizeof(*functab) + SIZE);
		assert_memory_equal(record.data, functab, record.size);
	}
	rawlog_reader_free(reader);
	free(functab);
	close(fd);
}

/* The bytes of a log in memory, for reading a changed copy of them. */
struct image {
	uint8_t bytes[4096];
	size_t size;
};

static void make_image(struct image *image, const struct sample *sample, bool finish)
{
	int fd = new_file();
	ssize_t n;

	write_log(fd, sample, finish);
	n = pread(fd, image->bytes, sizeof(image->bytes), 0);
	assert_in_range(n, 1, sizeof(image->bytes) - 1);
	image->size = (size_t)n;
	close(fd);
}

/* Returns the result of new() (-1 if it failed), or the last one of next(). */
static int read_image(const struct image *image, size_t size, const struct sample *sample, size_t *count,
		      struct error *err)
{
	int fd = new_file(), ret = -1;
	struct rawlog_reader *reader;

	*count = 0;
	err->text[0] = '\0';
	assert_int_equal(write(fd, image->bytes, size), size);
	lseek(fd, 0, SEEK_SET);
	reader = rawlog_reader_new(fd, err);
	if (reader)
		ret = read_records(reader, sample, count, err);
	rawlog_reader_free(reader);
	close(fd);
	return ret;
}

/* Counts the records in blocks that end at or before size. *boundary: a block ends there. */
static size_t records_before(const struct image *image, size_t size, bool *boundary)
{
	size_t at = sizeof(struct file_header), count = 0;
	struct block_header header;

	while (at + sizeof(header) <= size) {
		memcpy(&header, image->bytes + at, sizeof(header));
		if (at + sizeof(header) + header.stored > size)
			break;
		at += sizeof(header) + header.stored;
		count += header.records;
	}
	*boundary = at == size;
	return count;
}

static void cut_anywhere(void **state)
{
	struct sample *sample = small_sample();
	struct image image;
	struct error err;

	(void)state;
	for (int finish = 0; finish < 2; finish++) {
		make_image(&image, sample, finish);
		for (size_t size = 0; size < image.size; size++) {
			bool boundary;
			size_t count, want = records_before(&image, size, &boundary);
			int ret = read_image(&image, size, sample, &count, &err);

			assert_int_equal(count, want);
			/* Only a log that was never finished may end between blocks. */
			assert_int_equal(ret == 0, boundary && !finish);
			assert_true(ret == 0 || strstr(err.text, "raw log: ") == err.text);
		}
	}
	free_sample(sample);
}

static void any_flipped_bit_is_found(void **state)
{
	struct sample *sample = small_sample();
	struct image image;
	struct error err;
	size_t count;

	(void)state;
	for (int finish = 0; finish < 2; finish++) {
		make_image(&image, sample, finish);
		for (size_t bit = 0; bit < image.size * 8; bit++) {
			image.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
			assert_true(read_image(&image, image.size, sample, &count, &err) < 0);
			assert_true(strstr(err.text, "byte") != NULL);
			image.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
		assert_int_equal(read_image(&image, image.size, sample, &count, &err), 0);
	}
	free_sample(sample);
}

static void bytes_behind_the_end_are_reported(void **state)
{
	struct sample *sample = small_sample();
	struct image image;
	struct error err;
	char offset[32];
	size_t count;

	(void)state;
	make_image(&image, sample, true);
	image.bytes[image.size] = 0;
	assert_int_equal(read_image(&image, image.size + 1, sample, &count, &err), -EBADMSG);
	assert_int_equal(count, sample->count);
	snprintf(offset, sizeof(offset), "byte %zu", image.size);
	assert_non_null(strstr(err.text, offset));
	free_sample(sample);
}

/* Blocks that are intact but out of place. */
static void missing_block_is_found(void **state)
{
	struct sample *sample = small_sample();
	struct block_header first;
	struct image image;
	struct error err;
	size_t start = sizeof(struct file_header), count, size;

	(void)state;
	make_image(&image, sample, true);
	memcpy(&first, image.bytes + start, sizeof(first));
	size = sizeof(first) + first.stored;
	memmove(image.bytes + start, image.bytes + start + size, image.size - start - size);
	assert_int_equal(read_image(&image, image.size - size, sample, &count, &err), -EBADMSG);
	assert_int_equal(count, 0);
	assert_non_null(strstr(err.text, "out of sequence"));
	free_sample(sample);
}

/* A small block that claims to expand to a large one. */
static void a_block_that_grows_too_much_is_refused(void **state)
{
	struct file_header header = {.magic = FILE_MAGIC, .version = FILE_VERSION};
	struct block_header block = {.magic = BLOCK_MAGIC, .flags = BLOCK_COMPRESSED, .records = 1};
	Bytef zeros[65536] = {0}, packed[1024];
	uLongf n = sizeof(packed);
	struct rawlog_reader *reader;
	struct log_record record;
	struct error err;
	int fd = new_file();

	(void)state;
	assert_int_equal(compress2(packed, &n, zeros, sizeof(zeros), 9), Z_OK);
	assert_true(n < sizeof(zeros) / MAX_RATIO);
	header.crc = (uint32_t)crc32(0, (const Bytef *)&header, offsetof(struct file_header, crc));
	block.stored = (uint32_t)n;
	block.size = sizeof(zeros);
	block.payload_crc = (uint32_t)crc32(0, packed, (uInt)n);
	block.crc = (uint32_t)crc32(0, (const Bytef *)&block, offsetof(struct block_header, crc));
	assert_int_equal(write(fd, &header, sizeof(header)), sizeof(header));
	assert_int_equal(write(fd, &block, sizeof(block)), sizeof(block));
	assert_int_equal(write(fd, packed, n), n);
	lseek(fd, 0, SEEK_SET);
	reader = rawlog_reader_new(fd, &err);
	assert_non_null(reader);
	assert_int_equal(rawlog_reader_next(reader, &record, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "compressed more"));
	rawlog_reader_free(reader);
	close(fd);
}

static void other_versions_are_refused(void **state)
{
	struct sample *sample = small_sample();
	struct file_header header;
	struct image image;
	struct error err;
	size_t count;

	(void)state;
	make_image(&image, sample, true);
	memcpy(&header, image.bytes, sizeof(header));
	header.version = 2;
	header.crc = (uint32_t)crc32(0, (const Bytef *)&header, offsetof(struct file_header, crc));
	memcpy(image.bytes, &header, sizeof(header));
	assert_int_equal(read_image(&image, image.size, sample, &count, &err), -1);
	assert_non_null(strstr(err.text, "version 2"));
	memcpy(image.bytes, "go 1.22 trace\0\0\0", 16);
	assert_int_equal(read_image(&image, image.size, sample, &count, &err), -1);
	assert_non_null(strstr(err.text, "this is a trace"));
	free_sample(sample);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(round_trip),
	cmocka_unit_test(header_is_rewritten_in_place),
	cmocka_unit_test(pipe_ends_with_its_end_block),
	cmocka_unit_test(append_mode_is_like_a_pipe),
	cmocka_unit_test(large_records_have_their_own_block),
	cmocka_unit_test(later_types_are_skipped),
	cmocka_unit_test(bytes_are_counted),
	cmocka_unit_test(full_disk_is_reported_and_stays),
	cmocka_unit_test(full_disk_leaves_whole_blocks),
	cmocka_unit_test(illegal_records_are_not_written),
	cmocka_unit_test(what_shrinks_too_well_is_stored),
	cmocka_unit_test(tables_of_plugins_are_compressed),
	cmocka_unit_test(cut_anywhere),
	cmocka_unit_test(any_flipped_bit_is_found),
	cmocka_unit_test(bytes_behind_the_end_are_reported),
	cmocka_unit_test(missing_block_is_found),
	cmocka_unit_test(a_block_that_grows_too_much_is_refused),
	cmocka_unit_test(other_versions_are_refused),
};

UNIT_TESTS(tests, NULL, NULL);
