/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/request_presets.h"

#include <string.h>

#include "target/type_descriptors.h"

#define NUMBER(the_role, the_word, bytes)                                                                    \
	{                                                                                                    \
		.role = the_role, .word = the_word, .kind = VALUE_UNSIGNED, .size = bytes                    \
	}
#define TEXT(the_role, the_word)                                                                             \
	{                                                                                                    \
		.role = the_role, .word = the_word, .kind = VALUE_GO_STRING                                  \
	}
#define NUMBER_IN(the_role, the_word, bytes, the_type, the_path)                                             \
	{                                                                                                    \
		.role = the_role, .word = the_word, .kind = VALUE_UNSIGNED, .size = bytes, .type = the_type, \
		.path = the_path                                                                             \
	}
#define TEXT_IN(the_role, the_word, the_type, the_path)                                                      \
	{                                                                                                    \
		.role = the_role, .word = the_word, .kind = VALUE_GO_STRING, .type = the_type,               \
		.path = the_path                                                                             \
	}
#define QUERY_IN(the_word, the_type, the_path)                                                               \
	{                                                                                                    \
		.role = REQUEST_QUERY, .word = the_word, .kind = VALUE_GO_STRING, .type = the_type,          \
		.path = the_path, .only_if_asked = true                                                      \
	}

#define TYPE_OF(the_word, one, two)                                                                          \
	{                                                                                                    \
		.role = REQUEST_TYPE, .word = the_word, .kind = VALUE_UNSIGNED, .size = 4, .nsteps = 2,      \
		.steps = {8, TYPE_HASH}, .types = {                                                          \
			one,                                                                                 \
			two                                                                                  \
		}                                                                                            \
	}

/* The type of an error without a code, in a field of a struct. */
#define ERROR_IN(the_word, the_type, the_path)                                                               \
	{                                                                                                    \
		.role = REQUEST_TYPE, .word = the_word, .kind = VALUE_UNSIGNED, .size = 4, .type = the_type, \
		.path = the_path, .nsteps = 2, .steps = {8, TYPE_HASH}, .types = {                           \
			"errors.errorString",                                                                \
			"errors.errorString"                                                                 \
		}                                                                                            \
	}

#define HTTP_REQUEST  "net/http.Request"
#define HTTP_RESPONSE "net/http.Response"
/* Values of a client's request, and of the response. */
#define HTTP_ASKED(the_word)                                                                                 \
	TEXT_IN(REQUEST_METHOD, the_word, HTTP_REQUEST, "Method"),                                           \
		TEXT_IN(REQUEST_HOST, the_word, HTTP_REQUEST, "URL.Host"),                                   \
		TEXT_IN(REQUEST_PATH, the_word, HTTP_REQUEST, "URL.Path"),                                   \
		QUERY_IN(the_word, HTTP_REQUEST, "URL.RawQuery")
#define HTTP_ANSWERED(the_word, error_word)                                                                  \
	NUMBER_IN(REQUEST_STATUS, the_word, 8, HTTP_RESPONSE, "StatusCode"),                                 \
		NUMBER(REQUEST_ERROR, error_word, 8)

#define GRPC           "google.golang.org/grpc"
#define GRPC_TRANSPORT GRPC "/internal/transport"
#define GRPC_STATUS    GRPC "/internal/status"
/* (t *http2Server) WriteStatus(s *Stream, st *status.Status) error */
#define GRPC_END(the_function, the_part)                                                                     \
	{                                                                                                    \
		.function = GRPC_TRANSPORT the_function, .site = SITE_REQUEST_END, .part = the_part,         \
		.may_be_absent = true, .values = {                                                           \
			NUMBER(REQUEST_KEY, 1, 8),                                                           \
			NUMBER_IN(REQUEST_CODE, 2, 4, GRPC_STATUS ".Status", "s.Code"),                      \
		}                                                                                            \
	}

/* ServeHTTP(mux *ServeMux, w, r) gets a handler (two words) and its pattern first. */
#define MUX_ROUTE(the_callee, ...)                                                                           \
	{                                                                                                    \
		.function = "net/http.(*ServeMux).ServeHTTP", .site = SITE_REQUEST_BEGIN,                    \
		.place = REQUEST_AFTER_CALL, .callee = "net/http.(*" the_callee ").findHandler",             \
		.since = 22, .part = "routes", .values = {TEXT(REQUEST_ROUTE, 2)}, __VA_ARGS__               \
	}
