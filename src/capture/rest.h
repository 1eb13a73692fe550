/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module, and pure: how long the draining thread rests between two rounds. */
#ifndef GOTRACE_CAPTURE_REST_H
#define GOTRACE_CAPTURE_REST_H

#include <stdbool.h>
#include <stdint.h>

/* What the last round showed. */
struct rest_input {
	uint64_t cpu_ns;     /* CPU time that the round took */
	uint64_t arrival_ns; /* from the round before to this one: in it arrived what it read */
	uint64_t busy_ns;    /* the longest rest while records arrive */
	uint64_t
		idle_ns; /* rest if nothing arrives, and the longest: the rings hold what arrives meanwhile */
	double fill;     /* of the fullest ring, at the end of the round: 0 to 1 */
	double rate;     /* at which the fastest ring fills: rings per second */
	bool busy;       /* it read something */
	bool is_often;   /* rounds look at more than the rings, and so are as frequent as they can be */
	bool held;       /* it left records in the rings, because the outlet is full */
};

/*
 * Returns the rest in ns. It is at least as long as the CPU time of the round, so that others get as much as
 * draining takes, unless a ring would fill up meanwhile: then it is as long as the ring has space, down to 0.
 */
uint64_t rest_ns(const struct rest_input *input);

#endif
