/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/functions/value_plan.h"

#include <errno.h>
#include <string.h>

#include "code/isa/value_places.h"
#include "target/functions/value_access.h"

enum {
	WORD = 8,
	MOST_ARGUMENTS = 99,
};

/* --- types that the user gives --- */

static struct value_layout layout_of(const struct value_type *type, bool go)
{
	uint32_t number = go ? type->size : type->c_size;
	struct value_layout layout = {.size = number, .align = number, .nparts = 1};

	layout.parts[0] = (struct value_part){.size = number, .is_float = !type->words};
	if (type->words > 1) {
		layout.size = type->words * WORD;
		layout.nparts = type->words;
	}
	for (unsigned i = 1; i < layout.nparts; i++)
		layout.parts[i] = (struct value_part){.offset = i * WORD, .size = WORD};
	return layout;
}

static const struct value_layout one_word = {
	.size = WORD, .align = WORD, .nparts = 1, .parts = {{0, WORD, false}}};

/* The types of the parameters, as far as the list gives them. */
struct given {
	const struct value_type *receiver, *arguments[MOST_ARGUMENTS + 1];
};

static int take_given(const struct value_list *list, struct given *given, struct error *err)
{
	*given = (struct given){.receiver = NULL};
	for (unsigned i = 0; i < list->n; i++) {
		const struct value_item *item = &list->items[i];
		const struct value_type **type = item->base == BASE_RECEIVER ? &given->receiver
						 : item->base == BASE_ARG    ? &given->arguments[item->number]
									     : NULL;

		if (!type || !item->type || item->nfields)
			continue;
		if (*type && *type != item->type)
			return error_set(err, EINVAL, "%s: it cannot be both %s and %s", item->label,
					 (*type)->name, item->type->name);
		*type = item->type;
	}
	return 0;
}

static int check_language(const struct value_item *item, const struct value_type *type, bool go,
			  struct error *err)
{
	if (go ? type->size : type->c_size)
		return 0;
	return error_set(err, EINVAL, "%s: %s is not a type in %s", item->label, type->name, go ? "Go" : "C");
}

static int skip_receiver(const struct call_facts *facts, const struct given *given,
			 struct call_cursor *cursor, struct value_layout *layout,
			 struct value_location *location, struct error *err)
{
	struct value_location dictionary;

	if (!facts->has_receiver) {
		if (facts->is_generic)
			call_next(cursor, &one_word, location);
		return 0;
	}
	if (given->receiver)
		*layout = layout_of(given->receiver, true);
	else if (facts->receiver_is_pointer)
		*layout = one_word;
	else
		return error_set(err, EINVAL,
				 "the receiver's type is not known, as the program has no debug information: "
				 "give it as _=recv:TYPE, or use wordN");
	call_next(cursor, layout, location);
	if (facts->is_generic) /* cmd/compile/internal/noder/reader.go, shapeSig */
		call_next(cursor, &one_word, &dictionary);
	return 0;
}

/* Finds the place of the argument. The types of all arguments before it must be given. */
static int find_argument(const struct value_item *item, const struct call_facts *facts,
			 const struct given *given, struct value_layout *layout,
			 struct value_location *location, struct error *err)
{
	struct call_cursor cursor = call_begin(&facts->abi);
	int rc = skip_receiver(facts, given, &cursor, layout, location, err);

	if (item->base == BASE_RECEIVER)
		return rc || facts->has_receiver
			       ? rc
			       : error_set(err, EINVAL, "%s: the function is not a method", item->label);
	for (unsigned i = 1; i <= item->number && rc == 0; i++) {
		const struct value_type *type = given->arguments[i];

		if (!type)
			return error_set(err, EINVAL,
					 "%s: the type of arg%u is not known, as the program has no debug "
					 "information: give it as _=arg%u:TYPE, or use wordN",
					 item->label, i, i);
		rc = check_language(item, type, facts->abi.go, err);
		*layout = layout_of(type, facts->abi.go);
		if (rc == 0 && !call_next(&cursor, layout, location))
			rc = error_set(err, EINVAL, "%s: the location of an argument of this type is unknown",
				       item->label);
	}
	return rc;
}

/* --- words --- */

static int word_place(const struct call_facts *facts, unsigned word, struct value_location *location)
{
	const struct call_abi *abi = &facts->abi;
	struct call_cursor cursor = call_begin(abi);

	for (unsigned i = 0; i <= word; i++) {
		if (!call_next(&cursor, &one_word, location))
			return -EINVAL;
	}
	return abi->go && abi->go_minor > 16 && location->on_stack ? -EINVAL : 0;
}

