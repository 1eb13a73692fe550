/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The names of a record's values in the log give their roles (target/request_presets.h), so this file knows
 * neither functions nor releases.
 */
#include "model/go_requests.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/annotations.h"
#include "model/repair.h"
#include "model/requests.h"

enum { OUTER = 2 }; /* presets whose requests may contain one */

/* The differences between presets, by their names in the log. */
struct preset_kind {
	const char *name;
	const char *first;   /* first word of a request's name; NULL: the method */
	const char *other;   /* replaces names when there are too many */
	const char *unnamed; /* name of a request without a path */
	/* Another preset: a request that begins during one of these is the same request. */
	const char *part_of[OUTER];
	bool statement;         /* the name is a statement, whose first word is the method */
	bool one_per_goroutine; /* a goroutine has one at a time: if another is open, its end was lost */
	bool implicit_200;      /* a status of 0 means 200 */
	bool newest;            /* an end without a key belongs to the request that began last */
};

static const struct preset_kind kinds[] = {
	{.name = "http.server", .other = "(other paths)", .one_per_goroutine = true, .implicit_200 = true},
	{.name = "http.client", .first = "client", .other = "(other paths)"},
	{.name = "http.transport", .first = "client", .other = "(other paths)", .part_of = {"http.client"}},
	{.name = "grpc.server", .other = "(other methods)", .one_per_goroutine = true},
	{.name = "grpc.client", .first = "client", .other = "(other methods)", .newest = true},
	{.name = "redis.command", .first = "redis", .other = "(other commands)", .unnamed = "pipeline"},
	{.name = "otel.span", .first = "span", .other = "(other spans)"},
	{.name = "sql.query", .other = OTHER_STATEMENTS, .statement = true},
	{.name = "sql.exec", .other = OTHER_STATEMENTS, .statement = true},
	{.name = "pgx.query",
	 .other = OTHER_STATEMENTS,
	 .part_of = {"sql.query", "sql.exec"},
	 .statement = true},
	{.name = "pgx.exec",
	 .other = OTHER_STATEMENTS,
	 .part_of = {"sql.query", "sql.exec"},
	 .statement = true},
};

static const struct preset_kind unknown = {.other = "(others)"};

/* The values of a record by role; NULL: absent. */
struct request_hit {
	const struct preset_kind *kind;
	uint32_t preset; /* string id of its name */
	struct value values[VALUES_MAX];
	const struct value *key, *keys, *done, *failed, *method, *path, *host, *query, *route, *subroute;
	const struct value *status, *code, *error, *trace, *trace2, *type, *prepared, *rows, *matched;
	unsigned types[2]; /* values to compare `type` with */
};

static const struct preset_kind *find_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	}
	return &unknown;
}

static void take_value(struct request_hit *in, const char *role, const struct value *value)
{
	const struct {
		const char *role;
		const struct value **to;
	} roles[] = {
		{"key", &in->key},       {"keys", &in->keys},         {"done", &in->done},
		{"method", &in->method}, {"path", &in->path},         {"host", &in->host},
		{"query", &in->query},   {"route", &in->route},       {"status", &in->status},
		{"code", &in->code},     {"error", &in->error},       {"trace", &in->trace},
		{"trace2", &in->trace2}, {"failed", &in->failed},     {"prepared", &in->prepared},
		{"rows", &in->rows},     {"subroute", &in->subroute}, {"matched", &in->matched},
	};

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		if (strcmp(roles[i].role, role) == 0)
			*roles[i].to = value;
	}
	if (sscanf(role, "type=%8x,%8x", &in->types[0], &in->types[1]) == 2)
		in->type = value;
}

/* Returns false if the record does not belong to a request. */
static bool read_hit(struct model *md, const struct raw_record *rec, struct request_hit *in)
{
	const struct watched_function *function = functions_find(&md->functions, rec->arg);
	const uint32_t *labels = functions_labels(&md->functions, rec->arg, rec->site);
	const struct raw_text *text = md->annotations.values;
	int n = rec->flags & RAW_VALUES && text ? values_unpack(text, in->values) : 0;

	if (!function || function->kind != FUNCTION_REQUEST || n < 0)
		return false;
	in->preset = function->name;
	in->kind = find_kind(strtab_get(md->options.strings, function->name, NULL));
	for (int i = 0; i < n; i++)
		take_value(in, strtab_get(md->options.strings, labels[i], NULL), &in->values[i]);
	return true;
}

