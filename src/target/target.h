/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Inspects a process once: whether it is Go, which release, where its functions and structs are, which probes
 * to place where, and which goroutines exist. Reading (privileged) is separate from parsing (pure functions
 * over bytes).
 */
#ifndef GOTRACE_TARGET_TARGET_H
#define GOTRACE_TARGET_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/record.h"
#include "rawlog/rawlog.h"
#include "code/symbol/symbol.h"
#include "util/error.h"

/*
 * Last release that passes arguments on the stack. Sites, BPF programs and stacks have separate rules up to
 * this release.
 */
#define ABI0_LAST 16

/* A place to probe, found by function and code bytes, and verified. */
struct probe {
	uint8_t site; /* enum site: selects the BPF program */
	/*
	 * In an inlined copy of the site's function, for which there is a program of its own (its name ends
	 * in "_copy"), with this cookie (bpf/copy_place.h). Cookies need Linux 5.15.
	 */
	uint8_t is_copy; /* bool */
	uint64_t cookie;
	uint64_t file_offset; /* in the executable, for the uprobe */
	uint64_t address;     /* in the process (0 if it is not running yet) */
	char name[80];        /* "runtime.park_m+0xa push" */
};

/* The runtime needs about 40 probes; each end of a user's region in the program adds one. */
#define MAX_PROBES 512

struct probe_plan {
	struct probe probes[MAX_PROBES];
	unsigned n;
	uint64_t task_key_type, task_type; /* as in struct go_layout */
	uint32_t region_flag_register;     /* as in struct go_layout */
	uint32_t g_labels;                 /* offset of g.labels, if changes of labels are probed; 0 = none */
	uint32_t bubbles;                  /* not 0: the program can run bubbles of testing/synctest */
	char left_out[96];                 /* what is not probed in this program, and why; "" = nothing */
};

/* Which parts of the program's memory to trace. */
enum alloc_level {
	ALLOC_NOTHING,
	ALLOC_SPANS, /* spans of the heap, stacks of goroutines */
};

/* Which of the process's files has the runtime. */
enum go_file {
	GO_EXECUTABLE,
	GO_PROGRAM, /* the dynamic linker is the executable, and loaded this program: ld-linux.so ./prog */
	GO_LIBRARY, /* a library built with -buildmode=c-shared */
};

struct target_remote;
struct layout_table;

struct target {
	/* Operations of a target that another process inspects (remote.h). NULL: this process inspects it. */
	const struct target_remote *remote;
	pid_t pid;              /* 0: opened from a file, not running yet */
	char exe[32];           /* path of the opened file, /proc/self/fd/N; valid as long as the target */
	enum go_file file;      /* which file that is */
	uint64_t device, inode; /* of that file */
	unsigned go_minor, go_patch;
	char go_version[32];
	unsigned nearest; /* minor release whose layouts replace those of an unknown release; 0: known */
	bool given;       /* with `nearest`: the layout is the user's */
	bool cgo, pie, stripped;
	uint64_t bias; /* load address minus link address */
	struct go_layout layout;
	struct go_places places; /* valid once the target is bound to a process */
	struct functab *functab; /* owned; NULL if remote */
	/* addresses in the process, for snapshots */
	uint64_t allgs, allp, allm, gomaxprocs, sched;
	bool allp_is_array; /* allp is an array of gomaxprocs pointers, not a slice (up to Go 1.9) */
	uint64_t gcphase;   /* 0 in Go 1.4, whose collector stops the world */
	enum alloc_level alloc;
	struct alloc_layout alloc_layout; /* this and `heap` are valid if alloc is not ALLOC_NOTHING */
	uint64_t heap;                    /* runtime.mheap_, link-time address */
	struct target_image *image;       /* the executable's bytes, owned; private to the module */
};

/*
 * Opens a live process. If its executable is not a Go program, this opens the first file with Go code that it
 * has mapped. given is the layout for a program without DWARF whose release is not in the table; it
 * must outlive the target. If it is NULL, the nearest releases' layouts are tried. Returns 0, or a negative
 * errno and sets *err to what failed and what to do: no such PID (-ESRCH), no permission (-EPERM), not a Go
 * program (-ENOEXEC), no layout for a release that is not in the table (-ENOTSUP), a bad executable
 * (-EBADMSG).
 */
int target_open(pid_t pid, const struct layout_table *given, struct target **out, struct error *err);
/* Opens an executable that is about to be started. */
int target_open_file(const char *path, const struct layout_table *given, struct target **out,
		     struct error *err);
/* The same for an open file; path is its name for messages. The caller keeps fd. */
int target_read_file(int fd, const char *path, const struct layout_table *given, struct target **out,
		     struct error *err);
/* Opens the target's executable again. Returns a descriptor, which the caller closes, or a negative errno. */
int target_open_exe(const struct target *target);
/* Binds a target opened from a file to the process that now runs it, which gives its load address. */
int target_bind(struct target *target, pid_t pid, struct error *err);
void target_free(struct target *target);

/*
 * Whether the process has Go code outside its executable and its plugins: another runtime in a library, or a
 * plugin that cannot be traced. Such code is not traced. Stores the first such file's path as the kernel
 * shows it, truncated to fit.
 */
bool target_other_go(const struct target *target, char *path, size_t size);

/* The first release whose plugins are probed. */
#define FIRST_PLUGINS 22

