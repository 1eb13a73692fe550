/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* /proc/PID/maps: reading it, and (pure) its lines. */
#ifndef GOTRACE_TARGET_MAPS_H
#define GOTRACE_TARGET_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "target/image.h"

struct mapping {
	uint64_t start, end, offset, inode;
	unsigned major, minor;
	bool executable;
	const char *path; /* in the text, not terminated; the kernel writes a newline in it as \012 */
	size_t path_len;
};

struct maps {
	char *text;
	size_t len;
};

/* -ESRCH if the process is gone, -EPERM, -EFBIG, -ENOMEM. */
int maps_read(pid_t pid, struct maps *maps, struct error *err);
void maps_free(struct maps *maps);

/*
 * Opens what a process executes (/proc/PID/exe), for reading: the very file. A descriptor, or a negative
 * errno.
 */
int maps_open_exe(pid_t pid);

/*
 * Opens the regular file that is mapped there, for reading: the very file, whatever its path means by now, or
 * if it has none left (/proc/PID/map_files). That needs CAP_DAC_READ_SEARCH, and CAP_SYS_ADMIN or
 * CAP_CHECKPOINT_RESTORE (fs/proc/base.c, Linux 5.9); without them it is looked for by its path, and must
 * have the inode that is mapped. The file, which the caller closes, or a negative errno: -ENOENT if it is
 * none.
 */
int maps_open_file(pid_t pid, const struct mapping *mapping);

/* Pure: puts back the newlines that the kernel has written as \012. False if there are none. */
bool maps_unescape(char *path);

/* The mapping on the line at *at; moves on. False at the end; lines that do not parse are passed over. */
bool maps_next(const char *text, size_t len, size_t *at, struct mapping *mapping);

/*
 * Load address minus link address of the image whose file is (device, inode),
 * by the mapping of its code. Some file systems show another device or inode in maps
 * than stat does: then the path decides (exe, may be NULL). -ENOENT if it is not mapped.
 */
int maps_bias(const struct maps *maps, const struct image *image, uint64_t device, uint64_t inode,
	      const char *exe, uint64_t *bias);

#endif
