/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: Perfetto's tracks. The UI looks at all siblings of a
 * track for each one, so goroutines beyond a number have no tracks of their
 * own but share rows; README says so to users.
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
	PF_STILL, /* it never changes: one slice stands for all such of its function */
};

enum { PF_MAX_TRACKS = 2000 };

struct pf_function { /* goroutines that began with it */
	uint64_t uuid;
	uint32_t name;
	uint32_t still; /* how many of them never change */
	uint64_t *rows; /* free ones, as uuids */
	size_t nrows, row_capacity;
};

struct pf_goroutine {
	uint8_t shape; /* enum pf_shape */
	bool open;     /* a row has a slice of a state */
	uint32_t name; /* string id, of the function */
	uint32_t function;
	uint64_t track;
	uint64_t details; /* track of its regions, logs and assists; 0 = none yet */
	uint64_t flow;    /* who woke it, 0 = nobody */
	uint32_t thread;  /* whose track has a slice for it, 0 = none */
	uint32_t labels;  /* string id: its pprof labels as text, 0 = none */
};

/*
 * On a Go program's thread the goroutine is the outermost slice; a system call, or an interval without a CPU,
 * is within it.
 */
enum { PF_DEPTH_IDLE, PF_DEPTH_GOROUTINE };

struct pf_thread {
	uint64_t track;
	uint8_t task;          /* the last state of the kernel's scheduler that was written, 0 = none */
	uint8_t depth;         /* open slices */
	uint32_t serial;       /* of a Go program: the goroutine whose slice is open */
	uint32_t off_cpu;      /* id of the range that has the innermost slice, 0 = another one has it */
	uint32_t cpu;          /* 1 + the CPU that it is on, 0 = not known */
	uint32_t shown;        /* the same for the CPU whose track has a slice for it, */
	uint32_t shown_serial; /* and for this goroutine */
	uint32_t below;        /* tid of the thread that was shown there before, 0 = none */
};

struct pf_cpu {
	uint64_t track;
	uint32_t tid; /* whose slice is open, 0 = none */
};

struct pf_place { /* a P */
	uint64_t track, sweeps;
	bool running;
};

struct pf_tracks {
	struct pf_stream *pf;
	const struct census *census;
	int32_t pid;
	uint64_t uuids;
	uint64_t process, go, gc, stw, gotrace, wakers, places_group, tasks, goroutines_group;
	struct pf_place *places;
	size_t place_capacity;
	uint64_t cpus_group;
	struct pf_cpu *cpus; /* by 1 + number */
	size_t cpu_capacity;
	struct pf_function *functions;
	size_t nfunctions, function_capacity;
	struct map64 by_name;
	struct pf_goroutine *goroutines; /* by serial */
	size_t goroutine_capacity;
	struct map64 by_tid;
	struct pf_thread *threads;
	size_t nthreads, thread_capacity;
	uint32_t least_changes; /* goroutines with more have a track */
	uint32_t spare_tracks;  /* and so many of those with just as many */
};

/* The trace's fixed tracks. title: of the process. 0, -ENOMEM, or what the sink says. */
int pf_tracks_init(struct pf_tracks *tracks, struct pf_stream *pf, const struct census *census, int32_t pid,
		   const char *title, uint64_t first_uuid);
void pf_tracks_free(struct pf_tracks *tracks);

/* NULL with *rc set. */
struct pf_goroutine *pf_goroutine(struct pf_tracks *tracks, uint32_t serial, int *rc);
/* A row's goroutine is gone. */
int pf_goroutine_ended(struct pf_tracks *tracks, struct pf_goroutine *g);
struct pf_place *pf_place(struct pf_tracks *tracks, int32_t p, int *rc);
int pf_details_track(struct pf_tracks *tracks, uint32_t serial, uint64_t *uuid);
int pf_sweep_track(struct pf_tracks *tracks, int32_t p, uint64_t *uuid);
int pf_task_track(struct pf_tracks *tracks, uint32_t name, uint64_t *uuid);
/* comm may be NULL. The thread is valid until the next call. NULL with *rc set. */
struct pf_thread *pf_thread(struct pf_tracks *tracks, uint32_t tid, const char *comm, int *rc);
/* The id belongs to another thread from here on. 0, -ENOMEM, or what the sink says. */
int pf_thread_again(struct pf_tracks *tracks, uint32_t tid, const char *comm);
int pf_cpu_track(struct pf_tracks *tracks, const char *name, int32_t rank, uint64_t *uuid);
int pf_counter_track(struct pf_tracks *tracks, const char *name, bool bytes, const char *axis, int32_t rank,
		     uint64_t *uuid);
/* The track that the UI packs into as few rows as it takes; of a name. */
int pf_plain_track(struct pf_tracks *tracks, uint64_t parent, const char *name, int32_t rank, bool merges,
		   uint64_t *uuid);

#endif
