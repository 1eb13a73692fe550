/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/threads/syscalls.h"

#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The lock that all threads of a process take to change its memory map, or to add pages to it. */
#define MMAP_LOCK "sync (mmap_lock)"

/* What a thread may sleep for in a call. */
enum syscall_class {
	SYSCALL_OTHER,
	SYSCALL_FILE,   /* on files: an uninterruptible sleep in it waits for a disk */
	SYSCALL_MEMORY, /* on the memory map */
	SYSCALL_FUTEX,  /* underlies the locks of C libraries */
	SYSCALL_SLEEP,  /* until a time */
	SYSCALL_POLL,   /* for one of several descriptors, or for none until a time */
	SYSCALL_EPOLL,
	SYSCALL_SOCKET,
	SYSCALL_SIGNAL,
	SYSCALL_SEM,  /* System V semaphores */
	SYSCALL_LOCK, /* file locks */
	SYSCALL_YIELD,
	SYSCALL_RESTART, /* goes on with the call that a signal interrupted */
	SYSCALL_CLASSES
};

/* Calls of both architectures; those of no class are left out. */
static const char *const class_members[SYSCALL_CLASSES] = {
	[SYSCALL_MEMORY] = " brk madvise mlock mlock2 mlockall mmap mprotect mremap munlock munlockall munmap"
			   " pkey_mprotect process_madvise remap_file_pages ",
	[SYSCALL_FUTEX] = " futex futex_wait futex_waitv ",
	[SYSCALL_SLEEP] = " clock_nanosleep nanosleep ",
	[SYSCALL_POLL] = " poll ppoll pselect6 select ",
	[SYSCALL_EPOLL] = " epoll_pwait epoll_pwait2 epoll_wait epoll_wait_old ",
	[SYSCALL_SOCKET] =
		" accept accept4 connect recvfrom recvmmsg recvmsg sendmmsg sendmsg sendto shutdown ",
	[SYSCALL_SIGNAL] = " pause rt_sigsuspend rt_sigtimedwait ",
	[SYSCALL_SEM] = " semop semtimedop ",
	[SYSCALL_LOCK] = " fcntl flock ",
	[SYSCALL_YIELD] = " sched_yield ",
	[SYSCALL_RESTART] = " restart_syscall ",
	[SYSCALL_FILE] =
		" access cachestat chdir chmod chown close close_range copy_file_range creat dup2 dup3"
		" execve execveat faccessat faccessat2 fadvise64 fallocate fchdir fchmod fchmodat"
		" fchmodat2 fchown fchownat fdatasync fgetxattr flistxattr fremovexattr fsetxattr"
		" fstat fstatfs fsync ftruncate futimesat getcwd getdents getdents64 getxattr"
		" io_getevents io_pgetevents io_submit io_uring_enter lchown lgetxattr link linkat"
		" listxattr llistxattr lremovexattr lseek lsetxattr lstat mkdir mkdirat mknod mknodat"
		" mount msync name_to_handle_at newfstatat open open_by_handle_at openat openat2"
		" pread64 preadv preadv2 pwrite64 pwritev pwritev2 quotactl read readahead readlink"
		" readlinkat readv removexattr rename renameat renameat2 rmdir sendfile setxattr"
		" splice stat statfs statx swapoff swapon symlink symlinkat sync sync_file_range"
		" syncfs tee truncate umount2 unlink unlinkat utime utimensat utimes vmsplice write"
		" writev ",
};

/*
 * The numbers from here on are those of Linux 6.5 to 6.18, the same on all architectures
 * (scripts/syscall.tbl), which libseccomp 2.5.4 does not have as it was released.
 */
#define FIRST_NEWEST 451
static const char *const newest[] = {
	"cachestat",        "fchmodat2",      "map_shadow_stack", "futex_wake",        "futex_wait",
	"futex_requeue",    "statmount",      "listmount",        "lsm_get_self_attr", "lsm_set_self_attr",
	"lsm_list_modules", "mseal",          "setxattrat",       "getxattrat",        "listxattrat",
	"removexattrat",    "open_tree_attr", "file_getattr",     "file_setattr",
};
_Static_assert(FIRST_NEWEST + sizeof(newest) / sizeof(newest[0]) == SYSCALLS_KNOWN, "a call for each number");

static uint8_t class_of(const char *name)
{
	char word[48];

	snprintf(word, sizeof(word), " %s ", name);
	for (unsigned i = 0; i < SYSCALL_CLASSES; i++) {
		if (class_members[i] && strstr(class_members[i], word))
			return (uint8_t)i;
	}
	return SYSCALL_OTHER;
}

