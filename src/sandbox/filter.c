/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sandbox/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* Calls on memory, time and open descriptors. */
static const int allowed[] = {
	SCMP_SYS(brk),
	SCMP_SYS(munmap),
	SCMP_SYS(mremap),
	SCMP_SYS(madvise),
	SCMP_SYS(futex),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(getpid),
	SCMP_SYS(gettid),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(exit),
	SCMP_SYS(rt_sigaction), /* these three: for a starting thread */
	SCMP_SYS(rseq),
	SCMP_SYS(set_robust_list),
	SCMP_SYS(exit_group),
	SCMP_SYS(lseek),
	SCMP_SYS(read),
	SCMP_SYS(pread64),
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
	SCMP_SYS(getrandom),
	SCMP_SYS(sysinfo),           /* by qsort, for the size of memory */
	SCMP_SYS(sched_getaffinity), /* by malloc, for the number of CPUs */
	SCMP_SYS(getdents64),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(geteuid),
	SCMP_SYS(capget), /* to find that there are none (util/rights.h) */
	SCMP_SYS(wait4),  /* these two: its own children */
	SCMP_SYS(waitid),
	SCMP_SYS(clock_getres), /* by clock_getcpuclockid */
#ifdef __SANITIZE_ADDRESS__
	SCMP_SYS(sigaltstack),
	SCMP_SYS(prctl),
	SCMP_SYS(getrlimit),
	SCMP_SYS(tgkill),
#endif
};

/* Calls that the broker answers. */
static const int asked[] = {
	SCMP_SYS(open),     SCMP_SYS(openat),     SCMP_SYS(openat2),          SCMP_SYS(stat),
	SCMP_SYS(lstat),    SCMP_SYS(access),     SCMP_SYS(faccessat),        SCMP_SYS(faccessat2),
	SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(process_vm_readv),
};

/* Harmless attempts of libraries, which can do without them. */
static const int refused[] = {SCMP_SYS(statx),  SCMP_SYS(unlink),    SCMP_SYS(unlinkat),
			      SCMP_SYS(rename), SCMP_SYS(fadvise64), SCMP_SYS(getpriority),
			      SCMP_SYS(capset)};

static int add_list(scmp_filter_ctx filter, uint32_t action, const int *calls, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		/* Some architectures do not have all calls. */
		int rc = calls[i] < 0 ? 0 : seccomp_rule_add(filter, action, calls[i], 0);

		if (rc)
			return rc;
	}
	return 0;
}

/*
 * Allows threads, which have the process's filter and can do no more, but no processes or namespaces. A
 * filter cannot inspect the flags of clone3; if that fails, libc uses clone.
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

static int filter_add_values(scmp_filter_ctx filter, int call, unsigned argument, const scmp_datum_t *values,
			     size_t n)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1,
				      SCMP_CMP(argument, SCMP_CMP_EQ, values[i]));
	return rc;
}

/* What ncurses does besides reading and writing. */
static int add_drawing(scmp_filter_ctx filter)
{
	static const scmp_datum_t modes[] = {TCSETS, TCSETSW, TCSETSF, TCFLSH, TIOCGPGRP};
	const scmp_datum_t own = (scmp_datum_t)getpid();
	int rc = filter_add_values(filter, SCMP_SYS(ioctl), 1, modes, sizeof(modes) / sizeof(modes[0]));

	if (rc == 0)
		rc = filter_add_values(filter, SCMP_SYS(kill), 0, &own, 1);
	if (rc == 0)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(getpgid), 0);
	if (rc == 0 && SCMP_SYS(getpgrp) >= 0)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(getpgrp), 0);
	return rc;
}

/* What some processes do in addition. */
static int add_options(scmp_filter_ctx filter, const struct filter_options *options)
{
	int rc = options->draws ? add_drawing(filter) : 0;

	for (size_t i = 0; rc == 0 && i < options->nchildren; i++)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(kill), 1,
				      SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)options->children[i]));
	return rc;
}

/*
 * Allows only memory that RLIMIT_DATA counts, none of which may be code. It does not count shared mappings,
 * mappings that grow downwards, and pages whose protection is changed once they are filled (Linux 6.6
 * mm/internal.h, is_data_mapping(), and mm/mprotect.c, mprotect_fixup()).
 */
static int add_memory(scmp_filter_ctx filter, bool threads)
{
	const scmp_datum_t flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_FIXED_NOREPLACE |
				   MAP_NORESERVE | MAP_STACK | MAP_DENYWRITE;
	int rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2,
				  SCMP_A2(SCMP_CMP_MASKED_EQ, ~(scmp_datum_t)(PROT_READ | PROT_WRITE), 0),
				  SCMP_A3(SCMP_CMP_MASKED_EQ, ~flags, 0));

	if (rc == 0)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
				      SCMP_A2(SCMP_CMP_EQ, PROT_READ | PROT_WRITE));
	/* glibc 2.42 and later protects the end of a thread's stack so, before Linux 6.13. */
	if (rc == 0 && threads)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
				      SCMP_A2(SCMP_CMP_EQ, PROT_NONE));
	return rc;
}

