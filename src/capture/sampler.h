/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: the clocks that drive CPU samples, one per CPU. The alternative, per-thread clocks,
 * would be started and stopped at each context switch, which is what a Go program does most.
 */
#ifndef GOTRACE_CAPTURE_SAMPLER_H
#define GOTRACE_CAPTURE_SAMPLER_H

#include <stdbool.h>

#include "util/error.h"

struct bpf;

struct sampler {
	struct bpf_link **links; /* made by libbpf, which also owns the events; NULL = none */
	int *events;
	unsigned n;
};

/* Opens clocks on all online CPUs, not running yet. hz: 1 to 10,000. Returns 0 or a negative errno. */
int sampler_open(struct sampler *sampler, const struct bpf *bpf, unsigned hz, struct error *err);
void sampler_switch(const struct sampler *sampler, bool on);
void sampler_close(struct sampler *sampler);

#endif
