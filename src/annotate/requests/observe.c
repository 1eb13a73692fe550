/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Requests, from records of their functions (--requests), as an annotator. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/annotations.h"
#include "annotate/requests/requests.h"
#include "rawlog/values.h"

/* A record. */
struct request_hit {
	const struct request_function *function;
	const struct preset_kind *kind;
	struct value values[VALUES_MAX];
	const struct value *by_role[ROLES]; /* NULL: absent */
};

/* Returns false if the record does not belong to a request. */
static bool read_hit(const struct requests *requests, const struct probe_hit *hit, struct request_hit *in)
{
	const struct raw_record *rec = hit->rec;
	int n = rec->flags & RAW_VALUES && hit->text ? values_unpack(hit->text, in->values) : 0;

	in->function = request_functions_find(&requests->functions, rec->arg);
	if (!in->function || n < 0)
		return false;
	in->kind = in->function->kind;
	for (int i = 0; i < n; i++)
		in->by_role[in->function->roles[i]] = &in->values[i];
	in->by_role[ROLE_NONE] = NULL;
	return true;
}

static uint64_t observe_number(const struct value *value)
{
	if (!value || value->flags & VALUE_UNREADABLE)
		return 0;
	return value->size < 8 ? value->bits & ((1ull << 8 * value->size) - 1) : value->bits;
}

static bool is_part_of(struct requests *requests, const struct request_hit *in, const struct g *g,
		       const char *name)
{
	uint32_t preset = strtab_find(requests->view->strings, name, strlen(name));
	const struct live_request *outer = preset ? requests_of_g(requests, g, preset) : NULL, *own;

	if (!outer || outer->losses != requests->view->losses)
		return false;
	own = requests_of_g(requests, g, in->function->preset);
	return !own || own->task < outer->task;
}

/* Whether this request is part of one that the goroutine has open. */
static bool is_part(struct requests *requests, const struct request_hit *in, const struct g *g)
{
	for (unsigned i = 0; i < OUTER && in->kind->part_of[i]; i++) {
		if (is_part_of(requests, in, g, in->kind->part_of[i]))
			return true;
	}
	return false;
}

/* --- names --- */

static void observe_put(struct request_text *to, const struct value *value)
{
	if (value)
		request_text_put(to, value);
}

/* Splits "SELECT" from the rest. */
static void split_statement(struct request_text *statement, struct request_text *first)
{
	const char *space = memchr(statement->text, ' ', statement->len);
	size_t len = space ? (size_t)(space - statement->text) : statement->len;

	*first = *statement;
	first->len = len;
	first->text[len] = '\0';
	first->cut = false;
	if (!space)
		*statement = (struct request_text){.len = 0};
	else
		memmove(statement->text, space + 1, statement->len -= len + 1);
	statement->text[statement->len] = '\0';
}

/* prepared: the statement's text if the record has none. */
static void name_request(const struct request_hit *in, const char *prepared, struct live_request *request)
{
	const struct preset_kind *kind = in->kind;

	request->other = kind->other;
	if (kind->statement) {
		observe_put(&request->rest, in->by_role[ROLE_METHOD]);
		if (!in->by_role[ROLE_METHOD])
			request_text_add(&request->rest, prepared);
		split_statement(&request->rest, &request->method);
		return;
	}
	if (kind->first)
		request_text_add(&request->method, kind->first);
	if (kind->first && in->by_role[ROLE_METHOD] && in->by_role[ROLE_PATH])
		request_text_add(&request->method, " ");
	if (in->by_role[ROLE_METHOD])
		request_text_put(in->by_role[ROLE_PATH] ? &request->method : &request->rest,
				 in->by_role[ROLE_METHOD]);
	observe_put(&request->rest, in->by_role[ROLE_HOST]);
	observe_put(&request->rest, in->by_role[ROLE_PATH]);
	if (kind->unnamed && !in->by_role[ROLE_PATH])
		request_text_add(&request->rest, kind->unnamed);
	if (in->by_role[ROLE_QUERY] && in->by_role[ROLE_QUERY]->len) {
		request_text_add(&request->rest, "?");
		observe_put(&request->rest, in->by_role[ROLE_QUERY]);
	}
}

/* --- begin --- */

/* A trace id has 16 bytes and a span id 8, in memory order (OpenTelemetry's SpanContext). */
static void log_span(struct requests *requests, struct m *m, const struct request_hit *in,
		     const struct live_request *request)
{
	char text[80];

	if (!in->by_role[ROLE_TRACE] || !in->by_role[ROLE_TRACE2])
		return;
	snprintf(text, sizeof(text), "trace=%016" PRIx64 "%016" PRIx64 " span=%016" PRIx64,
		 __builtin_bswap64(in->by_role[ROLE_TRACE]->bits),
		 __builtin_bswap64(in->by_role[ROLE_TRACE2]->bits),
		 __builtin_bswap64(observe_number(in->by_role[ROLE_KEY])));
	requests_log(requests, m, request, text);
}

