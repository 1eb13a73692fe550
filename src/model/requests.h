/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Requests that are open: each is a task, and a region of the goroutine on which it began. A name may become
 * known after the begin: until then the ops have none, and all of a generation's are complete before it
 * closes.
 */
#ifndef GOTRACE_MODEL_REQUESTS_H
#define GOTRACE_MODEL_REQUESTS_H

#include "model/state.h"
#include "model/request_name.h"

/* Of SQL, instead of texts that are too many. */
#define OTHER_STATEMENTS "(other statements)"

struct live_request {
	uint64_t key;
	uint64_t task;          /* 0: this entry is free */
	uint64_t goid;          /* of its goroutine, which may have ended without being seen */
	uint32_t g;             /* its index */
	uint32_t kind;          /* string id of the preset's name */
	uint32_t next_of_g;     /* 1 + index of the one that this goroutine began before, 0 = none */
	uint32_t next_of_key;   /* the same with this key and kind */
	uint32_t losses;        /* annotations.losses at its begin */
	bool has_rows;          /* a query has succeeded, and its rows are read */
	bool passed;            /* one that began later on its goroutine, of its kind, has ended */
	uint32_t name;          /* string id; 0: not known yet, and the next are valid: */
	uint32_t begin, region; /* indices of its ops, in this generation */
	struct request_text method, rest;
	const char *other; /* instead of the rest, where there are too many: "(other paths)" */
};

/* Of the goroutine, innermost first; or with this key. NULL: none. */
struct live_request *requests_of_g(struct model *md, const struct g *g, uint32_t kind);
struct live_request *requests_of_key(struct model *md, uint32_t kind, uint64_t key);
/* The innermost of any kind: the parent of what begins now. */
struct live_request *requests_innermost(struct model *md, const struct g *g);

/* Notes the text of what the goroutine begins next. */
void requests_prepare(struct model *md, struct g *g, const struct request_text *text);
/* The text that was noted; NULL if there is none, or if records have been lost since. */
const char *requests_prepared(const struct model *md, const struct g *g);

/* Writes a begin on m's goroutine. NULL if too many are open, or when out of memory. */
struct live_request *requests_begin(struct model *md, struct m *m, const struct live_request *request,
				    uint32_t stack);
/* Gives it a name: "GET" and "/items/{id}". */
void requests_set_name(struct model *md, struct live_request *request, const struct request_text *rest);
/* A log event of the request. */
void requests_log(struct model *md, struct m *m, const struct live_request *request, const char *message);
/* Writes its end on m's goroutine, with a log event unless message is NULL, and forgets it. */
void requests_end(struct model *md, struct m *m, struct live_request *request, const char *message);
/* The goroutine of m ends. */
void requests_end_all(struct model *md, struct m *m);
/* Before a generation closes: names all that have none, and forgets those whose goroutine is gone. */
void requests_settle(struct model *md);
void requests_free(struct model *md);

#endif
