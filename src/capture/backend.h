/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: the operations that differ between a Go program and a process traced as threads.
 * capture.c calls them in the same order for both.
 */
#ifndef GOTRACE_CAPTURE_BACKEND_H
#define GOTRACE_CAPTURE_BACKEND_H

#include "capture/state.h"

/* Functions that return int return 0 or a negative errno unless noted. */
struct backend {
	int (*load)(struct capture *capture, struct error *err);
	/* Records arrive from here on. */
	int (*attach)(struct capture *capture, struct error *err);
	/* Logs LOG_TARGET and related records. */
	int (*log_info)(struct capture *capture, struct error *err);
	/* Called between two markers. Reads the state of the target, and drains the rings meanwhile. */
	int (*read_snapshot)(struct capture *capture, void **snapshot, struct error *err);
	int (*put_snapshot)(struct capture *capture, void *snapshot, const uint32_t markers[2],
			    struct error *err);
	void (*free_snapshot)(void *snapshot); /* NULL is allowed */
	/* Called at a boundary. Reads at most MAX_MS Ms into capture->ms and returns their number. NULL:
	 * there are none. */
	int (*read_ms)(struct capture *capture, struct error *err);
	/* Called in each round: adapts the level of detail, and does what is done periodically. */
	int (*adapt)(struct capture *capture, uint64_t now, struct error *err);
	/* Called before recording resumes after a gap, to catch up with changes. NULL: nothing to do. */
	int (*resume)(struct capture *capture, struct error *err);
	/* Flags of a note for the current level of detail: enum log_note_flags. */
	uint32_t (*note_flags)(const struct capture *capture);
	/* The text of the note when a level begins. */
	const char *(*level_text)(enum detail_level level);
	void (*close)(struct capture *capture); /* frees what load() made apart from the BPF object; NULL:
						 * nothing */
};

extern const struct backend go_backend;      /* go.c */
extern const struct backend threads_backend; /* threads.c */

#endif