static void end_lost(struct requests *requests, struct m *m, struct live_request *request)
{
	enum provenance before = set_provenance(requests->view->ops, REPAIRED);

	requests_end(requests, m, request, NULL);
	requests->view->ops->provenance = before;
}

/* Whether the request has already begun, in an outer function or in an earlier attempt. */
static bool has_begun(struct requests *requests, const struct request_hit *in, struct m *m)
{
	uint64_t key = observe_number(in->by_role[ROLE_KEY]);
	struct live_request *request = requests_of_key(requests, in->function->preset, key);

	if (in->kind->statement)
		return false;
	if (request && request->losses == requests->view->losses)
		return true;
	if (!request && (in->kind->one_per_goroutine || !key))
		request = requests_of_g(requests, m->g, in->function->preset);
	/* Requests without a key nest, unless an end was lost. */
	if (request && !in->kind->one_per_goroutine && request->losses == requests->view->losses)
		return false;
	if (request)
		end_lost(requests, m, request);
	return false;
}

/*
 * If a driver prepares all statements, the function that runs prepared ones is called for the others, too.
 * Those have already begun, with their own text.
 */
static bool is_inner(const struct request_hit *in, const char *prepared)
{
	return in->kind->statement && !in->by_role[ROLE_METHOD] && !prepared;
}

static void observe_begin(struct requests *requests, const struct request_hit *in,
			  const struct probe_hit *hit)
{
	struct live_request request = {.kind = in->function->preset,
				       .key = observe_number(in->by_role[ROLE_KEY])};
	const char *prepared = requests_prepared(requests, hit->m->g);
	const struct live_request *begun;

	if (has_begun(requests, in, hit->m) || is_inner(in, prepared))
		return;
	name_request(in, prepared, &request);
	if (in->kind->statement && in->by_role[ROLE_METHOD])
		requests_forget_prepared(requests, hit->m->g);
	begun = requests_begin(requests, hit->m, &request, hit->stack);
	if (begun)
		log_span(requests, hit->m, in, begun);
}

static void take_prepared(struct requests *requests, const struct request_hit *in, const struct g *g)
{
	struct request_text text = {.len = 0};

	request_text_put(&text, in->by_role[ROLE_PREPARED]);
	requests_prepare(requests, g, &text);
}

static void take_rows(struct requests *requests, const struct request_hit *in)
{
	struct live_request *request =
		requests_of_key(requests, in->function->preset, observe_number(in->by_role[ROLE_ROWS]));

	if (request)
		request->has_rows = true;
}

/*
 * Routers may be inside each other. "/" alone says less than the path. The name is set when the request or
 * the generation ends.
 */
static void take_route(struct requests *requests, const struct request_hit *in, const struct g *g)
{
	const struct value *route =
		in->by_role[ROLE_ROUTE] ? in->by_role[ROLE_ROUTE] : in->by_role[ROLE_SUBROUTE];
	struct live_request *request = requests_of_g(requests, g, in->function->preset);
	bool is_part = !in->by_role[ROLE_ROUTE] && (!request || request->route_is_part);
	struct request_text first;

	if (!request || !route->len || route->flags & VALUE_UNREADABLE ||
	    (in->by_role[ROLE_MATCHED] && !observe_number(in->by_role[ROLE_MATCHED])))
		return;
	if (request->has_route) {
		request_route_add(&request->rest, route, is_part);
	} else {
		request_route_put(&first, route);
		if (strcmp(first.text, "/") == 0)
			return;
		request->rest = first;
		request->has_route = true;
	}
	request->route_is_part = !in->by_role[ROLE_ROUTE];
}

/* --- end --- */

/* The names of google.golang.org/grpc/codes; other codes are shown as numbers, as Code.String() does. */
static void name_code(uint64_t code, char *text, size_t size)
{
	static const char *const names[] = {
		"OK",       "Canceled",        "Unknown",          "InvalidArgument",   "DeadlineExceeded",
		"NotFound", "AlreadyExists",   "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
		"Aborted",  "OutOfRange",      "Unimplemented",    "Internal",          "Unavailable",
		"DataLoss", "Unauthenticated",
	};

	if (code < sizeof(names) / sizeof(names[0]))
		snprintf(text, size, "code=%s", names[code]);
	else
		snprintf(text, size, "code=Code(%" PRIu64 ")", code);
}

/* An RPC ends with a status, or with the error made from it. If there is neither, it succeeded. */
static void name_outcome(const struct request_hit *in, char *text, size_t size)
{
	const struct value *type = in->by_role[ROLE_TYPE];
	bool is_null = type ? type->flags & VALUE_NULL : in->by_role[ROLE_CODE]->flags & VALUE_NULL;

	if (is_null || (type && observe_number(type) == in->function->types[1]))
		name_code(0, text, size);
	else if ((type && observe_number(type) != in->function->types[0]) ||
		 in->by_role[ROLE_CODE]->flags & VALUE_UNREADABLE)
		snprintf(text, size, "error");
	else
		name_code(observe_number(in->by_role[ROLE_CODE]), text, size);
}

