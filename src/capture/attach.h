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

#include "capture/node.h"
#include "target/target.h"
#include "util/error.h"

struct bpf_link;
struct bpf_object;
struct bpf_program;

enum { MAX_ATTACHMENTS = 2 * MAX_PROBES + 16 }; /* of plugins, too; plus tracepoints, and our own functions */

/* One link in the kernel. */
struct attachment {
	struct bpf_link *link; /* made by libbpf; NULL: `fd` is the link */
	int fd;                /* a link made without libbpf */
	bool in_slot;          /* `fd` is a map of the node, which has the program; not owned */
	uint8_t site; /* enum site; SITE_SYS_ENTER and _EXIT are tracepoints; 0 for our own functions */
};

struct attachments {
	bool multi; /* uses uprobe_multi links; else perf events */
	const struct node_slot
		*node; /* has tracepoints of system calls and switches; NULL = they are attached here */
	struct attachment all[MAX_ATTACHMENTS];
	unsigned n;
	pthread_t dropper; /* detaches the links in `dropped` */
	struct attachment dropped[MAX_ATTACHMENTS];
	unsigned ndropped;
	/* Another thread may call attach_end(). Nothing is added after that. */
	pthread_mutex_t lock; /* protects all, n and ended */
	bool ended;
	pthread_t detachers[MAX_ATTACHMENTS]; /* each detaches one link */
	unsigned ndetachers;
};

void attach_init(struct attachments *attachments);

/*
 * Returns whether the kernel has uprobe_multi links that filter by process (Linux 6.10). Linux 6.6 introduced
 * these links, but matched the pid against a single thread. One link attaches many probes, and they are
 * detached without a grace period for each.
 */
bool attach_has_multi(void);
/* Returns the program for a site, or NULL if there is none. */
struct bpf_program *attach_program(const struct bpf_object *object, uint8_t site);
/* The same for probes in inlined copies of the site's function. */
struct bpf_program *attach_copy_program(const struct bpf_object *object, uint8_t site);
/* Marks the program for loading with the kind of link in use. Does nothing if it is NULL. */
void attach_choose(const struct attachments *attachments, struct bpf_program *program);

/* Attaches all probes of the plan with this site. A non-NULL `program` replaces the site's own program.
 * Returns 0 or a negative errno. */
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
/* Attaches a program to the tracepoint that its section names, then its backup if one was loaded
 * (bpf/recursion_backup.bpf.h). site: identifies both to attach_drop_sites(), or 0. */
int attach_traced(struct attachments *attachments, const struct bpf_object *object,
		  const struct bpf_program *program, uint8_t site, struct error *err);
/* From here on, the programs at the tracepoints of system calls and switches are those of a node's slot.
 * slot: not owned; NULL = it is no recorder of a node. tgid: of the process, in the initial pid namespace.
 * Returns 0 or a negative errno. */
int attach_by_node(struct attachments *attachments, const struct node_slot *slot, uint32_t tgid,
		   struct error *err);
int attach_tracepoint(struct attachments *attachments, struct bpf_object *object, uint8_t site,
		      struct error *err);
/* Returns true if the program is a backup. */
bool attach_is_backup(const struct bpf_program *program);
/* attach_self() attaches a program to a function of gotrace itself; attach_self_at() attaches it to one
 * instruction, with a cookie. */
int attach_self(struct attachments *attachments, struct bpf_object *object, const char *program,
		const void *function, struct error *err);
int attach_self_at(struct attachments *attachments, struct bpf_object *object, const char *program,
		   const void *code, uint64_t cookie, struct error *err);
bool attach_is_on(const struct attachments *attachments, uint8_t site);
/* Removes the probes of these sites. Waits for the previous drop to finish, but not for the kernel. */
void attach_drop_sites(struct attachments *attachments, const bool sites[UINT8_MAX + 1]);
/* Starts removing all probes, each link in a thread of its own, and does not wait: breakpoints disappear at
 * once, but detaching takes a grace period. Later attempts to attach fail with -ECANCELED. */
void attach_end(struct attachments *attachments);
void attach_none(struct attachments *attachments); /* attach_end(), then waits until all are detached */

#endif
