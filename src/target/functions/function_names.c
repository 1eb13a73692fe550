/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/functions/function_names.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "code/elf/text.h"
#include "util/utf8.h"

_Static_assert(FUNCTION_NAME_MAX >= NATIVE_FUNCTION_MAX, "readable names fit");

/* --- parsing C++ names --- */

/* Returns the change of bracket depth at the character at `at`. operator<, -> and so on are not brackets. */
static int function_name_depth_of(const char *name, size_t at)
{
	char c = name[at];

	if (c == '(' || c == '[' || c == '{')
		return 1;
	if (c == ')' || c == ']' || c == '}')
		return -1;
	if (c != '<' && c != '>')
		return 0;
	if (c == '>' && at > 0 && name[at - 1] == '-')
		return 0;
	for (size_t i = at; i > 0 && at - i < 3; i--) {
		if (i >= 8 && memcmp(name + i - 8, "operator", 8) == 0)
			return 0;
	}
	return c == '<' ? 1 : -1;
}

/*
 * Returns the length of the name without its parameters: the last pair of parentheses, after which only
 * qualifiers may follow.
 */
static size_t without_parameters(const char *name, size_t len)
{
	size_t end = len, at;
	int depth = 0;

	while (end > 0 && name[end - 1] != ')')
		end--;
	if (end == 0 || memchr(name + end, ':', len - end) || memchr(name + end, '<', len - end))
		return len;
	for (at = end; at > 0; at--) {
		if (name[at - 1] == ')')
			depth++;
		else if (name[at - 1] == '(' && --depth == 0)
			break;
	}
	if (at > 8 && memcmp(name + at - 9, "operator", 8) == 0)
		return len; /* operator(): the parentheses belong to the name */
	return at > 1 ? at - 1 : len;
}

/* Finds the start of the name after a return type, which other tools write of template functions. */
static size_t behind_type(const char *name, size_t len)
{
	size_t begin = 0;
	int depth = 0;

	for (size_t i = 0; i < len; i++) {
		depth += function_name_depth_of(name, i);
		if (depth < 0)
			depth = 0;
		if (depth == 0 && i + 8 <= len && memcmp(name + i, "operator", 8) == 0)
			break;
		if (depth == 0 && name[i] == ' ')
			begin = i + 1;
	}
	return begin;
}

/* Copies the name without <...> and [abi:...]. */
static size_t without_templates(const char *name, size_t len, char *plain)
{
	size_t n = 0;
	int depth = 0;

	for (size_t i = 0; i < len; i++) {
		int step = function_name_depth_of(name, i);
		bool bracket = name[i] == '<' || name[i] == '>' || name[i] == '[' || name[i] == ']';

		if (!bracket)
			step = 0;
		if (depth == 0 && step == 0)
			plain[n++] = name[i];
		depth += step;
		if (depth < 0)
			depth = 0;
	}
	plain[n] = '\0';
	return n;
}

/* Ignores differences in spaces. */
static bool function_name_is_same(const char *name, size_t len, const char *wanted)
{
	size_t at = 0;

	for (;;) {
		while (at < len && name[at] == ' ')
			at++;
		while (*wanted == ' ')
			wanted++;
		if (at == len || !*wanted)
			return at == len && !*wanted;
		if (name[at++] != *wanted++)
			return false;
	}
}

/*
 * Copies the last component of a name, without template arguments. It is empty for operators, and has no '~'
 * for destructors.
 */
static void last_part(const char *name, size_t len, char part[FUNCTION_NAME_MAX])
{
	char plain[FUNCTION_NAME_MAX];
	size_t begin = 0;

	len = without_templates(name, len, plain);
	for (size_t i = 0; i < len; i++) {
		if (plain[i] == ':' || plain[i] == ' ' || plain[i] == '~')
			begin = i + 1;
	}
	if (strstr(plain, "operator"))
		begin = len;
	memcpy(part, plain + begin, len - begin + 1);
}

/* --- user input --- */

/* Finds the single colon after a file name. */
static const char *find_colon(const char *text)
{
	for (const char *at = text; *at && *at != '(' && *at != '<'; at++) {
		if (*at != ':')
			continue;
		if (at[1] != ':')
			return at;
		at++;
	}
	return NULL;
}

const char *function_without_file(const char *text)
{
	const char *colon = find_colon(text);

	return colon ? colon + 1 : text;
}

int function_spec_parse(const char *text, struct function_spec *spec, struct error *err)
{
	const char *colon = find_colon(text), *name = colon ? colon + 1 : text;
	size_t where = colon ? (size_t)(colon - text) : 0, len = strlen(name);
	size_t begin;

	*spec = (struct function_spec){.parameters = false};
	if ((colon && !where) || !len)
		return error_set(err, EINVAL, "'%.*s' is not a function: give FUNC or FILE:FUNC",
				 text_fit(text, 200), text);
	if (where >= sizeof(spec->where) || len >= sizeof(spec->name))
		return error_set(err, EINVAL, "the name '%.*s...' is too long", text_fit(text, 200), text);
	memcpy(spec->where, text, where);
	begin = behind_type(name, without_parameters(name, len));
	name += begin;
	len -= begin;
	memcpy(spec->name, name, len + 1);
	spec->parameters = without_parameters(name, len) < len;
	last_part(name, without_parameters(name, len), spec->part);
	return 0;
}

/* --- symbols --- */

