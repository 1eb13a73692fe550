/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Detects what this kernel supports and permits. Features are tested by use wherever possible, because
 * distributions backport some and forbid others. A missing feature is replaced by another, or reported in one
 * line, which is the same in `gotrace doctor` and when a trace cannot be made.
 */
#ifndef GOTRACE_CAPTURE_FEATURES_H
#define GOTRACE_CAPTURE_FEATURES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/error.h"

enum feature_state {
	FEATURE_AVAILABLE, /* available, or not needed */
	FEATURE_REPLACED,  /* by something else, at some cost */
	FEATURE_MISSING,
};

/* Kinds of tracing that need a feature. */
enum feature_need {
	NEED_GO = 1,        /* a Go program's goroutines */
	NEED_C = 2,         /* threads */
	NEED_SAMPLES = 4,   /* CPU samples; the rest works with --cpu-samples=0 */
	NEED_FUNCTIONS = 8, /* --region and --task */
	NEED_SYSCALLS = 16, /* of Go programs; the rest works with --no-syscalls */
};

struct feature {
	const char *name;
	enum feature_state state;
	unsigned needs;  /* enum feature_need bits: what is impossible without it */
	char found[160]; /* what this machine has */
	char cost[160];  /* cost of its absence; "" = none */
	char advice[192];
};

enum { MAX_FEATURES = 32 };

struct features {
	struct feature list[MAX_FEATURES];
	unsigned n;
	/* Choices that follow from the features. */
	bool bpf;             /* bpf(2) may be used */
	bool own_btf;         /* the running kernel has BTF */
	bool tracing;         /* tracing programs with the kernel's BTF: task iterators; else /proc */
	bool pointers;        /* direct loads of members, and tp_btf; else helper reads, raw tracepoints */
	bool preempted_calls; /* system call programs can be preempted: each has a backup */
	bool exchange;        /* atomic exchange, and global functions with pointers to memory */
	bool multi;           /* uprobe_multi links that filter by process; else perf events */
	bool cookies;
	bool perf_restricted; /* any perf event needs CAP_SYS_ADMIN */
	bool register_writes; /* uprobe programs may write registers: they emulate a `ret` themselves */
	bool shadow_stacks;   /* threads of the target may use shadow stacks */
	/* File to read types from, owned by the caller; NULL = libbpf reads the kernel's own BTF. */
	const char *btf;
};

struct features_options {
	const char *root; /* prefix for /proc and /sys, without trailing slash; "" except in tests */
	const char *btf;  /* NULL = none; must outlive the features */
	bool thorough;    /* also tests what a trace would find out by itself (takes tens of ms) */
};

/* Tests all features, in the order of the report. Has no lasting effects. */
void features_probe(struct features *features, const struct features_options *options);
/* Returns the first missing feature that is needed for any of `needs` (enum feature_need bits), or NULL. */
const struct feature *features_find_missing(const struct features *features, unsigned needs);
/* Formats a feature as "name: what was found; what it costs; what to do". */
struct feature_line {
	char text[640];
};
struct feature_line features_line(const struct feature *feature);
const char *features_state_name(enum feature_state state);

/* Checks that a process can be read: /proc shows it, and process_vm_readv(2) is allowed. Returns 0, or a
 * negative errno with the reason in *err. */
int features_check_target(const char *root, pid_t pid, struct error *err);

/* --- for the probes: capture/features_probes.h --- */

/* Adds an entry to be filled in. Its state is FEATURE_AVAILABLE until it is set. Never returns NULL. */
struct feature *feature_add(struct features *features, const char *name);
void feature_available(struct feature *feature, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void feature_replaced(struct feature *feature, const char *found, const char *cost, const char *advice);
void feature_missing(struct feature *feature, unsigned needs, const char *found, const char *cost,
		     const char *advice);

/* Reads the first line of a file below root. Returns false if there is none. */
bool feature_read(const char *root, const char *path, char *text, size_t size);
/* Returns true if this process has a capability (linux/capability.h), according to root/proc/self/status. */
bool feature_capable(const char *root, unsigned bit);
/* Explains why a system call may have failed with this errno: a missing capability, a seccomp filter, ... */
void feature_why_refused(const char *root, int error, const char *capabilities, char *text, size_t size);

#endif