#define GIN     "github.com/gin-gonic/gin"
#define CHI     "github.com/go-chi/chi/v5"
#define ECHO    "github.com/labstack/echo/v4"
#define GORILLA "github.com/gorilla/mux"
/* Find(r *Router, method, path string, c Context) sets c.path. */
#define ECHO_ROUTE(the_function)                                                                             \
	{                                                                                                    \
		.function = ECHO the_function, .site = SITE_REQUEST_BEGIN, .place = REQUEST_AFTER_CALL,      \
		.callee = ECHO ".(*Router).Find", .since = 17, .part = "routes of echo",                     \
		.may_be_absent = true, .values = {                                                           \
			{.role = REQUEST_ROUTE,                                                              \
			 .word = 6,                                                                          \
			 .kind = VALUE_GO_STRING,                                                            \
			 .of_callee = true,                                                                  \
			 .type = ECHO ".context",                                                            \
			 .path = "path"}                                                                     \
		}                                                                                            \
	}

#define HTTP2        "net/http/internal/http2"
#define XNET         "golang.org/x/net/http2"
#define REDIS        "github.com/redis/go-redis/v9"
#define REDIS_CLIENT REDIS ".(*baseClient)"
#define OTEL         "go.opentelemetry.io/otel"

#define REDIS_PIPELINE(the_function)                                                                         \
	{                                                                                                    \
		.function = REDIS_CLIENT the_function, .site = SITE_REQUEST_BEGIN, .since = 17,              \
		.part = "pipelines", .may_be_absent = true                                                   \
	}
#define REDIS_END(the_function, the_callee, the_part)                                                        \
	{                                                                                                    \
		.function = REDIS_CLIENT the_function, .site = SITE_REQUEST_END,                             \
		.place = REQUEST_AFTER_CALL, .callee = REDIS_CLIENT the_callee, .since = 17,                 \
		.part = the_part, .may_be_absent = true                                                      \
	}

/* A word on the stack, if a SpanContext has the expected size. */
#define SPAN_WORD(the_role, the_word)                                                                        \
	{                                                                                                    \
		.role = the_role, .word = the_word, .kind = VALUE_UNSIGNED, .size = 8, .on_stack = true,     \
		.given_type = OTEL "/trace.SpanContext", .given_path = "remote", .given_at = 56              \
	}
#define SPAN_NAME_GIVEN(the_word, the_path)                                                                  \
	{                                                                                                    \
		.role = REQUEST_PATH, .word = the_word, .kind = VALUE_GO_STRING,                             \
		.given_type = OTEL "/sdk/trace.tracer", .given_path = the_path                               \
	}

#define PGX "github.com/jackc/pgx/v5"
#define SQL "database/sql."
#define SQL_PREPARED(the_function)                                                                           \
	{                                                                                                    \
		.function = SQL the_function, .site = SITE_REQUEST_BEGIN,                                    \
		.part = "texts of prepared statements", .may_be_absent = true, .values = {                   \
			TEXT_IN(REQUEST_PREPARED, 0, SQL "Stmt", "query")                                    \
		}                                                                                            \
	}
#define SQL_STATEMENT(the_function)                                                                          \
	{                                                                                                    \
		.function = SQL the_function, .site = SITE_REQUEST_BEGIN, .part = "prepared statements",     \
		.given_function = SQL "(*Stmt).connStmt", .may_be_absent = true, .values = {                 \
			{.role = REQUEST_KEY,                                                                \
			 .word = 4,                                                                          \
			 .kind = VALUE_UNSIGNED,                                                             \
			 .size = 8,                                                                          \
			 .type = SQL "driverStmt",                                                           \
			 .path = "Locker",                                                                   \
			 .part = 8}                                                                          \
		}                                                                                            \
	}
/* putConn(db, dc *driverConn, err error, resetSession bool) */
#define SQL_RETURNED                                                                                         \
	{                                                                                                    \
		.function = SQL "(*DB).putConn", .site = SITE_REQUEST_END, .values = {                       \
			NUMBER(REQUEST_KEYS, 1, 8),                                                          \
			NUMBER(REQUEST_ERROR, 2, 8)                                                          \
		}                                                                                            \
	}
