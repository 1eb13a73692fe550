/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Files that gotrace reads. */
#ifndef GOTRACE_CLI_INPUT_H
#define GOTRACE_CLI_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"

/*
 * Opens a regular file; to read, also a pipe, or "-" for standard input, of which it makes a copy in memory;
 * to write, it must be no symbolic link. Returns the descriptor, and the size in *size (which may be NULL),
 * or a negative errno.
 */
int input_open(const char *path, bool to_write, uint64_t *size, struct error *err);
/* The same of a trace; a raw log is refused with the command that reads it. */
int input_open_trace(const char *path, bool to_write, uint64_t *size, struct error *err);

#endif
