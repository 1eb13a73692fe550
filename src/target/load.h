/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Reads executables: the privileged counterpart of image.h. */
#ifndef GOTRACE_TARGET_LOAD_H
#define GOTRACE_TARGET_LOAD_H

#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

/* Address space for one file: its size is not limited further, only what is read of it. */
#define LOAD_MAX_FILE (64ull << 30)

struct loaded {
	uint8_t *data; /* sparse copy of the file: parts that were not read are zero, and read-only */
	size_t size;
	int fd;          /* owned */
	uint64_t budget; /* bytes of segments that may still be read */
};

/*
 * Copies the parts of the file that image_parse() and its callers use: headers, and segments without code.
 * Because this is a copy, no other process can change or truncate the data while it is used. Code, which is
 * most of a program, is not read. Returns 0, -ENOEXEC, -EBADMSG, -EFBIG or another negative errno.
 */
int load_file(int fd, struct loaded *loaded, struct error *err);
/* Reads a function's code at this file offset. Returns 0 or a negative errno. */
int load_code(const struct loaded *loaded, uint64_t offset, uint64_t size);
/* Reads all segments with code. Returns 0 or a negative errno. */
int load_all_code(struct loaded *loaded);
/* Releases the memory of a range, which is then as if it had not been read. */
void load_drop(const struct loaded *loaded, uint64_t offset, uint64_t size);
void load_free(struct loaded *loaded);

#endif
