/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Opening files whose names a stranger chose: regular ones alone, and nothing that waits, or has effects. */
#ifndef GOTRACE_UTIL_FILES_H
#define GOTRACE_UTIL_FILES_H

/*
 * Opens a regular file for reading, by a path that is looked up as if `root`
 * were "/", symbolic links and ".." too (openat2, Linux 5.6). The caller's to
 * close; -ENOENT also for what is no regular file; root < 0: none.
 */
int file_open_in(int root, const char *path);

/* The same by a path of our own. -EINVAL for what is no regular file. */
int file_open(const char *path);
int file_open_at(int dir, const char *path);

#endif
