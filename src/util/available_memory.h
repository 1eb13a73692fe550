/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef GOTRACE_UTIL_AVAILABLE_MEMORY_H
#define GOTRACE_UTIL_AVAILABLE_MEMORY_H

#include <stdint.h>

/*
 * Bytes that this process can still use without swapping: what the machine has available, or less if a limit
 * of the process's memory cgroup or of a parent cgroup applies. root: "", or in tests a directory used as /.
 * 0: unknown.
 */
uint64_t available_memory(const char *root);

#endif