/* Calls that are harmless only with some arguments. */
static int filter_add_parts(scmp_filter_ctx filter, uint32_t ask, bool threads)
{
	static const scmp_datum_t controls[] = {F_DUPFD_CLOEXEC, F_GETFL, F_GETFD};
	static const scmp_datum_t questions[] = {TCGETS, TIOCGWINSZ};
	static const scmp_datum_t priorities[] = {FILTER_NORMAL, FILTER_NICE};
	int rc = add_memory(filter, threads);

	/* libc's fstat uses a path that should be empty, but a filter cannot see it: on_trap() handles it. */
	if (rc == 0)
		rc = seccomp_rule_add(filter, SCMP_ACT_TRAP, SCMP_SYS(newfstatat), 1,
				      SCMP_A3(SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, AT_EMPTY_PATH));
	if (rc == 0)
		rc = seccomp_rule_add(filter, ask, SCMP_SYS(newfstatat), 1,
				      SCMP_A3(SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, 0));
	/* A thread may lower its own priority. */
	for (size_t i = 0; i < sizeof(priorities) / sizeof(priorities[0]) && rc == 0; i++)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(setpriority), 3,
				      SCMP_A0(SCMP_CMP_EQ, PRIO_PROCESS), SCMP_A1(SCMP_CMP_EQ, 0),
				      SCMP_A2(SCMP_CMP_EQ, priorities[i]));
	if (rc == 0 && threads)
		rc = add_threads(filter);
	/* Reading one of its own limits, not setting it. */
	if (rc == 0)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 2, SCMP_A0(SCMP_CMP_EQ, 0),
				      SCMP_A2(SCMP_CMP_EQ, 0));
	if (rc == 0)
		rc = filter_add_values(filter, SCMP_SYS(ioctl), 1, questions,
				       sizeof(questions) / sizeof(questions[0]));
	if (rc == 0)
		rc = filter_add_values(filter, SCMP_SYS(fcntl), 1, controls,
				       sizeof(controls) / sizeof(controls[0]));
	return rc;
}

static int filter_fill(scmp_filter_ctx filter, const struct filter_options *options)
{
	const uint32_t ask = options->listener ? SCMP_ACT_NOTIFY : SCMP_ACT_ERRNO(EACCES);
	int rc = add_list(filter, SCMP_ACT_ALLOW, allowed, sizeof(allowed) / sizeof(allowed[0]));

	if (rc == 0)
		rc = add_list(filter, ask, asked, sizeof(asked) / sizeof(asked[0]));
	if (rc == 0)
		rc = add_list(filter, SCMP_ACT_ERRNO(EPERM), refused, sizeof(refused) / sizeof(refused[0]));
	if (rc == 0)
		rc = filter_add_parts(filter, ask, options->threads);
	return rc ? rc : add_options(filter, options);
}

/*
 * Handles a system call that the filter has trapped: fstat of a descriptor in libc's form (newfstatat with an
 * empty path, up to glibc 2.38). With any other path it fails.
 */
static void on_trap(int number, siginfo_t *info, void *context)
{
	ucontext_t *thread = context;
	int saved = errno;
	long result = -EACCES;

	(void)number;
#if defined(__x86_64__)
	greg_t *regs = thread->uc_mcontext.gregs;
	const char *path = (const char *)(uintptr_t)regs[REG_RSI];
	const long fd = regs[REG_RDI], to = regs[REG_RDX];
#elif defined(__aarch64__)
	unsigned long long *regs = thread->uc_mcontext.regs;
	const char *path = (const char *)(uintptr_t)regs[1];
	const long fd = (long)regs[0], to = (long)regs[2];
#endif
	if (info->si_syscall == SYS_newfstatat && !*path && syscall(SYS_fstat, fd, to) == 0)
		result = 0;
	else if (info->si_syscall == SYS_newfstatat && !*path)
		result = -errno;
#if defined(__x86_64__)
	regs[REG_RAX] = result;
#elif defined(__aarch64__)
	regs[0] = (unsigned long long)result;
#endif
	errno = saved;
}

static void take_traps(void)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};

	sigemptyset(&action.sa_mask);
	sigaction(SIGSYS, &action, NULL);
}

int filter_install(const struct filter_options *options, struct error *err)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	/* seccomp_init() fails if the kernel does not have this action. */
	int rc = filter ? filter_fill(filter, options) : -ENOSYS;

	take_traps();
	if (rc == 0)
		rc = seccomp_load(filter);
	if (rc == 0 && options->listener) {
		rc = seccomp_notify_fd(filter);
		*options->listener = rc;
		rc = rc < 0 ? rc : 0;
	}
	if (filter)
		seccomp_release(filter);
	if (rc == -EBUSY)
		return error_set(err, EBUSY,
				 "cannot set up the sandbox: another supervisor of system calls is active "
				 "(that of a container?); run gotrace outside it");
	return rc ? error_set(err, -rc,
			      "cannot set up the sandbox: seccomp: %s (Linux 5.9 or later is needed)",
			      strerror(-rc))
		  : 0;
}