/* Whether the record has an error without a code, such as that of rows: neither nil nor of io.EOF's type. */
static bool is_plain_error(const struct request_hit *in)
{
	return in->by_role[ROLE_TYPE] && !in->by_role[ROLE_CODE] &&
	       !(in->by_role[ROLE_TYPE]->flags & VALUE_UNREADABLE) &&
	       observe_number(in->by_role[ROLE_TYPE]) != in->function->types[1];
}

static const char *message_of(const struct request_hit *in, char *text, size_t size)
{
	uint64_t status = observe_number(in->by_role[ROLE_STATUS]);

	if ((in->by_role[ROLE_ERROR] && observe_number(in->by_role[ROLE_ERROR])) || is_plain_error(in))
		snprintf(text, size, "error");
	else if (in->by_role[ROLE_STATUS] && (status || in->kind->implicit_200))
		snprintf(text, size, "status=%" PRId64, status ? (int64_t)status : 200);
	else if (in->by_role[ROLE_CODE])
		name_outcome(in, text, size);
	else if (in->by_role[ROLE_FAILED])
		snprintf(text, size, "error");
	else
		return NULL;
	return text;
}

/* A query whose rows are open has not failed: something else on its connection has. */
static bool is_others_failure(const struct request_hit *in, const struct live_request *request)
{
	return in->by_role[ROLE_FAILED] && request->has_rows;
}

/* Without a key, the request's end may have been lost, and this may be the end of a later one. */
static void end_of_goroutine(struct requests *requests, const struct request_hit *in, struct m *m,
			     const char *message)
{
	struct live_request *request = requests_of_g(requests, m->g, in->function->preset);

	if (!request || (in->kind->newest && request->passed) || is_others_failure(in, request))
		return;
	if (request->losses == requests->view->losses)
		requests_end(requests, m, request, message);
	else
		end_lost(requests, m, request);
}

static void observe_end(struct requests *requests, const struct request_hit *in, struct m *m)
{
	uint64_t key =
		observe_number(in->by_role[ROLE_KEYS] ? in->by_role[ROLE_KEYS] : in->by_role[ROLE_KEY]);
	struct live_request *request;
	char text[40];
	const char *message = message_of(in, text, sizeof(text));

	if (observe_number(in->by_role[ROLE_DONE]) ||
	    (in->by_role[ROLE_FAILED] && !observe_number(in->by_role[ROLE_FAILED])))
		return;
	if (!in->by_role[ROLE_KEY] && !in->by_role[ROLE_KEYS]) {
		end_of_goroutine(requests, in, m, message);
		return;
	}
	do {
		request = requests_of_key(requests, in->function->preset, key);
		if (request)
			requests_end(requests, m, request, message);
	} while (request && in->by_role[ROLE_KEYS]);
}

/* --- as an annotator --- */

static bool request_open(struct annotations *all)
{
	all->requests = requests_new(all->view, all->regions);
	return all->requests;
}

static void request_free(struct annotations *all)
{
	if (all->requests)
		requests_free(all->requests);
}

static void request_learn(struct annotations *all, const struct log_record *record)
{
	struct requests *requests = all->requests;

	if (record->type == LOG_VALUES)
		request_functions_learn_values(&requests->functions, record->data);
	else if (!request_functions_learn(&requests->functions, all->view->strings, record->data))
		all->view->oom = true;
}

static void request_observe(struct annotations *all, const struct probe_hit *hit)
{
	struct requests *requests = all->requests;
	struct request_hit in = {.kind = NULL};

	if (!read_hit(requests, hit, &in) || is_part(requests, &in, hit->m->g))
		return;
	if (hit->rec->site == SITE_REQUEST_END)
		observe_end(requests, &in, hit->m);
	else if (in.by_role[ROLE_PREPARED])
		take_prepared(requests, &in, hit->m->g);
	else if (in.by_role[ROLE_ROWS])
		take_rows(requests, &in);
	else if (in.by_role[ROLE_ROUTE] || in.by_role[ROLE_SUBROUTE])
		take_route(requests, &in, hit->m->g);
	else
		observe_begin(requests, &in, hit);
}

/* The goroutine ends. */
static void request_op(struct annotations *all, enum op_kind kind, struct m *m)
{
	(void)kind;
	requests_end_all(all->requests, m);
}

static void request_settle(struct annotations *all)
{
	requests_settle(all->requests);
}

static void request_keep_names(struct annotations *all)
{
	requests_keep_names(all->requests);
}

const struct annotator requests_annotator = {
	.open = request_open,
	.free = request_free,
	.sites = {SITE_REQUEST_BEGIN, SITE_REQUEST_END},
	.observe = request_observe,
	.records = {LOG_FUNCTION, LOG_VALUES},
	.learn = request_learn,
	.ops = 1ull << OP_GO_DESTROY,
	.op = request_op,
	.settle = request_settle,
	.keep_names = request_keep_names,
};
