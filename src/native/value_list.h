/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The arguments that the user wants to see of a function's calls: what stands in parentheses behind its name,
 * as in 'main.handle(id=arg1:int, r.URL.Path)'. Pure functions.
 *
 *     LIST  = ITEM {"," ITEM}
 *     ITEM  = [LABEL "="] BASE {("." | "->") FIELD} [":" TYPE]
 *     BASE  = "arg" N | "word" N | "recv" | the name of a parameter
 *
 * Parameters count from 1 as the source has them, a Go method's receiver is "recv". Words count from 1, the
 * receiver's included. An item with the label "_" is not shown: it only says what type a parameter has.
 */
#ifndef GOTRACE_NATIVE_VALUE_LIST_H
#define GOTRACE_NATIVE_VALUE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"
#include "rawlog/rawlog.h"
#include "util/error.h"

enum {
	VALUE_ITEMS = 24, /* in a list, of which VALUES_MAX are shown */
	VALUE_FIELDS = 4, /* behind one another */
	VALUE_NAME_MAX = 64,
};

enum value_base {
	BASE_ARG,      /* number */
	BASE_WORD,     /* number */
	BASE_RECEIVER, /* of a Go method */
	BASE_NAME,     /* name */
};

/* A type by the name that the user gives it. */
struct value_type {
	const char *name;
	uint8_t kind;         /* enum value_kind; 0 = such a value is not shown */
	uint8_t size, c_size; /* of a number, in Go and in C; 0 = the language does not have it */
	uint8_t words;        /* of an argument; 0: a floating-point register, as many as `floats` */
	uint8_t shown;        /* the word that is shown: 1 = the length of a slice */
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
	/* Nothing but a list can be meant. Otherwise it may be the parameters in a C++ function's name. */
	bool certain;
	struct value_item items[VALUE_ITEMS];
	unsigned n; /* 0: there is no list */
};

/*
 * Parses what stands behind the function's name in `text`. Returns 0, also if nothing does; or -EINVAL, with
 * err saying what is wrong with the list.
 */
int value_list_parse(const char *text, struct value_list *list, struct error *err);

#endif
