/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Reads of an executable file: the privileged half of image.h. */
#ifndef GOTRACE_TARGET_LOAD_H
#define GOTRACE_TARGET_LOAD_H

#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct loaded {
	uint8_t *data; /* the file, but only headers and loaded segments; the rest reads as zero */
	size_t size;
};

/*
 * Copies what image_parse and its readers look at, so that nobody can change
 * it, or cut the file short, under our hands. -ENOEXEC, -EBADMSG, -EFBIG or what reading gave.
 */
int load_file(int fd, struct loaded *loaded, struct error *err);
void load_free(struct loaded *loaded);

#endif
