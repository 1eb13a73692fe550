/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/functions/value_list.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/utf8.h"

/* int, uint and the like have different sizes in Go and C. */
static const struct value_type types[] = {
	{"int", VALUE_SIGNED, 8, 4, 1, 0},       {"int8", VALUE_SIGNED, 1, 1, 1, 0},
	{"int16", VALUE_SIGNED, 2, 2, 1, 0},     {"int32", VALUE_SIGNED, 4, 4, 1, 0},
	{"int64", VALUE_SIGNED, 8, 8, 1, 0},     {"uint", VALUE_UNSIGNED, 8, 4, 1, 0},
	{"uint8", VALUE_UNSIGNED, 1, 1, 1, 0},   {"uint16", VALUE_UNSIGNED, 2, 2, 1, 0},
	{"uint32", VALUE_UNSIGNED, 4, 4, 1, 0},  {"uint64", VALUE_UNSIGNED, 8, 8, 1, 0},
	{"byte", VALUE_UNSIGNED, 1, 1, 1, 0},    {"rune", VALUE_SIGNED, 4, 0, 1, 0},
	{"long", VALUE_SIGNED, 0, 8, 1, 0},      {"ulong", VALUE_UNSIGNED, 0, 8, 1, 0},
	{"short", VALUE_SIGNED, 0, 2, 1, 0},     {"char", VALUE_SIGNED, 0, 1, 1, 0},
	{"size_t", VALUE_UNSIGNED, 0, 8, 1, 0},  {"bool", VALUE_BOOL, 1, 1, 1, 0},
	{"ptr", VALUE_POINTER, 8, 8, 1, 0},      {"uintptr", VALUE_POINTER, 8, 8, 1, 0},
	{"float32", VALUE_FLOAT, 4, 4, 0, 0},    {"float64", VALUE_FLOAT, 8, 8, 0, 0},
	{"string", VALUE_GO_STRING, 8, 0, 2, 0}, {"bytes", VALUE_GO_STRING, 8, 0, 3, 0},
	{"len", VALUE_SIGNED, 8, 0, 3, 1},       {"any", 0, 8, 0, 2, 0},
	{"cstring", VALUE_C_STRING, 8, 8, 1, 0},
};

/* The text that is left to parse. */
struct cursor {
	const char *at, *end;
	const char *whole; /* for messages */
	struct error *err;
};

static void skip_blanks(struct cursor *in)
{
	while (in->at < in->end && (*in->at == ' ' || *in->at == '\t'))
		in->at++;
}

static bool accept(struct cursor *in, const char *token)
{
	size_t len = strlen(token);

	skip_blanks(in);
	if ((size_t)(in->end - in->at) < len || memcmp(in->at, token, len) != 0)
		return false;
	in->at += len;
	return true;
}

static bool is_name_byte(char c, bool first)
{
	return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80 ||
	       (!first && isdigit((unsigned char)c));
}

/* Go's names may have letters of any script, and runtime names a middle dot. */
static int value_list_take_name(struct cursor *in, char *to, size_t size, const char *what)
{
	const char *begin;
	size_t len;

	skip_blanks(in);
	begin = in->at;
	while (in->at < in->end && is_name_byte(*in->at, in->at == begin))
		in->at++;
	len = (size_t)(in->at - begin);
	if (len == 0 && begin == in->end)
		return error_set(in->err, EINVAL, "%.*s: %s is missing at the end", text_fit(in->whole, 200),
				 in->whole, what);
	if (len == 0)
		return error_set(in->err, EINVAL, "%.*s: %s is expected at '%.*s'", text_fit(in->whole, 200),
				 in->whole, what, (int)(in->end - begin > 20 ? 20 : in->end - begin), begin);
	if (len >= size)
		return error_set(in->err, EINVAL, "%.*s: '%.*s...' is longer than %zu bytes",
				 text_fit(in->whole, 200), in->whole, text_fit(begin, 30), begin, size - 1);
	memcpy(to, begin, len);
	to[len] = '\0';
	return 0;
}

/* Returns N of argN or wordN; 0 if the name has another form; -1 if N is not valid. */
static int numbered(const char *name, const char *word)
{
	size_t len = strlen(word);
	const char *digits = name + len;

	if (strncmp(name, word, len) != 0 || !*digits || digits[strspn(digits, "0123456789")])
		return 0;
	return *digits != '0' && strlen(digits) <= 2 ? atoi(digits) : -1;
}

static int take_base(struct cursor *in, struct value_item *item)
{
	int argument = numbered(item->name, "arg"), word = numbered(item->name, "word");

	if (argument < 0 || word < 0)
		return error_set(in->err, EINVAL, "%.*s: %s: arguments and words count from 1 to 99",
				 text_fit(in->whole, 200), in->whole, item->name);
	item->base = argument                          ? BASE_ARG
		     : word                            ? BASE_WORD
		     : strcmp(item->name, "recv") == 0 ? BASE_RECEIVER
						       : BASE_NAME;
	item->number = (unsigned)(argument ? argument : word);
	return 0;
}

static int take_fields(struct cursor *in, struct value_item *item)
{
	int rc = 0;

	while (rc == 0 && (accept(in, ".") || accept(in, "->"))) {
		if (item->nfields == VALUE_FIELDS)
			return error_set(in->err, EINVAL, "%.*s: more than %d fields in one item",
					 text_fit(in->whole, 200), in->whole, VALUE_FIELDS);
		rc = value_list_take_name(in, item->fields[item->nfields++], VALUE_NAME_MAX,
					  "the name of a field");
	}
	return rc;
}