/* Uses the architecture of the log, not that of its reader. */
static void syscall_resolve(const struct log_target *target, unsigned number, struct syscall *call)
{
	uint32_t arch = target->flags & LOG_TARGET_ARM64 ? SCMP_ARCH_AARCH64 : SCMP_ARCH_X86_64;

	if (number >= FIRST_NEWEST)
		call->name = strdup(newest[number - FIRST_NEWEST]);
	else
		call->name = seccomp_syscall_resolve_num_arch(arch, (int)number);
	call->class = call->name ? class_of(call->name) : SYSCALL_OTHER;
	call->resolved = true;
}

static const struct syscall *syscalls_find(struct syscalls *calls, const struct log_target *target,
					   uint64_t call)
{
	static const struct syscall none = {.class = SYSCALL_OTHER};

	if (!call || call > SYSCALLS_KNOWN)
		return &none;
	if (!calls->calls[call - 1].resolved)
		syscall_resolve(target, (unsigned)call - 1, &calls->calls[call - 1]);
	return &calls->calls[call - 1];
}

void syscalls_free(struct syscalls *calls)
{
	for (unsigned i = 0; i < SYSCALLS_KNOWN; i++)
		free(calls->calls[i].name);
}

const char *syscall_name(struct syscalls *calls, const struct log_target *target, uint64_t call)
{
	return syscalls_find(calls, target, call)->name;
}

bool syscall_yields(struct syscalls *calls, const struct log_target *target, uint64_t call)
{
	return syscalls_find(calls, target, call)->class == SYSCALL_YIELD;
}

bool syscall_restarts(struct syscalls *calls, const struct log_target *target, uint64_t call)
{
	return syscalls_find(calls, target, call)->class == SYSCALL_RESTART;
}

static const char *futex_reason(uint8_t hint, bool lock)
{
	static const char *const reasons[] = {
		[HINT_MUTEX] = "sync (mutex)",   [HINT_COND] = "sync (condition)",
		[HINT_RWLOCK] = "sync (rwlock)", [HINT_JOIN] = "sync (join)",
		[HINT_SEM] = "sync (semaphore)", [HINT_BARRIER] = "sync (barrier)",
	};
	const char *reason = hint < sizeof(reasons) / sizeof(reasons[0]) ? reasons[hint] : NULL;

	if (!reason)
		reason = lock ? reasons[HINT_MUTEX] : "sync (futex)";
	return reason;
}

static const char *file_reason(uint64_t file)
{
	switch (WAIT_KIND(file)) {
	case FILE_SOCKET:
	case FILE_EPOLL: /* it usually watches sockets */
		return "network";
	case FILE_PIPE:
		return "pipe";
	case FILE_REGULAR:
		return "disk";
	case FILE_TTY:
		return "tty";
	case FILE_EVENT:
		return "event";
	default:
		return NULL;
	}
}

static const char *memory_reason(uint8_t left)
{
	if (left == LEFT_IN_KERNEL)
		return MMAP_LOCK;
	return left == LEFT_DISK ? "disk" : NULL;
}

static const char *call_reason(enum syscall_class class, const struct wait *wait)
{
	switch (class) {
	case SYSCALL_FUTEX:
		return futex_reason(wait->hint, wait->lock);
	case SYSCALL_SLEEP:
		return "sleep";
	case SYSCALL_POLL:
		return WAIT_FD(wait->file) ? NULL : "sleep";
	case SYSCALL_EPOLL:
	case SYSCALL_SOCKET:
		return "network";
	case SYSCALL_SIGNAL:
		return "signal";
	case SYSCALL_SEM:
		return "sync (semaphore)";
	case SYSCALL_FILE: /* the journal of a file system is waited for without counting as I/O */
		return wait->left == LEFT_DISK || wait->left == LEFT_IN_KERNEL ? "disk" : NULL;
	case SYSCALL_MEMORY:
		return memory_reason(wait->left);
	default:
		return NULL;
	}
}

const char *wait_reason(struct syscalls *calls, const struct log_target *target, const struct wait *wait)
{
	enum syscall_class class = syscalls_find(calls, target, wait->call)->class;
	const char *reason;

	if (wait->left == LEFT_STOPPED)
		return "stopped";
	if (!wait->call && wait->worker)
		return "io_uring";
	if (!wait->call) /* in its own code, a program sleeps only for a missing page */
		return wait->left == LEFT_IN_KERNEL ? MMAP_LOCK : "page fault";
	if (class == SYSCALL_LOCK)
		return "sync (file lock)";
	reason = file_reason(wait->file);
	return reason ? reason : call_reason(class, wait);
}
