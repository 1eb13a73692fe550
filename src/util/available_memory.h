/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef GOTRACE_UTIL_AVAILABLE_MEMORY_H
#define GOTRACE_UTIL_AVAILABLE_MEMORY_H

#include <stdint.h>

/*
 * Returns how many bytes this process can still use without swapping, 0 if unknown: the memory that the
 * machine has available, or less if the process's memory cgroup or a parent of it has a limit. root: "", or
 * in tests a directory used as /.
 */
uint64_t available_memory(const char *root);

#endif