static int take_type(struct cursor *in, struct value_item *item)
{
	char name[VALUE_NAME_MAX];
	int rc = value_list_take_name(in, name, sizeof(name), "a type");

	for (size_t i = 0; rc == 0 && i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(types[i].name, name) == 0) {
			item->type = &types[i];
			return 0;
		}
	}
	return rc ? rc
		  : error_set(in->err, EINVAL,
			      "%.*s: '%.*s' is not a type that gotrace knows, such as int, uint8, bool, "
			      "string, bytes, len, cstring or ptr (gotrace(1) lists them)",
			      text_fit(in->whole, 200), in->whole, text_fit(name, 40), name);
}

/* Without a label, the expression itself is the label. */
static int name_item(struct cursor *in, struct value_item *item, const char *begin, const char *end)
{
	size_t len;

	while (end > begin && end[-1] == ' ')
		end--;
	len = (size_t)(end - begin);
	if (item->label[0])
		return 0;
	if (len >= sizeof(item->label))
		return error_set(in->err, EINVAL, "%.*s: give '%.*s...' a short name: NAME=%.*s...",
				 text_fit(in->whole, 200), in->whole, text_fit(begin, 30), begin,
				 text_fit(begin, 30), begin);
	memcpy(item->label, begin, len);
	return 0;
}

static int take_item(struct cursor *in, struct value_item *item)
{
	const char *begin;
	int rc;

	*item = (struct value_item){.number = 0};
	skip_blanks(in);
	begin = in->at;
	rc = value_list_take_name(in, item->name, sizeof(item->name), "a parameter");
	if (rc == 0 && accept(in, "=")) {
		memcpy(item->label, item->name, sizeof(item->label));
		skip_blanks(in);
		begin = in->at;
		rc = value_list_take_name(in, item->name, sizeof(item->name), "a parameter");
	}
	if (rc == 0)
		rc = take_base(in, item);
	if (rc == 0)
		rc = take_fields(in, item);
	if (rc == 0)
		rc = name_item(in, item, begin, in->at);
	if (rc == 0 && accept(in, ":"))
		rc = take_type(in, item);
	item->hidden = strcmp(item->label, "_") == 0;
	return rc;
}

static int check_shown(const struct cursor *in, const struct value_list *list)
{
	unsigned shown = 0;

	for (unsigned i = 0; i < list->n; i++)
		shown += !list->items[i].hidden;
	if (shown == 0)
		return error_set(in->err, EINVAL, "%.*s: no value is shown", text_fit(in->whole, 200),
				 in->whole);
	if (shown > VALUES_MAX)
		return error_set(in->err, EINVAL, "%.*s: more than %u values of one function",
				 text_fit(in->whole, 200), in->whole, VALUES_MAX);
	return 0;
}

static int value_list_take_list(struct cursor *in, struct value_list *list)
{
	int rc = 0;

	do {
		if (list->n == VALUE_ITEMS)
			return error_set(in->err, EINVAL, "%.*s: more than %d items in a list",
					 text_fit(in->whole, 200), in->whole, VALUE_ITEMS);
		rc = take_item(in, &list->items[list->n++]);
	} while (rc == 0 && accept(in, ","));
	if (rc == 0 && in->at < in->end)
		rc = error_set(in->err, EINVAL, "%.*s: ',' or ')' is expected at '%.*s'",
			       text_fit(in->whole, 200), in->whole,
			       (int)(in->end - in->at > 20 ? 20 : in->end - in->at), in->at);
	return rc ? rc : check_shown(in, list);
}

/* Finds the opening parenthesis of a pair that ends the text. Returns NULL if there is none. */
static const char *last_group(const char *text)
{
	size_t len = strlen(text);
	int depth = 0;

	if (!len || text[len - 1] != ')')
		return NULL;
	for (const char *at = text + len; at > text; at--) {
		if (at[-1] == ')')
			depth++;
		else if (at[-1] == '(' && --depth == 0)
			return at - 1;
	}
	return NULL;
}

/* True if there is a label, argN or wordN, which parameters in a C++ function's name do not have. */
static bool is_certain(const char *begin, const char *end)
{
	bool starts = true;

	for (const char *at = begin; at < end; at++) {
		if (*at == '=')
			return true;
		if (starts && (strncmp(at, "arg", 3) == 0 || strncmp(at, "word", 4) == 0) &&
		    isdigit((unsigned char)at[*at == 'a' ? 3 : 4]))
			return true;
		starts = *at == ',' || (starts && *at == ' ');
	}
	return false;
}

int value_list_parse(const char *text, struct value_list *list, struct error *err)
{
	const char *open = last_group(text), *close;
	struct error line;
	struct cursor in = {.whole = text, .err = err ? err : &line};
	int rc;

	*list = (struct value_list){.name_len = strlen(text)};
	if (!open || open == text)
		return 0;
	close = text + strlen(text) - 1;
	list->certain = is_certain(open + 1, close);
	if (!list->certain)
		in.err = &line;
	in.at = open + 1;
	in.end = close;
	rc = value_list_take_list(&in, list);
	if (rc && !list->certain) {
		list->n = 0;
		return 0; /* parameters of a C++ function, or an unknown function: the search reports it */
	}
	list->name_len = (size_t)(open - text);
	while (list->name_len && text[list->name_len - 1] == ' ')
		list->name_len--;
	return rc;
}
