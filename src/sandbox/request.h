/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a sandbox may ask to be opened: files of the processes that are traced,
 * by their own forms under /proc, and programs, libraries and debug files. Pure;
 * a hostile sandbox chose every byte.
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
	REQUEST_PROCESS,  /* whether there is the process: /proc/PID, not to be opened */
	REQUEST_PROC,     /* a text or directory of the kernel's: /proc/PID/ and `rest`, no link */
	REQUEST_LINK,     /* a link of the kernel's to a program file: exe, map_files/A-B */
	REQUEST_ROOT,     /* the root directory of the process, to look up files in */
	REQUEST_IN_ROOT,  /* a program file below it: `rest` is the path in there */
	REQUEST_OWN_ROOT, /* our own root directory, the same */
	REQUEST_FILE,     /* a program file by path */
};

struct request {
	enum request_kind kind;
	pid_t pid; /* 0: of no process */
	char rest[PATH_MAX];
};

/* Reading only, and only flags that change nothing else. */
bool request_flags_are_harmless(uint64_t flags);
/* What the path means; `path` ends with a NUL. Which processes are allowed is the caller's to know. */
void request_parse(const char *path, struct request *request);
/*
 * Whether these are the first bytes of a program, a library or a debug file (ELF, for execution or shared).
 * Core dumps and the kernel's memory (/proc/kcore) are of another type.
 */
bool request_is_program(const uint8_t *bytes, size_t n);

#endif
