/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sandbox/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Memory, time, and descriptors that are open. */
static const int allowed[] = {
	SCMP_SYS(brk),
	SCMP_SYS(munmap),
	SCMP_SYS(mremap),
	SCMP_SYS(madvise),
	SCMP_SYS(futex),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(gettimeofday),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(nanosleep),
	SCMP_SYS(getpid),
	SCMP_SYS(gettid),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(exit),
	SCMP_SYS(rt_sigaction), /* these three: of a thread that begins */
	SCMP_SYS(rseq),
	SCMP_SYS(set_robust_list),
	SCMP_SYS(exit_group),
	SCMP_SYS(lseek),
	SCMP_SYS(read),
	SCMP_SYS(readv),
	SCMP_SYS(pread64),
	SCMP_SYS(preadv),
	SCMP_SYS(write),
	SCMP_SYS(writev),
	SCMP_SYS(pwrite64),
	SCMP_SYS(ftruncate),
	SCMP_SYS(fstat),
	SCMP_SYS(fstatfs),
	SCMP_SYS(close),
	SCMP_SYS(recvmsg),
	SCMP_SYS(recvfrom),
	SCMP_SYS(sendmsg),
	SCMP_SYS(sendto),
	SCMP_SYS(poll),
	SCMP_SYS(ppoll),
	SCMP_SYS(dup),
	SCMP_SYS(memfd_create),
	SCMP_SYS(getrandom),
	SCMP_SYS(sysinfo),
	SCMP_SYS(getdents64),
	SCMP_SYS(sched_yield),
	SCMP_SYS(sched_getaffinity),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(setpriority),
	SCMP_SYS(getuid),
	SCMP_SYS(geteuid),
	SCMP_SYS(uname),
	SCMP_SYS(fstatfs),
	SCMP_SYS(capget), /* of none (util/rights.h) */
#ifdef __SANITIZE_ADDRESS__
	SCMP_SYS(sigaltstack),
	SCMP_SYS(prctl),
	SCMP_SYS(getrlimit),
	SCMP_SYS(tgkill),
	SCMP_SYS(mprotect),
	SCMP_SYS(mmap),
#endif
};

/* Answered by the broker. */
static const int asked[] = {
	SCMP_SYS(open),     SCMP_SYS(openat),     SCMP_SYS(openat2),          SCMP_SYS(stat),
	SCMP_SYS(lstat),    SCMP_SYS(access),     SCMP_SYS(faccessat),        SCMP_SYS(faccessat2),
	SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(process_vm_readv),
};

/* Harmless attempts of libraries, which do without. */
static const int refused[] = {SCMP_SYS(statx),  SCMP_SYS(unlink),    SCMP_SYS(unlinkat),
			      SCMP_SYS(rename), SCMP_SYS(fadvise64), SCMP_SYS(getpriority),
			      SCMP_SYS(capget), SCMP_SYS(capset)};

static int add_list(scmp_filter_ctx filter, uint32_t action, const int *calls, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		/* Not every machine has every call. */
		int rc = calls[i] < 0 ? 0 : seccomp_rule_add(filter, action, calls[i], 0);

		if (rc)
			return rc;
	}
	return 0;
}

/* A thread has the process's filter and can do no more; a process or a namespace of its own is not to be had.
 * Of clone3 the flags cannot be looked at: without it clone is taken.
 */
static int add_threads(scmp_filter_ctx filter)
{
	const scmp_datum_t thread = CLONE_THREAD | CLONE_VM | CLONE_SIGHAND;
	const scmp_datum_t others = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
				    CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_PTRACE;
	int rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);

	if (rc == 0)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
				      SCMP_A0(SCMP_CMP_MASKED_EQ, thread | others, thread));
	return rc;
}

/* Calls that are harmless with some arguments only. */
static int add_parts(scmp_filter_ctx filter, uint32_t ask)
{
	static const int controls[] = {F_DUPFD_CLOEXEC, F_GETFL, F_GETFD, F_ADD_SEALS};
	int rc = 0;

#ifndef __SANITIZE_ADDRESS__
	const struct scmp_arg_cmp no_code = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);

	rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, no_code);
	if (rc == 0)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, no_code);
#endif
	/* fstat of libc, by an empty path. */
	if (rc == 0)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(newfstatat), 1,
				      SCMP_A3(SCMP_CMP_EQ, AT_EMPTY_PATH));
	if (rc == 0)
		rc = seccomp_rule_add(filter, ask, SCMP_SYS(newfstatat), 1,
				      SCMP_A3(SCMP_CMP_NE, AT_EMPTY_PATH));
	/* Stepping back: of no other. */
	if (rc == 0)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(setpriority), 2,
				      SCMP_A0(SCMP_CMP_EQ, PRIO_PROCESS), SCMP_A1(SCMP_CMP_EQ, 0));
	if (rc == 0)
		rc = add_threads(filter);
	/* Asking for a limit, not setting one. */
	if (rc == 0)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 1,
				      SCMP_A2(SCMP_CMP_EQ, 0));
	if (rc == 0)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
				      SCMP_A1(SCMP_CMP_EQ, TCGETS));
	for (size_t i = 0; rc == 0 && i < sizeof(controls) / sizeof(controls[0]); i++)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
				      SCMP_A1(SCMP_CMP_EQ, (scmp_datum_t)controls[i]));
	return rc;
}

static int fill(scmp_filter_ctx filter, uint32_t ask)
{
	int rc = add_list(filter, SCMP_ACT_ALLOW, allowed, sizeof(allowed) / sizeof(allowed[0]));

	if (rc == 0)
		rc = add_list(filter, ask, asked, sizeof(asked) / sizeof(asked[0]));
	if (rc == 0)
		rc = add_list(filter, SCMP_ACT_ERRNO(EPERM), refused, sizeof(refused) / sizeof(refused[0]));
	return rc ? rc : add_parts(filter, ask);
}

int filter_install(int *listener, struct error *err)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int rc = filter ? fill(filter, listener ? SCMP_ACT_NOTIFY : SCMP_ACT_ERRNO(EACCES)) : -ENOMEM;

	if (rc == 0)
		rc = seccomp_load(filter);
	if (rc == 0 && listener) {
		rc = seccomp_notify_fd(filter);
		*listener = rc;
		rc = rc < 0 ? rc : 0;
	}
	if (filter)
		seccomp_release(filter);
	if (rc == -EBUSY)
		return error_set(err, EBUSY,
				 "cannot set up the sandbox: another supervisor of system calls is in charge "
				 "here (a container's); run gotrace outside of it");
	return rc ? error_set(err, -rc,
			      "cannot set up the sandbox: seccomp: %s (Linux 5.9 or later is needed)",
			      strerror(-rc))
		  : 0;
}
