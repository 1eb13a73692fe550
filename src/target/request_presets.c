/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/request_presets.h"

#include <string.h>

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

const struct request_preset request_presets[] = {
	/*
	 * ServeHTTP(sh serverHandler, rw ResponseWriter, req *Request), for HTTP/1 and net/http's HTTP/2: sh
	 * is one pointer. A response or a http2responseWriter is what rw's second word points to, and the
	 * receiver of the functions that end it. ServeMux is known to net/http alone; other routers' routes
	 * are not read.
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
				{
					/* h, r.Pattern, r.pat, r.matches = mux.findHandler(r) */
					.function = "net/http.(*ServeMux).ServeHTTP",
					.site = SITE_REQUEST_BEGIN,
					.place = REQUEST_BEHIND_CALL,
					.callee = "net/http.(*ServeMux).findHandler",
					.since = 22,
					.part = "routes",
					.values = {TEXT(REQUEST_ROUTE, 2)},
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
			},
	},
	/*
	 * send(ireq *Request, rt RoundTripper, deadline time.Time), once for each redirect. Behind
	 * rt.RoundTrip(req) are a *Response and an error. The response's body comes later.
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
					.values =
						{
							TEXT_IN(REQUEST_METHOD, 0, "net/http.Request",
								"Method"),
							TEXT_IN(REQUEST_HOST, 0, "net/http.Request",
								"URL.Host"),
							TEXT_IN(REQUEST_PATH, 0, "net/http.Request",
								"URL.Path"),
							QUERY_IN(0, "net/http.Request", "URL.RawQuery"),
						},
				},
				{
					.function = "net/http.send",
					.site = SITE_REQUEST_END,
					.place = REQUEST_BEHIND_METHOD,
					.since = 17,
					.values =
						{
							NUMBER_IN(REQUEST_STATUS, 0, 8, "net/http.Response",
								  "StatusCode"),
							NUMBER(REQUEST_ERROR, 1, 8),
						},
				},
			},
	},
	/*
	 * queryDC(db, ctx, txctx, dc *driverConn, releaseConn func(error), query string, args), of DB, Tx and
	 * Conn. A query is over when its rows are closed for the first time (later its connection may be
	 * another query's), or after an error when its connection is returned.
	 */
	{
		.name = "sql.query",
		.group = "sql",
		.title = "SQL queries",
		.probes =
			{
				{
					.function = "database/sql.(*DB).queryDC",
					.site = SITE_REQUEST_BEGIN,
					.values = {NUMBER(REQUEST_KEY, 5, 8), TEXT(REQUEST_METHOD, 7)},
				},
				{
					.function = "database/sql.(*Rows).close",
					.site = SITE_REQUEST_END,
					.values =
						{
							NUMBER_IN(REQUEST_KEY, 0, 8, "database/sql.Rows",
								  "dc"),
							NUMBER_IN(REQUEST_DONE, 0, 1, "database/sql.Rows",
								  "closed"),
							NUMBER(REQUEST_ERROR, 1, 8),
						},
				},
				{
					.function = "database/sql.(*DB).putConn",
					.site = SITE_REQUEST_END,
					.values = {NUMBER(REQUEST_KEYS, 1, 8), NUMBER(REQUEST_ERROR, 2, 8)},
				},
			},
	},
	/*
	 * execDC(db, ctx, dc, release func(error), query string, args). Its deferred closure always runs, on
	 * the same goroutine.
	 */
	{
		.name = "sql.exec",
		.group = "sql",
		.title = "SQL statements",
		.probes =
			{
				{
					.function = "database/sql.(*DB).execDC",
					.site = SITE_REQUEST_BEGIN,
					.values = {TEXT(REQUEST_METHOD, 5)},
				},
				{
					.function = "database/sql.(*DB).execDC.func1",
					.site = SITE_REQUEST_END,
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
