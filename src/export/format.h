/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: what each format is to export.c. */
#ifndef GOTRACE_EXPORT_FORMAT_H
#define GOTRACE_EXPORT_FORMAT_H

#include "export/export.h"
#include "export/timeline.h"

struct export_writer {
	/* NULL with err set. Fills in the visitor, whose ctx is what is returned. */
	void *(*open)(const struct export_options *options, const struct census *census,
		      struct tl_visitor *visitor, struct error *err);
	/* After timeline_finish(). 0, or a negative errno. */
	int (*finish)(void *writer);
	void (*free)(void *writer);
	const char *(*fault)(
		void *writer); /* what went wrong, for err; NULL, or "" if it is only out of memory */
};

extern const struct export_writer export_pprof, export_folded, export_flame, export_perfetto, export_sqlite;

#endif
