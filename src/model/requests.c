/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/requests.h"

#include <stdlib.h>
#include <string.h>

#include "model/regions.h"
#include "util/array.h"

enum {
	MAX_OPEN_REQUESTS = 1 << 16,
	MAX_REGIONS = 1000,
	MAX_LOOKED_AT = 64,      /* requests of one goroutine to search */
	MAX_REQUEST_NAMES = 400, /* distinct names in a generation */
	MAX_STRINGS = 1 << 16,   /* as in annotations.c */
};

/* Above the ids of --task (go_functions.c), which are above those of runtime/trace. */
#define FIRST_REQUEST (1ull << 49)

static uint64_t key_of(uint32_t kind, uint64_t key)
{
	return hash_u64(kind, key);
}

static struct live_request *at(struct model *md, uint32_t number)
{
	return number ? &md->requests.all[number - 1] : NULL;
}

static uint32_t number_of(const struct model *md, const struct live_request *request)
{
	return (uint32_t)(request - md->requests.all) + 1;
}

/* --- finding --- */

struct live_request *requests_innermost(struct model *md, const struct g *g)
{
	return at(md, g->request);
}

struct live_request *requests_of_g(struct model *md, const struct g *g, uint32_t kind)
{
	struct live_request *request = at(md, g->request);

	while (request && request->kind != kind)
		request = at(md, request->next_of_g);
	return request;
}

struct live_request *requests_of_key(struct model *md, uint32_t kind, uint64_t key)
{
	const uint32_t *number = key ? map64_get(&md->requests.by_key, key_of(kind, key)) : NULL;
	struct live_request *request = number ? at(md, *number) : NULL;

	return request && request->kind == kind && request->key == key ? request : NULL;
}

/* --- names --- */

/* Returns 0 if the name is empty, or if the generation or the trace already has too many names. */
static uint32_t name_id(struct model *md, const char *name, size_t len, size_t most)
{
	struct request_table *requests = &md->requests;
	struct strtab *strings = md->options.strings;
	uint32_t id = strtab_find(strings, name, len);

	if (id && map64_get(&requests->names, id))
		return id;
	if (!len || requests->names.count >= most || (!id && strtab_loose(strings) >= MAX_STRINGS))
		return 0;
	id = strtab_add_loose(strings, name, len);
	if (!id || map64_set(&requests->names, id, 1))
		md->oom = true;
	return id;
}

static uint32_t name_or_other(struct model *md, const struct live_request *request,
			      const struct request_text *name)
{
	uint32_t id = name_id(md, name->text, name->len, MAX_REQUEST_NAMES);
	struct request_text other = request->method;

	if (!id) {
		request_text_add(&other, other.len ? " " : "");
		request_text_add(&other, request->other);
		id = name_id(md, other.text, other.len, 2 * MAX_REQUEST_NAMES);
	}
	return id ? id : string_id(md, request->other);
}

/* Names a region that was ended before it had a name, by a loss or by another region. */
static void name_end(struct model *md, const struct live_request *request)
{
	for (size_t i = request->region; i < md->ops.n; i++) {
		struct op *op = &md->ops.ops[i];

		if (op->kind == OP_REGION_END && op->arg == request->task)
			op->string = request->name;
	}
}

static void write_name(struct model *md, const struct live_request *request)
{
	const struct region_list *regions = &md->entities.gs.all[request->g]->regions;

	md->ops.ops[request->begin].string = request->name;
	if (!request->region)
		return;
	md->ops.ops[request->region].string = request->name;
	for (unsigned i = 0; i < regions->n; i++) {
		if (regions->open[i].task == request->task) {
			regions->open[i].name = request->name;
			return;
		}
	}
	name_end(md, request);
}

void requests_set_name(struct model *md, struct live_request *request)
{
	struct request_text name = request->method;

	if (request->name)
		return;
	if (request->rest.len) {
		request_text_add(&name, name.len ? " " : "");
		request_text_add(&name, request->rest.text);
	}
	request->name = name_or_other(md, request, &name);
	write_name(md, request);
}

