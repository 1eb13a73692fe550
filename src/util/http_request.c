/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/http_request.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

struct piece {
	const char *at;
	size_t n;
};

/* Copies the piece if it fits and has only printable ASCII without spaces. */
static bool copy_piece(char *to, size_t size, struct piece from)
{
	to[0] = '\0';
	if (!from.n || from.n >= size)
		return false;
	for (size_t i = 0; i < from.n; i++) {
		if (from.at[i] <= ' ' || from.at[i] > '~')
			return false;
	}
	memcpy(to, from.at, from.n);
	to[from.n] = '\0';
	return true;
}

/* Takes the piece up to the separator, which is skipped. Without one, the rest. */
static struct piece piece_until(struct piece *rest, char separator)
{
	const char *end = rest->n ? memchr(rest->at, separator, rest->n) : NULL;
	struct piece piece = {rest->at, end ? (size_t)(end - rest->at) : rest->n};
	size_t skipped = piece.n + (end ? 1 : 0);

	rest->at += skipped;
	rest->n -= skipped;
	return piece;
}

static struct piece without_space(struct piece piece)
{
	while (piece.n && (*piece.at == ' ' || *piece.at == '\t')) {
		piece.at++;
		piece.n--;
	}
	while (piece.n && strchr(" \t\r", piece.at[piece.n - 1]))
		piece.n--;
	return piece;
}

static bool parse_first_line(struct piece line, struct http_request *request)
{
	struct piece method = piece_until(&line, ' '), target = piece_until(&line, ' ');

	line = without_space(line);
	return copy_piece(request->method, sizeof(request->method), method) &&
	       copy_piece(request->target, sizeof(request->target), target) && line.n == 8 &&
	       memcmp(line.at, "HTTP/1.", 7) == 0;
}

/* Returns false if the value does not fit: the sender must not pass for one that has sent none. */
static bool parse_field(struct piece line, struct http_request *request)
{
	struct piece name = piece_until(&line, ':');

	line = without_space(line);
	if (name.n == 4 && strncasecmp(name.at, "host", 4) == 0)
		return copy_piece(request->host, sizeof(request->host), line);
	if (name.n == 6 && strncasecmp(name.at, "origin", 6) == 0)
		return copy_piece(request->origin, sizeof(request->origin), line);
	return true;
}

/* Returns the size of the head, up to and with its empty line, or 0. */
static size_t head_size(const char *bytes, size_t n)
{
	const char *end = n >= 4 ? memmem(bytes, n, "\r\n\r\n", 4) : NULL;

	return end ? (size_t)(end - bytes) + 4 : 0;
}

int http_request_parse(const char *bytes, size_t n, struct http_request *request)
{
	size_t size = head_size(bytes, n < HTTP_HEAD_MAX ? n : HTTP_HEAD_MAX);
	struct piece rest = {bytes, size};

	*request = (struct http_request){.method = ""};
	if (!size)
		return n >= HTTP_HEAD_MAX ? -E2BIG : 0;
	if (!parse_first_line(piece_until(&rest, '\n'), request))
		return -EBADMSG;
	while (rest.n > 2) {
		if (!parse_field(piece_until(&rest, '\n'), request))
			return -EBADMSG;
	}
	return (int)size;
}
