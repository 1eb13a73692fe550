/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "annotate/requests/requests.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"

enum {
	MAX_OPEN_REQUESTS = 1 << 16,
	MAX_LOOKED_AT = 64,      /* requests of one goroutine to search */
	MAX_REQUEST_NAMES = 400, /* distinct names in a generation */
	MAX_STRINGS = 1 << 16,   /* as in user.c */
};

/* Above the ids of --task (calls.c), which are above those of runtime/trace. */
#define FIRST_REQUEST (1ull << 49)

/* Of a goroutine. */
struct request_slot {
	uint64_t life;
	uint32_t innermost;        /* open request: 1 + index, 0 = none */
	uint32_t statement;        /* text of its next statement (requests_prepare): string id, 0 = none */
	uint32_t statement_losses; /* model_view.losses at that time */
};

static uint64_t requests_key_of(uint32_t kind, uint64_t key)
{
	return hash_u64(kind, key);
}

static struct live_request *requests_at(struct requests *requests, uint32_t number)
{
	return number ? &requests->all[number - 1] : NULL;
}

static uint32_t number_of(const struct requests *requests, const struct live_request *request)
{
	return (uint32_t)(request - requests->all) + 1;
}

static uint32_t innermost_of(const struct requests *requests, const struct g *g)
{
	const struct request_slot *slot = slots_find(&requests->slots, g);

	return slot ? slot->innermost : 0;
}

/* --- finding --- */

struct live_request *requests_innermost(struct requests *requests, const struct g *g)
{
	return requests_at(requests, innermost_of(requests, g));
}

struct live_request *requests_of_g(struct requests *requests, const struct g *g, uint32_t kind)
{
	struct live_request *request = requests_at(requests, innermost_of(requests, g));

	while (request && request->kind != kind)
		request = requests_at(requests, request->next_of_g);
	return request;
}

struct live_request *requests_of_key(struct requests *requests, uint32_t kind, uint64_t key)
{
	const uint32_t *number = key ? map64_get(&requests->by_key, requests_key_of(kind, key)) : NULL;
	struct live_request *request = number ? requests_at(requests, *number) : NULL;

	return request && request->kind == kind && request->key == key ? request : NULL;
}

/* --- names --- */

/* Returns 0 if the name is empty, or if the generation or the trace already has too many names. */
static uint32_t name_id(struct requests *requests, const char *name, size_t len, size_t most)
{
	struct strtab *strings = requests->view->strings;
	uint32_t id = strtab_find(strings, name, len);

	if (id && map64_get(&requests->names, id))
		return id;
	if (!len || requests->names.count >= most || (!id && strtab_loose(strings) >= MAX_STRINGS))
		return 0;
	id = strtab_add_loose(strings, name, len);
	if (!id || map64_set(&requests->names, id, 1))
		requests->view->oom = true;
	return id;
}

static uint32_t name_or_other(struct requests *requests, const struct live_request *request,
			      const struct request_text *name)
{
	uint32_t id = name_id(requests, name->text, name->len, MAX_REQUEST_NAMES);
	struct request_text other = request->method;

	if (!id) {
		request_text_add(&other, other.len ? " " : "");
		request_text_add(&other, request->other);
		id = name_id(requests, other.text, other.len, 2 * MAX_REQUEST_NAMES);
	}
	return id ? id : strtab_add_str(requests->view->strings, request->other);
}

/* Names a region that was ended before it had a name, by a loss or by another region. */
static void name_end(struct requests *requests, const struct live_request *request)
{
	for (size_t i = request->region; i < requests->view->ops->n; i++) {
		struct op *op = &requests->view->ops->ops[i];

		if (op->kind == OP_REGION_END && op->arg == request->task)
			op->string = request->name;
	}
}

static void write_name(struct requests *requests, const struct live_request *request)
{
	const struct region_list *regions =
		regions_of(requests->regions, requests->view->entities->gs.all[request->g]);

	requests->view->ops->ops[request->begin].string = request->name;
	if (!request->region)
		return;
	requests->view->ops->ops[request->region].string = request->name;
	for (unsigned i = 0; i < regions->n; i++) {
		if (regions->open[i].task == request->task) {
			regions->open[i].name = request->name;
			return;
		}
	}
	name_end(requests, request);
}

/* Names it by its method and rest ("GET /items/{id}"), once: later changes of them are ignored. */
static void requests_set_name(struct requests *requests, struct live_request *request)
{
	struct request_text name = request->method;

	if (request->name)
		return;
	if (request->rest.len) {
		request_text_add(&name, name.len ? " " : "");
		request_text_add(&name, request->rest.text);
	}
	request->name = name_or_other(requests, request, &name);
	write_name(requests, request);
}

/* --- prepared statements --- */