size_t function_base(const char *name)
{
	return *name ? 1 + strcspn(name + 1, ".@") : 0;
}

static bool is_split_off(const char *ending)
{
	return strstr(ending, ".cold") || strstr(ending, ".part.");
}

bool function_is_part(const struct function_symbol *symbol, const char *base, size_t len)
{
	return function_base(symbol->name) == len && memcmp(symbol->name, base, len) == 0 &&
	       is_split_off(symbol->name + len);
}

static bool matches_plainly(const struct function_spec *spec, const char *name, size_t len)
{
	char plain[FUNCTION_NAME_MAX];

	return function_name_is_same(name, len, spec->name) ||
	       function_name_is_same(plain, without_templates(name, len, plain), spec->name);
}

static bool matches_readable(const struct function_spec *spec, const char *readable)
{
	size_t len = strlen(readable), bare = without_parameters(readable, len);

	return spec->parameters ? function_name_is_same(readable, len, spec->name)
				: matches_plainly(spec, readable, bare);
}

static bool make_readable(const char *name, size_t len, char readable[FUNCTION_NAME_MAX])
{
	char base[16384];
	size_t n;

	if (len >= sizeof(base))
		return false;
	memcpy(base, name, len);
	base[len] = '\0';
	n = native_readable(base, readable);
	readable[n < FUNCTION_NAME_MAX ? n : FUNCTION_NAME_MAX - 1] = '\0';
	return true;
}

bool function_matches(const struct function_spec *spec, const char *name, char readable[FUNCTION_NAME_MAX])
{
	size_t len = function_base(name);

	if (strcmp(name, spec->name) == 0) {
		snprintf(readable, FUNCTION_NAME_MAX, "%s", name);
		return true;
	}
	if (is_split_off(name + len) || !strstr(name, spec->part) || !make_readable(name, len, readable))
		return false;
	return matches_readable(spec, readable);
}

bool function_is_in(const char *where, const char *path)
{
	const char *last = strrchr(path, '/');
	size_t len = strlen(where);

	last = last ? last + 1 : path;
	if (strcmp(where, path) == 0 || strcmp(where, last) == 0)
		return true;
	return strncmp(where, last, len) == 0 && last[len] == '.' &&
	       (strncmp(last + len, ".so", 3) == 0 || strstr(where, ".so"));
}

/* --- similar names --- */

enum { NEAR_LEN = 64 };

/* Levenshtein distance, case-insensitive. Names are cut to NEAR_LEN. */
static unsigned distance_of(const char *one, const char *other)
{
	size_t n = strnlen(one, NEAR_LEN), m = strnlen(other, NEAR_LEN);
	unsigned row[NEAR_LEN + 1];

	for (size_t j = 0; j <= m; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned corner = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			bool same =
				tolower((unsigned char)one[i - 1]) == tolower((unsigned char)other[j - 1]);
			unsigned change = corner + !same, least;

			corner = row[j];
			least = row[j] < row[j - 1] ? row[j] : row[j - 1];
			row[j] = least + 1 < change ? least + 1 : change;
		}
	}
	return row[m];
}

/* Returns the distance between the last components of the names, or NEAR_LEN if they are too different. */
static unsigned name_distance(const struct function_spec *spec, const char *part)
{
	size_t wanted = strlen(spec->part), len = strlen(part);
	size_t longer = wanted > len ? wanted : len, shorter = wanted > len ? len : wanted;
	unsigned distance;

	if (wanted < 3 || len < 2)
		return NEAR_LEN;
	if (strcasestr(part, spec->part))
		return 1 + (unsigned)(longer - shorter) / 8;
	if (longer - shorter > wanted / 3)
		return NEAR_LEN;
	distance = distance_of(spec->part, part);
	return distance <= 1 + wanted / 4 ? distance : NEAR_LEN;
}

static void insert(struct similar_functions *similar, const char *name, unsigned distance)
{
	unsigned at = similar->n;

	for (unsigned i = 0; i < similar->n; i++) {
		if (strcmp(similar->names[i], name) == 0)
			return;
	}
	while (at > 0 && similar->distances[at - 1] > distance)
		at--;
	if (at == SIMILAR_FUNCTIONS)
		return;
	if (similar->n < SIMILAR_FUNCTIONS)
		similar->n++;
	memmove(similar->names[at + 1], similar->names[at],
		(similar->n - at - 1) * sizeof(similar->names[0]));
	memmove(&similar->distances[at + 1], &similar->distances[at],
		(similar->n - at - 1) * sizeof(similar->distances[0]));
	memcpy(similar->names[at], name, strlen(name) + 1);
	similar->distances[at] = distance;
}

size_t function_name_plain(const char *name, char plain[FUNCTION_NAME_MAX])
{
	size_t len = function_base(name);

	if (is_split_off(name + len) || !make_readable(name, len, plain))
		return 0;
	len = without_parameters(plain, strlen(plain));
	plain[len] = '\0';
	return len;
}

void similar_functions_offer(struct similar_functions *similar, const struct function_spec *spec,
			     const char *name)
{
	char plain[FUNCTION_NAME_MAX], part[FUNCTION_NAME_MAX];
	size_t len = function_name_plain(name, plain);
	unsigned distance;

	if (!len)
		return;
	last_part(plain, len, part);
	distance = name_distance(spec, part);
	if (distance < NEAR_LEN && len < sizeof(similar->names[0]))
		insert(similar, plain, distance);
}
