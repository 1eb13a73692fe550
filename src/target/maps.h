/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Reads /proc/PID/maps, and parses it (pure). */
#ifndef GOTRACE_TARGET_MAPS_H
#define GOTRACE_TARGET_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "target/image.h"

struct proc_mapping {
	uint64_t start, end, offset, inode;
	unsigned major, minor;
	bool executable;
	const char *path; /* in the text, not NUL-terminated; the kernel escapes newlines as \012 */
	size_t path_len;
};

struct maps {
	char *text;
	size_t len;
};

/* Returns 0, -ESRCH if the process is gone, -EPERM, -EFBIG or -ENOMEM. */
int maps_read(pid_t pid, struct maps *maps, struct error *err);
void maps_free(struct maps *maps);

/*
 * Opens the executable of a process for reading (/proc/PID/exe), even if its path now leads elsewhere.
 * Returns a descriptor or a negative errno. If another process reads for this one (reads.h), the descriptor
 * is only a handle (O_PATH).
 */
int maps_open_exe(pid_t pid);
/* Same, but also reads up to `size` bytes from the start of the file; *got is their number. */
int maps_open_exe_header(pid_t pid, void *header, size_t size, size_t *got);

/*
 * Opens the mapped regular file for reading (/proc/PID/map_files), even if its path now leads elsewhere or
 * was removed. This needs CAP_DAC_READ_SEARCH, and CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE (fs/proc/base.c,
 * Linux 5.9). Without them the file is opened by its path, and must have the inode of the mapping. Returns a
 * descriptor, which the caller closes, or a negative errno: -ENOENT if it is not a regular file or cannot be
 * found.
 */
int maps_open_file(pid_t pid, const struct proc_mapping *mapping);

/*
 * Opens the file with this device and inode, as stat(2) has them, that the process has mapped with code.
 * Returns a descriptor, which the caller closes, or a negative errno: -ENOENT if there is none.
 */
int maps_open_inode(pid_t pid, uint64_t device, uint64_t inode);

/* Replaces \012, the kernel's escape, with newlines in place. Returns false if there is none. Pure. */
bool maps_unescape(char *path);

/* Parses the line at *at and advances to the next. Returns false at the end. Skips malformed lines. */
bool maps_next(const char *text, size_t len, size_t *at, struct proc_mapping *mapping);

/*
 * Gets the load address minus the link address of the image in the file (device, inode), from the mapping of
 * its code. On file systems that show another device or inode in maps than in stat, the path decides (exe,
 * may be NULL). Returns 0, or -ENOENT if the image is not mapped.
 */
int maps_bias(const struct maps *maps, const struct image *image, uint64_t device, uint64_t inode,
	      const char *exe, uint64_t *bias);

#endif
