/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Descriptor names, system calls that take a descriptor, and the number of CPUs. */
#include "unit.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/functions.h"
#include "capture/files.h"
#include "capture/kernel.h"

static void calls_have_their_descriptors(void **state)
{
	uint8_t kinds[CALL_NUMBERS];

	(void)state;
	memset(kinds, 0xff, sizeof(kinds));
	calls_kinds(kinds);
	assert_int_equal(kinds[SYS_read], CALL_FILE);
	assert_int_equal(kinds[SYS_sendmmsg], CALL_FILE);
	assert_int_equal(kinds[SYS_epoll_pwait], CALL_EPOLL);
	assert_int_equal(kinds[SYS_ppoll], CALL_POLL);
	assert_int_equal(kinds[SYS_pselect6], CALL_SELECT);
#ifdef SYS_select
	assert_int_equal(kinds[SYS_select], CALL_SELECT);
#endif
	assert_int_equal(kinds[SYS_futex], CALL_FUTEX);
	/* The first argument of these is not a descriptor. */
	assert_int_equal(kinds[SYS_openat], CALL_NO_FILE);
	assert_int_equal(kinds[SYS_wait4], CALL_NO_FILE);
	for (unsigned i = 0; i < CALL_NUMBERS; i++)
		assert_in_range(kinds[i], CALL_NO_FILE, CALL_FUTEX);
}

static void the_highest_cpu_is_found(void **state)
{
	(void)state;
	assert_int_equal(kernel_last_cpu("0-1\n"), 1);
	assert_int_equal(kernel_last_cpu("0\n"), 0);
	assert_int_equal(kernel_last_cpu("0-3,8,10-12\n"), 12);
	assert_int_equal(kernel_last_cpu(""), 0);
	assert_int_equal(kernel_last_cpu("x-,99999999999999999999,7"), 7);
}

static void links_are_made_short(void **state)
{
	static const char *const table[][2] = {
		{"pipe:[8132]", "pipe"},
		{"anon_inode:[eventpoll]", "epoll"},
		{"anon_inode:[eventfd]", "eventfd"},
		{"anon_inode:inotify", "inotify"},
		{"/var/lib/x [1]", "/var/lib/x [1]"},
		{"/tmp/a (deleted)", "/tmp/a (deleted)"},
		{"", ""},
		{"pipe:[", "pipe"},
		{"anon_inode:", ""},
		{"anon_inode:[", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		char text[64];

		strcpy(text, table[i][0]);
		files_shorten(text);
		assert_string_equal(text, table[i][1]);
	}
}

static void inet(const char *line, uint64_t number, const char *name)
{
	uint64_t inode = 0;
	char text[160];

	assert_true(sockets_parse_inet(line, &inode, text, sizeof(text)));
	assert_int_equal(inode, number);
	assert_string_equal(text, name);
}

static void tables_of_sockets_are_read(void **state)
{
	uint64_t inode;
	char text[160];

	(void)state;
	inet("   1: 0100007F:1538 0200000A:B5D4 01 00000000:00000000 02:000A 00000000   105        0 48100 2 "
	     "00",
	     48100, "10.0.0.2:46548");
	inet("   0: 0100007F:1538 00000000:0000 0A 00000000:00000000 00:00000000 00000000  105  0 48099 1 0",
	     48099, "listening on 127.0.0.1:5432");
	inet("   0: 00000000000000000000000001000000:0050 00000000000000000000000001000000:C001 01 "
	     "00000000:00000000 00:00000000 00000000     0        0 7 1 0",
	     7, "[::1]:49153");
	inet("   0: 0000000000000000FFFF00000100007F:0050 0000000000000000FFFF00000100007F:C001 01 "
	     "00000000:00000000 00:00000000 00000000     0        0 8 1 0",
	     8, "127.0.0.1:49153");
	assert_false(sockets_parse_inet("  sl  local_address rem_address   st tx_queue rx_queue", &inode,
					text, sizeof(text)));
	assert_false(
		sockets_parse_inet("  0: 01:1 0100007F:1 01 0:0 0:0 0 0 0 5", &inode, text, sizeof(text)));
	assert_false(sockets_parse_inet("", &inode, text, sizeof(text)));
	assert_true(sockets_parse_unix("0000: 00000002 00000000 00010000 0001 01 2117 /run/pg/.s.PGSQL\n",
				       &inode, text, sizeof(text)));
	assert_int_equal(inode, 2117);
	assert_string_equal(text, "unix /run/pg/.s.PGSQL");
	assert_true(sockets_parse_unix("0000: 00000003 00000000 00000000 0001 03 2118\n", &inode, text,
				       sizeof(text)));
	assert_string_equal(text, "unix");
	assert_false(sockets_parse_unix("Num       RefCount Protocol Flags", &inode, text, sizeof(text)));
}

/* --- descriptors of our own process --- */

struct heard {
	unsigned n;
	char text[512];
};

static int keep_record(void *ctx, const struct log_record *record)
{
	struct heard *heard = ctx;
	const struct log_file *file = record->data;

	assert_int_equal(record->type, LOG_FILE);
	assert_int_equal(rawlog_check_record(record, NULL), 0);
	heard->n++;
	snprintf(heard->text, sizeof(heard->text), "%.*s", (int)file->len, (const char *)(file + 1));
	return 0;
}

static uint64_t key_of(int fd, enum file_kind kind)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return WAIT_MAKE(kind, fd, wait_mark(st.st_ino));
}

