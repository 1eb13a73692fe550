/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which processes can be traced, and the messages for those that cannot, with directories that imitate /proc.
 */
#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/process.h"

#define STATUS                                                                                               \
	"Name:\tserver\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t70\nNgid:\t0\nPid:\t70\nVmSize:\t  100 "  \
	"kB\n"

static char proc[] = "/tmp/test-proc-XXXXXX";

static int make_proc(void **state)
{
	(void)state;
	strcpy(proc + strlen(proc) - 6, "XXXXXX");
	return mkdtemp(proc) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	return remove(path);
}

static int remove_proc(void **state)
{
	(void)state;
	return nftw(proc, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void put(const char *pid, const char *name, const void *bytes, size_t size)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", proc, pid);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/%s/%s", proc, pid, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), (ssize_t)size);
	close(fd);
}

static void put_status(const char *pid, const char *text)
{
	put(pid, "status", text, strlen(text));
}

static Elf64_Ehdr header(uint8_t class, uint16_t machine)
{
	Elf64_Ehdr elf = {.e_machine = machine};

	memcpy(elf.e_ident, ELFMAG, SELFMAG);
	elf.e_ident[EI_CLASS] = class;
	return elf;
}

static void refused(pid_t pid, int code, const char *line)
{
	struct error err = {""};

	assert_int_equal(process_check(proc, pid, &err), code);
	assert_non_null(strstr(err.text, line));
	assert_null(strchr(err.text, '\n'));
}

static void a_process_is_accepted(void **state)
{
	Elf64_Ehdr elf = header(ELFCLASS64, EM_X86_64);
	struct error err = {""};

	(void)state;
	put_status("70", STATUS);
	put("70", "exe", &elf, sizeof(elf));
	assert_int_equal(process_check(proc, 70, &err), 0);
}

static void what_is_no_process_is_reported(void **state)
{
	(void)state;
	refused(99, -ESRCH, "no process has PID 99: use pgrep -a NAME to find it");
	put_status("70", STATUS);
	put_status("71", "Name:\tworker\nState:\tS (sleeping)\nTgid:\t70\nPid:\t71\nVmSize:\t 1 kB\n");
	refused(71, -EINVAL, "71 is a thread of process 70 (server): trace the process with -p 70");
	put_status("72", "Name:\tthread\nState:\tS (sleeping)\nTgid:\t69\nPid:\t72\n");
	refused(72, -EINVAL, "of process 69 (thread)"); /* its process has exited meanwhile */
	put_status("2", "Name:\tkthreadd\nState:\tS (sleeping)\nTgid:\t2\nPid:\t2\nThreads:\t1\n");
	refused(2, -ENOTSUP, "PID 2 (kthreadd) is a kernel thread");
	put_status("73", "Name:\tdefunct\nState:\tZ (zombie)\nTgid:\t73\nPid:\t73\n");
	refused(73, -ENOTSUP, "PID 73 (defunct) is a zombie");
}

static void executables_of_other_kinds_are_refused(void **state)
{
	Elf64_Ehdr elf = header(ELFCLASS32, EM_386);

	(void)state;
	put_status("70", STATUS);
	refused(70, -ESRCH, "has just ended"); /* between two checks */
	put("70", "exe", &elf, sizeof(Elf32_Ehdr));
	refused(70, -ENOTSUP, "PID 70 (server) is a 32-bit program");
	elf = header(ELFCLASS32, EM_X86_64); /* x32 */
	put("70", "exe", &elf, sizeof(elf));
	refused(70, -ENOTSUP, "is a 32-bit program");
	elf = header(ELFCLASS64, EM_AARCH64);
	put("70", "exe", &elf, sizeof(elf));
	refused(70, -ENOTSUP, "an architecture other than");
	elf = header(ELFCLASS64, EM_X86_64);
	put("70", "exe", &elf, 20);
	refused(70, -EBADMSG, "damaged or truncated");
	put("70", "exe", "#!/bin/sh\n", 10);
	refused(70, -ENOEXEC, "not an ELF file");
}

/* The kernel never writes this. A line that does not parse is skipped. */
static void odd_status_does_no_harm(void **state)
{
	char text[6000];

	(void)state;
	put_status("70", "");
	refused(70, -ENOTSUP, "PID 70 ()");
	put_status("70", "Name:\t\nState:\t\nTgid:\t\nVmSize:");
	refused(70, -EINVAL, "70 is a thread of process 0");
	memset(text, 'x', sizeof(text));
	memcpy(text, "Name:\t", 6);
	put("70", "status", text, sizeof(text));
	refused(70, -ENOTSUP, "is a kernel thread");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(a_process_is_accepted, make_proc, remove_proc),
	cmocka_unit_test_setup_teardown(what_is_no_process_is_reported, make_proc, remove_proc),
	cmocka_unit_test_setup_teardown(executables_of_other_kinds_are_refused, make_proc, remove_proc),
	cmocka_unit_test_setup_teardown(odd_status_does_no_harm, make_proc, remove_proc),
};

UNIT_TESTS(tests, NULL, NULL);