static uint64_t number(const struct value *value)
{
	if (!value || value->flags & VALUE_UNREADABLE)
		return 0;
	return value->size < 8 ? value->bits & ((1ull << 8 * value->size) - 1) : value->bits;
}

static bool is_part_of(struct model *md, const struct request_hit *in, const struct g *g, const char *name)
{
	uint32_t preset = strtab_find(md->options.strings, name, strlen(name));
	const struct live_request *outer = preset ? requests_of_g(md, g, preset) : NULL, *own;

	if (!outer || outer->losses != md->annotations.losses)
		return false;
	own = requests_of_g(md, g, in->preset);
	return !own || own->task < outer->task;
}

/* Whether this request is part of one that the goroutine has open. */
static bool is_part(struct model *md, const struct request_hit *in, const struct g *g)
{
	for (unsigned i = 0; i < OUTER && in->kind->part_of[i]; i++) {
		if (is_part_of(md, in, g, in->kind->part_of[i]))
			return true;
	}
	return false;
}

/* --- names --- */

static void put(struct request_text *to, const struct value *value)
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
		put(&request->rest, in->method);
		if (!in->method)
			request_text_add(&request->rest, prepared);
		split_statement(&request->rest, &request->method);
		return;
	}
	if (kind->first)
		request_text_add(&request->method, kind->first);
	if (kind->first && in->method && in->path)
		request_text_add(&request->method, " ");
	if (in->method)
		request_text_put(in->path ? &request->method : &request->rest, in->method);
	put(&request->rest, in->host);
	put(&request->rest, in->path);
	if (kind->unnamed && !in->path)
		request_text_add(&request->rest, kind->unnamed);
	if (in->query && in->query->len) {
		request_text_add(&request->rest, "?");
		put(&request->rest, in->query);
	}
}

/* --- begin --- */

/* A trace id has 16 bytes and a span id 8, in memory order (OpenTelemetry's SpanContext). */
static void log_span(struct model *md, struct m *m, const struct request_hit *in,
		     const struct live_request *request)
{
	char text[80];

	if (!in->trace || !in->trace2)
		return;
	snprintf(text, sizeof(text), "trace=%016" PRIx64 "%016" PRIx64 " span=%016" PRIx64,
		 __builtin_bswap64(in->trace->bits), __builtin_bswap64(in->trace2->bits),
		 __builtin_bswap64(number(in->key)));
	requests_log(md, m, request, text);
}

static void end_lost(struct model *md, struct m *m, struct live_request *request)
{
	enum provenance before = set_provenance(md, REPAIRED);

	requests_end(md, m, request, NULL);
	md->ops.provenance = before;
}

/* Whether the request has already begun, in an outer function or in an earlier attempt. */
static bool has_begun(struct model *md, const struct request_hit *in, struct m *m)
{
	uint64_t key = number(in->key);
	struct live_request *request = requests_of_key(md, in->preset, key);

	if (in->kind->statement)
		return false;
	if (request && request->losses == md->annotations.losses)
		return true;
	if (!request && (in->kind->one_per_goroutine || !key))
		request = requests_of_g(md, m->g, in->preset);
	/* Requests without a key nest, unless an end was lost. */
	if (request && !in->kind->one_per_goroutine && request->losses == md->annotations.losses)
		return false;
	if (request)
		end_lost(md, m, request);
	return false;
}

/*
 * If a driver prepares all statements, the function that runs prepared ones is called for the others, too.
 * Those have already begun, with their own text.
 */
static bool is_inner(const struct request_hit *in, const char *prepared)
{
	return in->kind->statement && !in->method && !prepared;
}

static void begin(struct model *md, const struct request_hit *in, const struct probe_hit *hit)
{
	struct live_request request = {.kind = in->preset, .key = number(in->key)};
	const char *prepared = requests_prepared(md, hit->m->g);
	const struct live_request *begun;

	if (has_begun(md, in, hit->m) || is_inner(in, prepared))
		return;
	name_request(in, prepared, &request);
	if (in->kind->statement && in->method)
		hit->m->g->statement = 0;
	begun = requests_begin(md, hit->m, &request, hit->stack);
	if (begun)
		log_span(md, hit->m, in, begun);
}