/* Keeps the first word, as name_or_other() does. */
static uint32_t other_statement(struct requests *requests, struct request_text text)
{
	uint32_t id;

	text.cut = false;
	text.len = strcspn(text.text, " ");
	text.text[text.len] = '\0';
	request_text_add(&text, " " OTHER_STATEMENTS);
	id = name_id(requests, text.text, text.len, 2 * MAX_REQUEST_NAMES);
	return id ? id : strtab_add_str(requests->view->strings, "? " OTHER_STATEMENTS);
}

void requests_prepare(struct requests *requests, const struct g *g, const struct request_text *text)
{
	struct request_slot *slot = slots_get(&requests->slots, g);

	if (!slot) {
		requests->view->oom = true;
		return;
	}
	slot->statement = name_id(requests, text->text, text->len, MAX_REQUEST_NAMES);
	if (!slot->statement && text->len)
		slot->statement = other_statement(requests, *text);
	slot->statement_losses = requests->view->losses;
}

const char *requests_prepared(struct requests *requests, const struct g *g)
{
	const struct request_slot *slot = slots_find(&requests->slots, g);

	if (!slot || !slot->statement || slot->statement_losses != requests->view->losses)
		return NULL;
	return strtab_get(requests->view->strings, slot->statement, NULL);
}

void requests_forget_prepared(struct requests *requests, const struct g *g)
{
	struct request_slot *slot = slots_find(&requests->slots, g);

	if (slot)
		slot->statement = 0;
}

/* --- begin and end --- */

/* Returns 1 + index of a free entry; 0 if there is none. */
static uint32_t new_number(struct requests *requests)
{
	uint32_t number = requests->free;

	if (number) {
		requests->free = requests_at(requests, number)->next_of_g;
		return number;
	}
	if (requests->n == MAX_OPEN_REQUESTS)
		return 0;
	if (array_grow(&requests->all, &requests->capacity, requests->n + 1, sizeof(*requests->all))) {
		requests->view->oom = true;
		return 0;
	}
	return (uint32_t)++requests->n;
}

static void add_to_key(struct requests *requests, struct live_request *request)
{
	uint64_t key = requests_key_of(request->kind, request->key);
	const uint32_t *before = map64_get(&requests->by_key, key);

	if (!request->key)
		return;
	request->next_of_key = before ? *before : 0;
	if (map64_set(&requests->by_key, key, number_of(requests, request)))
		requests->view->oom = true;
}

/* Whether a request that began on this goroutine is open; also true if there are too many to search. */
static bool requests_is_open(struct requests *requests, const struct g *g, uint64_t task)
{
	struct live_request *request = requests_at(requests, innermost_of(requests, g));

	for (unsigned i = 0; request && i < MAX_LOOKED_AT; i++) {
		if (request->task == task)
			return true;
		request = requests_at(requests, request->next_of_g);
	}
	return request;
}

/* Ends innermost regions of requests that have ended on other goroutines. */
static void end_regions_elsewhere(struct requests *requests, struct m *m)
{
	const struct region_list *regions = regions_of(requests->regions, m->g);
	unsigned depth = regions->n;

	while (depth && regions->open[depth - 1].request &&
	       !requests_is_open(requests, m->g, regions->open[depth - 1].task))
		depth--;
	regions_end_deeper(requests->regions, m, depth, INFERRED);
}

static void write_begin(struct requests *requests, struct m *m, struct live_request *request, uint64_t parent,
			uint32_t stack)
{
	struct user_region region = {.task = request->task, .request = true};
	struct op *op = emit(requests->view->ops, OP_TASK_BEGIN, m);

	op->arg = request->task;
	op->arg2 = parent;
	op->stack = stack;
	request->begin = (uint32_t)requests->view->ops->n - 1;
	if (regions_of(requests->regions, m->g)->n >= REGIONS_MAX)
		return;
	regions_begin(requests->regions, m, &region, stack);
	request->region = (uint32_t)requests->view->ops->n - 1;
}

struct live_request *requests_begin(struct requests *requests, struct m *m,
				    const struct live_request *request, uint32_t stack)
{
	struct request_slot *slot = slots_get(&requests->slots, m->g);
	struct live_request *outer = requests_innermost(requests, m->g), *now;
	uint64_t parent = outer ? outer->task : 0;
	uint32_t number = slot ? new_number(requests) : 0;

	requests->view->oom = requests->view->oom || !slot;
	now = requests_at(requests, number);
	if (!now)
		return NULL;
	*now = *request;
	now->task = FIRST_REQUEST + ++requests->tasks;
	now->g = m->g->index;
	now->goid = requests->view->entities->gs.goids[m->g->index];
	now->losses = requests->view->losses;
	now->next_of_g = slot->innermost;
	slot->innermost = number;
	add_to_key(requests, now);
	end_regions_elsewhere(requests, m);
	write_begin(requests, m, now, parent, stack);
	return now;
}

