/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the interface of each format to export.c. */
#ifndef GOTRACE_EXPORT_FORMAT_H
#define GOTRACE_EXPORT_FORMAT_H

#include "export/export.h"
#include "export/timeline.h"

struct export_writer {
	/*
	 * Fills in the visitor, except its ctx, which becomes the returned writer. Returns NULL on failure,
	 * and sets *err unless out of memory.
	 */
	void *(*open)(const struct export_options *options, const struct census *census,
		      struct tl_visitor *visitor, struct error *err);
	/* Called after timeline_finish(). Returns 0 or a negative errno. */
	int (*finish)(void *writer);
	void (*free)(void *writer);
	/* Returns the text of an error, or "" if it is only out of memory. The member may be NULL. */
	const char *(*fault)(void *writer);
};

extern const struct export_writer export_pprof, export_folded, export_flame, export_perfetto, export_sqlite,
	export_parquet;

#endif
