/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A file that gotrace writes. It is newly created, never reached through a link, and accessible to its owner
 * only. At any time it holds complete generations up to the last commit, so that it can be used even if
 * gotrace dies.
 */
#ifndef GOTRACE_PIPELINE_OUTPUT_H
#define GOTRACE_PIPELINE_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "pipeline/hidden.h"
#include "util/error.h"

struct output;

/* Names and removes a file that another process has opened. */
struct output_owner {
	int (*publish)(struct output *out, struct error *err);
	void (*discard)(struct output *out);
};

struct output {
	int fd;
	int dir;               /* its directory; -1 = it has none, or another process opened it */
	bool regular;          /* can be truncated and removed */
	bool borrowed;         /* standard output: must not be closed */
	bool hidden;           /* has no name, or `part`, until output_publish */
	bool linked;           /* output_publish has given it a name */
	char path[PATH_MAX];   /* its final name; "-" = standard output */
	char part[PART_BYTES]; /* pipeline/hidden.h */
	/*
	 * If not 0, the final name is gotrace-PID-UTCTIME.trace, with -2, -3 … appended if that exists. If 0,
	 * path is the final name, and an existing file is replaced.
	 */
	pid_t pid;
	time_t now; /* for UTCTIME */
	uint8_t *buffer;
	size_t used;
	uint64_t written;                 /* bytes passed to the kernel */
	uint64_t committed;               /* of these, bytes that will be kept */
	const struct output_owner *owner; /* NULL: this process names and removes it */
	void *owner_ctx;                  /* for owner */
	uint64_t number;                  /* for owner */
	int error;                        /* errno of the first failed write; 0 = none */
};

/* Sets the state that an output has before it is opened and after it is closed. */
void output_init(struct output *out);
/*
 * Opens FILE, "-" (standard output) or /dev/null. An existing regular file stays unchanged until
 * output_publish(). Links, directories, other devices and the like are refused.
 */
int output_open(struct output *out, const char *path, struct error *err);
/*
 * Creates a file in the directory `dir` (NULL: the current one). output_publish() names it
 * gotrace-PID-UTCTIME.trace, with -2, -3 … appended if that exists; path may change then. -ENOENT if there is
 * no such directory.
 */
int output_open_new(struct output *out, const char *dir, pid_t pid, time_t now, struct error *err);
/*
 * Opens an unnamed empty file for reading and writing in the same directory. Returns a descriptor or a
 * negative errno.
 */
int output_open_scratch(const struct output *out);
/*
 * Names such a file FILE.SUFFIX, and stores that in path. Returns 0 or a negative errno: -EEXIST, or -ENOENT
 * if the file system does not support unnamed files.
 */
int output_name_scratch(const struct output *out, int fd, const char *suffix, char path[PATH_MAX]);
/* Adopts a file that another process has opened. Takes ownership of fd. Returns 0 or -ENOMEM. */
int output_adopt(struct output *out, int fd, const char *path, bool regular, bool borrowed);
/*
 * Gives the file its name, replacing an existing file. Before that it has none, so a killed gotrace leaves
 * nothing.
 */
int output_publish(struct output *out, struct error *err);
/* Writes all n bytes, or returns a negative errno (-ENOSPC, -EPIPE …). ctx is a struct output. */
int output_write(void *ctx, const void *bytes, size_t n);
/* Flushes the buffer: all bytes so far will be kept. */
int output_commit(struct output *out);
/* Truncates the file to nothing, if it can be truncated. Returns 0 or a negative errno. */
int output_restart(struct output *out);
/*
 * After an error: truncates the file to the last commit, if it can be truncated. Returns 0 or a negative
 * errno.
 */
int output_cut(struct output *out);
/*
 * Returns the capabilities (1 << CAP_...) needed to name or remove the file: the file or its directory may
 * belong to another user.
 */
uint64_t output_capabilities(const struct output *out);
/* True if the file has been published and was removed since: what is in it is lost when it is closed. */
bool output_was_removed(const struct output *out);
/* Its name for messages. */
const char *output_name(const struct output *out);
/* What to do about a negative errno of writing, to follow its message: "; free some space, or ..."; "" = not
 * known. */
const char *output_advice(int code);
/* Closes the file. An error means that the last bytes may be lost. */
int output_close(struct output *out);
/* Closes the file, and removes it if it is a regular file. */
void output_discard(struct output *out);

#endif
