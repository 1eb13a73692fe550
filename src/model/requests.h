/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Open requests. Each is a task, and a region of the goroutine on which it began. The name may become known
 * only after the begin; until then the ops have none. All ops of a generation are complete before it closes.
 */
#ifndef GOTRACE_MODEL_REQUESTS_H
#define GOTRACE_MODEL_REQUESTS_H

#include "model/state.h"
#include "model/request_name.h"

/* Replaces SQL texts when there are too many. */
#define OTHER_STATEMENTS "(other statements)"

struct live_request {
	uint64_t key;
	uint64_t task;          /* 0: this entry is free */
	uint64_t goid;          /* of its goroutine, which may have ended unobserved */
	uint32_t g;             /* its index */
	uint32_t kind;          /* string id of the preset's name */
	uint32_t next_of_g;     /* 1 + index of the goroutine's previous request, 0 = none */
	uint32_t next_of_key;   /* the same for this key and kind */
	uint32_t losses;        /* annotations.losses at its begin */
	bool has_route;         /* rest is what routers matched, not the path */
	bool route_is_part;     /* and the last of them was certainly a part */
	bool has_rows;          /* the query has succeeded, and its rows are being read */
	bool passed;            /* a later request of its kind on its goroutine has ended */
	uint32_t name;          /* string id; 0 = not known yet: then the members below are valid */
	uint32_t begin, region; /* indices of its ops, in this generation */
	struct request_text method, rest;
	const char *other; /* replaces the rest when there are too many: "(other paths)" */
};

/* Return the innermost request of this kind on the goroutine, or with this key; NULL if there is none. */
struct live_request *requests_of_g(struct model *md, const struct g *g, uint32_t kind);
struct live_request *requests_of_key(struct model *md, uint32_t kind, uint64_t key);
/* Returns the innermost request of any kind: the parent of one that begins now. */
struct live_request *requests_innermost(struct model *md, const struct g *g);

/* Stores the text of the statement that the goroutine begins next. */
void requests_prepare(struct model *md, struct g *g, const struct request_text *text);
/* Returns the stored text; NULL if there is none, or if records have been lost since. */
const char *requests_prepared(const struct model *md, const struct g *g);

/* Begins a request on m's goroutine. Returns NULL if too many are open, or when out of memory. */
struct live_request *requests_begin(struct model *md, struct m *m, const struct live_request *request,
				    uint32_t stack);
/* Names it by its method and rest ("GET /items/{id}"), once: later changes of them are ignored. */
void requests_set_name(struct model *md, struct live_request *request);
/* Writes a log event of the request. */
void requests_log(struct model *md, struct m *m, const struct live_request *request, const char *message);
/* Ends the request on m's goroutine, with a log event unless message is NULL, and drops it. */
void requests_end(struct model *md, struct m *m, struct live_request *request, const char *message);
/* Ends all requests of m's goroutine, which ends. */
void requests_end_all(struct model *md, struct m *m);
/* Before a generation closes: names requests that have no name, and drops those whose goroutine is gone. */
void requests_settle(struct model *md);
void requests_free(struct model *md);

#endif