static void remove_from_g(struct requests *requests, const struct live_request *request)
{
	struct request_slot *slot =
		slots_find(&requests->slots, requests->view->entities->gs.all[request->g]);
	uint32_t number = number_of(requests, request), *link = slot ? &slot->innermost : NULL;

	while (link && *link && *link != number)
		link = &requests_at(requests, *link)->next_of_g;
	if (link && *link)
		*link = request->next_of_g;
}

static void remove_from_key(struct requests *requests, const struct live_request *request)
{
	uint64_t key = requests_key_of(request->kind, request->key);
	uint32_t number = number_of(requests, request);
	uint32_t *link = request->key ? map64_get(&requests->by_key, key) : NULL;
	const uint32_t *first = link;

	while (link && *link && *link != number)
		link = &requests_at(requests, *link)->next_of_key;
	if (!link || !*link)
		return;
	*link = request->next_of_key;
	if (link == first && !*link)
		map64_del(&requests->by_key, key);
}

/* Notes in the next older request of this kind on the goroutine that a later one has ended. */
static void pass_outer(struct requests *requests, const struct live_request *request)
{
	struct live_request *outer = requests_at(requests, request->next_of_g);

	while (outer && outer->kind != request->kind)
		outer = requests_at(requests, outer->next_of_g);
	if (outer)
		outer->passed = true;
}

static void forget(struct requests *requests, struct live_request *request)
{
	pass_outer(requests, request);
	remove_from_key(requests, request);
	remove_from_g(requests, request);
	*request = (struct live_request){.next_of_g = requests->free};
	requests->free = number_of(requests, request);
}

/* Ends its region and those inside it. One of another goroutine stays open until the next begin there. */
static void requests_end_region(struct requests *requests, struct m *m, const struct live_request *request)
{
	struct region_list *regions = regions_of(requests->regions, m->g);
	unsigned depth = 0;

	while (depth < regions->n && regions->open[depth].task != request->task)
		depth++;
	if (m->g->index != request->g || depth == regions->n)
		return;
	regions_end_deeper(requests->regions, m, depth + 1, INFERRED);
	regions_end_deeper(requests->regions, m, depth, requests->view->ops->provenance);
}

void requests_log(struct requests *requests, struct m *m, const struct live_request *request,
		  const char *message)
{
	struct op *op = emit(requests->view->ops, OP_LOG, m);

	op->arg = request->task;
	op->string = strtab_add_str(requests->view->strings, "request");
	op->string2 = model_text_id(requests->view->model, message, strlen(message));
}

void requests_end(struct requests *requests, struct m *m, struct live_request *request, const char *message)
{
	requests_set_name(requests, request);
	if (message)
		requests_log(requests, m, request, message);
	requests_end_region(requests, m, request);
	emit(requests->view->ops, OP_TASK_END, m)->arg = request->task;
	forget(requests, request);
}

void requests_end_all(struct requests *requests, struct m *m)
{
	enum provenance before = set_provenance(requests->view->ops, INFERRED);

	while (innermost_of(requests, m->g))
		requests_end(requests, m, requests_innermost(requests, m->g), NULL);
	requests->view->ops->provenance = before;
}

/* --- generations --- */

void requests_settle(struct requests *requests)
{
	for (size_t i = 0; i < requests->n; i++) {
		struct live_request *request = &requests->all[i];
		const struct g *g = request->task ? requests->view->entities->gs.all[request->g] : NULL;

		if (!g)
			continue;
		requests_set_name(requests, request);
		if (!request->goid)
			request->goid = requests->view->entities->gs
						.goids[request->g]; /* it may have got one since */
		if (g->status == G_DEAD || requests->view->entities->gs.goids[request->g] != request->goid)
			forget(requests, request);
	}
	map64_clear(&requests->names);
}

void requests_keep_names(struct requests *requests)
{
	const struct goroutine_table *gs = &requests->view->entities->gs;

	for (uint32_t i = 1; i < gs->n; i++) {
		const struct request_slot *slot = slots_find(&requests->slots, gs->all[i]);

		if (slot)
			strtab_keep(requests->view->strings, slot->statement);
	}
}

void requests_free(struct requests *requests)
{
	free(requests->all);
	map64_free(&requests->by_key);
	map64_free(&requests->names);
	free(requests->slots.all);
	free(requests->functions.all);
	free(requests);
}

struct requests *requests_new(struct model_view *view, struct regions *regions)
{
	struct requests *requests = calloc(1, sizeof(*requests));

	if (!requests)
		return NULL;
	requests->view = view;
	requests->regions = regions;
	requests->slots.size = sizeof(struct request_slot);
	return requests;
}
