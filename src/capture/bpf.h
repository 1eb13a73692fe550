/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the room: the BPF object, loaded and attached. */
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
struct gotrace_bpf;
struct threads_bpf;

struct bpf {
	const struct features *features; /* not owned */
	uint32_t outer_tgid;             /* the process, in the initial pid namespace */
	struct bpf_object *object;       /* of one of these: */
	struct gotrace_bpf *skeleton;    /* Go's programs, or NULL */
	struct threads_bpf *threads;     /* those of threads, or NULL */
	struct attachments attachments;
	bool threads_by_proc; /* lists of threads come from /proc */
	unsigned cpus;        /* possible CPUs: size of a per-CPU value */
	struct rings_plan rings;
	int ring_fds[MAX_RINGS]; /* rings.count of them */
	unsigned rings_made;     /* of these: ours to close; a single ring is the object's */
};

struct bpf_options {
	const struct features *features;
	const struct go_layout *layout;
	const struct alloc_layout *alloc_layout;
	unsigned go_minor;
	bool cgo;
	uint8_t park_skips[PARK_SKIPS];
	struct wait_text wait_texts[WAIT_TEXTS];
	uint32_t tgid;       /* in the initial pid namespace */
	bool inner_tids;     /* the process is in another one */
	uint32_t ring_bytes; /* of all rings; 0 = default */
	unsigned rings;      /* at most; 0 = as many as the machine needs */
	bool syscalls;
	bool samples;
	bool probe_only; /* the program that does nothing on every site */
	bool functions;  /* --region, --task: calls of the user's functions */
	const struct probe_plan *plan;
};

/* Indices as in bpf/base.bpf.h, enum loss. */
enum {
	BPF_LOSS_RING_FULL,
	BPF_LOSS_STACK_FULL,
	BPF_LOSS_UNREADABLE,
	BPF_LOSS_SCRATCH_BUSY,
	BPF_LOSS_SAMPLE,
	BPF_HITS_SILENT, /* no loss: how many more hits there were than records */
	BPF_HITS_AGAIN,  /* no loss: hits that a second program made up for */
	BPF_LOSSES
};

/* What libbpf complains of is kept (bpf_last_warning), not printed. */
void bpf_keep_warnings(void);
int bpf_load(struct bpf *bpf, const struct bpf_options *options, struct error *err);
/* Before the object is loaded: how many rings there will be; *count and *shift are the programs'. */
void bpf_plan_rings(struct bpf *bpf, uint32_t bytes, unsigned rings, uint32_t *count, uint32_t *shift);
/* Once it is loaded. */
int bpf_make_rings(struct bpf *bpf, struct error *err);
/*
 * Where things are in the process, once it has its place in memory: until then there are no CPU samples, a
 * park is not known from a yield (SITE_SPAN), and no sweep is known for what it is.
 */
void bpf_tell_places(struct bpf *bpf, const struct go_places *places);
/* What libbpf last complained of; "" if nothing. */
const char *bpf_last_warning(void);
/* Adds up each loss over all CPUs. */
int bpf_read_losses(const struct bpf *bpf, uint64_t losses[BPF_LOSSES]);
/* Hits that the kernel did not run our programs for, neither a first nor a second one: of system calls at
 * most so many, for it counts other processes' as well. */
uint64_t bpf_read_missed(const struct bpf *bpf);
/* Every stack is sent anew at its next use. 0 or a negative errno: some are not. */
int bpf_forget_stacks(const struct bpf *bpf);
void bpf_unload(struct bpf *bpf);

#endif
