/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: Perfetto's tracks. For each track the UI looks at all its siblings, so only
 * PF_MAX_TRACKS goroutines have tracks of their own; the others share rows (docs/perfetto.md).
 */
#ifndef GOTRACE_EXPORT_PERFETTO_TRACKS_H
#define GOTRACE_EXPORT_PERFETTO_TRACKS_H

#include "export/census.h"
#include "export/perfetto_stream.h"

/* How a goroutine is shown. */
enum pf_shape {
	PF_UNSEEN,
	PF_TRACK, /* a state track of its own */
	PF_ROW,   /* slices in a row of its function, which others use before and after it */
	PF_STILL, /* its state never changes: one slice for all such goroutines of a function */
};

enum { PF_MAX_TRACKS = 2000 };

struct pf_function { /* of the goroutines that began with it */
	uint64_t uuid;
	uint32_t name;
	uint32_t still; /* number of goroutines that never change */
	uint64_t *rows; /* uuids of free rows */
	size_t nrows, row_capacity;
};

struct pf_goroutine {
	uint8_t shape; /* enum pf_shape */
	bool open;     /* its row has an open slice of a state */
	uint32_t name; /* string id of the function */
	uint32_t function;
	uint64_t track;
	uint64_t details; /* track of its regions, logs and assists; 0 = none yet */
	uint64_t flow;    /* id of the flow from its waker; 0 = none */
	uint32_t thread;  /* tid whose track has a slice for it; 0 = none */
	uint32_t labels;  /* string id: its pprof labels as text, 0 = none */
};

/*
 * On a Go program's thread the goroutine is the outermost slice; a system call, or an interval without a CPU,
 * is within it.
 */
enum { PF_DEPTH_IDLE, PF_DEPTH_GOROUTINE };

struct pf_thread {
	uint64_t track;
	uint8_t task;          /* the last scheduler state that was written; 0 = none */
	uint8_t depth;         /* open slices */
	uint32_t serial;       /* Go programs: the goroutine whose slice is open */
	uint32_t off_cpu;      /* id of the off-CPU range whose slice is innermost; 0 = none */
	uint32_t cpu;          /* 1 + the CPU that it is on; 0 = unknown */
	uint32_t shown;        /* 1 + the CPU whose track has a slice for it; 0 = none */
	uint32_t shown_serial; /* the goroutine in that slice */
	uint32_t below;        /* tid of the thread that was shown there before; 0 = none */
};

struct pf_cpu {
	uint64_t track;
	uint32_t tid; /* the thread whose slice is open; 0 = none */
};

struct pf_proc { /* a P */
	uint64_t track, sweeps;
	bool running;
};

struct pf_tracks {
	struct pf_stream *pf;
	const struct census *census;
	int32_t pid;
	uint64_t uuids;
	uint64_t process, go, gc, stw, gotrace, wakers, procs_group, tasks, goroutines_group;
	struct pf_proc *procs;
	size_t proc_capacity;
	uint64_t cpus_group;
	struct pf_cpu *cpus; /* by 1 + CPU number */
	size_t cpu_capacity;
	struct pf_function *functions;
	size_t nfunctions, function_capacity;
	struct map64 by_name;
	struct pf_goroutine *goroutines; /* by serial */
	size_t goroutine_capacity;
	struct map64 by_tid;
	struct pf_thread *threads;
	size_t nthreads, thread_capacity;
	uint32_t least_changes; /* goroutines with more changes get a track, */
	uint32_t spare_tracks;  /* and this many of those with equally many */
};

/* Writes the fixed tracks. title: name of the process. Returns 0, -ENOMEM, or the sink's error. */
int pf_tracks_init(struct pf_tracks *tracks, struct pf_stream *pf, const struct census *census, int32_t pid,
		   const char *title, uint64_t first_uuid);
void pf_tracks_free(struct pf_tracks *tracks);

/* Returns NULL and sets *rc on error. */
struct pf_goroutine *pf_goroutine(struct pf_tracks *tracks, uint32_t serial, int *rc);
/* Frees the row of a goroutine that has ended. */
int pf_goroutine_ended(struct pf_tracks *tracks, struct pf_goroutine *g);
/* Returns NULL and sets *rc on error; *rc is 0 if there is no such P. */
struct pf_proc *pf_proc(struct pf_tracks *tracks, int32_t p, int *rc);
int pf_details_track(struct pf_tracks *tracks, uint32_t serial, uint64_t *uuid);
int pf_sweep_track(struct pf_tracks *tracks, int32_t p, uint64_t *uuid);
int pf_task_track(struct pf_tracks *tracks, uint32_t name, uint64_t *uuid);
/* comm may be NULL. The result is valid until the next call. Returns NULL and sets *rc on error. */
struct pf_thread *pf_thread(struct pf_tracks *tracks, uint32_t tid, const char *comm, int *rc);
/* The tid belongs to a new thread from here on. Returns 0, -ENOMEM, or the sink's error. */
int pf_thread_again(struct pf_tracks *tracks, uint32_t tid, const char *comm);
int pf_cpu_track(struct pf_tracks *tracks, const char *name, int32_t rank, uint64_t *uuid);
int pf_counter_track(struct pf_tracks *tracks, const char *name, bool bytes, const char *axis, int32_t rank,
		     uint64_t *uuid);
/* Writes a track of slices. merges: the UI packs siblings of the same name into as few rows as possible. */
int pf_plain_track(struct pf_tracks *tracks, uint64_t parent, const char *name, int32_t rank, bool merges,
		   uint64_t *uuid);

#endif
