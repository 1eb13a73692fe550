/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What this kernel has, and what whoever guards it lets us do: tried wherever it can be tried, for
 * distributions carry features back and forbid others. What lacks is replaced by something else, or is told
 * in one line, the same for `gotrace doctor` and for a trace that cannot be made.
 */
#ifndef GOTRACE_CAPTURE_FEATURES_H
#define GOTRACE_CAPTURE_FEATURES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/error.h"

enum feature_state {
	FEATURE_HERE,     /* or not needed */
	FEATURE_REPLACED, /* by something else, which costs something */
	FEATURE_MISSING,
};

/* What cannot be traced when a feature is missing. */
enum feature_need {
	NEED_GO = 1,        /* a Go program's goroutines */
	NEED_C = 2,         /* threads */
	NEED_SAMPLES = 4,   /* CPU samples; the rest can be traced: --no-cpu-samples */
	NEED_FUNCTIONS = 8, /* --region and --task */
	NEED_SYSCALLS = 16, /* of Go programs; the rest can be traced: --no-syscalls */
};

struct feature {
	const char *name;
	enum feature_state state;
	unsigned needs;  /* enum feature_need bits: what is not there without it */
	char found[160]; /* what this machine has */
	char cost[160];  /* what the lack costs; "" = nothing */
	char advice[192];
};

enum { MAX_FEATURES = 24 };

struct features {
	struct feature list[MAX_FEATURES];
	unsigned n;
	/* Which way to go. */
	bool bpf;             /* bpf(2) may be used */
	bool own_btf;         /* of the kernel that runs */
	bool tracing;         /* programs by the kernel's BTF: task iterators; else /proc */
	bool pointers;        /* plain loads of members, and tp_btf; else reads, and raw tracepoints */
	bool preempted_calls; /* so can be programs on system calls: a second one for each */
	bool exchange;        /* atomic exchange, and global functions that take memory */
	bool multi;           /* uprobe_multi links that filter by process; else perf events */
	bool uprobes;         /* one of both */
	bool cookies;
	const char *
		btf; /* a file to read types from instead; NULL = the kernel's own, by libbpf. The caller's */
};

struct features_options {
	const char *root; /* of /proc and /sys, without a slash at the end: "" but in tests */
	const char *btf;  /* NULL = none; must outlive the features */
	bool thorough;    /* tries what a trace finds out by itself, too (tens of ms) */
};

/* Tries everything, in the order in which it is told. Leaves nothing behind. */
void features_probe(struct features *features, const struct features_options *options);
/* The first that is missing and is needed for this, or NULL. */
const struct feature *features_lack(const struct features *features, unsigned needs);
/* Its line: "name: what was found; what it costs; what to do". */
struct feature_line {
	char text[640];
};
struct feature_line features_line(const struct feature *feature);
const char *features_state_name(enum feature_state state);

/* Whether members of this program's process can be read: /proc/PID is shown, and process_vm_readv(2) is
 * allowed. 0, or the line that tells why not. */
int features_check_target(const char *root, pid_t pid, struct error *err);

#endif
