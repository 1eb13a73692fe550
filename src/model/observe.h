/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the model: what the handlers of records have in common. */
#ifndef GOTRACE_MODEL_OBSERVE_H
#define GOTRACE_MODEL_OBSERVE_H

#include "state.h"

/* A record with its pointers looked up. */
struct hit {
	const struct raw_record *rec;
	struct m *m; /* the thread that was hit */
	struct p *p; /* its P, or the P concerned; NULL if there is none or it is not known */
	uint32_t stack;
};

typedef void (*hit_handler)(struct model *md, const struct hit *hit);

/* The goroutine the record is about, running on the thread that was hit; NULL if that cannot be. */
struct g *running(struct model *md, const struct hit *hit);
/*
 * The thread runs curg, or scheduler code if that is 0, when something is done
 * to another goroutine. False if curg should run but has no P to run on.
 */
bool acting(struct model *md, const struct hit *hit, uint64_t curg);

/* --- observe_gc.c --- */
void on_stw_begin(struct model *md, const struct hit *hit);
void on_stw_end(struct model *md, const struct hit *hit);
void on_gc_begin(struct model *md, const struct hit *hit);
void on_gc_end(struct model *md, const struct hit *hit);
void on_heap_alloc(struct model *md, const struct hit *hit);
void on_heap_goal(struct model *md, const struct hit *hit);
void on_sweep_begin(struct model *md, const struct hit *hit);
void on_sweep_end(struct model *md, const struct hit *hit);
void on_assist_begin(struct model *md, const struct hit *hit);
void on_assist_end(struct model *md, const struct hit *hit);

#endif
