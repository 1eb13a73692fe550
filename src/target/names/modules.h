/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Opens the files that a process has mapped as code, and makes unwind rows of them. Files are opened through
 * the process: in its mount namespace, and even if they have been deleted.
 */
#ifndef GOTRACE_TARGET_NAMES_MODULES_H
#define GOTRACE_TARGET_NAMES_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "code/symbol/ehframe.h"
#include "target/maps.h"

/* Identifies a file and its version. */
struct module_key {
	uint64_t device, inode, size, changed; /* all 0 for the vDSO, which is the same in all processes */
};

/* Executable segments of a file: link addresses and file offsets. */
#define MODULE_SEGMENTS 8
struct module_segment {
	uint64_t offset, size, address;
};

/* A file's code. */
struct module_code {
	struct module_segment segments[MODULE_SEGMENTS];
	unsigned n;
	uint64_t base; /* link-time address that the rows are relative to: a multiple of UNWIND_PAGE */
	uint64_t size;
	struct ehframe_rows rows;
};

/* True if the mapping has code that may occur in stacks: all executable mappings but [vsyscall]. */
bool module_is_code(const struct proc_mapping *mapping);
/*
 * Opens the mapping's file and sets *key. Returns a descriptor, -ENOENT if the mapping has no file, or
 * another negative errno.
 */
int module_open(pid_t pid, const struct proc_mapping *mapping, struct module_key *key);
/*
 * Reads the file and makes its rows. Returns 0; -ENOEXEC if it is not a program for this machine; -EFBIG if
 * it needs too many rows; -ETIME if it needs too much CPU time; -EBADMSG or -ENOMEM.
 */
int module_read(int fd, struct module_code *code);
/* The same for a file's bytes. */
int module_read_bytes(const char *image, size_t size, struct module_code *code);
/* The same for a program for the given machine (EM_*). */
int module_read_image(const char *image, size_t size, uint16_t machine, struct module_code *code);
/* Reads the vDSO from the process's memory. The caller frees *image. Returns its size or a negative errno. */
ssize_t module_vdso(pid_t pid, const struct proc_mapping *mapping, char **image);
void module_free(struct module_code *code);

/*
 * Gets the load address minus the link address of the code in a mapping. Returns false if the file has no
 * code there.
 */
bool module_bias(const struct module_code *code, const struct proc_mapping *mapping, uint64_t *bias);

#endif
