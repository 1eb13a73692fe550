/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A record of a probe, with its pointers looked up. */
#ifndef GOTRACE_MODEL_PROBE_HIT_H
#define GOTRACE_MODEL_PROBE_HIT_H

#include "rawlog/rawlog.h"

struct probe_hit {
	const struct raw_record *rec;
	struct m *m; /* the thread that was hit */
	struct p *p; /* its P, or the P concerned; NULL if none, or unknown */
	uint32_t stack;
	const struct raw_text *text; /* the record with its texts; NULL: it has none */
	union {
		struct g *sampled; /* SITE_CPU_SAMPLE; NULL: unknown */
		struct g *created; /* SITE_NEWPROC */
	};
};

#endif
