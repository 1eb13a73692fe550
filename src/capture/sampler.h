/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the room: the clocks that CPU samples come from, one a CPU. The
 * kernel's alternative, clocks that follow the threads, would be started and
 * stopped at each of their switches, which is what a Go program does most.
 */
#ifndef GOTRACE_CAPTURE_SAMPLER_H
#define GOTRACE_CAPTURE_SAMPLER_H

#include <stdbool.h>

#include "util/error.h"

struct bpf;

struct sampler {
	struct bpf_link **links; /* by libbpf, which also own the events; NULL = none */
	int *events;
	unsigned n;
};

/* Clocks on all CPUs that are online, not running yet. hz: 1 to 10,000. */
int sampler_open(struct sampler *sampler, const struct bpf *bpf, unsigned hz, struct error *err);
void sampler_switch(const struct sampler *sampler, bool on);
void sampler_close(struct sampler *sampler);

#endif