static void take_prepared(struct model *md, const struct request_hit *in, struct g *g)
{
	struct request_text text = {.len = 0};

	request_text_put(&text, in->prepared);
	requests_prepare(md, g, &text);
}

static void take_rows(struct model *md, const struct request_hit *in)
{
	struct live_request *request = requests_of_key(md, in->preset, number(in->rows));

	if (request)
		request->has_rows = true;
}

/*
 * Routers may be inside each other. "/" alone says less than the path. The name is set when the request or
 * the generation ends.
 */
static void take_route(struct model *md, const struct request_hit *in, const struct g *g)
{
	const struct value *route = in->route ? in->route : in->subroute;
	struct live_request *request = requests_of_g(md, g, in->preset);
	bool is_part = !in->route && (!request || request->route_is_part);
	struct request_text first;

	if (!request || !route->len || route->flags & VALUE_UNREADABLE ||
	    (in->matched && !number(in->matched)))
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
	request->route_is_part = !in->route;
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
	const struct value *type = in->type;
	bool is_null = type ? type->flags & VALUE_NULL : in->code->flags & VALUE_NULL;

	if (is_null || (type && number(type) == in->types[1]))
		name_code(0, text, size);
	else if ((type && number(type) != in->types[0]) || in->code->flags & VALUE_UNREADABLE)
		snprintf(text, size, "error");
	else
		name_code(number(in->code), text, size);
}

/* Whether the record has an error without a code, such as that of rows: neither nil nor of io.EOF's type. */
static bool is_plain_error(const struct request_hit *in)
{
	return in->type && !in->code && !(in->type->flags & VALUE_UNREADABLE) &&
	       number(in->type) != in->types[1];
}

static const char *message_of(const struct request_hit *in, char *text, size_t size)
{
	uint64_t status = number(in->status);

	if ((in->error && number(in->error)) || is_plain_error(in))
		snprintf(text, size, "error");
	else if (in->status && (status || in->kind->implicit_200))
		snprintf(text, size, "status=%" PRId64, status ? (int64_t)status : 200);
	else if (in->code)
		name_outcome(in, text, size);
	else if (in->failed)
		snprintf(text, size, "error");
	else
		return NULL;
	return text;
}

/* A query whose rows are open has not failed: something else on its connection has. */
static bool is_others_failure(const struct request_hit *in, const struct live_request *request)
{
	return in->failed && request->has_rows;
}

/* Without a key, the request's end may have been lost, and this may be the end of a later one. */
static void end_of_goroutine(struct model *md, const struct request_hit *in, struct m *m, const char *message)
{
	struct live_request *request = requests_of_g(md, m->g, in->preset);

	if (!request || (in->kind->newest && request->passed) || is_others_failure(in, request))
		return;
	if (request->losses == md->annotations.losses)
		requests_end(md, m, request, message);
	else
		end_lost(md, m, request);
}

static void end(struct model *md, const struct request_hit *in, struct m *m)
{
	uint64_t key = number(in->keys ? in->keys : in->key);
	struct live_request *request;
	char text[40];
	const char *message = message_of(in, text, sizeof(text));

	if (number(in->done) || (in->failed && !number(in->failed)))
		return;
	if (!in->key && !in->keys) {
		end_of_goroutine(md, in, m, message);
		return;
	}
	do {
		request = requests_of_key(md, in->preset, key);
		if (request)
			requests_end(md, m, request, message);
	} while (request && in->keys);
}

void on_request(struct model *md, const struct probe_hit *hit)
{
	const struct raw_record *rec = hit->rec;
	struct g *g = g_of_record(md, rec->g, rec->goid, G_RUNNABLE);
	struct request_hit in = {.kind = NULL};

	if (!g || !force_running(md, hit->m, g, hit->p) || !read_hit(md, rec, &in))
		return;
	g->last_hit = rec->time;
	if (is_part(md, &in, g))
		return;
	if (rec->site == SITE_REQUEST_END)
		end(md, &in, hit->m);
	else if (in.prepared)
		take_prepared(md, &in, g);
	else if (in.rows)
		take_rows(md, &in);
	else if (in.route || in.subroute)
		take_route(md, &in, g);
	else
		begin(md, &in, hit);
}
