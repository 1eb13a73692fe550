/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a sandbox may request to be opened. */

#include "unit.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "sandbox/request.h"

static struct request parsed(const char *path)
{
	struct request request;

	request_parse(path, &request);
	return request;
}

static void allowed(const char *path, enum request_kind kind, pid_t pid, const char *rest)
{
	struct request request = parsed(path);

	if (request.kind != kind || request.pid != pid || strcmp(request.rest, rest) != 0)
		fail_msg("%s: kind %d, pid %d, rest %s", path, (int)request.kind, (int)request.pid,
			 request.rest);
}

static void files_of_processes(void **state)
{
	(void)state;
	allowed("/proc/123", REQUEST_PROCESS, 123, ".");
	allowed("/proc/123/maps", REQUEST_PROC, 123, "maps");
	allowed("/proc/123/status", REQUEST_PROC, 123, "status");
	allowed("/proc/123/task", REQUEST_PROC, 123, "task");
	allowed("/proc/123/task/456/syscall", REQUEST_PROC, 123, "task/456/syscall");
	allowed("/proc/123/exe", REQUEST_LINK, 123, "exe");
	allowed("/proc/123/map_files/7f00-7f10", REQUEST_LINK, 123, "map_files/7f00-7f10");
	allowed("/proc/123/root", REQUEST_ROOT, 123, "root");
	allowed("/proc/123/root/lib/libc.so.6", REQUEST_IN_ROOT, 123, "/lib/libc.so.6");
	allowed("/", REQUEST_OWN_ROOT, 0, "");
	allowed("/usr/bin/server", REQUEST_FILE, 0, "/usr/bin/server");
	allowed("./server", REQUEST_FILE, 0, "./server");
	allowed("/dev/gotrace-file/7", REQUEST_SHARED, 0, "");
	assert_int_equal(parsed("/dev/gotrace-file/7").number, 7);
}

static void everything_else_is_refused(void **state)
{
	static const char *const paths[] = {
		"",
		"/proc",
		"/proc/",

		"/proc/123/",
		"/dev/gotrace-file/",
		"/dev/gotrace-file/0",
		"/dev/gotrace-file/7x",
		"/dev/gotrace-file/../null",
		"/dev/gotrace-file/99999999999999999999",
		"/proc/self/maps",
		"/proc/thread-self/maps",
		"/proc/0/maps",
		"/proc/0123/maps",
		"/proc/-1/maps",
		"/proc/+1/maps",
		"/proc/4294967419/maps",
		"/proc/99999999999999999999/maps",
		"/proc/123x/maps",
		"/proc/ 123/maps",
		"/proc/123/mem",
		"/proc/123/environ",
		"/proc/123/fd/3",
		"/proc/123/cwd",
		"/proc/123/maps/",
		"/proc/123//maps",
		"/proc/123/../456/maps",
		"/proc/123/./maps",
		"/proc/123/task/456",
		"/proc/123/task/456/mem",
		"/proc/123/task/456/../../../1/maps",
		"/proc/123/task/0/syscall",
		"/proc/123/task/self/syscall",
		"/proc/123/map_files",
		"/proc/123/map_files/",
		"/proc/123/map_files/7f00",
		"/proc/123/map_files/7f00-",
		"/proc/123/map_files/-7f00",
		"/proc/123/map_files/7F00-7F10",
		"/proc/123/map_files/7f00-7f10/",
		"/proc/123/map_files/../exe",
		"/proc/123/map_files/00000000000000001-2",
		"/proc/123/rootx",
		"/proc/kcore",
		"/proc/sys/kernel/core_pattern",
		"/sys/kernel/btf/vmlinux",
		"/dev/mem",
		"/dev",
		"/sys",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (parsed(paths[i]).kind != REQUEST_REFUSED)
			fail_msg("allowed: %s", paths[i]);
	}
}

static void paths_are_bounded(void **state)
{
	static char path[PATH_MAX + 8];

	(void)state;
	memset(path, 'a', sizeof(path) - 1);
	path[0] = '/';
	assert_int_equal(parsed(path).kind, REQUEST_REFUSED);
	path[PATH_MAX - 1] = '\0';
	assert_int_equal(parsed(path).kind, REQUEST_FILE);
}

static void reading_is_all_that_is_harmless(void **state)
{
	(void)state;
	assert_true(request_flags_are_harmless(O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
	assert_true(request_flags_are_harmless(O_PATH | O_DIRECTORY | O_CLOEXEC));
	assert_false(request_flags_are_harmless(O_WRONLY));
	assert_false(request_flags_are_harmless(O_RDWR));
	assert_false(request_flags_are_harmless(O_ACCMODE));
	assert_false(request_flags_are_harmless(O_RDONLY | O_CREAT));
	assert_false(request_flags_are_harmless(O_RDONLY | O_TRUNC));
	assert_false(request_flags_are_harmless(O_TMPFILE));
	assert_false(request_flags_are_harmless(1ull << 40));
}

static void programs_are_known(void **state)
{
	Elf64_Ehdr header = {.e_ident = ELFMAG, .e_type = ET_DYN};
	uint8_t bytes[sizeof(header)];

	(void)state;
	for (unsigned type = 0; type < 0x10000; type++) {
		header.e_type = (uint16_t)type;
		memcpy(bytes, &header, sizeof(header));
		assert_int_equal(request_is_program(bytes, sizeof(bytes)), type == ET_EXEC || type == ET_DYN);
	}
	header.e_type = ET_EXEC;
	memcpy(bytes, &header, sizeof(header));
	for (size_t n = 0; n < EI_NIDENT + 2; n++)
		assert_false(request_is_program(bytes, n));
	assert_true(request_is_program(bytes, EI_NIDENT + 2));
	assert_false(request_is_program((const uint8_t *)"root:$6$salt:19000:0:99999:7:::", 31));
}

static void names_of_generated_code_are_known(void **state)
{
	static const char *const others[] = {
		"/tmp/perf-.map",     "/tmp/perf-12.mapx", "/tmp/perf-12/../x.map", "/tmp/perf-x.map",
		"/tmp/x/perf-12.map", "tmp/perf-12.map",   "/tmp/perf-12 .map",     "/tmp//perf-12.map",
	};
	static const char *const texts[] = {"root:x:0",  "1000 20", " 1000 20 x",
					    "xx 20 one", "",        "10-20 3 x"};

	(void)state;
	assert_true(request_is_perf_map("/tmp/perf-12.map"));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(request_is_perf_map(others[i]));
	assert_true(request_begins_perf_map((const uint8_t *)"1000 20 one", 11));
	assert_true(request_begins_perf_map((const uint8_t *)"0x00007f00 0x20 int f(int)", 26));
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_false(request_begins_perf_map((const uint8_t *)texts[i], strlen(texts[i])));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(files_of_processes), cmocka_unit_test(everything_else_is_refused),
	cmocka_unit_test(paths_are_bounded),  cmocka_unit_test(reading_is_all_that_is_harmless),
	cmocka_unit_test(programs_are_known), cmocka_unit_test(names_of_generated_code_are_known),
};

UNIT_TESTS(tests, NULL, NULL);
