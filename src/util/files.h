/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Opens files whose names are untrusted input: only regular files, without blocking and without side effects.
 */
#ifndef GOTRACE_UTIL_FILES_H
#define GOTRACE_UTIL_FILES_H

#include <stdbool.h>
#include <sys/stat.h>

/*
 * Opens a regular file for reading. The path is resolved as if `root` were "/", including symbolic links and
 * ".." (openat2, Linux 5.6). Returns a descriptor, owned by the caller, or a negative errno; -ENOENT if it is
 * not a regular file, and if root < 0.
 */
int file_open_in(int root, const char *path);
/* The same for a path without symbolic links: -ELOOP if there is one. */
int file_open_in_plain(int root, const char *path);

/*
 * True if the path, without symbolic links, leads to something that the kernel has in its cache: never waits
 * for a file system (RESOLVE_CACHED, Linux 5.12; before that, false).
 */
bool file_is_cached_in(int root, const char *path);

/* The same for a path chosen by gotrace. -EINVAL if it is not a regular file. */
int file_open(const char *path);
int file_open_at(int dir, const char *path);
/*
 * The same for an untrusted path: it leads through no link of /proc/PID (-ELOOP), and to
 * no file of the kernel's own file systems (-EACCES), which may act when it is opened.
 */
int file_open_on_disk(const char *path);
/* The same for a descriptor opened with O_PATH, which is consumed. */
int file_open_found(int found);

/*
 * As fstatat and fstat, but with the attributes that the kernel has cached, without asking a file system that
 * may not answer (AT_STATX_DONT_SYNC). Return 0 or a negative errno.
 */
int file_stat_at(int dir, const char *path, int flags, struct stat *st);
int file_stat(int fd, struct stat *st);

#endif
