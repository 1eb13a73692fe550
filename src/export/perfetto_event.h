/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the state that the parts of the Perfetto export share, and events on tracks. */
#ifndef GOTRACE_EXPORT_PERFETTO_EVENT_H
#define GOTRACE_EXPORT_PERFETTO_EVENT_H

#include "export/export.h"
#include "export/perfetto_counters.h"
#include "export/perfetto_stream.h"
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

/* --- perfetto_about.c: what a Perfetto file records about the whole trace, for searches over many --- */

struct pf_process {
	int32_t pid;
	char name[128];
};

/* Returns the process in the options, else one guessed from the threads. */
struct pf_process pf_process(const struct census *census, const struct export_options *options);
/* Writes attributes, UUID and machine. Returns 0, -ENOMEM, or the sink's error. */
int pf_put_about(struct pf_stream *pf, const struct census *census, const struct export_options *options,
		 const struct pf_process *process);

/* --- perfetto_cpus.c --- */

/*
 * Private to the module: tracks of the CPUs that a Go program's threads run on, if the trace records them
 * (src/annotate/cpu/cpus.c).
 */

/* Call when the thread's goroutine or CPU may have changed. Returns 0, -ENOMEM, or the sink's error. */
int pf_cpus_update(struct perfetto *px, uint32_t tid, uint64_t time);

/* --- perfetto_threads.c --- */

/*
 * Private to the module: tracks of kernel threads. For a program traced as threads they show scheduling
 * states and system calls; for a Go program, what each thread runs and when it has no CPU.
 */

/* The kernel's name (comm) of a thread, in a program traced as threads. */
void pf_comm(const struct census *census, uint32_t serial, char comm[64]);
/* Each returns 0, -ENOMEM, or the sink's error. */
int pf_threads_change(struct perfetto *px, struct pf_goroutine *g, const struct tl_change *change);
/* Go programs: an interval without a CPU, which gotrace records as a region of the goroutine. */
int pf_threads_off_cpu(struct perfetto *px, const struct tl_range *range, uint32_t name, bool begins);
/* Go programs: the thread runs on this CPU, counted from 1, from now on. */
int pf_threads_move(struct perfetto *px, uint32_t tid, uint32_t cpu, uint64_t time);

#endif
