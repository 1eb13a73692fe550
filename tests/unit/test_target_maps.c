/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Lines of /proc/PID/maps, odd paths and damage among them, and the bias from them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

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
	struct mapping mapping;
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
	/* Another device than stat says, as on btrfs and overlayfs. */
	assert_int_equal(maps_bias(&maps, &image, makedev(0, 99), 77, NULL, &value), 0);
	assert_int_equal(value, 0x55d000000000);
	assert_int_equal(maps_bias(&maps, &image, 1, 2, "/a\\012b", &value), 0);
	assert_int_equal(maps_bias(&maps, &image, 1, 2, "/other", &value), -ENOENT);
	assert_int_equal(maps_bias(&maps, &image, 1, 0, NULL, &value), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(lines), cmocka_unit_test(bias)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
