/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Runs a command on a machine without some feature:
 *   without bpf CMD...      bpf(2) is refused (EPERM), by seccomp
 *   without perf CMD...     perf_event_open(2) is refused likewise
 *   without memlock CMD...  with 64 KiB of locked memory at most, and no right to raise that
 *   without cap N CMD...    without the capability of that number (capabilities(7)), also in its children
 *   without root CMD...     as the user nobody, without any capability
 */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static int without_call(unsigned number)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int without_memlock(void)
{
	enum { SYS_RESOURCE = 24 }; /* linux/capability.h */
	struct rlimit limit = {64 << 10, 64 << 10};

	return setrlimit(RLIMIT_MEMLOCK, &limit) || prctl(PR_CAPBSET_DROP, SYS_RESOURCE);
}

static int without_root(void)
{
	enum { NOBODY = 65534 };

	return setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY);
}

int main(int argc, char **argv)
{
	int failed = 1, command = 2;

	if (argc > 2 && !strcmp(argv[1], "bpf")) {
		failed = without_call(SYS_bpf);
	} else if (argc > 2 && !strcmp(argv[1], "perf")) {
		failed = without_call(SYS_perf_event_open);
	} else if (argc > 2 && !strcmp(argv[1], "memlock")) {
		failed = without_memlock();
	} else if (argc > 2 && !strcmp(argv[1], "root")) {
		failed = without_root();
	} else if (argc > 3 && !strcmp(argv[1], "cap")) {
		command = 3;
		failed = prctl(PR_CAPBSET_DROP, atoi(argv[2]), 0, 0, 0);
	}
	if (failed) {
		fprintf(stderr, "without: %s\n", errno ? strerror(errno) : "usage: without bpf|perf|memlock|root|cap N CMD...");
		return 125;
	}
	execvp(argv[command], argv + command);
	fprintf(stderr, "without: %s: %s\n", argv[command], strerror(errno));
	return 125;
}
