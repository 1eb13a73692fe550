/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Lines of /proc/PID/maps, including odd paths and damage, and the bias computed from them. */

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/maps.h"

static char text[] =
	"00400000-00491000 r-xp 00001000 fe:01 1234                               /opt/my server (deleted)\n"
	"nonsense\n"
	"7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n"
	"7f0000002000-7f0000003000 rw-p 00000000 00:00 0\n"
	"55d000001000-55d000002000 r-xp 00001000 00:1f 77                         /a\\012b\n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n"
	"fffffffffffffffff-1 r-xp 00000000 00:00 0\n"
	"5000-4000 r-xp 00000000 00:00 0 \n"
	"6000-7000 r-xp 0000";

static const struct maps maps = {.text = text, .len = sizeof(text) - 1};

static void lines(void **state)
{
	static const struct {
		uint64_t start, inode;
		const char *path;
	} expected[] = {
		{0x400000, 1234, "/opt/my server (deleted)"},
		{0x7f0000000000, 0, ""},
		{0x7f0000002000, 0, ""},
		{0x55d000001000, 77, "/a\\012b"},
		{0xffffffffff600000, 0, "[vsyscall]"},
	};
	struct proc_mapping mapping;
	size_t at = 0, n = 0;

	(void)state;
	while (maps_next(maps.text, maps.len, &at, &mapping)) {
		assert_true(n < sizeof(expected) / sizeof(expected[0]));
		assert_int_equal(mapping.start, expected[n].start);
		assert_int_equal(mapping.inode, expected[n].inode);
		assert_int_equal(mapping.path_len, strlen(expected[n].path));
		assert_memory_equal(mapping.path, expected[n].path, mapping.path_len);
		n++;
	}
	assert_int_equal(n, sizeof(expected) / sizeof(expected[0]));
}

static void bias(void **state)
{
	const struct image image = {
		.n = 1,
		.segments = {{.address = 0x1040, .offset = 0x1040, .file_size = 64, .executable = true}},
	};
	uint64_t value;

	(void)state;
	assert_int_equal(maps_bias(&maps, &image, makedev(0xfe, 1), 1234, NULL, &value), 0);
	assert_int_equal(value, 0x3ff000);
	/* A device other than stat(2) reports, as on btrfs and overlayfs. */
	assert_int_equal(maps_bias(&maps, &image, makedev(0, 99), 77, NULL, &value), 0);
	assert_int_equal(value, 0x55d000000000);
	assert_int_equal(maps_bias(&maps, &image, 1, 2, "/a\\012b", &value), 0);
	assert_int_equal(maps_bias(&maps, &image, 1, 2, "/other", &value), -ENOENT);
	assert_int_equal(maps_bias(&maps, &image, 1, 0, NULL, &value), -ENOENT);
}

static void unescaped(void **state)
{
	char none[] = "/plain \\01 \\13 (deleted)", two[] = "/a\\012b\\012";

	(void)state;
	assert_false(maps_unescape(none));
	assert_string_equal(none, "/plain \\01 \\13 (deleted)");
	assert_true(maps_unescape(two));
	assert_string_equal(two, "/a\nb\n");
}

/* Returns the line of our own mappings that contains this address. */
static struct proc_mapping mapping_at(const struct maps *own, const void *address)
{
	struct proc_mapping mapping;
	size_t at = 0;

	while (maps_next(own->text, own->len, &at, &mapping)) {
		if (mapping.start == (uintptr_t)address)
			return mapping;
	}
	fail();
	return mapping;
}

/* Returns 0 if the mapped file opens and is the wanted one, or a negative errno. */
static int open_again(const struct proc_mapping *mapping, const struct stat *wanted)
{
	int fd = maps_open_file(getpid(), mapping);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || st.st_ino != wanted->st_ino || st.st_dev != wanted->st_dev)
		fd = -EXDEV;
	else
		close(fd);
	return fd < 0 ? fd : 0;
}

/* Opens the file as an unprivileged user: by its name, and only if it is the mapped file. */
static int open_without_rights(const struct proc_mapping *mapping, const struct stat *wanted)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		if (geteuid() == 0 && (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534)))
			_exit(255);
		prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* otherwise /proc/PID belongs to root */
		_exit(-open_again(mapping, wanted));
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
}

static void opened(void **state)
{
	static const char *const names[] = {"plain", "a\nb\n", "c \\012 (deleted)", " x\t\x1b[31m"};
	char dir[] = "/tmp/gotrace-maps-XXXXXX", path[128];

	(void)state;
	assert_non_null(mkdtemp(dir));
	chmod(dir, 0755);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct proc_mapping mapping;
		struct maps own;
		struct error err;
		struct stat st;
		void *map;
		int fd;

		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		fd = open(path, O_RDWR | O_CREAT, 0644);
		assert_int_equal(ftruncate(fd, 4096), 0);
		assert_int_equal(fstat(fd, &st), 0);
		map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
		assert_ptr_not_equal(map, MAP_FAILED);
		close(fd);
		assert_int_equal(maps_read(getpid(), &own, &err), 0);
		mapping = mapping_at(&own, map);
		assert_int_equal(open_again(&mapping, &st), 0);
		assert_int_equal(open_without_rights(&mapping, &st), 0);
		/* Another file with that name is rejected. */
		unlink(path);
		close(open(path, O_RDWR | O_CREAT, 0644));
		assert_int_equal(open_without_rights(&mapping, &st), -ENOENT);
		unlink(path);
		munmap(map, 4096);
		maps_free(&own);
	}
	rmdir(dir);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(lines), cmocka_unit_test(bias),
					  cmocka_unit_test(unescaped), cmocka_unit_test(opened)};

UNIT_TESTS(tests, NULL, NULL);
