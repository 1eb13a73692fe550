/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Decides what a worker may open: files of the traced processes, under their names in /proc, programs,
 * libraries and debug files, and the names of generated code. Pure functions; every byte is untrusted.
 */
#ifndef GOTRACE_SANDBOX_REQUEST_H
#define GOTRACE_SANDBOX_REQUEST_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum request_kind {
	REQUEST_REFUSED = 0,
	REQUEST_PROCESS,  /* /proc/PID, to check that the process exists; not to be opened */
	REQUEST_PROC,     /* a text file or directory of procfs: /proc/PID/ and `rest`, not a link */
	REQUEST_LINK,     /* a procfs link to a program file: exe, map_files/A-B */
	REQUEST_ROOT,     /* the root directory of the process, for looking up files */
	REQUEST_IN_ROOT,  /* a program file below it: `rest` is the path in that root */
	REQUEST_OWN_ROOT, /* gotrace's own root directory, for looking up files */
	REQUEST_FILE,     /* a program file by path */
	REQUEST_SHARED,   /* a program file that the privileged process shares: REQUEST_SHARED_AT */
};

/* Followed by its number. */
#define REQUEST_SHARED_AT "/dev/gotrace-file/"

struct request {
	enum request_kind kind;
	pid_t pid;       /* 0: none */
	uint64_t number; /* of a shared file */
	char rest[PATH_MAX];
};

/* True if the flags open for reading, and have no side effects. */
bool request_flags_are_harmless(uint64_t flags);
/* Classifies a NUL-terminated path. The caller checks whether the process is allowed. */
void request_parse(const char *path, struct request *request);
/*
 * True if these are the first bytes of a program, a library or a debug file (ELF, executable or shared). Core
 * dumps and the kernel's memory (/proc/kcore) have another type.
 */
bool request_is_program(const uint8_t *bytes, size_t n);
/* True for the path of a file in which a program names the code that it generates: /tmp/perf-PID.map. */
bool request_is_perf_map(const char *path);
/* True if these are the first bytes of such a file: two hexadecimal numbers. */
bool request_begins_perf_map(const uint8_t *bytes, size_t n);

#endif
