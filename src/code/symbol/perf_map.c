/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/symbol/perf_map.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/text.h"

/* How many codes before an address are looked at: they overlap only where memory was used again. */
enum { LOOK_BACK = 64 };

struct generated_code {
	uint64_t start, at;
	uint32_t size, len;
};

struct perf_map {
	struct generated_code *codes; /* sorted by start, then by place in the file */
	size_t n, nsorted, capacity;  /* those behind nsorted are not known yet */
};

struct perf_map *perf_map_new(void)
{
	return calloc(1, sizeof(struct perf_map));
}

void perf_map_free(struct perf_map *map)
{
	if (!map)
		return;
	free(map->codes);
	free(map);
}

/* --- reading --- */

/* Takes a hexadecimal number and the space behind it. The JVM writes "0x" before it. */
static bool take_hex(const char **at, const char *end, uint64_t *number)
{
	const char *p = *at;
	unsigned digits = 0;

	if (end - p > 2 && p[0] == '0' && p[1] == 'x')
		p += 2;
	for (*number = 0; p < end && text_hex_digit(*p) >= 0 && digits < 16; p++, digits++)
		*number = *number << 4 | (unsigned)text_hex_digit(*p);
	if (!digits || p == end || *p != ' ')
		return false;
	*at = p + 1;
	return true;
}

/* Reads a line without its end. */
static bool generated_code_parse(uint64_t at, const char *line, const char *end, struct generated_code *code)
{
	const char *name = line;
	uint64_t size;

	if (!take_hex(&name, end, &code->start) || !take_hex(&name, end, &size) || name == end)
		return false;
	if (!size || size > UINT32_MAX || end - name > UINT32_MAX)
		return false;
	code->size = (uint32_t)size;
	code->at = at + (uint64_t)(name - line);
	code->len = (uint32_t)(end - name);
	return true;
}

size_t perf_map_add(struct perf_map *map, uint64_t at, const char *text, size_t len)
{
	const char *line = text, *last = text + len, *end;
	struct generated_code code;

	while ((end = memchr(line, '\n', (size_t)(last - line)))) {
		if (map->n < PERF_MAP_LINES &&
		    generated_code_parse(at + (uint64_t)(line - text), line, end, &code) &&
		    array_grow(&map->codes, &map->capacity, map->n + 1, sizeof(*map->codes)) == 0) {
			map->codes[map->n++] = code;
		}
		line = end + 1;
	}
	return (size_t)(line - text);
}

/* --- finding --- */

static int generated_code_by_start(const void *a, const void *b)
{
	const struct generated_code *one = a, *other = b;

	if (one->start != other->start)
		return one->start < other->start ? -1 : 1;
	return one->at < other->at ? -1 : one->at > other->at;
}

void perf_map_sort(struct perf_map *map)
{
	if (map->nsorted < map->n)
		qsort(map->codes, map->n, sizeof(*map->codes), generated_code_by_start);
	map->nsorted = map->n;
}

bool perf_map_find(const struct perf_map *map, uint64_t address, struct perf_map_name *name)
{
	const struct generated_code *newest = NULL;
	size_t n = array_upto(map->codes, map->nsorted, sizeof(*map->codes), address);

	for (size_t i = n; i && n - i < LOOK_BACK; i--) {
		const struct generated_code *code = &map->codes[i - 1];

		if (address - code->start < code->size && (!newest || code->at > newest->at))
			newest = code;
	}
	if (!newest)
		return false;
	*name = (struct perf_map_name){.at = newest->at, .len = newest->len};
	return true;
}

/* --- names --- */

struct slice {
	const char *at;
	size_t len;
};

static void copy(char *to, size_t size, struct slice from)
{
	size_t n = from.len < size - 1 ? from.len : size - 1;

	memcpy(to, from.at, n);
	to[n] = '\0';
}

static bool begins(struct slice text, const char *with)
{
	return text.len >= strlen(with) && memcmp(text.at, with, strlen(with)) == 0;
}

static struct slice without(struct slice text, size_t first)
{
	return (struct slice){text.at + first, text.len - first};
}

static struct slice before(struct slice text, const char *end)
{
	return (struct slice){text.at, (size_t)(end - text.at)};
}

/* Removes ":NUMBER" from the end. Returns false, and changes nothing, if there is none. */
static bool drop_number(struct slice *text, uint32_t *number)
{
	size_t n = text->len;
	uint64_t value = 0;

	while (n && text->at[n - 1] >= '0' && text->at[n - 1] <= '9')
		n--;
	if (n == text->len || !n || text->at[n - 1] != ':')
		return false;
	for (size_t i = n; i < text->len && value < UINT32_MAX; i++)
		value = value * 10 + (unsigned)(text->at[i] - '0');
	*number = value < UINT32_MAX ? (uint32_t)value : 0;
	text->len = n - 1;
	return true;
}

/*
 * V8, src/logging/log.cc and code-events.h: a tag, the tier's mark, the function's name (none: anonymous),
 * and its place.
 */
static bool is_of_v8(struct slice text, struct jit_name *name)
{
	static const char *const tags[] = {"JS:", "LazyCompile:", "Function:", "Eval:", "Script:"};
	uint32_t column;
	const char *space;
	struct slice file;

	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		if (!begins(text, tags[i]))
			continue;
		text = without(text, strlen(tags[i]));
		text = without(text, text.len && memchr("~^+*'`", text.at[0], 6) ? 1 : 0);
		space = memrchr(text.at, ' ', text.len); /* there are names such as "get size" */
		if (!space)
			return false;
		file = without(text, (size_t)(space + 1 - text.at));
		if (drop_number(&file, &column) && !drop_number(&file, &name->line))
			name->line = column;
		text = before(text, space);
		copy(name->file, sizeof(name->file), file);
		copy(name->function, sizeof(name->function),
		     text.len ? text : (struct slice){"(anonymous)", 11});
		return true;
	}
	return false;
}

/* CPython 3.12, Objects/perf_trampoline.c: py::NAME:FILE */
static bool is_of_python(struct slice text, struct jit_name *name)
{
	const char *colon;

	if (!begins(text, "py::"))
		return false;
	text = without(text, 4);
	colon = memchr(text.at, ':', text.len);
	if (!colon)
		return false;
	copy(name->function, sizeof(name->function), before(text, colon));
	copy(name->file, sizeof(name->file), without(text, (size_t)(colon + 1 - text.at)));
	return true;
}

/*
 * The JVM's external_name() (src/hotspot/share/oops/method.cpp), and .NET's perfmap.cpp: a type, the name,
 * the arguments in brackets.
 */
static bool has_arguments(struct slice text, struct jit_name *name)
{
	const char *bracket = memchr(text.at, '(', text.len), *space;

	if (!bracket)
		return false;
	text = before(text, bracket);
	space = memrchr(text.at, ' ', text.len);
	if (!space || space + 1 == bracket)
		return false;
	copy(name->function, sizeof(name->function), without(text, (size_t)(space + 1 - text.at)));
	return true;
}

void jit_name_parse(const char *text, size_t len, struct jit_name *name)
{
	struct slice whole = {text, len};

	*name = (struct jit_name){.line = 0};
	if (len && whole.at[len - 1] == '\r')
		whole.len--;
	if (is_of_v8(whole, name) || is_of_python(whole, name) || has_arguments(whole, name))
		return;
	*name = (struct jit_name){.line = 0};
	copy(name->function, sizeof(name->function), whole);
}
