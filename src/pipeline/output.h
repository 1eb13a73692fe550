/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A file that gotrace writes. It is freshly created, never reached through a
 * link, for its owner only, and at any time holds whole generations up to the
 * last commit, so that a gotrace that dies leaves a file of use.
 */
#ifndef GOTRACE_PIPELINE_OUTPUT_H
#define GOTRACE_PIPELINE_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "util/error.h"

struct output;

/* Who names and removes a file that another process has opened. */
struct output_keeping {
	int (*publish)(struct output *out, struct error *err);
	void (*discard)(struct output *out);
};

struct output {
	int fd;
	bool regular;         /* can be cut and removed */
	bool borrowed;        /* standard output: not ours to close */
	char path[PATH_MAX];  /* its name in the end; "-" = standard output */
	char draft[PATH_MAX]; /* its name until output_publish; "" = it has its own already */
	uint8_t *buffer;
	size_t used;
	uint64_t written;                     /* bytes handed to the kernel */
	uint64_t committed;                   /* of which stand, whatever comes */
	const struct output_keeping *keeping; /* NULL: it is ours */
	void *keeper;                         /* for keeping */
	uint64_t number;                      /* the same */
	int error;                            /* the first failure of a write, an errno; 0 = none */
};

/* What an output is before it is opened and after it is closed. */
void output_init(struct output *out);
/*
 * Opens FILE, "-" (standard output) or /dev/null. A regular file of that name
 * stays what it is until output_publish. Links, directories, devices and the
 * like are refused.
 */
int output_open(struct output *out, const char *path, struct error *err);
/* Creates gotrace-PID-UTCTIME.trace in the current directory; with -2, -3 … if there is one. */
int output_open_default(struct output *out, pid_t pid, time_t now, struct error *err);
/*
 * A new file in a directory, without a name until output_publish_new: whoever dies before leaves nothing.
 * File systems that have no such files get one with a name of its own, .gotrace-PID-N.part. -ENOENT if there
 * is no such directory.
 */
int output_open_unnamed(struct output *out, const char *dir, struct error *err);
/* Gives such a file its name, if nothing has that yet: else -EEXIST, and another one may be tried. */
int output_publish_new(struct output *out, const char *path, struct error *err);
/* One that another process has opened: fd is taken over. -ENOMEM. */
int output_adopt(struct output *out, int fd, const char *path, bool regular, bool borrowed);
/* Gives the file its name, in place of whatever had it. */
int output_publish(struct output *out, struct error *err);
/* Takes all n bytes, or returns a negative errno (-ENOSPC, -EPIPE …). ctx is a struct output. */
int output_write(void *ctx, const void *bytes, size_t n);
/* Writes out what is gathered: all bytes so far stand. */
int output_commit(struct output *out);
/* Back to an empty file, which can be cut: of output_open_unnamed. Returns 0 or a negative errno. */
int output_restart(struct output *out);
/* After a failure: back to the last commit, where the file can be cut. Returns 0 or a negative errno. */
int output_cut(struct output *out);
/* The capabilities (1 << CAP_...) that removing or naming the file takes: its directory may be another
 * user's. */
uint64_t output_capabilities(const struct output *out);
/* Its name for people. */
const char *output_name(const struct output *out);
/* Closes; an error here means that the last bytes may be lost. */
int output_close(struct output *out);
/* Closes, and removes the file if it is one. */
void output_discard(struct output *out);

#endif