/* --- prepared statements --- */

/* Keeps the first word, as name_or_other() does. */
static uint32_t other_statement(struct model *md, struct request_text text)
{
	uint32_t id;

	text.cut = false;
	text.len = strcspn(text.text, " ");
	text.text[text.len] = '\0';
	request_text_add(&text, " " OTHER_STATEMENTS);
	id = name_id(md, text.text, text.len, 2 * MAX_REQUEST_NAMES);
	return id ? id : string_id(md, "? " OTHER_STATEMENTS);
}

void requests_prepare(struct model *md, struct g *g, const struct request_text *text)
{
	g->statement = name_id(md, text->text, text->len, MAX_REQUEST_NAMES);
	if (!g->statement && text->len)
		g->statement = other_statement(md, *text);
	g->statement_losses = md->annotations.losses;
}

const char *requests_prepared(const struct model *md, const struct g *g)
{
	if (!g->statement || g->statement_losses != md->annotations.losses)
		return NULL;
	return strtab_get(md->options.strings, g->statement, NULL);
}

/* --- begin and end --- */

/* Returns 1 + index of a free entry; 0 if there is none. */
static uint32_t new_number(struct model *md)
{
	struct request_table *requests = &md->requests;
	uint32_t number = requests->free;

	if (number) {
		requests->free = at(md, number)->next_of_g;
		return number;
	}
	if (requests->n == MAX_OPEN_REQUESTS)
		return 0;
	if (array_grow(&requests->all, &requests->capacity, requests->n + 1, sizeof(*requests->all))) {
		md->oom = true;
		return 0;
	}
	return (uint32_t)++requests->n;
}

static void add_to_key(struct model *md, struct live_request *request)
{
	uint64_t key = key_of(request->kind, request->key);
	const uint32_t *before = map64_get(&md->requests.by_key, key);

	if (!request->key)
		return;
	request->next_of_key = before ? *before : 0;
	if (map64_set(&md->requests.by_key, key, number_of(md, request)))
		md->oom = true;
}

/* Whether a request that began on this goroutine is open; also true if there are too many to search. */
static bool is_open(struct model *md, const struct g *g, uint64_t task)
{
	struct live_request *request = at(md, g->request);

	for (unsigned i = 0; request && i < MAX_LOOKED_AT; i++) {
		if (request->task == task)
			return true;
		request = at(md, request->next_of_g);
	}
	return request;
}

/* Ends innermost regions of requests that have ended on other goroutines. */
static void end_regions_elsewhere(struct model *md, struct m *m)
{
	const struct region_list *regions = &m->g->regions;
	unsigned depth = regions->n;

	while (depth && regions->open[depth - 1].request && !is_open(md, m->g, regions->open[depth - 1].task))
		depth--;
	regions_end_deeper(md, m, depth, INFERRED);
}

static void write_begin(struct model *md, struct m *m, struct live_request *request, uint64_t parent,
			uint32_t stack)
{
	struct user_region region = {.task = request->task, .request = true};
	struct op *op = emit(&md->ops, OP_TASK_BEGIN, m);

	op->arg = request->task;
	op->arg2 = parent;
	op->stack = stack;
	request->begin = (uint32_t)md->ops.n - 1;
	if (m->g->regions.n >= MAX_REGIONS)
		return;
	regions_begin(md, m, &region, stack);
	request->region = (uint32_t)md->ops.n - 1;
}

struct live_request *requests_begin(struct model *md, struct m *m, const struct live_request *request,
				    uint32_t stack)
{
	struct live_request *outer = requests_innermost(md, m->g);
	uint64_t parent = outer ? outer->task : 0;
	uint32_t number = new_number(md);
	struct live_request *now = at(md, number);

	if (!now)
		return NULL;
	*now = *request;
	now->task = FIRST_REQUEST + ++md->requests.tasks;
	now->g = m->g->index;
	now->goid = md->entities.gs.goids[m->g->index];
	now->losses = md->annotations.losses;
	now->next_of_g = m->g->request;
	m->g->request = number;
	add_to_key(md, now);
	end_regions_elsewhere(md, m);
	write_begin(md, m, now, parent, stack);
	return now;
}

