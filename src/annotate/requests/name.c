/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "annotate/requests/name.h"

#include <string.h>

#include "util/utf8.h"

static const char ellipsis[] = "\xe2\x80\xa6";

static bool fits(struct request_text *to, size_t len)
{
	/* The ellipsis must always fit. */
	if (!to->cut && to->len + len + sizeof(ellipsis) <= sizeof(to->text))
		return true;
	if (!to->cut) {
		memcpy(to->text + to->len, ellipsis, sizeof(ellipsis));
		to->len += sizeof(ellipsis) - 1;
		to->cut = true;
	}
	return false;
}

static void name_add(struct request_text *to, const char *bytes, size_t len)
{
	if (!fits(to, len))
		return;
	memcpy(to->text + to->len, bytes, len);
	to->len += len;
	to->text[to->len] = '\0';
}

void request_text_add(struct request_text *to, const char *text)
{
	size_t n = strlen(text), len;

	for (size_t at = 0; at < n && !to->cut; at += len) {
		text_next(text + at, n - at, &len);
		name_add(to, text + at, len);
	}
}

static bool is_space(uint32_t point)
{
	return point == ' ' || point == '\t' || point == '\n' || point == '\r';
}

void request_text_put(struct request_text *to, const struct value *value)
{
	bool space = true; /* skip space at the beginning */
	size_t len, end;

	if (!value || value->flags & VALUE_UNREADABLE) {
		request_text_add(to, "?");
		return;
	}
	end = value->flags & VALUE_CUT ? text_whole(value->text, value->len) : value->len;
	for (size_t at = 0; at < end && !to->cut; at += len) {
		uint32_t point = text_next(value->text + at, end - at, &len);

		if (is_space(point)) {
			if (!space)
				name_add(to, " ", 1);
			space = true;
			continue;
		}
		space = false;
		if (point == 0xfffd && len == 1)
			name_add(to, "?", 1);
		else if (!text_is_printable(point))
			name_add(to, "?", 1);
		else
			name_add(to, value->text + at, len);
	}
	if (value->flags & VALUE_CUT)
		fits(to, sizeof(to->text));
}

/* --- routes --- */

static const char *path_of(const struct request_text *route)
{
	const char *path = strchr(route->text, '/');

	return path ? path : "";
}

static void truncate_at(struct request_text *text, size_t len)
{
	text->len = len;
	text->text[len] = '\0';
}

void request_route_put(struct request_text *route, const struct value *value)
{
	const char *space;

	*route = (struct request_text){.len = 0};
	request_text_put(route, value);
	space = strchr(route->text, ' ');
	if (!space || space > path_of(route))
		return;
	route->len -= (size_t)(space + 1 - route->text);
	memmove(route->text, space + 1, route->len + 1);
}

/* "/api", "/api/" and that with an asterisk cover "/api/x", but not "/apix". */
static bool covers(const char *pattern, const char *path)
{
	size_t len = strcspn(pattern, "*");

	return strncmp(pattern, path, len) == 0 &&
	       (!path[len] || path[len] == '/' || (len && path[len - 1] == '/'));
}

void request_route_add(struct request_text *route, const struct value *value, bool is_part)
{
	struct request_text inner;
	const char *path;

	request_route_put(&inner, value);
	path = path_of(&inner);
	if (!*path || (!is_part && covers(path, path_of(route))))
		return;
	if (!is_part && covers(path_of(route), path)) {
		*route = inner;
		return;
	}
	truncate_at(route, strlen(route->text) - (route->len && route->text[route->len - 1] == '*'));
	truncate_at(route, route->len - (route->len && route->text[route->len - 1] == '/'));
	if (strcmp(path, "/") != 0 || !route->len)
		request_text_add(route, path);
}
