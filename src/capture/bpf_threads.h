/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the room: the BPF object for processes that are seen as threads, loaded and attached. */
#ifndef GOTRACE_CAPTURE_BPF_THREADS_H
#define GOTRACE_CAPTURE_BPF_THREADS_H

#include "capture/bpf.h"
#include "capture/native_tables.h"

struct bpf_threads_options {
	const struct features *features;
	uint32_t tgid; /* as /proc has it */
	bool spawned;  /* looked at from the moment on at which it has become another program */
	bool children; /* its descendants are looked at, too */
	bool syscalls;
	struct native_tables *tables; /* not owned; get room in the object, and their place in it */
	bool functions, samples;      /* their programs are wanted */
	uint32_t ring_bytes;          /* of all rings; 0 = default */
	unsigned rings;               /* at most; 0 = as many as the machine needs */
};

int bpf_load_threads(struct bpf *bpf, const struct bpf_threads_options *options, struct error *err);
/* What a hit costs, ns; 0 = it cannot be measured. */
uint64_t bpf_calibrate_threads(const struct bpf *bpf);
/* After that: whether types from a file (--btf) are this kernel's. -EINVAL. */
int bpf_check_types(const struct bpf *bpf, const struct features *features, struct error *err);
/* Programs on the tracepoints, and the marker on its function. From here on there are records. */
int bpf_attach_threads(struct bpf *bpf, const struct bpf_threads_options *options, struct error *err);
/*
 * Reads all threads of a process, as the kernel has them now; tgid = 0: of all that are looked at. *found is
 * the caller's to free. Returns their number (0: the process is gone), or a negative errno.
 */
int bpf_list_threads(const struct bpf *bpf, uint32_t tgid, struct raw_thread **found, struct error *err);
/* Looks at this process, too, and at those that it forks from now on. Returns 1 if it was not looked at yet,
 * 0, or -E2BIG: there are too many. */
int bpf_follow(const struct bpf *bpf, uint32_t tgid);
/* Whether any process that is looked at still lives. */
bool bpf_someone_lives(const struct bpf *bpf);
void bpf_cut_stacks(struct bpf *bpf, uint32_t most_frames); /* 0 = as many as there is room for */
/* Programs on system calls, or none. */
int bpf_see_calls(struct bpf *bpf, bool on, struct error *err);
/* Of one process, not of several: looks at it, or at nothing. */
void bpf_see(struct bpf *bpf, uint32_t tgid);
void bpf_see_nobody(struct bpf *bpf);
void bpf_unload_threads(struct bpf *bpf);

#endif