static void remove_from_g(struct model *md, const struct live_request *request)
{
	struct g *g = md->entities.gs.all[request->g];
	uint32_t number = number_of(md, request), *link = &g->request;

	while (*link && *link != number)
		link = &at(md, *link)->next_of_g;
	if (*link)
		*link = request->next_of_g;
}

static void remove_from_key(struct model *md, const struct live_request *request)
{
	uint64_t key = key_of(request->kind, request->key);
	uint32_t number = number_of(md, request);
	uint32_t *link = request->key ? map64_get(&md->requests.by_key, key) : NULL;
	const uint32_t *first = link;

	while (link && *link && *link != number)
		link = &at(md, *link)->next_of_key;
	if (!link || !*link)
		return;
	*link = request->next_of_key;
	if (link == first && !*link)
		map64_del(&md->requests.by_key, key);
}

/* Notes in the next older request of this kind on the goroutine that a later one has ended. */
static void pass_outer(struct model *md, const struct live_request *request)
{
	struct live_request *outer = at(md, request->next_of_g);

	while (outer && outer->kind != request->kind)
		outer = at(md, outer->next_of_g);
	if (outer)
		outer->passed = true;
}

static void forget(struct model *md, struct live_request *request)
{
	pass_outer(md, request);
	remove_from_key(md, request);
	remove_from_g(md, request);
	*request = (struct live_request){.next_of_g = md->requests.free};
	md->requests.free = number_of(md, request);
}

/* Ends its region and those inside it. One of another goroutine stays open until the next begin there. */
static void end_region(struct model *md, struct m *m, const struct live_request *request)
{
	struct region_list *regions = &m->g->regions;
	unsigned depth = 0;

	while (depth < regions->n && regions->open[depth].task != request->task)
		depth++;
	if (m->g->index != request->g || depth == regions->n)
		return;
	regions_end_deeper(md, m, depth + 1, INFERRED);
	regions_end_deeper(md, m, depth, md->ops.provenance);
}

static uint32_t message_id(struct model *md, const char *text)
{
	uint32_t id = strtab_add_str(md->annotations.texts, text);

	return id ? id | TEXT_ID : 0;
}

void requests_log(struct model *md, struct m *m, const struct live_request *request, const char *message)
{
	struct op *op = emit(&md->ops, OP_LOG, m);

	op->arg = request->task;
	op->string = string_id(md, "request");
	op->string2 = message_id(md, message);
}

void requests_end(struct model *md, struct m *m, struct live_request *request, const char *message)
{
	requests_set_name(md, request);
	if (message)
		requests_log(md, m, request, message);
	end_region(md, m, request);
	emit(&md->ops, OP_TASK_END, m)->arg = request->task;
	forget(md, request);
}

void requests_end_all(struct model *md, struct m *m)
{
	enum provenance before = set_provenance(md, INFERRED);

	while (m->g->request)
		requests_end(md, m, at(md, m->g->request), NULL);
	md->ops.provenance = before;
}

/* --- generations --- */

void requests_settle(struct model *md)
{
	struct request_table *requests = &md->requests;

	for (size_t i = 0; i < requests->n; i++) {
		struct live_request *request = &requests->all[i];
		const struct g *g = request->task ? md->entities.gs.all[request->g] : NULL;

		if (!g)
			continue;
		requests_set_name(md, request);
		if (!request->goid)
			request->goid = md->entities.gs.goids[request->g]; /* it may have got one since */
		if (g->status == G_DEAD || md->entities.gs.goids[request->g] != request->goid)
			forget(md, request);
	}
	map64_clear(&requests->names);
}

void requests_free(struct model *md)
{
	free(md->requests.all);
	map64_free(&md->requests.by_key);
	map64_free(&md->requests.names);
}
