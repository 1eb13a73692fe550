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
	void (*free_snapshot)(void *snapshot); /* snapshot may be NULL */
	/* Called at a boundary. Reads at most MAX_MS Ms into capture->ms. Returns their number, or a negative
	 * errno. NULL if the target has no Ms. */
	int (*read_ms)(struct capture *capture, struct error *err);
	/* Called in each round. Adapts the level of detail, and does periodic work. */
	int (*adapt)(struct capture *capture, uint64_t now, struct error *err);
	/* Called before recording resumes after a gap, to catch up with changes. May be NULL. */
	int (*resume)(struct capture *capture, struct error *err);
	/* Returns the flags of a note for the current level of detail: enum log_note_flags. */
	uint32_t (*note_flags)(const struct capture *capture);
	/* Returns the text of the note that begins a level. */
	const char *(*level_text)(enum detail_level level);
	/* Frees what load() made, except the BPF object. May be NULL. */
	void (*close)(struct capture *capture);
};

extern const struct backend go_backend;      /* go.c */
extern const struct backend threads_backend; /* threads.c */

#endif
