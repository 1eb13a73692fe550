/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Open requests. Each is a task, and a region of the goroutine on which it began. The name may become known
 * only after the begin; until then the ops have none. All ops of a generation are complete before it closes.
 */
#ifndef GOTRACE_ANNOTATE_REQUESTS_REQUESTS_H
#define GOTRACE_ANNOTATE_REQUESTS_REQUESTS_H

#include "annotate/regions.h"
#include "annotate/requests/kinds.h"
#include "annotate/requests/name.h"

struct live_request {
	uint64_t key;
	uint64_t task;          /* 0: this entry is free */
	uint64_t goid;          /* of its goroutine, which may have ended unobserved */
	uint32_t g;             /* its index */
	uint32_t kind;          /* string id of the preset's name */
	uint32_t next_of_g;     /* 1 + index of the goroutine's previous request, 0 = none */
	uint32_t next_of_key;   /* the same for this key and kind */
	uint32_t losses;        /* model_view.losses at its begin */
	bool has_route;         /* rest is what routers matched, not the path */
	bool route_is_part;     /* and the last of them was certainly a part */
	bool has_rows;          /* the query has succeeded, and its rows are being read */
	bool passed;            /* a later request of its kind on its goroutine has ended */
	uint32_t name;          /* string id; 0 = not known yet: then the members below are valid */
	uint32_t begin, region; /* indices of its ops, in this generation */
	struct request_text method, rest;
	const char *other; /* replaces the rest when there are too many: "(other paths)" */
};

struct requests {
	struct model_view *view;
	struct regions *regions;
	struct request_functions functions;
	struct live_request *all;
	size_t n, capacity;
	uint32_t free;        /* a free entry: 1 + index, 0 = none */
	struct map64 by_key;  /* key and kind -> 1 + index of the innermost */
	struct map64 names;   /* string ids used in this generation */
	struct g_slots slots; /* struct request_slot */
	uint64_t tasks;       /* task ids assigned so far */
};

/* Returns NULL when out of memory. */
struct requests *requests_new(struct model_view *view, struct regions *regions);
void requests_free(struct requests *requests);

/* Return the innermost request of this kind on the goroutine, or with this key; NULL if there is none. */
struct live_request *requests_of_g(struct requests *requests, const struct g *g, uint32_t kind);
struct live_request *requests_of_key(struct requests *requests, uint32_t kind, uint64_t key);
/* Returns the innermost request of any kind: the parent of one that begins now. */
struct live_request *requests_innermost(struct requests *requests, const struct g *g);

/* Stores the text of the statement that the goroutine begins next. */
void requests_prepare(struct requests *requests, const struct g *g, const struct request_text *text);
/* Returns the stored text; NULL if there is none, or if records have been lost since. */
const char *requests_prepared(struct requests *requests, const struct g *g);

/* Begins a request on m's goroutine. Returns NULL if too many are open, or when out of memory. */
struct live_request *requests_begin(struct requests *requests, struct m *m,
				    const struct live_request *request, uint32_t stack);
/* Writes a log event of the request. */
void requests_log(struct requests *requests, struct m *m, const struct live_request *request,
		  const char *message);
/* Ends the request on m's goroutine, with a log event unless message is NULL, and drops it. */
void requests_end(struct requests *requests, struct m *m, struct live_request *request, const char *message);
/* The goroutine has begun a statement with a text of its own. */
void requests_forget_prepared(struct requests *requests, const struct g *g);
/* Ends all requests of m's goroutine, which ends. */
void requests_end_all(struct requests *requests, struct m *m);
/* Calls strtab_keep() for the texts of prepared statements. */
void requests_keep_names(struct requests *requests);
/* Before a generation closes: names requests that have no name, and drops those whose goroutine is gone. */
void requests_settle(struct requests *requests);

#endif