/* A plugin (-buildmode=plugin), whose code has its own copies of functions of the runtime. */
struct target_plugin {
	char name[64]; /* of its file, without directories */
	struct plugin_places places;
	struct probe_plan plan; /* of the copies; file offsets are those of `fd` */
	int fd;                 /* the file; owned by the caller; -1 = none */
};

/* Whether the program can open plugins: it uses package plugin (Go 1.8 and later). */
bool target_may_have_plugins(const struct target *target);
/*
 * Looks for plugins that the process has opened since the last call. Returns their number so far, at most
 * MAX_PLUGINS, or a negative errno: -E2BIG if there are more (the first can be used), -ENOTSUP if there are
 * some and the release is before FIRST_PLUGINS, -EBADMSG, -ESRCH, -EPERM.
 */
int target_plugins(struct target *target, struct error *err);
/*
 * Describes plugin i, counted from 0, and plans its probes; plan: of the executable. Returns 0, or a negative
 * errno and *err says why its code cannot be probed.
 */
int target_plugin_read(struct target *target, unsigned i, const struct probe_plan *plan,
		       struct target_plugin *plugin, struct error *err);
/*
 * As target_functab(), for plugin i: makes the LOG_PLUGIN_FUNCTAB. Its bytes are valid until the next call.
 * Returns -ENOENT if the plugin's file could not be read.
 */
int target_plugin_functab(struct target *target, unsigned i, struct log_record *record, struct error *err);

/*
 * Adds the program's memory to plans and snapshots. Returns 0, or -ENOTSUP if the release's own tracer cannot
 * trace it (before 1.23) or the places are not found in this binary.
 */
int target_want_alloc(struct target *target, enum alloc_level level, struct error *err);

/* Plans all sites of the release and verifies them. On a mismatch, returns -ENOTSUP and names the site. */
int target_plan(const struct target *target, struct probe_plan *plan, struct error *err);
/* Removes this site's probes from the plan. */
void target_plan_drop(struct probe_plan *plan, uint8_t site);

/*
 * Gets, by g.waitreason, the number of leaf frames that the tracer skips at the request of runtime.gopark's
 * caller.
 */
void target_park_skips(const struct target *target, uint8_t skips[PARK_SKIPS]);
/*
 * Gets the known wait reasons of Go up to 1.10, where they are strings, indexed by target_wait_reason()'s
 * numbers.
 */
void target_wait_texts(const struct target *target, struct wait_text texts[WAIT_TEXTS]);

/*
 * Logs the information that replay needs: LOG_TARGET first, then LOG_REASONs and LOG_MAPPINGs. LOG_FUNCTAB is
 * not included, because it is big and may come later.
 */
int target_log_info(const struct target *target, unsigned extra_flags, log_sink sink, void *ctx,
		    struct error *err);
/*
 * Makes the LOG_FUNCTAB. Its bytes are owned by the target and valid until target_functab_drop or
 * target_free. The target must be bound.
 */
int target_functab(struct target *target, struct log_record *record, struct error *err);
/* Frees the copy that a remote target has of them: 4 MB of a small program, 30 MB of a large one. */
void target_functab_drop(struct target *target);

/*
 * Gets the number in REASON_WAIT of a wait reason of Go up to 1.10, a Go string given by its address in the
 * process and its length. Returns 0 if it is unknown.
 */
uint8_t target_wait_reason(const struct target *target, uint64_t text, uint64_t len);

struct target_snapshot;

/*
 * A snapshot of goroutines, Ps and Ms, read from memory in steps so that the caller can do other work in
 * between: begin, read until complete, put. While it is read, LOG_STACKs of parked goroutines go to the sink.
 * A stack is used only if the goroutine's status and saved PC are the same before and after the stack is
 * read. If labelled, LOG_LABELS go to the sink, too, and LOG_G_LABELS follow the LOG_GS. All functions return
 * 0 or a negative errno: -ESRCH if the process is gone, or the sink's error.
 */
int target_snapshot_begin(const struct target *target, bool labelled, log_sink sink, void *ctx,
			  struct target_snapshot **out, struct error *err);
/*
 * Same, with LOG_LABELS while it is read and LOG_G_DETAILS at the end. Reads at most the first `most` (> 0)
 * goroutines of the runtime's list.
 */
int target_snapshot_begin_detailed(const struct target *target, uint32_t most, log_sink sink, void *ctx,
				   struct target_snapshot **out, struct error *err);
/* Reads the next part. Returns 1 while there is more, 0 at the end. */
int target_snapshot_read(struct target_snapshot *snapshot, struct error *err);
/* Logs the snapshot: LOG_SNAPSHOT with these markers, LOG_HEAP, LOG_GS, LOG_PS, LOG_MS, LOG_SNAPSHOT_END. */
int target_snapshot_put(struct target_snapshot *snapshot, const uint32_t markers[2]);
void target_snapshot_free(struct target_snapshot *snapshot);

/* Reads only the Ms (for a boundary), at most max. Returns their number or a negative errno. */
int target_read_ms(const struct target *target, struct log_m *ms, unsigned max, struct error *err);

/* Gets the collector's count of live heap bytes; 0 in Go 1.4. Returns 0, -EFAULT, -ESRCH or -EPERM. */
int target_heap_live(const struct target *target, uint64_t *bytes);

/* Hash of a stack, computed as on the BPF side, so that equal stacks have equal hashes. */
uint64_t target_stack_hash(const uint64_t *pcs, unsigned n, unsigned skip);

#endif
