/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The head of an HTTP/1.1 request (RFC 9112), as far as a server of one file needs it. */
#ifndef GOTRACE_UTIL_HTTP_REQUEST_H
#define GOTRACE_UTIL_HTTP_REQUEST_H

#include <stddef.h>

enum { HTTP_HEAD_MAX = 8192 };

/* Texts that do not fit, and those of absent fields, are "". */
struct http_request {
	char method[16];
	char target[256]; /* as sent, with the query */
	char host[128];
	char origin[128];
};

/*
 * Parses a request. Returns the size of its head, at most HTTP_HEAD_MAX; 0 if the head is not complete yet;
 * -EBADMSG if these bytes do not begin a request, or -E2BIG if the head is too long.
 */
int http_request_parse(const char *bytes, size_t n, struct http_request *request);

#endif