static void a_descriptor_is_reported_once(void **state)
{
	struct files files = {.pid = getpid()};
	struct heard heard = {.n = 0};
	int fd = open("/etc/passwd", O_RDONLY);
	uint64_t key = key_of(fd, FILE_REGULAR);

	(void)state;
	assert_false(files_is_unknown(&files, 0));
	assert_true(files_is_unknown(&files, key));
	assert_int_equal(files_describe(&files, key, keep_record, &heard), 0);
	assert_string_equal(heard.text, "/etc/passwd");
	assert_false(files_is_unknown(&files, key));
	close(fd);
	files_free(&files);
}

static void another_file_behind_it_has_another_name(void **state)
{
	struct files files = {.pid = getpid()};
	struct heard heard = {.n = 0};
	int fd = open("/etc/passwd", O_RDONLY);
	uint64_t key = key_of(fd, FILE_REGULAR);

	(void)state;
	assert_int_equal(dup2(STDIN_FILENO, fd), fd);
	assert_int_equal(files_describe(&files, key, keep_record, &heard), 0);
	assert_string_equal(heard.text, "");
	/* The name is looked up again, but not indefinitely. */
	for (unsigned i = 0; i < 100 && files_is_unknown(&files, key); i++)
		assert_int_equal(files_describe(&files, key, keep_record, &heard), 0);
	assert_false(files_is_unknown(&files, key));
	assert_int_equal(heard.n, 1);
	close(fd);
	files_free(&files);
}

static void a_socket_has_its_peer(void **state)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof(address);
	struct files files = {.pid = getpid()};
	struct heard heard = {.n = 0};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char name[64];

	(void)state;
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	snprintf(name, sizeof(name), "listening on 127.0.0.1:%u", ntohs(address.sin_port));
	assert_int_equal(files_describe(&files, key_of(fd, FILE_SOCKET), keep_record, &heard), 0);
	assert_string_equal(heard.text, name);
	close(fd);
	files_free(&files);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(calls_have_their_descriptors),
	cmocka_unit_test(the_highest_cpu_is_found),
	cmocka_unit_test(links_are_made_short),
	cmocka_unit_test(tables_of_sockets_are_read),
	cmocka_unit_test(a_descriptor_is_reported_once),
	cmocka_unit_test(another_file_behind_it_has_another_name),
	cmocka_unit_test(a_socket_has_its_peer),
};

UNIT_TESTS(tests, NULL, NULL);
