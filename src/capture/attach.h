/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the room: programs on their sites. All sites of one kind come and
 * go together, so that a kind can be dropped while the others go on.
 */
#ifndef GOTRACE_CAPTURE_ATTACH_H
#define GOTRACE_CAPTURE_ATTACH_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "target/target.h"
#include "util/error.h"

struct bpf_link;
struct bpf_object;
struct bpf_program;

enum { MAX_ATTACHMENTS = MAX_PROBES + 6 }; /* tracepoints, and functions of gotrace itself */

/* One link of the kernel's. */
struct attachment {
	struct bpf_link *link; /* libbpf's, or NULL: */
	int fd;                /* a link of our own */
	uint8_t site; /* enum site; SITE_SYS_ENTER and _EXIT are tracepoints; 0 for our own functions */
};

struct attachments {
	bool multi; /* by uprobe_multi links; else by perf events */
	bool old;   /* Go up to 1.16 has programs of its own: bpf/old.bpf.h */
	struct attachment all[MAX_ATTACHMENTS];
	unsigned n;
	pthread_t dropper; /* takes off what was dropped last */
	struct attachment dropped[MAX_ATTACHMENTS];
	unsigned ndropped;
};

/*
 * Whether the kernel has uprobe_multi links that filter by process: Linux 6.10
 * (from 6.6 on it had links that took the pid for one thread's). They attach
 * many probes at once, and are detached without a grace period for each.
 */
bool attach_has_multi(void);
/* The program that serves a site; NULL if there is none. */
struct bpf_program *attach_program(const struct bpf_object *object, const struct attachments *attachments,
				   uint8_t site);
/* To be loaded, as a program for the kind of links that will be used. NULL: nothing happens. */
void attach_choose(const struct attachments *attachments, struct bpf_program *program);

/* All probes of the plan with this site; with `program` not NULL, that one instead of the site's own. */
int attach_site(struct attachments *attachments, struct bpf_object *object, pid_t pid, const char *exe,
		const struct probe_plan *plan, uint8_t site, const char *program, struct error *err);

/* Places of one site in a file, each with a number of its own for the program (its attach cookie). */
struct attach_places {
	uint8_t site;
	const char *path, *name; /* name: for errors */
	const uint64_t *offsets, *cookies;
	unsigned n;
};
int attach_places(struct attachments *attachments, const struct bpf_object *object, pid_t pid,
		  const struct attach_places *places, struct error *err);
/* A program that knows by itself which tracepoint it is for, and the second one behind it, if that was loaded
 * (bpf/again.bpf.h); site: by which they can be taken off, or 0. */
int attach_traced(struct attachments *attachments, const struct bpf_object *object,
		  const struct bpf_program *program, uint8_t site, struct error *err);
int attach_tracepoint(struct attachments *attachments, struct bpf_object *object, uint8_t site,
		      struct error *err);
/* Whether a program is a second one. */
bool attach_is_second(const struct bpf_program *program);
/* A program on a function of gotrace itself. */
int attach_self(struct attachments *attachments, struct bpf_object *object, const char *program,
		const void *function, struct error *err);
bool attach_is_on(const struct attachments *attachments, uint8_t site);
/* Takes off what is on these sites. Does not wait for the kernel, but for the end of the drop before. */
void attach_drop_sites(struct attachments *attachments, const bool sites[UINT8_MAX + 1]);
void attach_none(struct attachments *attachments); /* takes off all, and waits */

#endif
