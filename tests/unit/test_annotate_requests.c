/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Requests of one goroutine, and of others: the ops made from their records. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "annotate/annotate.h"
#include "op_rules.h"

/* Presets' probes by their numbers in LOG_FUNCTION. */
enum {
	SERVE = 1,
	ROUTE,
	SUBROUTE,
	FINISH,
	QUERY,
	QUERY_ROWS,
	ROWS,
	ROWS_READ,
	PUT_CONN,
	QUERY_PREPARED,
	QUERY_STATEMENT,
	QUERY_RELEASED,
	EXEC,
	EXEC_PREPARED,
	EXEC_STATEMENT,
	EXEC_RETURNED,
	EXEC_RELEASED,
	RPC,
	RPC_END,
	CALL,
	CALL_END,
	CALL_FAILED,
	ASK,
	ASK_END,
	TRIP,
	TRIP_END,
	COMMAND,
	PIPELINE,
	COMMAND_END,
	SPAN,
	SPAN_END,
	PGX,
	PGX_FAILED,
	PGX_END
};

struct story {
	struct op_rules *rules;
	struct strtab *strings;
	struct model *model;
	uint64_t now;
	uint64_t first; /* task id */
	char text[1 << 18];
};

static const char *string_of(const struct tables *tables, uint32_t id)
{
	if (id & TEXT_ID)
		return strtab_get(tables->texts, id & ~TEXT_ID, NULL);
	return strtab_get(tables->strings, id, NULL);
}

/* Task ids begin with 1 here. */
static void report(struct story *story, const struct op *op, const struct tables *tables)
{
	size_t at = strlen(story->text), space = sizeof(story->text) - at;
	const char *string = string_of(tables, op->string);
	unsigned task, parent;

	if (op->kind == OP_TASK_BEGIN && !story->first)
		story->first = op->arg - 1;
	task = (unsigned)(op->arg - story->first);
	parent = op->arg2 ? (unsigned)(op->arg2 - story->first) : 0;
	if (op->kind == OP_TASK_BEGIN)
		snprintf(story->text + at, space, "task %u %u %s; ", task, parent, string);
	else if (op->kind == OP_TASK_END)
		snprintf(story->text + at, space, "done %u; ", task);
	else if (op->kind == OP_REGION_BEGIN || op->kind == OP_REGION_END)
		snprintf(story->text + at, space, "%s %s; ", op->kind == OP_REGION_BEGIN ? "begin" : "end",
			 string);
	else if (op->kind == OP_LOG && strcmp(string, "gotrace") != 0)
		snprintf(story->text + at, space, "log %u %s %s; ", task, string,
			 string_of(tables, op->string2));
}