/* Finds the place of a value that begins at this word and takes as many words as its type. */
static int find_words(const struct value_item *item, const struct call_facts *facts,
		      struct value_layout *layout, struct value_location *location, struct error *err)
{
	struct value_location one;

	if (item->type && !item->type->words)
		return error_set(err, EINVAL, "%s: wordN cannot read a floating-point argument", item->label);
	*layout = item->type ? layout_of(item->type, facts->abi.go) : one_word;
	for (unsigned i = 0; i < layout->nparts; i++) {
		if (word_place(facts, item->number - 1 + i, &one))
			return error_set(err, EINVAL, "%s: word %u is not in a register", item->label,
					 item->number + i);
		if (i == 0)
			*location = one;
		if (one.on_stack != location->on_stack)
			return error_set(err, EINVAL, "%s: it would be partly on the stack", item->label);
		location->places[i] = one.places[0];
	}
	return 0;
}

/* --- rules --- */

static int end_given(const struct value_item *item, const struct call_facts *facts,
		     const struct value_type *type, struct value_access *access, struct error *err)
{
	int rc = 0;

	if (!type)
		return error_set(err, EINVAL, "%s: give its type: %s:int, :string and so on", item->label,
				 item->label);
	rc = check_language(item, type, facts->abi.go, err);
	if (rc == 0 && !type->kind)
		rc = error_set(err, EINVAL, "%s: a value of type %s cannot be shown", item->label,
			       type->name);
	if (rc == 0)
		rc = access_field(access, type->shown * WORD, err);
	return rc ? rc : access_end(access, type->kind, facts->abi.go ? type->size : type->c_size, err);
}

static int plan_given(const struct value_item *item, const struct call_facts *facts,
		      const struct given *given, struct value_rule *rule, struct error *err)
{
	const struct value_type *type = item->type;
	struct value_access access;
	struct value_layout layout = one_word;
	struct value_location location;
	int rc;

	if (item->nfields || item->base == BASE_NAME)
		return error_set(
			err, EINVAL,
			"%s: names and fields of parameters need debug information, which the program "
			"does not have: give arguments as argN:TYPE or wordN:TYPE",
			item->label);
	rc = item->base == BASE_WORD ? find_words(item, facts, &layout, &location, err)
				     : find_argument(item, facts, given, &layout, &location, err);
	if (rc)
		return rc;
	if (!type && item->base == BASE_ARG)
		type = given->arguments[item->number];
	access = access_begin(&location, &layout, item->label);
	rc = end_given(item, facts, type, &access, err);
	*rule = access.rule;
	return rc;
}

/* Code before the probe may have used a register for something else. */
static int check_written(const struct value_item *item, const struct call_facts *facts,
			 const struct value_rule *rule, struct error *err)
{
	const uint8_t places[] = {rule->place, rule->place2};

	for (unsigned i = 0; i < 1u + (rule->kind == VALUE_GO_STRING && !rule->nsteps); i++) {
		int number =
			places[i] == VALUE_STACK ? PLACE_NONE : place_register(facts->abi.arm64, places[i]);

		if (number >= 0 && number < 32 && facts->written >> number & 1)
			return error_set(err, EAGAIN, "%s: its register has another value at the probe",
					 item->label);
	}
	return 0;
}

static int plan_item(const struct value_item *item, const struct call_facts *facts, const struct given *given,
		     struct value_rule *rule, struct error *err)
{
	int rc = -ENODATA;

	if (facts->dwarf && item->base != BASE_WORD)
		rc = value_plan_dwarf(item, facts, rule, err);
	if (rc == -ENODATA && facts->is_copy)
		return error_set(err, EINVAL,
				 "%s: the compiler has made a copy of the function with other arguments, and "
				 "there is no debug information about it",
				 item->label);
	if (rc == -ENODATA)
		rc = plan_given(item, facts, given, rule, err);
	return rc ? rc : check_written(item, facts, rule, err);
}

int values_plan(const struct value_list *list, const struct call_facts *facts, struct function_values *values,
		struct error *err)
{
	struct given given;
	int rc = take_given(list, &given, err);

	values->rules = (struct value_rules){.n = 0};
	for (unsigned i = 0; i < list->n && rc == 0; i++) {
		const struct value_item *item = &list->items[i];
		uint32_t n = values->rules.n;

		if (item->hidden)
			continue;
		if (n == VALUES_MAX)
			return error_set(err, EINVAL, "more than %u values", VALUES_MAX);
		rc = plan_item(item, facts, &given, &values->rules.rules[n], err);
		memcpy(values->labels[n], item->label, sizeof(values->labels[n]));
		values->rules.n++;
	}
	return rc;
}
