/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The code that a process has mapped, and what of a file's code the tables of
 * stacks are made of. Files are opened as the process has them: in its own
 * mount namespace, and also when they are deleted.
 */
#ifndef GOTRACE_NATIVE_MODULES_H
#define GOTRACE_NATIVE_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbol/ehframe.h"
#include "target/maps.h"

/* What tells one file from another, also from the same one when it was written anew. */
struct module_key {
	uint64_t device, inode, size, changed; /* of the vDSO all 0: it is the same in all processes */
};

/* Executable segments of a file: where its code is linked, and where it is in the file. */
#define MODULE_SEGMENTS 8
struct module_segment {
	uint64_t offset, size, address;
};

/* A file's code. */
struct module_code {
	struct module_segment segments[MODULE_SEGMENTS];
	unsigned n;
	uint64_t base; /* link address that the rows count from: a multiple of UNWIND_PAGE */
	uint64_t size;
	struct ehframe_rows rows;
};

/* Whether the mapping has code that may be walked through: all but [vsyscall]. */
bool module_is_code(const struct mapping *mapping);
/* Opens the mapping's file. A descriptor, -ENOENT if it is no file's, or another negative errno. */
int module_open(pid_t pid, const struct mapping *mapping, struct module_key *key);
/* Reads the file and makes its rows. -ENOEXEC if it is no program that we know, -EBADMSG, -ENOMEM. */
int module_read(int fd, struct module_code *code);
/* The same of a file's bytes. */
int module_read_bytes(const char *image, size_t size, struct module_code *code);
/* The same of a program for a machine (EM_*) that need not be ours. */
int module_read_image(const char *image, size_t size, uint16_t machine, struct module_code *code);
/* The bytes of the vDSO, from the process's memory: *image is the caller's to free. Returns their number. */
ssize_t module_vdso(pid_t pid, const struct mapping *mapping, char **image);
void module_free(struct module_code *code);

/* Load address minus link address of the code in a mapping; false if the file has no code there. */
bool module_bias(const struct module_code *code, const struct mapping *mapping, uint64_t *bias);

#endif
