/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: attaches programs to their sites. All probes of one kind of site are attached and
 * removed together, so that a kind can be dropped while the others stay.
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

enum { MAX_ATTACHMENTS = MAX_PROBES + 16 }; /* plus tracepoints, and functions of gotrace itself */

/* One link in the kernel. */
struct attachment {
	struct bpf_link *link; /* made by libbpf; NULL: `fd` is the link */
	int fd;                /* a link made without libbpf */
	uint8_t site; /* enum site; SITE_SYS_ENTER and _EXIT are tracepoints; 0 for our own functions */
};

struct attachments {
	bool multi; /* uses uprobe_multi links; else perf events */
	struct attachment all[MAX_ATTACHMENTS];
	unsigned n;
	pthread_t dropper; /* detaches what was dropped last */
	struct attachment dropped[MAX_ATTACHMENTS];
	unsigned ndropped;
	/* Another thread may call attach_end(). Nothing is added after that. */
	pthread_mutex_t lock; /* protects all, n and ended */
	bool ended;
	pthread_t enders[MAX_ATTACHMENTS]; /* each detaches one link */
	unsigned nenders;
};

void attach_init(struct attachments *attachments);

/*
 * True if the kernel has uprobe_multi links that filter by process: Linux 6.10. From 6.6 on the kernel had
 * these links, but took the pid for a single thread's. They attach many probes at once, and are detached
 * without a grace period for each.
 */
bool attach_has_multi(void);
/* Returns the program for a site, NULL if there is none. */
struct bpf_program *attach_program(const struct bpf_object *object, uint8_t site);
/* Marks the program to be loaded, for the kind of link that will be used. Does nothing if it is NULL. */
void attach_choose(const struct attachments *attachments, struct bpf_program *program);

/* Attaches all probes of the plan with this site. If `program` is not NULL, attaches that instead of the
 * site's own. Returns 0 or a negative errno. */
int attach_site(struct attachments *attachments, struct bpf_object *object, pid_t pid, const char *exe,
		const struct probe_plan *plan, uint8_t site, const char *program, struct error *err);

/* Probe points of one site in a file, each with an attach cookie for the program. */
struct attach_places {
	uint8_t site;
	const char *path, *name; /* name: used in errors */
	const uint64_t *offsets, *cookies;
	unsigned n;
};
int attach_places(struct attachments *attachments, const struct bpf_object *object, pid_t pid,
		  const struct attach_places *places, struct error *err);
/* Attaches a program to the tracepoint that its section names, and then its backup if that was loaded
 * (bpf/recursion_backup.bpf.h). site: identifies them to attach_drop_sites(), or 0. */
int attach_traced(struct attachments *attachments, const struct bpf_object *object,
		  const struct bpf_program *program, uint8_t site, struct error *err);
int attach_tracepoint(struct attachments *attachments, struct bpf_object *object, uint8_t site,
		      struct error *err);
/* True if the program is a backup. */
bool attach_is_backup(const struct bpf_program *program);
/* Attaches a program to a function of gotrace itself, or to one of its instructions with a cookie. */
int attach_self(struct attachments *attachments, struct bpf_object *object, const char *program,
		const void *function, struct error *err);
int attach_self_at(struct attachments *attachments, struct bpf_object *object, const char *program,
		   const void *code, uint64_t cookie, struct error *err);
bool attach_is_on(const struct attachments *attachments, uint8_t site);
/* Removes the probes of these sites. Does not wait for the kernel, but waits for the previous drop to
 * finish. */
void attach_drop_sites(struct attachments *attachments, const bool sites[UINT8_MAX + 1]);
/* Starts to remove all probes, each in a thread of its own, without waiting: breakpoints go away at once,
 * while detaching in the kernel waits for a grace period. Later attempts to attach fail with -ECANCELED. */
void attach_end(struct attachments *attachments);
void attach_none(struct attachments *attachments); /* the same, but waits */

#endif
