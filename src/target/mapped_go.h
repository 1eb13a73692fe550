/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Go code that a process has mapped, but not as its executable. */
#ifndef GOTRACE_TARGET_MAPPED_GO_H
#define GOTRACE_TARGET_MAPPED_GO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Opens the first mapped file with Go code whose inode is none of these n, and stores its path as the kernel
 * shows it, truncated to `size` bytes. Returns a descriptor, which the caller closes, or a negative errno.
 */
int mapped_go_open(pid_t pid, const uint64_t *except, unsigned n, char *path, size_t size);

#endif
