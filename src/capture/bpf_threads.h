/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the BPF object for processes traced as threads. Loads and attaches it. */
#ifndef GOTRACE_CAPTURE_BPF_THREADS_H
#define GOTRACE_CAPTURE_BPF_THREADS_H

#include "capture/bpf.h"
#include "capture/native_tables.h"

struct bpf_threads_options {
	const struct features *features;
	uint32_t tgid; /* as /proc shows it */
	bool spawned;  /* trace it only after it has exec'd */
	bool children; /* trace its descendants, too */
	bool syscalls;
	bool kernel_stacks;           /* stacks of waits include kernel frames */
	struct native_tables *tables; /* not owned; this module binds them to the object's maps */
	bool functions, samples;      /* load their programs */
	unsigned values;              /* number of value_rules of the functions' probes */
	uint32_t ring_bytes;          /* total size of all rings, bytes; 0 = default */
	unsigned rings;               /* maximum number; 0 = chosen by the number of CPUs */
};

int bpf_load_threads(struct bpf *bpf, const struct bpf_threads_options *options, struct error *err);
/* With probed tasks: finds where a thread's registers are, on gotrace's own thread. */
void bpf_find_regs(const struct bpf *bpf);
/* Checks that types from a file (--btf) are those of this kernel. Call it after bpf_find_regs().
 * Returns 0 or -EINVAL. */
int bpf_check_types(const struct bpf *bpf, const struct features *features, struct error *err);
/* Attaches the programs on functions of gotrace itself: the marker, and the lease renewal. */
int bpf_attach_own(struct bpf *bpf, struct error *err);
/* Attaches the programs on tracepoints. Records arrive from here on. */
int bpf_attach_threads(struct bpf *bpf, const struct bpf_threads_options *options, struct error *err);
/*
 * Lists the kernel's current threads of a process, or of all traced processes if tgid is 0. The caller frees
 * *found. Returns their number (0: the process is gone), or a negative errno.
 */
int bpf_list_threads(const struct bpf *bpf, uint32_t tgid, struct raw_thread **found, struct error *err);
/* Also traces this process, and the processes that it forks from now on. Returns 1 if it was not traced yet,
 * 0 if it was or has ended, or a negative errno (-E2BIG: too many processes). */
int bpf_follow(const struct bpf *bpf, uint32_t tgid);
/* Returns true if any traced process is still alive. */
bool bpf_has_live_process(const struct bpf *bpf);
/* While paused, newly forked processes are not followed. */
void bpf_pause_following(struct bpf *bpf, bool paused);
void bpf_cut_stacks(struct bpf *bpf, uint32_t most_frames); /* 0 = up to STACK_DEPTH */
/* Attaches or detaches the programs on system calls. */
int bpf_set_syscalls(struct bpf *bpf, bool on, struct error *err);
/* Traces this process instead of the previous one. Not for use with several processes. */
void bpf_trace_process(struct bpf *bpf, uint32_t tgid);
/* Lists at most `most` of the followed processes by their ids in /proc. Returns their number. */
unsigned bpf_followed(const struct bpf *bpf, pid_t *pids, unsigned most);
/* Discards the state of threads in system calls, which is outdated once exits have been missed. */
void bpf_forget_calls(const struct bpf *bpf);
void bpf_trace_nothing(struct bpf *bpf);
/* The same for several processes: while paused, only forks of processes and execs are recorded. */
void bpf_pause_tracing(struct bpf *bpf, bool paused);

#endif
