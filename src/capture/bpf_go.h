/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the BPF object for Go programs. */
#ifndef GOTRACE_CAPTURE_BPF_GO_H
#define GOTRACE_CAPTURE_BPF_GO_H

#include "capture/bpf.h"
#include "capture/state.h"

struct bpf_go_options {
	const struct features *features;
	const struct go_layout *layout;
	const struct alloc_layout *alloc_layout;
	unsigned go_minor;
	bool cgo;
	uint8_t park_skips[PARK_SKIPS];
	struct wait_text wait_texts[WAIT_TEXTS];
	uint32_t tgid;       /* in the initial pid namespace */
	bool inner_tids;     /* the process is in another pid namespace */
	uint32_t ring_bytes; /* total size of all rings, bytes; 0 = default */
	unsigned rings;      /* maximum number; 0 = chosen by the number of CPUs */
	bool syscalls;
	bool off_cpu, cpus;
	bool samples;
	bool probe_only; /* attach the empty program to every site */
	bool functions;  /* --region, --task: calls of the user's functions */
	bool requests;   /* --requests */
	unsigned values; /* number of value_rules of their probes */
	const struct probe_plan *plan;
	const struct plugin_set *plugins;
};

/* Opens and loads the object. Returns 0 or a negative errno. bpf_unload() releases it even after an error. */
int bpf_load_go(struct bpf *bpf, const struct bpf_go_options *options, struct error *err);
/*
 * Passes addresses in the target to the programs, once the target has been loaded into memory. Until then
 * there are no CPU samples, parks cannot be distinguished from yields (SITE_RESUME), and the purpose of
 * sweeps is unknown.
 */
void bpf_set_places(struct bpf *bpf, const struct go_places *places);

#endif
