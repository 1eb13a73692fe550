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

/* A place to probe, found by function and code bytes and verified. */
struct probe {
	uint8_t site;         /* enum site: which BPF program */
	uint64_t file_offset; /* in the executable, for the uprobe */
	uint64_t address;     /* in the process (0 if it does not run yet) */
	char name[80];        /* "runtime.park_m+0xa push" */
};

#define MAX_PROBES 128

struct probe_plan {
	struct probe probes[MAX_PROBES];
	unsigned n;
};

struct target {
	pid_t pid;     /* 0: opened from a file, not running yet */
	char exe[256]; /* what to open: /proc/PID/exe, or the file */
	unsigned go_minor, go_patch;
	char go_version[32];
	bool cgo, pie, stripped;
	uint64_t bias; /* load address minus link address */
	struct go_layout layout;
	struct functab *functab; /* owned */
	/* addresses in the process, for snapshots */
	uint64_t allgs, allp, allm, gomaxprocs, sched, gcphase;
	struct target_image *image; /* the executable's bytes, owned; private to the room */
};

/*
 * Opens a live process. Errors name what failed and what to do: no such PID
 * (-ESRCH), no permission (-EPERM), not a Go program (-ENOEXEC), a release
 * outside the table without DWARF (-ENOTSUP), a bad executable (-EBADMSG).
 */
int target_open(pid_t pid, struct target **out, struct error *err);
/* Opens an executable that is about to be started. */
int target_open_file(const char *path, struct target **out, struct error *err);
/* Binds a target opened from a file to the process that now runs it (its load address becomes known). */
int target_bind(struct target *target, pid_t pid, struct error *err);
void target_free(struct target *target);

/* Every site of the release, verified; a mismatch refuses with the site's name (-ENOTSUP). */
int target_plan(const struct target *target, struct probe_plan *plan, struct error *err);

/* How many leaf frames runtime.gopark's callers tell the tracer to leave out, by g.waitreason. */
#define PARK_SKIPS 64
void target_park_skips(const struct target *target, uint8_t skips[PARK_SKIPS]);

/*
 * Hands what replay needs to know to the sink: LOG_TARGET first, LOG_REASONs,
 * LOG_MAPPINGs. LOG_FUNCTAB apart, because it is big and may come late.
 */
int target_log_info(const struct target *target, unsigned extra_flags, log_sink sink, void *ctx,
		    struct error *err);
int target_log_functab(const struct target *target, log_sink sink, void *ctx, struct error *err);

/*
 * Reads goroutines, Ps and Ms from memory and hands them over: LOG_STACKs of
 * parked goroutines as needed, then LOG_SNAPSHOT, LOG_HEAP, LOG_GS, LOG_PS, LOG_MS,
 * LOG_SNAPSHOT_END. A parked stack counts only if status and saved PC agree
 * before and after it was read. -ESRCH if the process is gone.
 */
int target_snapshot(const struct target *target, const uint32_t markers[2], log_sink sink, void *ctx,
		    struct error *err);

/* Reads the Ms alone (for a boundary) into ms, at most max. Returns their number or a negative errno. */
int target_read_ms(const struct target *target, struct log_m *ms, unsigned max, struct error *err);

/* Hash of a stack as the BPF side computes it (capture of the same stack gives the same hash). */
uint64_t target_stack_hash(const uint64_t *pcs, unsigned n, unsigned skip);

#endif
