/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The sparse copy of an executable: what is read of it, and what memory it takes. */

#include "unit.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "target/load.h"

#define MIB 0x100000ull
/* File offsets. The code is a hole in the file except for its first and last bytes. */
#define DATA      (8 * MIB)
#define DATA_SIZE (2 * MIB)
#define CODE      (16 * MIB)
#define CODE_SIZE (128 * MIB)

static void put(int fd, uint64_t offset, const void *bytes, size_t size)
{
	assert_int_equal(pwrite(fd, bytes, size, (off_t)offset), size);
}

/* An executable with a segment of data and a large one of code. */
static int make_executable(void)
{
	const Elf64_Ehdr header = {.e_ident = ELFMAG, .e_phoff = sizeof(header), .e_phnum = 2};
	const Elf64_Phdr programs[2] = {
		{.p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_offset = DATA, .p_filesz = DATA_SIZE},
		{.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = CODE, .p_filesz = CODE_SIZE},
	};
	char name[] = "/tmp/test-load-XXXXXX";
	int fd = mkstemp(name);

	assert_true(fd >= 0);
	unlink(name);
	put(fd, 0, &header, sizeof(header));
	put(fd, sizeof(header), programs, sizeof(programs));
	put(fd, DATA + 5, "data", 4);
	put(fd, CODE, "code", 4);
	put(fd, CODE + CODE_SIZE - 3, "end", 3);
	return fd;
}

static uint64_t resident(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*u %lu", &pages), 1);
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Reads one byte of each page, and returns their sum. */
static unsigned sum_of(const struct loaded *loaded, uint64_t offset, uint64_t size)
{
	const volatile uint8_t *data = loaded->data;
	unsigned sum = 0;

	for (uint64_t at = 0; at < size; at += 4096)
		sum += data[offset + at];
	return sum;
}

static void headers_and_data_are_read(void **state)
{
	int fd = make_executable();
	struct loaded loaded;

	(void)state;
	assert_int_equal(load_file(fd, &loaded, NULL), 0);
	assert_int_equal(loaded.size, CODE + CODE_SIZE);
	assert_memory_equal(loaded.data, ELFMAG, SELFMAG);
	assert_memory_equal(loaded.data + DATA + 5, "data", 4);
	assert_memory_equal(loaded.data + CODE, "\0\0\0\0", 4);
	/* Relocations write to data. */
	loaded.data[DATA] = 1;
	loaded.data[DATA + DATA_SIZE - 1] = 1;
	load_free(&loaded);
	close(fd);
}

static void code_is_read_on_demand(void **state)
{
	int fd = make_executable();
	struct loaded loaded;

	(void)state;
	assert_int_equal(load_file(fd, &loaded, NULL), 0);
	assert_int_equal(load_code(&loaded, CODE + CODE_SIZE - 3, 3), 0);
	assert_memory_equal(loaded.data + CODE + CODE_SIZE - 3, "end", 3);
	assert_memory_equal(loaded.data + CODE, "\0\0\0\0", 4);
	assert_true(load_code(&loaded, CODE + CODE_SIZE - 3, 4) < 0);
	assert_int_equal(load_code(&loaded, CODE, 4), 0);
	assert_memory_equal(loaded.data + CODE, "code", 4);
	/* What was read can be read again after it was dropped. */
	load_drop(&loaded, CODE, 4096);
	assert_memory_equal(loaded.data + CODE, "\0\0\0\0", 4);
	assert_int_equal(load_code(&loaded, CODE, 4), 0);
	assert_memory_equal(loaded.data + CODE, "code", 4);
	load_free(&loaded);
	close(fd);
}

/* The size of an executable costs nothing on disk, so code that was not read must not cost memory. */
static void unread_code_takes_no_memory(void **state)
{
	int fd = make_executable();
	struct loaded loaded;
	uint64_t before;

	(void)state;
	assert_int_equal(load_file(fd, &loaded, NULL), 0);
	before = resident();
	assert_int_equal(sum_of(&loaded, CODE, CODE_SIZE), 0);
	assert_in_range(resident(), 0, before + 8 * MIB);
	load_free(&loaded);
	close(fd);
}

static void dropped_code_takes_no_memory(void **state)
{
	int fd = make_executable();
	struct loaded loaded;
	uint64_t before = resident();

	(void)state;
	assert_int_equal(load_file(fd, &loaded, NULL), 0);
	assert_int_equal(load_all_code(&loaded), 0);
	assert_in_range(resident(), before + CODE_SIZE, UINT64_MAX);
	load_drop(&loaded, CODE, CODE_SIZE);
	assert_int_equal(sum_of(&loaded, CODE, CODE_SIZE), 0);
	assert_in_range(resident(), 0, before + 8 * MIB);
	load_free(&loaded);
	close(fd);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(headers_and_data_are_read),
	cmocka_unit_test(code_is_read_on_demand),
	cmocka_unit_test(unread_code_takes_no_memory),
	cmocka_unit_test(dropped_code_takes_no_memory),
};

UNIT_TESTS(tests, NULL, NULL);
