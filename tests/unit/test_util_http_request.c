/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/http_request.h"

static int parse(const char *text, struct http_request *request)
{
	return http_request_parse(text, strlen(text), request);
}

static void test_request(void **state)
{
	static const char text[] = "GET /a/b?c HTTP/1.1\r\nHost: 127.0.0.1:9001\r\nAccept: */*\r\n"
				   "ORIGIN:https://ui.perfetto.dev \r\n\r\nbody";
	struct http_request request;

	(void)state;
	assert_int_equal(parse(text, &request), (int)strlen(text) - 4);
	assert_string_equal(request.method, "GET");
	assert_string_equal(request.target, "/a/b?c");
	assert_string_equal(request.host, "127.0.0.1:9001");
	assert_string_equal(request.origin, "https://ui.perfetto.dev");
}

/* Each beginning of a request is incomplete, not wrong. */
static void test_incomplete(void **state)
{
	static const char text[] = "HEAD / HTTP/1.0\r\nHost: x\r\n\r\n";
	struct http_request request;

	(void)state;
	for (size_t n = 0; n < sizeof(text) - 1; n++)
		assert_int_equal(http_request_parse(text, n, &request), 0);
	assert_int_equal(http_request_parse(text, sizeof(text) - 1, &request), (int)sizeof(text) - 1);
	assert_string_equal(request.origin, "");
}

static void test_refused(void **state)
{
	static const char *const wrong[] = {"\r\n\r\n",
					    "GET /\r\n\r\n",
					    "GET / FTP/1.1\r\n\r\n",
					    "GET  / HTTP/1.1\r\n\r\n",
					    "GET /\x01 HTTP/1.1\r\n\r\n",
					    "GET / HTTP/1.1 x\r\n\r\n"};
	char large[HTTP_HEAD_MAX + 8];
	struct http_request request;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(parse(wrong[i], &request), -EBADMSG);
	memset(large, 'a', sizeof(large));
	assert_int_equal(http_request_parse(large, sizeof(large), &request), -E2BIG);
}

/* A field that does not fit must not pass for one that is not there. */
static void test_long_field(void **state)
{
	char text[1024];
	struct http_request request;

	(void)state;
	snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nHost: %0300d\r\n\r\n", 1);
	assert_int_equal(parse(text, &request), -EBADMSG);
	snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nHost: a\r\nOrigin: %0300d\r\n\r\n", 1);
	assert_int_equal(parse(text, &request), -EBADMSG);
	assert_int_equal(parse("GET / HTTP/1.1\r\nHost: a\r\nOrigin: a b\r\n\r\n", &request), -EBADMSG);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_request),
	cmocka_unit_test(test_incomplete),
	cmocka_unit_test(test_refused),
	cmocka_unit_test(test_long_field),
};

UNIT_TESTS(tests, NULL, NULL);
