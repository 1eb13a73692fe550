/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A file of native code: maps addresses in it to names, using the file and its debug files. */
#ifndef GOTRACE_CODE_ELF_FILE_H
#define GOTRACE_CODE_ELF_FILE_H

#include "code/elf/debug.h"
#include "code/elf/text.h"

struct native_file;

struct native_source {
	int fd;            /* of the file; ownership is taken. -1: in memory, or could not be opened */
	const void *bytes; /* if fd is -1: copied; NULL = only the path is known */
	size_t size;
	const char *path; /* as the target sees it; copied */
};

/* Opens nothing yet. Returns NULL if out of memory. */
struct native_file *native_file_new(const struct native_source *source);
void native_file_free(struct native_file *file);

/* How an address was resolved. */
enum native_found {
	NATIVE_NOTHING, /* a frame "libfoo.so.1+0x1234" was added, at the function's start if that is known */
	NATIVE_NAMED,
};

/*
 * Adds the frames of the instruction at an offset in the file, innermost first. The first call opens the file
 * and looks for debug information. Sets the hint from this address alone. Ignores search->path, because the
 * file has its own.
 */
enum native_found native_file_frames(struct native_file *file, const struct native_search *search,
				     uint64_t offset, struct symbol_draft *draft);
/*
 * True if the file's name is that of libc, or of the part of libc in which threads start, or if the file is a
 * program statically linked with libc.
 */
bool native_file_is_libc(const struct native_file *file);
bool native_file_is_libcxx(const struct native_file *file);

#endif