/* Method values that are called when a statement is over, with its error or nil, on its goroutine. */
#define SQL_RELEASED(the_function, the_part, the_role, ...)                                                  \
	{                                                                                                    \
		.function = SQL the_function, .site = SITE_REQUEST_END, .part = the_part,                    \
		.may_be_absent = true, .values = {NUMBER(the_role, 0, 8)}, __VA_ARGS__                       \
	}
#define SQL_RELEASED_TX(the_role)                                                                            \
	SQL_RELEASED("(*Tx).closemuRUnlockRelease-fm", "transactions", the_role, .since = 11),               \
		SQL_RELEASED("(*Tx).(database/sql.closemuRUnlockRelease)-fm", "transactions", the_role,      \
			     .last = 10)
#define SQL_RELEASED_CONN(the_role)                                                                          \
	SQL_RELEASED("(*Conn).closemuRUnlockCondReleaseConn-fm", "connections", the_role, .since = 11),      \
		SQL_RELEASED("(*Conn).(database/sql.closemuRUnlockCondReleaseConn)-fm", "connections",       \
			     the_role, .last = 10)

const struct request_preset request_presets[] = {
	/*
	 * ServeHTTP(sh serverHandler, rw ResponseWriter, req *Request), for HTTP/1 and net/http's HTTP/2: sh
	 * is one pointer. rw's second word points to a response or http2responseWriter, which is also the
	 * receiver of the functions that end it. Routes are read where a router has matched one, on the same
	 * goroutine. golang.org/x/net/http2 has its own server up to Go 1.26 and uses net/http's later. It
	 * may call ServeHTTP: runHandler(sc *serverConn, rw *responseWriter, req *Request, handler func).
	 */
	{
		.name = "http.server",
		.group = "http",
		.title = "HTTP server",
		.probes =
			{
				{
					.function = "net/http.serverHandler.ServeHTTP",
					.site = SITE_REQUEST_BEGIN,
					.values =
						{
							NUMBER(REQUEST_KEY, 2, 8),
							TEXT_IN(REQUEST_METHOD, 3, "net/http.Request",
								"Method"),
							TEXT_IN(REQUEST_PATH, 3, "net/http.Request",
								"URL.Path"),
							QUERY_IN(3, "net/http.Request", "URL.RawQuery"),
						},
				},
				MUX_ROUTE("ServeMux"),
				/* With GODEBUG=httpmuxgo121=1, the default if go.mod is older. */
				MUX_ROUTE("serveMux121", .may_be_absent = true),
				/*
				 * handleHTTPRequest(engine, c *Context) calls c.Next(), which older versions
				 * let the compiler inline. Before it, getValue(n *node, path string, ...)
				 * returns a nodeValue{handlers, params *Params, tsr bool, fullPath string},
				 * since gin 1.7; later calls only find out whether another method is allowed.
				 */
				{
					.function = GIN ".(*Engine).handleHTTPRequest",
					.site = SITE_REQUEST_BEGIN,
					.place = REQUEST_AT_CALL,
					.callee = GIN ".(*Context).Next",
					.since = 17,
					.part = "routes of gin",
					.may_be_absent = true,
					.values = {TEXT_IN(REQUEST_ROUTE, 0, GIN ".Context", "fullPath")},
				},
				{
					.function = GIN ".(*Engine).handleHTTPRequest",
					.site = SITE_REQUEST_BEGIN,
					.place = REQUEST_AFTER_FIRST_CALL,
					.callee = GIN ".(*node).getValue",
					.since = 17,
					.part = "routes of gin",
					.may_be_absent = true,
					.alternative = true,
					.values =
						{
							{.role = REQUEST_ROUTE,
							 .word = 5,
							 .kind = VALUE_GO_STRING,
							 .given_type = GIN ".Context",
							 .given_path = "params"},
							NUMBER(REQUEST_MATCHED, 0, 8),
						},
				},
				/* FindRoute(n *node, rctx *Context, method, path) returns a *node. */
				{
					.function = CHI ".(*Mux).routeHTTP",
					.site = SITE_REQUEST_BEGIN,
					.place = REQUEST_AFTER_CALL,
					.callee = CHI ".(*node).FindRoute",
					.since = 17,
					.part = "routes of chi",
					.may_be_absent = true,
					.values =
						{
							{.role = REQUEST_SUBROUTE,
							 .word = 1,
							 .kind = VALUE_GO_STRING,
							 .of_callee = true,
							 .type = CHI ".Context",
							 .path = "routePattern"},
							NUMBER(REQUEST_MATCHED, 0, 8),
						},
				},
				ECHO_ROUTE(".(*Echo).ServeHTTP"),
				ECHO_ROUTE(".(*Echo).ServeHTTP.func1"),
				/* setMatch(v routeRegexpGroup, req, ...): v.path is word 1. */
				{
					.function = GORILLA ".routeRegexpGroup.setMatch",
					.site = SITE_REQUEST_BEGIN,
					.since = 17,
					.part = "routes of gorilla/mux",
					.may_be_absent = true,
					.values = {TEXT_IN(REQUEST_ROUTE, 1, GORILLA ".routeRegexp",
							   "template")},
				},
				{
					.function = "net/http.(*response).finishRequest",
					.site = SITE_REQUEST_END,
					.part = "HTTP/1",
					.values =
						{
							NUMBER(REQUEST_KEY, 0, 8),
							NUMBER_IN(REQUEST_STATUS, 0, 8, "net/http.response",
								  "status"),
						},
				},
				{
					.function = "net/http.(*http2responseWriter).handlerDone",
					.site = SITE_REQUEST_END,
					.last = 26,
					.part = "HTTP/2",
					.values =
						{
							NUMBER(REQUEST_KEY, 0, 8),
							NUMBER_IN(REQUEST_STATUS, 0, 8,
								  "net/http.http2responseWriter",
								  "rws.status"),
						},
				},
				{
					.function = "net/http/internal/http2.(*responseWriter).handlerDone",
					.site = SITE_REQUEST_END,
					.since = 27,
					.part = "HTTP/2",
					.values =
						{
							NUMBER(REQUEST_KEY, 0, 8),
							NUMBER_IN(REQUEST_STATUS, 0, 8,
								  "net/http/internal/http2.responseWriter",
								  "rws.status"),
						},
				},
				{
					.function = "net/http/internal/http2.(*serverConn).runHandler",
					.site = SITE_REQUEST_BEGIN,
					.since = 27,
					.given_function = XNET ".(*Server).ServeConn",
					.part = "HTTP/2",
					.may_be_absent = true,
					.values =
						{
							NUMBER(REQUEST_KEY, 1, 8),
							TEXT_IN(REQUEST_METHOD, 2, HTTP2 ".ServerRequest",
								"Method"),
							TEXT_IN(REQUEST_PATH, 2, HTTP2 ".ServerRequest",
								"URL.Path"),
							QUERY_IN(2, HTTP2 ".ServerRequest", "URL.RawQuery"),
						},
				},
				{
					.function = XNET ".(*serverConn).runHandler",
					.site = SITE_REQUEST_BEGIN,
					.part = "x/net/http2",
					.may_be_absent = true,
					.values =
						{
							NUMBER(REQUEST_KEY, 1, 8),
							TEXT_IN(REQUEST_METHOD, 2, "net/http.Request",
								"Method"),
							TEXT_IN(REQUEST_PATH, 2, "net/http.Request",
								"URL.Path"),
							QUERY_IN(2, "net/http.Request", "URL.RawQuery"),
						},
				},
				{
					.function = XNET ".(*responseWriter).handlerDone",
					.site = SITE_REQUEST_END,
					.part = "x/net/http2",
					.may_be_absent = true,
					.values =
						{
							NUMBER(REQUEST_KEY, 0, 8),
							NUMBER_IN(REQUEST_STATUS, 0, 8,
								  XNET ".responseWriter", "rws.status"),
						},
				},
			},
	},
	/*
	 * send(ireq *Request, rt RoundTripper, deadline time.Time) is called once per redirect and returns a
	 * *Response, a function and an error. The response's body comes later.
	 */
	{
		.name = "http.client",
		.group = "http",
		.title = "HTTP client",
		.probes =
			{
				{
					.function = "net/http.send",
					.site = SITE_REQUEST_BEGIN,
					.since = 17,
					.values = {HTTP_ASKED(0)},
				},
				{
					.function = "net/http.(*Client).send",
					.site = SITE_REQUEST_END,
					.place = REQUEST_AFTER_CALL,
					.callee = "net/http.send",
					.since = 17,
					.values = {HTTP_ANSWERED(0, 2)},
				},
			},
	},
	/*
	 * RoundTrip(t *Transport, req *Request), for callers without a Client, such as reverse proxies. It
	 * ends with `return t.roundTrip(req)`. The model leaves out calls by send.
	 */
	{
		.name = "http.transport",
		.group = "http",
		.title = "HTTP transport",
		.probes =
			{
				{
					.function = "net/http.(*Transport).RoundTrip",
					.site = SITE_REQUEST_BEGIN,
					.since = 17,
					.values = {HTTP_ASKED(1)},
				},
				{
					.function = "net/http.(*Transport).RoundTrip",
					.site = SITE_REQUEST_END,
					.place = REQUEST_AFTER_CALL,
					.callee = "net/http.(*Transport).roundTrip",
					.since = 17,
					.values = {HTTP_ANSWERED(0, 1)},
				},
			},
	},
	/*
	 * handleStream(s *Server, t transport.ServerTransport, stream) runs at most once at a time on a
	 * goroutine. stream is a *transport.Stream, and from 1.69 on a *ServerStream that contains one. Every
	 * RPC ends with a status unless its client is gone. There are two transports: gRPC's own, and
	 * net/http's.
	 */
	{
		.name = "grpc.server",
		.group = "grpc",
		.title = "gRPC server",
		.probes =
			{
				{
					.function = GRPC ".(*Server).handleStream",
					.site = SITE_REQUEST_BEGIN,
					.since = 17,
					.values =
						{
							NUMBER(REQUEST_KEY, 3, 8),
							TEXT_IN(REQUEST_PATH, 3,
								GRPC_TRANSPORT ".ServerStream",
								"Stream.method"),
							TEXT_IN(REQUEST_PATH, 3, GRPC_TRANSPORT ".Stream",
								"method"),
						},
				},
				GRPC_END(".(*http2Server).writeStatus", NULL),
				GRPC_END(".(*http2Server).WriteStatus", NULL),
				GRPC_END(".(*serverHandlerTransport).writeStatus", "ServeHTTP"),
				GRPC_END(".(*serverHandlerTransport).WriteStatus", "ServeHTTP"),
			},
	},
	/*
	 * newAttemptLocked(cs *clientStream, isTransparent bool) is called again for each retry. Only the
	 * first finish(cs, err error) counts. err is nil, io.EOF, or a result of toRPCErr (rpc_util.go),
	 * nearly always a *status.Error. Without a connection there is no stream to finish: `if err :=
	 * cs.withRetry(...); err != nil { return nil, err }`.
	 */
	{
		.name = "grpc.client",
		.group = "grpc",
		.title = "gRPC client",
		.probes =
			{
				{
					.function = GRPC ".(*clientStream).newAttemptLocked",
					.site = SITE_REQUEST_BEGIN,
					.since = 17,
					.values =
						{
							NUMBER(REQUEST_KEY, 0, 8),
							TEXT_IN(REQUEST_PATH, 0, GRPC ".clientStream",
								"callHdr.Method"),
						},
				},
				{
					.function = GRPC ".(*clientStream).finish",
					.site = SITE_REQUEST_END,
					.since = 17,
					.values =
						{
							NUMBER(REQUEST_KEY, 0, 8),
							TYPE_OF(1, GRPC_STATUS ".Error",
								"errors.errorString"),
							NUMBER_IN(REQUEST_CODE, 2, 4, GRPC_STATUS ".Error",
								  "s.s.Code"),
						},
				},
				{
					.function = GRPC ".newClientStreamWithParams",
					.site = SITE_REQUEST_END,
					.place = REQUEST_AFTER_CALL,
					.callee = GRPC ".(*clientStream).withRetry",
					.since = 17,
					.part = "failed connections",
					.values =
						{
							NUMBER(REQUEST_FAILED, 0, 8),
							TYPE_OF(0, GRPC_STATUS ".Error",
								"errors.errorString"),
							NUMBER_IN(REQUEST_CODE, 1, 4, GRPC_STATUS ".Error",
								  "s.s.Code"),
						},
				},
			},
	},
	/*
	 * _process(c *baseClient, ctx, cmd Cmder, attempt int) is called again for each retry, and inside of
	 * a first command for those that set up a connection. cmd's data begins with a baseCmd, whose first
	 * argument is the command's name. All the time is spent in `err := c.withConn(...)`, or for pipelines
	 * of later versions in withPipelineConn; after it the attempt is over.
	 */
	{
		.name = "redis.command",
		.group = "redis",
		.title = "Redis commands",
		.probes =
			{
				{
					.function = REDIS_CLIENT "._process",
					.site = SITE_REQUEST_BEGIN,
					.since = 17,
					.values = {{.role = REQUEST_PATH,
						    .word = 4,
						    .kind = VALUE_GO_STRING,
						    .type = REDIS ".baseCmd",
						    .path = "args",
						    .nsteps = 2,
						    .steps = {8, 0}}},
				},
				REDIS_END("._process", ".withConn", NULL),
				REDIS_PIPELINE(".generalProcessPipeline"),
				REDIS_END(".generalProcessPipeline", ".withConn", "pipelines"),
				REDIS_END(".generalProcessPipeline", ".withPipelineConn", "pipelines"),
				REDIS_PIPELINE(".generalProcessPipelineFrom"),
				REDIS_END(".generalProcessPipelineFrom", ".withPipelineConn", "pipelines"),
			},
	},
	/*
	 * newRecordingSpan(tr *tracer, psc, sc trace.SpanContext, name string, ...): the contexts are on the
	 * stack. From 1.38 on ctx is before psc, and the tracer's fields differ. End(s *recordingSpan, ...)
	 * does nothing if the span has ended. Spans that are not recorded do not reach these functions.
	 */
	{
		.name = "otel.span",
		.group = "otel",
		.title = "OpenTelemetry spans",
		.probes =
			{
				{
					.function = OTEL "/sdk/trace.(*tracer).newRecordingSpan",
					.site = SITE_REQUEST_BEGIN,
					.since = 17,
					.values =
						{
							SPAN_WORD(REQUEST_KEY, 10),
							SPAN_WORD(REQUEST_TRACE, 8),
							SPAN_WORD(REQUEST_TRACE2, 9),
							SPAN_NAME_GIVEN(3, "inst"),
							SPAN_NAME_GIVEN(3, "selfObservabilityEnabled"),
							TEXT(REQUEST_PATH, 1),
						},
				},
				{
					.function = OTEL "/sdk/trace.(*recordingSpan).End",
					.site = SITE_REQUEST_END,
					.since = 17,
					.values =
						{
							NUMBER_IN(REQUEST_KEY, 0, 8,
								  OTEL "/sdk/trace.recordingSpan",
								  "spanContext.spanID"),
							NUMBER_IN(REQUEST_DONE, 0, 8,
								  OTEL "/sdk/trace.recordingSpan",
								  "endTime.ext"),
						},
				},
			},
	},
	/*
	 * queryDC(db, ctx, txctx, dc *driverConn, releaseConn func(error), query string, args), for DB, Tx
	 * and Conn. A query ends when its rows are closed for the first time (later its connection may serve
	 * another query), or after an error when its connection is returned to the DB, or to the Tx or Conn
	 * that has it. QueryContext(s *Stmt, ctx, args) calls rowsiFromStatement(ctx, ci, ds *driverStmt,
	 * args) once per attempt; so does queryDC, if the driver prepares all statements. The data of
	 * ds.Locker is the *driverConn. initContextClose(rs *Rows, ctx, txctx) is called when rows are open:
	 * later errors on the connection are not the query's.
	 */
	{
		.name = "sql.query",
		.group = "sql",
		.title = "SQL queries",
		.probes =
			{
				{
					.function = SQL "(*DB).queryDC",
					.site = SITE_REQUEST_BEGIN,
					.values = {NUMBER(REQUEST_KEY, 5, 8), TEXT(REQUEST_METHOD, 7)},
				},
				SQL_PREPARED("(*Stmt).QueryContext"),
				SQL_STATEMENT("rowsiFromStatement"),
				{
					.function = SQL "(*Rows).initContextClose",
					.site = SITE_REQUEST_BEGIN,
					.part = "errors beside open rows",
					.values = {NUMBER_IN(REQUEST_ROWS, 0, 8, SQL "Rows", "dc")},
				},
				{
					.function = SQL "(*Rows).close",
					.site = SITE_REQUEST_END,
					.values =
						{
							NUMBER_IN(REQUEST_KEY, 0, 8, SQL "Rows", "dc"),
							NUMBER_IN(REQUEST_DONE, 0, 1, SQL "Rows", "closed"),
							NUMBER(REQUEST_ERROR, 1, 8),
							ERROR_IN(0, SQL "Rows", "lasterr"),
						},
				},
				SQL_RETURNED,
				SQL_RELEASED_TX(REQUEST_FAILED),
				SQL_RELEASED_CONN(REQUEST_FAILED),
			},
	},
	/*
	 * execDC(db, ctx, dc *driverConn, release func(error), query string, args). A statement ends when its
	 * connection is returned. As for queries, ExecContext(s *Stmt, ctx, args) calls
	 * resultFromStatement(ctx, ci, ds, args), and execDC may, too.
	 */
	{
		.name = "sql.exec",
		.group = "sql",
		.title = "SQL statements",
		.probes =
			{
				{
					.function = SQL "(*DB).execDC",
					.site = SITE_REQUEST_BEGIN,
					.values = {NUMBER(REQUEST_KEY, 3, 8), TEXT(REQUEST_METHOD, 5)},
				},
				SQL_PREPARED("(*Stmt).ExecContext"),
				SQL_STATEMENT("resultFromStatement"),
				SQL_RETURNED,
				SQL_RELEASED_TX(REQUEST_ERROR),
				SQL_RELEASED_CONN(REQUEST_ERROR),
			},
	},
	/*
	 * Query(c *Conn, ctx, sql string, args), also for pgx.Tx and pgxpool.Pool, ends when Close(rows
	 * *baseRows) is called first, at once if it fails. `rows.commandTag, closeErr =
	 * rows.resultReader.Close()` has the error of rows that were read. Under database/sql, the statement
	 * has begun already.
	 */
	{
		.name = "pgx.query",
		.group = "sql",
		.title = "pgx queries",
		.probes =
			{
				{
					.function = PGX ".(*Conn).Query",
					.site = SITE_REQUEST_BEGIN,
					.since = 17,
					.values = {NUMBER(REQUEST_KEY, 0, 8), TEXT(REQUEST_METHOD, 3)},
				},
				{
					.function = PGX ".(*baseRows).Close",
					.site = SITE_REQUEST_END,
					.since = 17,
					.part = "failed queries",
					.values =
						{
							NUMBER_IN(REQUEST_KEY, 0, 8, PGX ".baseRows", "conn"),
							NUMBER_IN(REQUEST_DONE, 0, 1, PGX ".baseRows",
								  "closed"),
							{.role = REQUEST_FAILED,
							 .kind = VALUE_UNSIGNED,
							 .size = 8,
							 .type = PGX ".baseRows",
							 .path = "err",
							 .part = 8},
						},
				},
				{
					.function = PGX ".(*baseRows).Close",
					.site = SITE_REQUEST_END,
					.place = REQUEST_AFTER_CALL,
					.callee = PGX "/pgconn.(*ResultReader).Close",
					.since = 17,
					.values =
						{
							{.role = REQUEST_KEY,
							 .kind = VALUE_UNSIGNED,
							 .size = 8,
							 .on_stack = true,
							 .type = PGX ".baseRows",
							 .path = "conn"},
							NUMBER(REQUEST_ERROR, 2, 8),
						},
				},
			},
	},
	/* Exec(c *Conn, ctx, sql string, args): `commandTag, err := c.exec(...)` takes all of its time. */
	{
		.name = "pgx.exec",
		.group = "sql",
		.title = "pgx statements",
		.probes =
			{
				{
					.function = PGX ".(*Conn).Exec",
					.site = SITE_REQUEST_BEGIN,
					.since = 17,
					.values = {TEXT(REQUEST_METHOD, 3)},
				},
				{
					.function = PGX ".(*Conn).Exec",
					.site = SITE_REQUEST_END,
					.place = REQUEST_AFTER_CALL,
					.callee = PGX ".(*Conn).exec",
					.since = 17,
					.values = {NUMBER(REQUEST_ERROR, 2, 8)},
				},
			},
	},
};

const unsigned request_preset_count = sizeof(request_presets) / sizeof(request_presets[0]);

const struct request_preset *request_preset(const char *name)
{
	for (unsigned i = 0; i < request_preset_count; i++) {
		if (strcmp(request_presets[i].name, name) == 0)
			return &request_presets[i];
	}
	return NULL;
}