static int take(void *ctx, const struct generation *gen)
{
	struct story *story = ctx;
	struct error err = {""};

	if (op_rules_generation(story->rules, gen, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < gen->nops; i++)
		report(story, &gen->ops[i], gen->tables);
	return 0;
}

static void feed(struct story *story, uint32_t type, const void *data, size_t size)
{
	struct log_record record = {.type = type, .size = (uint32_t)size, .data = data};

	assert_int_equal(model_feed(story->model, &record, NULL), 0);
}

static struct raw_record record(struct story *story, uint8_t site, unsigned g)
{
	return (struct raw_record){.tid = 100 + g,
				   .site = site,
				   .time = story->now += 1000,
				   .g = 0xc000001000 + g * 0x1000ull,
				   .goid = 7 + g,
				   .status = 2};
}

static void start(struct story *story, unsigned g)
{
	struct raw_record rec = record(story, SITE_ACQUIREP, g);

	rec.g = rec.goid = 0;
	rec.p = 0xc000050000 + g * 0x1000ull;
	rec.arg2 = g;
	feed(story, LOG_RECORDS, &rec, sizeof(rec));
	rec = record(story, SITE_NEWPROC, g);
	rec.status = 1;
	feed(story, LOG_RECORDS, &rec, sizeof(rec));
	rec = record(story, SITE_EXECUTE, g);
	feed(story, LOG_RECORDS, &rec, sizeof(rec));
}

static void learn(struct story *story, uint32_t number, const char *name, uint8_t site, const char *labels)
{
	_Alignas(8) char bytes[256];
	struct log_function function = {
		.number = number, .kind = FUNCTION_REQUEST, .len = (uint16_t)strlen(name)};
	struct log_values values = {.number = number, .site = site};
	char *to = bytes + sizeof(values);

	memcpy(bytes, &function, sizeof(function));
	memcpy(bytes + sizeof(function), name, function.len);
	feed(story, LOG_FUNCTION, bytes, sizeof(function) + function.len);
	for (const char *at = labels; *at; at += strcspn(at, " "), at += *at == ' ') {
		*to = (char)strcspn(at, " ");
		memcpy(to + 1, at, (size_t)*to);
		to += *to + 1;
		values.n++;
	}
	memcpy(bytes, &values, sizeof(values));
	feed(story, LOG_VALUES, bytes, (size_t)(to - bytes));
}

static void begin(struct story *story)
{
	struct model_options options = {.sink = take, .ctx = story};
	struct log_target target = {.flags = LOG_TARGET_GO | LOG_TARGET_SPAWNED, .go_minor = 26};

	*story = (struct story){.rules = op_rules_new(), .strings = strtab_new(), .now = 1000};
	options.strings = story->strings;
	story->model = annotate_model_new(&options, NULL);
	assert_non_null(story->model);
	feed(story, LOG_TARGET, &target, sizeof(target));
	learn(story, SERVE, "http.server", SITE_REQUEST_BEGIN, "key method path");
	learn(story, ROUTE, "http.server", SITE_REQUEST_BEGIN, "route");
	learn(story, SUBROUTE, "http.server", SITE_REQUEST_BEGIN, "matched subroute");
	learn(story, FINISH, "http.server", SITE_REQUEST_END, "key status");
	learn(story, QUERY, "sql.query", SITE_REQUEST_BEGIN, "key method");
	learn(story, ROWS, "sql.query", SITE_REQUEST_END, "key done error");
	learn(story, PUT_CONN, "sql.query", SITE_REQUEST_END, "keys error");
	learn(story, ROWS_READ, "sql.query", SITE_REQUEST_END, "key done error type=00000e0f,00000e0f");
	learn(story, QUERY_ROWS, "sql.query", SITE_REQUEST_BEGIN, "rows");
	learn(story, QUERY_PREPARED, "sql.query", SITE_REQUEST_BEGIN, "prepared");
	learn(story, QUERY_STATEMENT, "sql.query", SITE_REQUEST_BEGIN, "key");
	learn(story, QUERY_RELEASED, "sql.query", SITE_REQUEST_END, "failed");
	learn(story, EXEC, "sql.exec", SITE_REQUEST_BEGIN, "key method");
	learn(story, EXEC_PREPARED, "sql.exec", SITE_REQUEST_BEGIN, "prepared");
	learn(story, EXEC_STATEMENT, "sql.exec", SITE_REQUEST_BEGIN, "key");
	learn(story, EXEC_RETURNED, "sql.exec", SITE_REQUEST_END, "keys error");
	learn(story, EXEC_RELEASED, "sql.exec", SITE_REQUEST_END, "error");
	learn(story, RPC, "grpc.server", SITE_REQUEST_BEGIN, "key path");
	learn(story, RPC_END, "grpc.server", SITE_REQUEST_END, "key code");
	learn(story, CALL, "grpc.client", SITE_REQUEST_BEGIN, "key path");
	learn(story, CALL_END, "grpc.client", SITE_REQUEST_END, "key type=0badcafe,00000e0f code");
	learn(story, CALL_FAILED, "grpc.client", SITE_REQUEST_END, "failed type=0badcafe,00000e0f code");
	learn(story, ASK, "http.client", SITE_REQUEST_BEGIN, "method path");
	learn(story, ASK_END, "http.client", SITE_REQUEST_END, "status error");
	learn(story, TRIP, "http.transport", SITE_REQUEST_BEGIN, "method path");
	learn(story, TRIP_END, "http.transport", SITE_REQUEST_END, "status error");
	learn(story, COMMAND, "redis.command", SITE_REQUEST_BEGIN, "path");
	learn(story, PIPELINE, "redis.command", SITE_REQUEST_BEGIN, "");
	learn(story, COMMAND_END, "redis.command", SITE_REQUEST_END, "");
	learn(story, PGX, "pgx.query", SITE_REQUEST_BEGIN, "key method");
	learn(story, PGX_FAILED, "pgx.query", SITE_REQUEST_END, "key done failed");
	learn(story, PGX_END, "pgx.query", SITE_REQUEST_END, "key error");
	learn(story, SPAN, "otel.span", SITE_REQUEST_BEGIN, "key trace trace2 path");
	learn(story, SPAN_END, "otel.span", SITE_REQUEST_END, "key done");
	start(story, 0);
	start(story, 1);
}

/* Ends the trace, and compares its text. */
static void end(struct story *story, const char *expected)
{
	assert_int_equal(model_finish(story->model, NULL), 0);
	if (expected)
		assert_string_equal(story->text, expected);
	model_free(story->model);
	op_rules_free(story->rules);
	strtab_free(story->strings);
}

struct part {
	const char *text; /* NULL: a number */
	uint64_t number;
	uint8_t flags;
};

#define N(value)                                                                                             \
	(struct part)                                                                                        \
	{                                                                                                    \
		NULL, value, 0                                                                               \
	}
#define T(value)                                                                                             \
	(struct part)                                                                                        \
	{                                                                                                    \
		value, 0, 0                                                                                  \
	}

static void send(struct story *story, uint8_t site, unsigned g, uint32_t number, unsigned n,
		 const struct part *parts)
{
	_Alignas(8) char bytes[4096];
	struct raw_text *text = (struct raw_text *)bytes;
	char *to = text->text + n * sizeof(struct raw_value);

	*text = (struct raw_text){.record = record(story, site, g),
				  .len = (uint16_t)(n * sizeof(struct raw_value))};
	text->record.arg = number;
	text->record.arg2 = 0xfffffffffffff000;
	text->record.flags = n ? RAW_VALUES : 0;
	for (unsigned i = 0; i < n; i++) {
		size_t len = parts[i].text ? strlen(parts[i].text) : 0;
		struct raw_value value = {.kind = parts[i].text ? VALUE_GO_STRING : VALUE_UNSIGNED,
					  .flags = parts[i].flags,
					  .len = (uint16_t)len,
					  .size = 8,
					  .bits = parts[i].text ? len : parts[i].number};

		memcpy(text->text + i * sizeof(value), &value, sizeof(value));
		if (len)
			memcpy(to, parts[i].text, len);
		to += len;
		text->len2 = (uint16_t)(text->len2 + len);
	}
	if (n)
		feed(story, LOG_TEXT, bytes, sizeof(*text) + text->len + text->len2);
	else
		feed(story, LOG_RECORDS, &text->record, sizeof(text->record));
}

#define BEGIN(story, g, number, ...)                                                                         \
	send(story, SITE_REQUEST_BEGIN, g, number,                                                           \
	     sizeof((struct part[]){__VA_ARGS__}) / sizeof(struct part), (struct part[]){__VA_ARGS__})
#define END(story, g, number, ...)                                                                           \
	send(story, SITE_REQUEST_END, g, number, sizeof((struct part[]){__VA_ARGS__}) / sizeof(struct part), \
	     (struct part[]){__VA_ARGS__})

static void boundary(struct story *story)
{
	struct log_boundary line = {.time_before = story->now + 100, .clock = {.mono_ns = story->now + 100}};

	story->now += 1000;
	feed(story, LOG_BOUNDARY, &line, sizeof(line));
}

static void test_route(void **state)
{
	struct story story;

	(void)state;
	begin(&story);
	BEGIN(&story, 0, SERVE, N(0xc1), T("GET"), T("/items/17"));
	BEGIN(&story, 0, SERVE, N(0xc1), T("GET"), T("/again")); /* in an inner function */
	BEGIN(&story, 0, ROUTE, T("GET /items/{id}"));
	END(&story, 1, FINISH, N(0xc2), N(500)); /* another one, which began before the trace */
	END(&story, 0, FINISH, N(0xc1), N(404));
	BEGIN(&story, 0, SERVE, N(0xc1), T("PUT"), T("/x"));
	BEGIN(&story, 0, ROUTE, T("/")); /* matches everything, so the path says more */
	END(&story, 0, FINISH, N(0xc1), N(0));
	END(&story, 0, FINISH, N(0xc1), N(0));
	end(&story, "task 1 0 GET /items/{id}; begin GET /items/{id}; log 1 request status=404; "
		    "end GET /items/{id}; done 1; task 2 0 PUT /x; begin PUT /x; log 2 request status=200; "
		    "end PUT /x; done 2; ");
}

/* Checks the name of a request whose routers matched these patterns, outermost first. A pattern that begins
 * with "+" comes from a subrouter. */
static void name_by_routes(struct story *story, const char *expected, const char *const *routes)
{
	char text[200];

	*story->text = '\0';
	BEGIN(story, 0, SERVE, N(0xc1), T("GET"), T("/path"));
	for (; *routes; routes++) {
		if (**routes == '+')
			BEGIN(story, 0, SUBROUTE, N(1), T(*routes + 1));
		else
			BEGIN(story, 0, ROUTE, T(*routes));
	}
	END(story, 0, FINISH, N(0xc1), N(200));
	boundary(story);
	snprintf(text, sizeof(text), "0 %s; begin ", expected);
	if (!strstr(story->text, text))
		fail_msg("%s is not in %s", text, story->text);
}

#define NAMED(story, expected, ...) name_by_routes(story, expected, (const char *const[]){__VA_ARGS__, NULL})

static void test_nested_routes(void **state)
{
	struct story story;

	(void)state;
	begin(&story);
	/* With the prefix stripped for the inner router, and without. */
	NAMED(&story, "GET /api/users/{id}", "/api/", "GET /users/{id}");
	NAMED(&story, "GET /api/users/{id}", "/api/", "GET /api/users/{id}");
	NAMED(&story, "GET /users/{id}", "/", "/users/{id}");
	NAMED(&story, "GET /api/", "/api/", "/");
	NAMED(&story, "GET /apix/a", "/apix", "/a");
	NAMED(&story, "GET example.com/a", "example.com/a");
	/* Innermost first, including its prefix (gorilla/mux). */
	NAMED(&story, "GET /api/users/{id}", "/api/users/{id}", "/api");
	/* Repeated at each handler (gin). */
	NAMED(&story, "GET /users/:id", "/users/:id", "/users/:id", "/users/:id");
	/* Each has only its own part (chi). */
	NAMED(&story, "GET /api/v1/users/{id}", "+/api/*", "+/v1/*", "+/users/{id}");
	NAMED(&story, "GET /api/api/x", "+/api/*", "+/api/x");
	NAMED(&story, "GET /api", "+/api/*", "+/");
	NAMED(&story, "GET /api/x", "/", "+/api/*", "+/x");
	NAMED(&story, "GET /path", "/");
	end(&story, NULL);
}

static void test_unmatched_route(void **state)
{
	struct story story;

	(void)state;
	begin(&story);
	BEGIN(&story, 0, SERVE, N(0xc1), T("GET"), T("/api/none"));
	BEGIN(&story, 0, SUBROUTE, N(1), T("/api/*"));
	BEGIN(&story, 0, SUBROUTE, N(0), T("/api/*"));
	BEGIN(&story, 0, ROUTE, (struct part){"", 0, 0});
	BEGIN(&story, 0, ROUTE, (struct part){"", 0, VALUE_UNREADABLE});
	END(&story, 0, FINISH, N(0xc1), N(404));
	end(&story,
	    "task 1 0 GET /api/*; begin GET /api/*; log 1 request status=404; end GET /api/*; done 1; ");
}

/* Without a route, and over several generations. */
static void test_path(void **state)
{
	struct story story;

	(void)state;
	begin(&story);
	BEGIN(&story, 0, SERVE, N(0xc1), T("GET"), T("/a"));
	boundary(&story);
	BEGIN(&story, 0, ROUTE, T("too late"));
	END(&story, 0, FINISH, N(0xc1), N(200));
	end(&story, "task 1 0 GET /a; begin GET /a; log 1 request status=200; end GET /a; done 1; ");
}

static void test_lost_end(void **state)
{
	struct story story;

	(void)state;
	begin(&story);
	BEGIN(&story, 0, SERVE, N(0xc1), T("GET"), T("/a"));
	BEGIN(&story, 0, SERVE, N(0xc2), T("GET"), T("/b"));
	BEGIN(&story, 1, SERVE, N(0xc3), T("GET"), T("/c"));
	send(&story, SITE_DESTROY, 0, 0, 0, NULL);
	end(&story, "task 1 0 GET /a; begin GET /a; end GET /a; done 1; task 2 0 GET /b; begin GET /b; "
		    "task 3 0 GET /c; begin GET /c; end GET /b; done 2; ");
}

static void test_sql(void **state)
{
	struct story story;

	(void)state;
	begin(&story);
	BEGIN(&story, 0, SERVE, N(0xc1), T("GET"), T("/a"));
	BEGIN(&story, 0, QUERY, N(0xd1), T("  SELECT\n\t1 "));
	BEGIN(&story, 0, EXEC, N(0xd3), T("DELETE"));
	END(&story, 0, EXEC_RETURNED, N(0xd3), N(0));
	END(&story, 1, ROWS, N(0xd1), N(0), N(0));
	END(&story, 0, ROWS, N(0xd1), N(1), N(0)); /* closed again */
	BEGIN(&story, 0, QUERY, N(0xd2), T("bad"));
	END(&story, 0, PUT_CONN, N(0xd2), N(0xe44));
	END(&story, 0, FINISH, N(0xc1), N(200));
	end(&story, "task 1 0 GET /a; begin GET /a; task 2 1 SELECT 1 ; begin SELECT 1 ; task 3 2 DELETE; "
		    "begin DELETE; end DELETE; done 3; done 2; end SELECT 1 ; task 4 1 bad; begin bad; "
		    "log 4 request error; end bad; done 4; log 1 request status=200; end GET /a; done 1; ");
}

/* The text is the statement's; each attempt is a task. */
static void test_prepared(void **state)
{
	struct story story;

	(void)state;
	begin(&story);
	BEGIN(&story, 0, QUERY_PREPARED, T("SELECT a\nFROM b"));
	BEGIN(&story, 0, QUERY_STATEMENT, N(0xd1));
	END(&story, 0, PUT_CONN, N(0xd1), N(0xe44));
	BEGIN(&story, 0, QUERY_STATEMENT, N(0xd2));
	BEGIN(&story, 1, EXEC_PREPARED, T("DELETE"));
	BEGIN(&story, 1, EXEC_STATEMENT, N(0xd1));
	END(&story, 1, EXEC_RETURNED, N(0xd1), N(0));
	boundary(&story);
	END(&story, 1, ROWS, N(0xd2), N(0), N(0));
	end(&story, "task 1 0 SELECT a FROM b; begin SELECT a FROM b; log 1 request error; "
		    "end SELECT a FROM b; done 1; task 2 0 SELECT a FROM b; begin SELECT a FROM b; "
		    "task 3 0 DELETE; begin DELETE; end DELETE; done 3; done 2; ");
}

/*
 * A driver that prepares all statements: each begins once, with its own text, whatever was prepared before.
 */
static void test_prepared_by_driver(void **state)
{
	struct story story;

	(void)state;
	begin(&story);
	BEGIN(&story, 0, QUERY_STATEMENT, N(0xd1)); /* prepared before the trace */
	BEGIN(&story, 0, QUERY_PREPARED, T("no connection"));
	BEGIN(&story, 0, QUERY, N(0xd1), T("SELECT 1"));
	BEGIN(&story, 0, QUERY_STATEMENT, N(0xd1));
	END(&story, 0, ROWS, N(0xd1), N(0), N(0));
	BEGIN(&story, 0, EXEC_PREPARED, T("no connection"));
	BEGIN(&story, 0, EXEC, N(0xd1), T("DELETE 1"));
	BEGIN(&story, 0, EXEC_STATEMENT, N(0xd1));
	END(&story, 0, EXEC_RETURNED, N(0xd1), N(0xe44));
	end(&story, "task 1 0 SELECT 1; begin SELECT 1; end SELECT 1; done 1; task 2 0 DELETE 1; "
		    "begin DELETE 1; log 2 request error; end DELETE 1; done 2; ");
}

/* In a transaction the connection is returned only to the transaction. */
static void test_transaction(void **state)
{
	struct story story;

	(void)state;
	begin(&story);
	BEGIN(&story, 0, QUERY, N(0xd1), T("SELECT rows"));
	END(&story, 0, QUERY_RELEASED, N(0)); /* of a statement */
	BEGIN(&story, 0, EXEC, N(0xd1), T("UPDATE"));
	END(&story, 0, QUERY_RELEASED, N(0));
	END(&story, 0, EXEC_RELEASED, N(0));
	BEGIN(&story, 0, QUERY, N(0xd1), T("bad"));
	END(&story, 0, QUERY_RELEASED, N(0xe44));
	END(&story, 0, EXEC_RELEASED, N(0xe44));
	END(&story, 0, ROWS, N(0xd1), N(0), N(0));
	END(&story, 0, QUERY_RELEASED, N(0));
	END(&story, 0, EXEC_RELEASED, N(0));
	end(&story, "task 1 0 SELECT rows; begin SELECT rows; task 2 1 UPDATE; begin UPDATE; end UPDATE; "
		    "done 2; task 3 1 bad; begin bad; log 3 request error; end bad; done 3; "
		    "end SELECT rows; done 1; ");
}

/* Rows end without an error if they are closed early, with io.EOF, or with another error. */
static void test_error_of_rows(void **state)
{
	const struct part null = {NULL, 0, VALUE_UNREADABLE | VALUE_NULL};
	struct story story;

	(void)state;
	begin(&story);
	BEGIN(&story, 0, QUERY, N(0xd1), T("SELECT early"));
	END(&story, 0, ROWS_READ, N(0xd1), N(0), N(0), null);
	BEGIN(&story, 0, QUERY, N(0xd1), T("SELECT all"));
	END(&story, 0, ROWS_READ, N(0xd1), N(0), N(0), N(0xe0f));
	BEGIN(&story, 0, QUERY, N(0xd1), T("SELECT broken"));
	END(&story, 0, ROWS_READ, N(0xd1), N(0), N(0), N(0xe44));
	BEGIN(&story, 0, QUERY, N(0xd1), T("SELECT late"));
	END(&story, 0, ROWS_READ, N(0xd1), N(0), N(0xe44), null);
	end(&story,
	    "task 1 0 SELECT early; begin SELECT early; end SELECT early; done 1; "
	    "task 2 0 SELECT all; begin SELECT all; end SELECT all; done 2; "
	    "task 3 0 SELECT broken; begin SELECT broken; log 3 request error; end SELECT broken; "
	    "done 3; "
	    "task 4 0 SELECT late; begin SELECT late; log 4 request error; end SELECT late; done 4; ");
}

/* A statement fails while rows are open on the same connection; reading the rows continues. */
static void test_failure_beside_open_rows(void **state)
{
	struct story story;

	(void)state;
	begin(&story);
	BEGIN(&story, 0, QUERY_ROWS, N(0xd2)); /* of a query that began before the trace */
	BEGIN(&story, 0, QUERY, N(0xd1), T("SELECT rows"));
	BEGIN(&story, 0, QUERY_ROWS, N(0xd1));
	BEGIN(&story, 0, EXEC, N(0xd1), T("bad"));
	END(&story, 0, EXEC_RELEASED, N(0xe44)); /* the kernel runs two probes at one address in any order */
	END(&story, 0, QUERY_RELEASED, N(0xe44));
	BEGIN(&story, 0, EXEC, N(0xd1), T("worse"));
	END(&story, 0, QUERY_RELEASED, N(0xe44));
	END(&story, 0, EXEC_RELEASED, N(0xe44));
	END(&story, 0, QUERY_RELEASED, N(0xe44)); /* not of a statement, but of Prepare or Ping */
	BEGIN(&story, 0, QUERY, N(0xd1), T("SELECT nothing"));
	END(&story, 0, QUERY_RELEASED, N(0xe44));
	END(&story, 0, ROWS, N(0xd1), N(0), N(0));
	end(&story,
	    "task 1 0 SELECT rows; begin SELECT rows; task 2 1 bad; begin bad; log 2 request error; "
	    "end bad; done 2; task 3 1 worse; begin worse; log 3 request error; end worse; done 3; "
	    "task 4 1 SELECT nothing; begin SELECT nothing; log 4 request error; end SELECT nothing; done 4; "
	    "end SELECT rows; done 1; ");
}

/* A program that constantly makes new statements does not fill the table of names. */
static void test_prepared_many(void **state)
{
	struct story story;
	char text[40];

	(void)state;
	begin(&story);
	for (unsigned i = 0; i < 2000; i++) {
		snprintf(text, sizeof(text), "SELECT %u", i);
		BEGIN(&story, 0, QUERY_PREPARED, T(text));
		BEGIN(&story, 0, QUERY_STATEMENT, N(0xd1));
		BEGIN(&story, 0, QUERY_ROWS, N(0xd1));
		END(&story, 0, ROWS, N(0xd1), N(0), N(0));
	}
	assert_true(strtab_loose(story.strings) < 500);
	assert_int_equal(model_finish(story.model, NULL), 0);
	assert_non_null(strstr(story.text, "SELECT 1; "));
	assert_non_null(strstr(story.text, "task 1999 0 SELECT (other statements); "));
	model_free(story.model);
	op_rules_free(story.rules);
	strtab_free(story.strings);
}

/* After a loss it is unknown what the goroutine has begun. */
static void test_prepared_lost(void **state)
{
	struct story story;
	struct log_loss loss = {.ring_full = 1};

	(void)state;
	begin(&story);
	BEGIN(&story, 0, QUERY_PREPARED, T("SELECT 1"));
	feed(&story, LOG_LOSS, &loss, sizeof(loss));
	BEGIN(&story, 0, QUERY_STATEMENT, N(0xd1));
	BEGIN(&story, 0, QUERY_PREPARED, T("SELECT 2"));
	BEGIN(&story, 0, QUERY_STATEMENT, N(0xd1));
	END(&story, 0, ROWS, N(0xd1), N(0), N(0));
	end(&story, "task 1 0 SELECT 2; begin SELECT 2; end SELECT 2; done 1; ");
}

/* On two goroutines; a status without a message is 0. */
static void test_rpc(void **state)
{
	struct story story;
	struct part null = {.flags = VALUE_UNREADABLE | VALUE_NULL}, bad = {.flags = VALUE_UNREADABLE};

	(void)state;
	begin(&story);
	BEGIN(&story, 0, RPC, N(0xc1), T("/a.B/C"));
	END(&story, 1, RPC_END, N(0xc2), N(5)); /* another one, which began before the trace */
	BEGIN(&story, 1, RPC, N(0xc2), T("/a.B/D"));
	END(&story, 0, RPC_END, N(0xc1), N(5));
	END(&story, 0, RPC_END, N(0xc1), N(6)); /* again */
	END(&story, 1, RPC_END, N(0xc2), null);
	BEGIN(&story, 1, RPC, N(0xc3), T("/lost"));
	BEGIN(&story, 1, RPC, N(0xc4), T("/next"));
	END(&story, 1, RPC_END, N(0xc4), N(42));
	BEGIN(&story, 1, RPC, N(0xc5), bad);
	END(&story, 1, RPC_END, N(0xc5), bad);
	end(&story,
	    "task 1 0 /a.B/C; begin /a.B/C; task 2 0 /a.B/D; begin /a.B/D; "
	    "log 1 request code=NotFound; end /a.B/C; done 1; log 2 request code=OK; end /a.B/D; "
	    "done 2; task 3 0 /lost; begin /lost; end /lost; done 3; task 4 0 /next; begin /next; "
	    "log 4 request code=Code(42); end /next; done 4; task 5 0 ?; begin ?; log 5 request error; "
	    "end ?; done 5; ");
}

/* The code is read only from an error that has one. */
static void test_rpc_client(void **state)
{
	struct story story;
	struct part null = {.flags = VALUE_UNREADABLE | VALUE_NULL}, bad = {.flags = VALUE_UNREADABLE};

	(void)state;
	begin(&story);
	BEGIN(&story, 0, CALL, N(0xc1), T("/a.B/C"));
	BEGIN(&story, 0, CALL, N(0xc1), T("/a.B/C")); /* a retry */
	END(&story, 0, CALL_END, N(0xc1), N(0xbadcafe), N(14));
	BEGIN(&story, 0, CALL, N(0xc2), T("/ok"));
	END(&story, 0, CALL_END, N(0xc2), null, null);
	BEGIN(&story, 0, CALL, N(0xc3), T("/eof"));
	END(&story, 1, CALL_END, N(0xc3), N(0xe0f), N(77)); /* of another goroutine: the region stays open */
	BEGIN(&story, 0, CALL, N(0xc7), T("/next"));
	END(&story, 0, CALL_END, N(0xc7), null, null);
	BEGIN(&story, 1, CALL, N(0xc4), T("/other"));
	END(&story, 1, CALL_END, N(0xc4), N(1), N(77));
	BEGIN(&story, 1, CALL, N(0xc5), T("/unread"));
	END(&story, 1, CALL_END, N(0xc5), bad, N(77));
	BEGIN(&story, 1, CALL, N(0xc6), T("/halfread"));
	END(&story, 1, CALL_END, N(0xc6), N(0xbadcafe), bad);
	end(&story,
	    "task 1 0 client /a.B/C; begin client /a.B/C; log 1 request code=Unavailable; "
	    "end client /a.B/C; done 1; task 2 0 client /ok; begin client /ok; "
	    "log 2 request code=OK; end client /ok; done 2; task 3 0 client /eof; "
	    "begin client /eof; log 3 request code=OK; done 3; end client /eof; task 4 0 client /next; "
	    "begin client /next; log 4 request code=OK; end client /next; done 4; "
	    "task 5 0 client /other; begin client /other; log 5 request error; end client /other; "
	    "done 5; task 6 0 client /unread; begin client /unread; log 6 request error; "
	    "end client /unread; done 6; task 7 0 client /halfread; begin client /halfread; "
	    "log 7 request error; end client /halfread; done 7; ");
}

/* Without a connection the end has no key, and ends only the newest call. */
static void test_rpc_refused(void **state)
{
	struct story story;
	struct part null = {.flags = VALUE_UNREADABLE | VALUE_NULL};

	(void)state;
	begin(&story);
	BEGIN(&story, 0, CALL, N(0xc1), T("/stream"));
	END(&story, 0, CALL_FAILED, N(0), null, null); /* it did not fail */
	BEGIN(&story, 0, CALL, N(0xc2), T("/refused"));
	END(&story, 0, CALL_FAILED, N(0xe44), N(0xbadcafe), N(14));
	/* Of a call that has ended, or was not seen. */
	END(&story, 0, CALL_FAILED, N(0xe44), N(0xbadcafe), N(14));
	BEGIN(&story, 1, CALL, N(0xc3), T("/strange"));
	END(&story, 1, CALL_FAILED, N(0xe44), N(1), null);
	END(&story, 0, CALL_END, N(0xc1), null, null);
	end(&story, "task 1 0 client /stream; begin client /stream; task 2 1 client /refused; "
		    "begin client /refused; log 2 request code=Unavailable; end client /refused; done 2; "
		    "task 3 0 client /strange; begin client /strange; log 3 request error; "
		    "end client /strange; done 3; log 1 request code=OK; end client /stream; done 1; ");
}

/* After a loss, an end may be that of a later request: its status is not the first one's. */
static void test_lost_status(void **state)
{
	struct story story;
	struct log_loss loss = {.ring_full = 1};

	(void)state;
	begin(&story);
	BEGIN(&story, 0, ASK, T("GET"), T("a/b"));
	END(&story, 0, ASK_END, N(404), N(0));
	BEGIN(&story, 0, ASK, T("POST"), T("a/b"));
	feed(&story, LOG_LOSS, &loss, sizeof(loss));
	END(&story, 0, ASK_END, N(200), N(0));
	BEGIN(&story, 0, ASK, T("GET"), T("a/c"));
	END(&story, 0, ASK_END, N(0), N(0xe44));
	end(&story, "task 1 0 client GET a/b; begin client GET a/b; log 1 request status=404; "
		    "end client GET a/b; done 1; task 2 0 client POST a/b; begin client POST a/b; "
		    "end client POST a/b; done 2; task 3 0 client GET a/c; begin client GET a/c; "
		    "log 3 request error; end client GET a/c; done 3; ");
}

/* A transport makes the requests of a client, and others. One of those may use another client meanwhile. */
static void test_transport(void **state)
{
	struct story story;
	struct log_loss loss = {.ring_full = 1};

	(void)state;
	begin(&story);
	BEGIN(&story, 0, ASK, T("GET"), T("a/b"));
	BEGIN(&story, 0, TRIP, T("GET"), T("a/b"));
	END(&story, 0, TRIP_END, N(404), N(0));
	END(&story, 0, ASK_END, N(404), N(0));
	BEGIN(&story, 0, TRIP, T("GET"), T("backend/x"));
	BEGIN(&story, 0, ASK, T("GET"), T("names/x"));
	BEGIN(&story, 0, TRIP, T("GET"), T("names/x"));
	END(&story, 0, TRIP_END, N(200), N(0));
	END(&story, 0, ASK_END, N(200), N(0));
	END(&story, 0, TRIP_END, N(502), N(0));
	BEGIN(&story, 1, ASK, T("GET"), T("a/lost"));
	feed(&story, LOG_LOSS, &loss, sizeof(loss));
	BEGIN(&story, 1, TRIP, T("GET"), T("backend/y"));
	END(&story, 1, TRIP_END, N(0), N(0xe44));
	end(&story, "task 1 0 client GET a/b; begin client GET a/b; log 1 request status=404; "
		    "end client GET a/b; done 1; "
		    "task 2 0 client GET backend/x; begin client GET backend/x; "
		    "task 3 2 client GET names/x; begin client GET names/x; log 3 request status=200; "
		    "end client GET names/x; done 3; log 2 request status=502; "
		    "end client GET backend/x; done 2; "
		    "task 4 0 client GET a/lost; begin client GET a/lost; "
		    "task 5 4 client GET backend/y; begin client GET backend/y; log 5 request error; "
		    "end client GET backend/y; done 5; ");
}

/*
 * Commands have no keys: they nest on a goroutine. A command whose end was lost does not enclose later ones.
 */
static void test_redis(void **state)
{
	struct story story;
	struct log_loss loss = {.ring_full = 1};

	(void)state;
	begin(&story);
	send(&story, SITE_REQUEST_END, 0, COMMAND_END, 0, NULL); /* of one that began before the trace */
	BEGIN(&story, 0, COMMAND, T("get"));
	BEGIN(&story, 0, COMMAND, T("hello"));
	send(&story, SITE_REQUEST_END, 0, COMMAND_END, 0, NULL);
	send(&story, SITE_REQUEST_END, 0, COMMAND_END, 0, NULL);
	send(&story, SITE_REQUEST_BEGIN, 1, PIPELINE, 0, NULL);
	send(&story, SITE_REQUEST_END, 1, COMMAND_END, 0, NULL);
	BEGIN(&story, 1, COMMAND, T("lost"));
	feed(&story, LOG_LOSS, &loss, sizeof(loss));
	BEGIN(&story, 1, COMMAND, T("set"));
	send(&story, SITE_REQUEST_END, 1, COMMAND_END, 0, NULL);
	end(&story, "task 1 0 redis get; begin redis get; task 2 1 redis hello; begin redis hello; "
		    "end redis hello; done 2; end redis get; done 1; task 3 0 redis pipeline; "
		    "begin redis pipeline; end redis pipeline; done 3; task 4 0 redis lost; "
		    "begin redis lost; end redis lost; done 4; task 5 0 redis set; begin redis set; "
		    "end redis set; done 5; ");
}

static void test_spans(void **state)
{
	struct story story;

	(void)state;
	begin(&story);
	BEGIN(&story, 0, SPAN, N(0x0807060504030201), N(0x1111111111111110), N(0xff22222222222222),
	      T("outer"));
	BEGIN(&story, 0, SPAN, N(0x8), N(1), N(2), T("inner"));
	END(&story, 1, SPAN_END, N(0x8), N(0));
	END(&story, 0, SPAN_END, N(0x0807060504030201), N(0));
	END(&story, 0, SPAN_END, N(0x0807060504030201), N(1)); /* again */
	end(&story, "task 1 0 span outer; begin span outer; "
		    "log 1 request trace=101111111111111122222222222222ff span=0102030405060708; "
		    "task 2 1 span inner; begin span inner; "
		    "log 2 request trace=01000000000000000200000000000000 span=0800000000000000; done 2; "
		    "end span inner; end span outer; done 1; ");
}

static void test_names(void **state)
{
	char path[32], expected[300], long_path[300];
	struct story story;
	struct part bad = {.text = "", .flags = VALUE_UNREADABLE};

	(void)state;
	begin(&story);
	memset(long_path, 'x', sizeof(long_path) - 1);
	long_path[sizeof(long_path) - 1] = '\0';
	BEGIN(&story, 0, SERVE, N(0xc1), T("GET"), T("/\x1b[31m\xff\x80"));
	BEGIN(&story, 0, SERVE, N(0xc2), bad, bad);
	BEGIN(&story, 0, SERVE, N(0xc3), T("GET"), T(long_path));
	snprintf(expected, sizeof(expected),
		 "task 1 0 GET /?[31m??; begin GET /?[31m??; end GET /?[31m??; done 1; task 2 0 ? ?; begin ? "
		 "?; end ? ?; done 2; task 3 0 GET %.88s\xe2\x80\xa6; begin GET",
		 long_path);
	for (unsigned i = 0; i < 1000; i++) {
		snprintf(path, sizeof(path), "/%u", i);
		BEGIN(&story, 0, SERVE, N(0xf0 + i), T("GET"), T(path));
	}
	assert_int_equal(model_finish(story.model, NULL), 0);
	story.text[strlen(expected)] = '\0';
	assert_string_equal(story.text, expected);
	story.text[strlen(expected)] = ' ';
	assert_non_null(strstr(story.text, "begin GET /300;"));
	assert_null(strstr(story.text, "begin GET /999;"));
	assert_non_null(strstr(story.text, "begin GET (other paths);"));
	model_free(story.model);
	op_rules_free(story.rules);
	strtab_free(story.strings);
}

/* A coroutine that ends within a request hands over to its creator. */
static void test_coroutine_ends(void **state)
{
	struct raw_record rec;
	struct story story;

	(void)state;
	begin(&story);
	rec = record(&story, SITE_PARK, 1); /* waits for the coroutine */
	feed(&story, LOG_RECORDS, &rec, sizeof(rec));
	BEGIN(&story, 0, ASK, T("GET"), T("a/b"));
	rec = record(&story, SITE_CORO, 0);
	rec.arg = 0xc000002000; /* goroutine 1 */
	rec.arg2 = 1;
	feed(&story, LOG_RECORDS, &rec, sizeof(rec));
	end(&story, "task 1 0 client GET a/b; begin client GET a/b; end client GET a/b; done 1; ");
}

/* pgx is also a driver of database/sql: then database/sql's statement is the one that counts. */
static void test_pgx(void **state)
{
	struct story story;

	(void)state;
	begin(&story);
	BEGIN(&story, 0, QUERY, N(0xc1), T("SELECT 1"));
	BEGIN(&story, 0, PGX, N(0xe1), T("SELECT 1"));
	END(&story, 0, PGX_FAILED, N(0xe1), N(0), N(0));
	END(&story, 0, PGX_END, N(0xe1), N(0));
	END(&story, 0, ROWS, N(0xc1), N(0), N(0));
	BEGIN(&story, 0, PGX, N(0xe1), T("SELECT 2"));
	END(&story, 0, PGX_FAILED, N(0xe1), N(0), N(0));
	END(&story, 0, PGX_END, N(0xe1), N(7));
	END(&story, 0, PGX_FAILED, N(0xe1), N(1), N(7)); /* closed again */
	BEGIN(&story, 0, PGX, N(0xe1), T("SELECT 3"));
	END(&story, 0, PGX_FAILED, N(0xe1), N(0), N(7));
	end(&story,
	    "task 1 0 SELECT 1; begin SELECT 1; end SELECT 1; done 1; task 2 0 SELECT 2; begin SELECT 2; "
	    "log 2 request error; end SELECT 2; done 2; task 3 0 SELECT 3; begin SELECT 3; "
	    "log 3 request error; end SELECT 3; done 3; ");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_route),
	cmocka_unit_test(test_nested_routes),
	cmocka_unit_test(test_unmatched_route),
	cmocka_unit_test(test_pgx),
	cmocka_unit_test(test_coroutine_ends),
	cmocka_unit_test(test_path),
	cmocka_unit_test(test_lost_end),
	cmocka_unit_test(test_sql),
	cmocka_unit_test(test_prepared),
	cmocka_unit_test(test_prepared_by_driver),
	cmocka_unit_test(test_transaction),
	cmocka_unit_test(test_prepared_many),
	cmocka_unit_test(test_prepared_lost),
	cmocka_unit_test(test_error_of_rows),
	cmocka_unit_test(test_failure_beside_open_rows),
	cmocka_unit_test(test_names),
	cmocka_unit_test(test_rpc),
	cmocka_unit_test(test_rpc_client),
	cmocka_unit_test(test_transport),
	cmocka_unit_test(test_redis),
	cmocka_unit_test(test_lost_status),
	cmocka_unit_test(test_rpc_refused),
	cmocka_unit_test(test_spans),
};

UNIT_TESTS(tests, NULL, NULL);
