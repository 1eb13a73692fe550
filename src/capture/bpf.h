/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the BPF object, loaded and attached. */
#ifndef GOTRACE_CAPTURE_BPF_H
#define GOTRACE_CAPTURE_BPF_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/attach.h"
#include "capture/features.h"
#include "capture/rings.h"
#include "target/target.h"
#include "util/error.h"

struct bpf_object;
struct bpf_program;
struct gotrace_bpf;
struct threads_bpf;

struct bpf {
	const struct features *features; /* not owned */
	uint32_t outer_tgid;             /* tgid of the process in the initial pid namespace */
	struct bpf_object *object;       /* the object of one of these: */
	struct gotrace_bpf *skeleton;    /* programs for Go, or NULL */
	struct threads_bpf *threads;     /* programs for threads, or NULL */
	void (*destroy)(struct bpf *);   /* destroys the skeleton; NULL: there is none */
	volatile struct lease *lease;    /* in the programs' memory; NULL: they have none */
	struct attachments attachments;
	struct bpf_program
		*off_cpu;     /* of the programs for Go, the one for this kernel's sched_switch; or NULL */
	bool threads_by_proc; /* threads are listed from /proc */
	unsigned cpus;        /* possible CPUs: size of a per-CPU value */
	struct rings_plan rings;
	int ring_fds[MAX_RINGS]; /* has rings.count elements */
	unsigned rings_made;     /* how many of them we own and close; a single ring belongs to the object */
};

/* Initializes from an object that was just opened, and chooses how to attach its programs. */
void bpf_begin(struct bpf *bpf, struct bpf_object *object, const struct features *features);
/* Before the object is loaded: chooses how many rings there will be. *count and *shift are variables of the
 * programs. */
void bpf_plan_rings(struct bpf *bpf, uint32_t bytes, unsigned rings, uint32_t *count, uint32_t *shift);
/* Creates the rings once the object is loaded. */
int bpf_make_rings(struct bpf *bpf, struct error *err);
/* Sums each counter over all CPUs. */
int bpf_read_counters(const struct bpf *bpf, uint64_t counts[COUNTERS]);
/* The number of hits for which the kernel ran neither the first program nor its backup. For system calls this
 * is an upper bound, because the kernel's count includes other processes. */
uint64_t bpf_read_missed(const struct bpf *bpf);
/* Makes the programs send every stack again at its next use. Returns 0 or a negative errno, in which case
 * some are not sent again. */
int bpf_forget_stacks(const struct bpf *bpf);
void bpf_unload(struct bpf *bpf);

/*
 * Opens a task iterator over the threads of one process, or over all tasks if tgid is 0 or the kernel is
 * older than 6.1. Returns the descriptor to read, or -errno (-ESRCH: the process has ended). The caller
 * destroys *link, which is NULL if there is none.
 */
int bpf_iterate_tasks(const struct bpf_program *program, uint32_t tgid, struct bpf_link **link);

#endif
