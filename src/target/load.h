/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Reads of an executable file: the privileged half of image.h. */
#ifndef GOTRACE_TARGET_LOAD_H
#define GOTRACE_TARGET_LOAD_H

#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct loaded {
	uint8_t *data; /* the file, but only what was read of it; the rest reads as zero */
	size_t size;
	int fd;          /* our own */
	uint64_t budget; /* bytes that may still be read in segments */
};

/*
 * Copies what image_parse and its readers look at, so that nobody can change
 * it, or cut the file short, under our hands: headers and segments, but for
 * code, most of what a program is. -ENOEXEC, -EBADMSG, -EFBIG or what reading gave.
 */
int load_file(int fd, struct loaded *loaded, struct error *err);
/* A function's code, at its file offset. 0 or a negative errno. */
int load_code(const struct loaded *loaded, uint64_t offset, uint64_t size);
/* The segments with code in whole. 0 or a negative errno. */
int load_all_code(struct loaded *loaded);
/* Gives the memory of a range back: it reads as zero from here on. */
void load_drop(const struct loaded *loaded, uint64_t offset, uint64_t size);
void load_free(struct loaded *loaded);

#endif
