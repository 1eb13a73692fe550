/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: what a Perfetto file records about the whole trace, for searches over many. */
#ifndef GOTRACE_EXPORT_PERFETTO_ABOUT_H
#define GOTRACE_EXPORT_PERFETTO_ABOUT_H

#include "export/export.h"
#include "export/perfetto_stream.h"

struct pf_process {
	int32_t pid;
	char name[128];
};

/* Returns the process in the options, else one guessed from the threads. */
struct pf_process pf_process(const struct census *census, const struct export_options *options);
/* Writes attributes, UUID and machine. Returns 0, -ENOMEM, or the sink's error. */
int pf_put_about(struct pf_stream *pf, const struct census *census, const struct export_options *options,
		 const struct pf_process *process);

#endif
