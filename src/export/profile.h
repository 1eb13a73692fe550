/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Time by stack and by what the goroutine was doing, for pprof, folded stacks and flame graphs. Memory is
 * bounded by distinct stacks and labels, not by events.
 */
#ifndef GOTRACE_EXPORT_PROFILE_H
#define GOTRACE_EXPORT_PROFILE_H

#include "export/export.h"
#include "export/stacktab.h"
#include "export/timeline.h"
#include "util/map64.h"

/* What a sample has besides its stack. String ids of the stacktab; 0 = none. */
struct profile_labels {
	uint32_t function; /* of the goroutine */
	uint32_t task, region;
	uint32_t state; /* only in wall: "running", or why it does not run */
	uint32_t set;   /* pprof labels as text (trace/ops/labels.h); only if wants_sets */
};

struct profile_sample {
	uint32_t stack, labels; /* id of the stacktab; index in labels */
	uint64_t count, ns;
};

struct profile {
	enum profile_kind kind;
	struct profile_sample *samples;
	size_t n, capacity;
	struct map64 by_key;
};

struct profile_annotation; /* a region that a goroutine is in */
struct profile_life;       /* the pprof labels of a goroutine */

/* Several profiles of one trace, made in one pass. */
struct profiles {
	const struct census *census;
	const struct tables *tables;
	struct stacktab st;
	struct profile *all;
	size_t n;
	struct profile_labels *labels; /* [0] = none */
	size_t nlabels, label_capacity;
	struct map64 pairs; /* two ids -> one id for both */
	uint32_t npairs;
	struct map64 label_of_pair;
	uint32_t *names; /* by serial: 1 + string id of the function's name */
	size_t name_capacity;
	struct profile_annotation *annotations; /* [0] = none */
	size_t nannotations, annotation_capacity;
	uint32_t unused_annotation;
	uint32_t *innermost; /* by serial: index in annotations */
	size_t innermost_capacity;
	struct map64 task_names; /* task -> string id */
	bool wants_sets;
	struct profile_life *lives; /* by serial, if wants_sets */
	size_t life_capacity;
	uint64_t start, end;
};

/* kinds: n of them, each once. Fills in the visitor, but its ctx must be ps. Returns 0 or -ENOMEM. */
int profiles_init(struct profiles *ps, const struct census *census, const enum profile_kind *kinds, size_t n,
		  struct tl_visitor *visitor);
void profiles_free(struct profiles *ps);

#endif
