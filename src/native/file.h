/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One file of native code: from addresses in it to names, by whatever it and its debug files have. */
#ifndef GOTRACE_NATIVE_FILE_H
#define GOTRACE_NATIVE_FILE_H

#include "native/debug.h"
#include "native/text.h"

struct native_file;

struct native_source {
	int fd;            /* of the file; taken over. -1: in memory, or it could not be opened */
	const void *bytes; /* if fd is -1: a copy is made; NULL = nothing is known but the path */
	size_t size;
	const char *path; /* as the target sees it; copied */
};

/* Opens nothing yet but what it is given. NULL when out of memory. */
struct native_file *native_file_new(const struct native_source *source);
void native_file_free(struct native_file *file);

/* What is known of an address. */
enum native_found {
	NATIVE_NOTHING, /* a frame "libfoo.so.1+0x1234" was added: where the function begins, if that is known
			 */
	NATIVE_NAMED,
};

/*
 * Adds the frames of the instruction at an offset in the file, innermost
 * first; looks for the debug information when it is first asked. The hint is
 * set by what is known of this address alone. search->path is not used: it is the file's own.
 */
enum native_found native_file_frames(struct native_file *file, const struct native_search *search,
				     uint64_t offset, struct symbol_draft *draft);
/* By its name: libc, or a part of it that has the code in which threads start; or a program linked with it
 * statically. */
bool native_file_is_libc(const struct native_file *file);
bool native_file_is_libcxx(const struct native_file *file);

#endif
