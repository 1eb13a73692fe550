/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Parses which arguments of a function's calls to show: the list in parentheses after its name, as in
 * 'main.handle(id=arg1:int, r.URL.Path)'. Pure functions.
 *
 *     LIST  = ITEM {"," ITEM}
 *     ITEM  = [LABEL "="] BASE {("." | "->") FIELD} [":" TYPE]
 *     BASE  = "arg" N | "word" N | "recv" | the name of a parameter
 *
 * argN counts parameters from 1, as in the source; a Go method's receiver is "recv". wordN counts words from
 * 1, including the receiver's. An item with the label "_" is not shown; it only gives the type of a
 * parameter.
 */
#ifndef GOTRACE_TARGET_FUNCTIONS_VALUE_LIST_H
#define GOTRACE_TARGET_FUNCTIONS_VALUE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"
#include "rawlog/rawlog.h"
#include "util/error.h"

enum {
	VALUE_ITEMS = 24, /* in a list; at most VALUES_MAX are shown */
	VALUE_FIELDS = 4, /* in one item: a.b.c */
	VALUE_NAME_MAX = 64,
};

enum value_base {
	BASE_ARG,      /* number */
	BASE_WORD,     /* number */
	BASE_RECEIVER, /* of a Go method */
	BASE_NAME,     /* name */
};

/* A type that the user can name. */
struct value_type {
	const char *name;
	uint8_t kind;         /* enum value_kind; 0 = such values cannot be shown */
	uint8_t size, c_size; /* of a number, in Go and in C; 0 = the language does not have it */
	uint8_t words;        /* words that an argument takes; 0: it is in a floating-point register */
	uint8_t shown;        /* index of the word that is shown; 1 = the length of a slice */
};

struct value_item {
	char label[VALUE_LABEL_MAX];
	enum value_base base;
	unsigned number;
	char name[VALUE_NAME_MAX];
	char fields[VALUE_FIELDS][VALUE_NAME_MAX];
	unsigned nfields;
	const struct value_type *type; /* NULL: the debug information decides */
	bool hidden;                   /* its label is "_" */
};

struct value_list {
	size_t name_len; /* of the text without the list */
	/* The text can only be a list. Otherwise it may be the parameters in a C++ function's name. */
	bool certain;
	struct value_item items[VALUE_ITEMS];
	unsigned n; /* 0: there is no list */
};

/*
 * Parses the list after the function's name in `text`. Returns 0, even if there is no list, or -EINVAL and
 * sets *err.
 */
int value_list_parse(const char *text, struct value_list *list, struct error *err);

#endif
