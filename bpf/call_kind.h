/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Kinds of system calls that the programs distinguish. src/capture/calls.c classifies the calls. */
#ifndef GOTRACE_CALL_KIND_H
#define GOTRACE_CALL_KIND_H

#define CALL_NUMBERS 512 /* a power of two above the numbers of all architectures */

enum call_kind {
	CALL_NO_FILE = 0,
	CALL_FILE = 1,   /* the first argument is a descriptor */
	CALL_EPOLL = 2,  /* the first argument is an epoll descriptor */
	CALL_POLL = 3,   /* the first argument is an array of struct pollfd, the second its length */
	CALL_SELECT = 4, /* the first argument is the highest descriptor in the sets plus 1 */
	CALL_FUTEX = 5,  /* the arguments are an address, the operation, and a value */
};

/* Operations of futex(2) that do not wait: FUTEX_WAKE, _FD, _REQUEUE, _CMP_REQUEUE, _WAKE_OP, _UNLOCK_PI,
 * _TRYLOCK_PI, _WAKE_BITSET, _CMP_REQUEUE_PI (include/uapi/linux/futex.h). */
#define FUTEX_COMMAND(op) ((op)&0x7f)          /* without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME */
#define FUTEX_IS_LOCK     (1u << 6 | 1u << 13) /* FUTEX_LOCK_PI, _LOCK_PI2 */
#define FUTEX_DOES_NOT_WAIT                                                                                  \
	(1u << 1 | 1u << 2 | 1u << 3 | 1u << 4 | 1u << 5 | 1u << 7 | 1u << 8 | 1u << 10 | 1u << 12)

/* scripts/syscall.tbl; arch/x86/entry/syscalls/syscall_64.tbl */
#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
#define CALL_MMAP 222
#else
#define CALL_MMAP 9
#endif
#define PROT_EXEC 4 /* include/uapi/asm-generic/mman-common.h */

#endif
