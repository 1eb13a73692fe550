/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From the bytes of a trace file of any format to generations of ops, the same
 * that the model makes of a live process; the encoders make any format of them.
 */
#ifndef GOTRACE_CONVERT_H
#define GOTRACE_CONVERT_H

#include <stddef.h>
#include <stdint.h>

#include "model/op.h"
#include "symbol/symbol.h"
#include "util/error.h"

/* Takes one generation, whole. 0, or a negative errno that ends the conversion, with its own error told. */
struct convert_sink {
	int (*generation)(void *ctx, const struct generation *gen);
	void *ctx;
};

struct convert_result {
	unsigned version;     /* of the file: enum wire_format */
	uint64_t generations; /* handed on */
	uint64_t ops;         /* handed on, by kind below */
	uint64_t kinds[OP_KIND_COUNT];
	uint64_t no_ops;       /* events that ops do not know: single objects of the heap */
	uint64_t nameless;     /* stacks of addresses whose names are not known */
	uint64_t no_place;     /* events that nothing is known to have run at: no goroutine, P or thread */
	uint64_t error_offset; /* in the file, of the fault that ended it early */
	struct error fault;    /* "" if the file was read to its end */
};

/*
 * Reads n bytes and hands their generations on. Files of Go 1.5, 1.6 and v0
 * have addresses for frames: names, if not NULL, is the function table of the
 * program at its link-time addresses; not owned. 0; -EBADMSG if the file has a
 * fault (result->fault), after the generations before it; or another error
 * with err set, that of the sink as it is.
 */
int convert_trace(const uint8_t *bytes, size_t n, const struct functab *names,
		  const struct convert_sink *sink, struct convert_result *result, struct error *err);
/* Whether a file of that header has addresses without names. */
bool convert_needs_names(const uint8_t *bytes, size_t n);

#endif
