/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The architecture that gotrace was built for, by its names in ELF files; only programs for it can be traced.
 * Also the maximum number of CPUs.
 */
#ifndef GOTRACE_UTIL_MACHINE_H
#define GOTRACE_UTIL_MACHINE_H

#include <elf.h>
#include <stdint.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OWN_MACHINE          EM_X86_64
#define OWN_MACHINE_NAME     "x86-64"
#define OWN_MACHINE_RELATIVE R_X86_64_RELATIVE /* the relocation "load address plus addend" */
#elif defined(__aarch64__)
#define OWN_MACHINE          EM_AARCH64
#define OWN_MACHINE_NAME     "arm64"
#define OWN_MACHINE_RELATIVE R_AARCH64_RELATIVE
#else
#error "gotrace runs on x86-64 and arm64"
#endif

/* A kernel for arm64 may have pages of 16 or 64 KiB. */
static inline uint64_t page_bytes(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* CONFIG_NR_CPUS is at most 8192 (Linux 6.18 arch/x86/Kconfig): a higher number is corrupt data. */
enum { MAX_CPUS = 8192 };
/* Of cpu_set_t, for that many. A shorter mask than the kernel's is refused (EINVAL). */
#define CPU_SETS (MAX_CPUS / CPU_SETSIZE)

#endif
