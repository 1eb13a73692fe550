/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the room: what is done differently for a Go program and for a
 * process that is seen as threads. When it is done is the same (capture.c).
 */
#ifndef GOTRACE_CAPTURE_BACKEND_H
#define GOTRACE_CAPTURE_BACKEND_H

#include "capture/state.h"

/* All but free_snapshot return 0 or a negative errno. */
struct backend {
	int (*load)(struct capture *capture, struct error *err);
	/* From here on there are records. */
	int (*attach)(struct capture *capture, struct error *err);
	/* LOG_TARGET and what goes with it. */
	int (*log_info)(struct capture *capture, struct error *err);
	/* Between two markers: reads what there is, and drains meanwhile. */
	int (*read_snapshot)(struct capture *capture, void **snapshot, struct error *err);
	int (*put_snapshot)(struct capture *capture, void *snapshot, const uint32_t markers[2],
			    struct error *err);
	void (*free_snapshot)(void *snapshot); /* NULL is allowed */
	/* For a boundary: into capture->ms, at most MAX_MS. Returns their number; NULL: there are none. */
	int (*read_ms)(struct capture *capture, struct error *err);
	/* In each round: how much is looked at, what is read now and then. */
	int (*adapt)(struct capture *capture, uint64_t now, struct error *err);
	void (*close)(struct capture *capture); /* what load has made beside the BPF object; NULL: nothing */
};

extern const struct backend go_backend;      /* go.c */
extern const struct backend threads_backend; /* threads.c */

#endif
