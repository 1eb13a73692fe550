/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Files that gotrace reads. */
#ifndef GOTRACE_CLI_INPUT_H
#define GOTRACE_CLI_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"

/*
 * Opens a regular file; to write, it must be no symbolic link. Returns the
 * descriptor, and the size in *size (which may be NULL), or a negative errno.
 */
int input_open(const char *path, bool to_write, uint64_t *size, struct error *err);

#endif
