/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Files that gotrace reads. They are opened first, with the rights of the user or of root. They are read once
 * the process has given up everything (sandbox_confine()), and not before.
 */
#ifndef GOTRACE_CLI_INPUT_H
#define GOTRACE_CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct input {
	const char *path; /* for messages; not owned */
	int fd;           /* -1 = closed */
	int copy; /* a pipe is read more than once, so its bytes are copied to this file in memory; or -1 */
	const uint8_t *bytes; /* all of the file, mapped; "" if it is empty */
	size_t size;
	uint64_t modified_ns; /* when the file was last modified, since 1970; 0 = it is a pipe */
};

/*
 * Opens a regular file. For reading, path may also be a pipe, or "-" for standard input. For writing, it must
 * not be a symbolic link. Returns 0, or a negative errno; the input is closed then.
 */
int input_open(struct input *input, const char *path, bool to_write, struct error *err);
/* The same for an open regular file, which the input owns from now on, also after an error. */
int input_adopt(struct input *input, int fd, const char *path, struct error *err);
/* Closes the descriptor if the bytes are enough. */
void input_need_bytes(struct input *input);
/*
 * Afterwards fd is not a pipe, and bytes and size are valid. Returns 0 or a negative errno: -EPERM if the
 * process still has privileges.
 */
int input_begin(struct input *input, struct error *err);
/* The same for a trace. Refuses a raw log with a message that names the command for it. */
int input_begin_trace(struct input *input, struct error *err);
/* A closed input may be closed again. */
void input_close(struct input *input);

#endif
