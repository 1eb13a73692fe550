/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the state that the parts of the Perfetto export share, and events on tracks. */
#ifndef GOTRACE_EXPORT_PERFETTO_EVENT_H
#define GOTRACE_EXPORT_PERFETTO_EVENT_H

#include "export/perfetto_counters.h"
#include "export/perfetto_tracks.h"

struct perfetto {
	const struct census *census;
	const struct tables *tables;
	struct stacktab st;
	struct pf_stream stream;
	struct pf_tracks tracks;
	struct pf_counters counters;
	uint64_t flows;
	struct map64 task_tracks; /* task -> index in task_uuids */
	uint64_t *task_uuids;
	size_t ntasks, task_capacity;
	struct map64 named_states; /* state and reason -> string id */
};

struct pf_event {
	uint64_t time;
	uint64_t track;
	enum pf_type type;
	enum pf_category category;
	uint32_t name;  /* string id of the stacktab, 0 = none */
	uint32_t stack; /* of the stacktab, 0 = none */
	uint64_t flow, end_of_flow;
	uint64_t number; /* annotation */
	uint32_t tid;    /* annotation, 0 = none */
	const char *text;
	enum pf_annotation number_is, text_is;
	uint32_t labels; /* string id of the stacktab: pprof labels as text (trace/ops/labels.h), 0 = none */
	bool aside;      /* out of time order */
};

/* Writes an event, and interns its name and stack if new. Returns 0, -ENOMEM, or the sink's error. */
int pf_put_event(struct perfetto *px, const struct pf_event *ev);
/* Sets *id to the stacktab's id of a name. Returns 0 or -ENOMEM. */
int pf_text(struct perfetto *px, const char *text, uint32_t *id);

#endif
