/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Opens files that gotrace reads. */
#ifndef GOTRACE_CLI_INPUT_H
#define GOTRACE_CLI_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"

/*
 * Opens a regular file. For reading, path may also be a pipe, or "-" for standard input; a pipe is copied to
 * memory. For writing, it must not be a symbolic link. Returns the descriptor and stores the size in bytes in
 * *size (may be NULL), or returns a negative errno.
 */
int input_open(const char *path, bool to_write, uint64_t *size, struct error *err);
/* The same for a trace. Refuses a raw log with a message that names the command for it. */
int input_open_trace(const char *path, bool to_write, uint64_t *size, struct error *err);

#endif
