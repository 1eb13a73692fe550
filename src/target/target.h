/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Looks at the process once: Go or not, which release, where its functions
 * and structs are, which probes go where, and which goroutines exist already.
 * Reading (privileged) is kept apart from parsing (pure functions over bytes).
 */
#ifndef GOTRACE_TARGET_H
#define GOTRACE_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/record.h"
#include "rawlog/rawlog.h"
#include "symbol/symbol.h"
#include "util/error.h"

/* Up to Go 1.16 arguments are on the stack: rules of sites, programs and stacks of their own. */
#define OLD_LAST 16

/* A place to probe, found by function and code bytes and verified. */
struct probe {
	uint8_t site;         /* enum site: which BPF program */
	uint64_t file_offset; /* in the executable, for the uprobe */
	uint64_t address;     /* in the process (0 if it does not run yet) */
	char name[80];        /* "runtime.park_m+0xa push" */
};

/* The runtime's own are about 40; each end of a user's region in the program is one more. */
#define MAX_PROBES 512

struct probe_plan {
	struct probe probes[MAX_PROBES];
	unsigned n;
	uint64_t task_key_type, task_type; /* as in struct go_layout */
	uint32_t region_flag_register;     /* the same */
	char left_out[96];                 /* what is not probed in this program, and why; "" = nothing */
};

/* What of the program's memory is wanted. */
enum alloc_look {
	ALLOC_NOTHING,
	ALLOC_SPANS, /* spans of the heap, stacks of goroutines */
};

struct target_remote;

struct target {
	const struct target_remote *remote; /* looked at in another process (remote.h); NULL: in this one */
	pid_t pid;                          /* 0: opened from a file, not running yet */
	char exe[32]; /* path of the executable, opened: /proc/self/fd/N, good as long as the target */
	uint64_t device, inode; /* of the executable */
	unsigned go_minor, go_patch;
	char go_version[32];
	bool cgo, pie, stripped;
	uint64_t bias; /* load address minus link address */
	struct go_layout layout;
	struct go_places places; /* known when it has a process */
	struct functab *functab; /* owned; NULL if remote */
	/* addresses in the process, for snapshots */
	uint64_t allgs, allp, allm, gomaxprocs, sched;
	bool allp_is_array; /* of gomaxprocs pointers, not a slice (up to Go 1.9) */
	uint64_t gcphase;   /* 0 in Go 1.4, whose collector stops the world */
	enum alloc_look alloc;
	struct alloc_layout alloc_layout; /* valid if alloc is not ALLOC_NOTHING; so is the next */
	uint64_t heap;                    /* runtime.mheap_, link-time address */
	struct target_image *image;       /* the executable's bytes, owned; private to the room */
};

/*
 * Opens a live process. Errors name what failed and what to do: no such PID
 * (-ESRCH), no permission (-EPERM), not a Go program (-ENOEXEC), a release
 * outside the table without DWARF (-ENOTSUP), a bad executable (-EBADMSG).
 */
int target_open(pid_t pid, struct target **out, struct error *err);
/* Opens an executable that is about to be started. */
int target_open_file(const char *path, struct target **out, struct error *err);
/* Its executable, once more: a descriptor, the caller's, or a negative errno. */
int target_open_exe(const struct target *target);
/* Binds a target opened from a file to the process that now runs it (its load address becomes known). */
int target_bind(struct target *target, pid_t pid, struct error *err);
void target_free(struct target *target);

/*
 * Whether the process has Go code that is not its executable's: a plugin, or another runtime in a library.
 * Neither is traced. `path` gets the name of the first such file, as the kernel has it, cut to fit.
 */
bool target_other_go(const struct target *target, char *path, size_t size);

/*
 * Makes plans and snapshots tell of the program's memory too. -ENOTSUP: the release's own tracer cannot tell
 * of it (before 1.23), or the places are not found in this binary.
 */
int target_want_alloc(struct target *target, enum alloc_look look, struct error *err);

/* Every site of the release, verified; a mismatch refuses with the site's name (-ENOTSUP). */
int target_plan(const struct target *target, struct probe_plan *plan, struct error *err);

/* How many leaf frames runtime.gopark's callers tell the tracer to leave out, by g.waitreason. */
#define PARK_SKIPS 64
void target_park_skips(const struct target *target, uint8_t skips[PARK_SKIPS]);
/* Up to Go 1.10, where a wait reason is a text: those that there are, by their numbers (target_wait_reason).
 */
void target_wait_texts(const struct target *target, struct wait_text texts[WAIT_TEXTS]);

/*
 * Hands what replay needs to know to the sink: LOG_TARGET first, LOG_REASONs,
 * LOG_MAPPINGs. LOG_FUNCTAB is not among them, because it is big and may come late.
 */
int target_log_info(const struct target *target, unsigned extra_flags, log_sink sink, void *ctx,
		    struct error *err);
/* The LOG_FUNCTAB. Its bytes are the target's, and stay where they are until target_free. Not before the
 * process is bound. */
int target_functab(struct target *target, struct log_record *record, struct error *err);

/*
 * Up to Go 1.10 a goroutine's wait reason is a Go string, here by its address
 * in the process and its length. Its number in the log's REASON_WAIT; 0 = none
 * that is known.
 */
uint8_t target_wait_reason(const struct target *target, uint64_t text, uint64_t len);

struct target_snapshot;

/*
 * A snapshot of goroutines, Ps and Ms, read from memory bit by bit, so that
 * the caller can do other things in between: begin, read until it is whole,
 * put. LOG_STACKs of parked goroutines go to the sink while it is read; a stack
 * counts only if status and saved PC agree before and after it was read. All
 * return 0 or a negative errno: -ESRCH if the process is gone, or what the sink gave.
 */
int target_snapshot_begin(const struct target *target, log_sink sink, void *ctx, struct target_snapshot **out,
			  struct error *err);
/* Reads on. Returns 1 while there is more. */
int target_snapshot_read(struct target_snapshot *snapshot, struct error *err);
/* Hands it over: LOG_SNAPSHOT with these markers, LOG_HEAP, LOG_GS, LOG_PS, LOG_MS, LOG_SNAPSHOT_END. */
int target_snapshot_put(struct target_snapshot *snapshot, const uint32_t markers[2]);
void target_snapshot_free(struct target_snapshot *snapshot);

/* Reads the Ms alone (for a boundary) into ms, at most max. Returns their number or a negative errno. */
int target_read_ms(const struct target *target, struct log_m *ms, unsigned max, struct error *err);

/* Bytes of live heap as the collector counts them; Go 1.4 does not. 0, -EFAULT, -ESRCH or -EPERM. */
int target_heap_live(const struct target *target, uint64_t *bytes);

/* Hash of a stack as the BPF side computes it (capture of the same stack gives the same hash). */
uint64_t target_stack_hash(const uint64_t *pcs, unsigned n, unsigned skip);

#endif
