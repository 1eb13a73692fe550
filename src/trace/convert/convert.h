/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Converts a trace file of any format to generations of ops, like those of a live process. The encoders can
 * write them in any format.
 */
#ifndef GOTRACE_TRACE_CONVERT_CONVERT_H
#define GOTRACE_TRACE_CONVERT_CONVERT_H

#include <stddef.h>
#include <stdint.h>

#include "trace/ops/op.h"
#include "code/symbol/symbol.h"
#include "util/error.h"

/*
 * `generation` accepts one complete generation. It returns 0, or a negative errno that ends the conversion.
 * The sink reports its own errors.
 */
struct convert_sink {
	int (*generation)(void *ctx, const struct generation *gen);
	void *ctx;
	/*
	 * Keep the times that Go's readers report, without the distances that encoders need (op_earliest).
	 * The arg of a status in the first generation is then its time in the file.
	 */
	bool source_times;
	/*
	 * If not NULL, generations are passed on before the rest of the file is checked, which saves reading
	 * the file twice. If a fault follows, restart is called: it discards all generations taken, and the
	 * ones before the fault are passed again. It returns 0 or a negative errno.
	 */
	int (*restart)(void *ctx);
};

struct convert_result {
	unsigned version;     /* of the file: enum wire_format */
	uint64_t generations; /* passed to the sink */
	uint64_t ops;         /* passed to the sink; `kinds` counts them by kind */
	uint64_t kinds[OP_KIND_COUNT];
	uint64_t no_ops;       /* events without an op: single heap objects */
	uint64_t nameless;     /* stacks of addresses without names */
	uint64_t skipped;      /* events whose goroutine, P or thread is unknown */
	uint64_t error_offset; /* offset in the file of the fault that ended the conversion */
	struct error fault;    /* "" if the whole file was read */
};

/*
 * Reads n bytes and passes their generations to the sink. Frames in files of Go 1.5, 1.6 and v0 are
 * addresses. names, if not NULL, is the program's function table at link-time addresses; it is not owned.
 * Returns 0; -EBADMSG if the file has a fault (result->fault), after passing on the generations before it;
 * another negative errno with *err set; or the sink's error.
 */
int convert_trace(const uint8_t *bytes, size_t n, const struct functab *names,
		  const struct convert_sink *sink, struct convert_result *result, struct error *err);

#endif
