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
	struct bpf_object *object;       /* belongs to one of these skeletons: */
	struct gotrace_bpf *skeleton;    /* programs for Go, or NULL */
	struct threads_bpf *threads;     /* programs for threads, or NULL */
	void (*destroy)(struct bpf *);   /* destroys the skeleton; NULL: there is none */
	volatile struct lease *lease;    /* in the programs' memory; NULL: they have none */
	struct attachments attachments;
	/* The sched_switch program for this kernel in the programs for Go, or NULL. */
	struct bpf_program *off_cpu;
	bool threads_by_proc; /* threads are listed from /proc */
	unsigned cpus;        /* number of possible CPUs: length of a per-CPU value */
	struct rings_plan rings;
	int ring_fds[MAX_RINGS]; /* has rings.count elements */
	unsigned rings_made;     /* rings created and closed here; a single ring belongs to the object */
};

/* Initializes *bpf from a newly opened object, and chooses how to attach its programs. */
void bpf_begin(struct bpf *bpf, struct bpf_object *object, const struct features *features);
/* Variables of the programs (bpf/ring.bpf.h), constants once they are loaded. */
struct ring_constants {
	uint32_t *count, *shift;
	uint64_t *wake_at;
};

#define RING_CONSTANTS(rodata)                                                                               \
	(struct ring_constants)                                                                              \
	{                                                                                                    \
		(uint32_t *)&(rodata)->ring_count, (uint32_t *)&(rodata)->ring_shift,                        \
			(uint64_t *)&(rodata)->ring_wake_at                                                  \
	}

/* Chooses the rings, before the object is loaded. */
void bpf_plan_rings(struct bpf *bpf, uint32_t bytes, unsigned rings, const struct ring_constants *constants);
/* Creates the rings. Call it once the object is loaded. Returns 0 or a negative errno. */
int bpf_make_rings(struct bpf *bpf, struct error *err);
/* Sums each counter over all CPUs. Returns 0 or -ENOMEM. */
int bpf_read_counters(const struct bpf *bpf, uint64_t counts[COUNTERS]);
/* Returns the number of hits for which the kernel ran neither the first program nor its backup. For system
 * calls this is an upper bound, because the kernel's count includes other processes. */
uint64_t bpf_read_missed(const struct bpf *bpf);
/* Makes the programs send each stack again on its next use. Returns 0 or a negative errno; on error, some
 * stacks are not sent again. */
int bpf_forget_stacks(const struct bpf *bpf);
void bpf_unload(struct bpf *bpf);

/*
 * Opens a task iterator over the threads of one process, or over all tasks if tgid is 0 or the kernel is
 * older than 6.1. Returns a file descriptor to read, or a negative errno (-ESRCH: the process has ended). The
 * caller destroys *link, which may be NULL.
 */
int bpf_iterate_tasks(const struct bpf_program *program, uint32_t tgid, struct bpf_link **link);

/* --- libbpf_log.c: captures the details of errors, which libbpf only prints --- */

/* Keeps libbpf from printing anything from now on. */
void libbpf_log_capture(void);
/* Returns libbpf's last warning in this thread as one line, "" if there was none. */
const char *libbpf_log_last(void);

#endif
