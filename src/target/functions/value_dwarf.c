/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Locates parameters and their fields by debug information, which gives the parameters and their types. The
 * calling convention gives their places. If the debug information has a place as well, both must agree. Debug
 * information is untrusted input: every walk through it is bounded.
 */
#include "target/functions/value_plan.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "code/isa/value_places.h"
#include "code/elf/dwarf.h"
#include "target/functions/type_layout.h"
#include "target/functions/value_access.h"
#include "util/utf8.h"

enum {
	WORD = 8,
	MOST_PARAMETERS = 256,
	MOST_MEMBERS = 4096,
	LISTED = 8,        /* names in a message */
	NO_LOCATIONS = 17, /* Go 1.17: some locations are slots that have not been written yet */
};

struct search {
	const struct value_item *item;
	const struct call_facts *facts;
	struct value_rule *rule;
	struct error *err;
	Dwarf_Die function; /* the concrete entry, as compiled */
	Dwarf_Die list;     /* the entry with the parameters: `function` or its abstract origin */
	struct value_location location;
	struct value_layout layout;
	Dwarf_Die type;                     /* of the parameter */
	char names[LISTED][VALUE_NAME_MAX]; /* of existing parameters, for messages */
	unsigned nnames;
};

/* --- the function --- */

static bool has_flag(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	bool set = false;

	return dwarf_attr_integrate(die, name, &attribute) && dwarf_formflag(&attribute, &set) == 0 && set;
}

static bool origin_of(Dwarf_Die *die, Dwarf_Die *origin)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, DW_AT_abstract_origin, &attribute) && dwarf_formref_die(&attribute, origin);
}

static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name =
		dwarf_attr_integrate(die, DW_AT_name, &attribute) ? dwarf_formstring(&attribute) : NULL;

	return name ? name : "";
}

/* Go lists results among the parameters. */
static bool is_parameter(const struct search *search, Dwarf_Die *die)
{
	return dwarf_tag(die) == DW_TAG_formal_parameter &&
	       !(search->facts->abi.go && has_flag(die, DW_AT_variable_parameter));
}

/* --- places in the debug information --- */

/* Finds the concrete entry of a parameter, which has a place. */
static bool find_compiled(struct search *search, Dwarf_Die *parameter, Dwarf_Die *compiled)
{
	Dwarf_Die origin;

	if (dwarf_dieoffset(&search->list) == dwarf_dieoffset(&search->function)) {
		*compiled = *parameter;
		return true;
	}
	if (dwarf_child(&search->function, compiled))
		return false;
	for (unsigned i = 0; i < MOST_MEMBERS; i++) {
		if (dwarf_tag(compiled) == DW_TAG_formal_parameter && origin_of(compiled, &origin) &&
		    dwarf_dieoffset(&origin) == dwarf_dieoffset(parameter))
			return true;
		if (dwarf_siblingof(compiled, compiled))
			return false;
	}
	return false;
}

static const Dwarf_Op *location_of(struct search *search, Dwarf_Die *parameter)
{
	Dwarf_Attribute attribute;
	Dwarf_Die compiled;
	Dwarf_Op *ops = NULL;
	size_t n = 0;

	if (!find_compiled(search, parameter, &compiled) ||
	    !dwarf_attr(&compiled, DW_AT_location, &attribute) ||
	    dwarf_getlocation_addr(&attribute, search->facts->entry, &ops, &n, 1) != 1 || n == 0)
		return NULL;
	return ops;
}

static int register_of(const Dwarf_Op *op, bool arm64)
{
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		return place_of_dwarf_register(arm64, op->atom - DW_OP_reg0);
	return op->atom == DW_OP_regx ? place_of_dwarf_register(arm64, op->number) : PLACE_NONE;
}

static bool is_register(const Dwarf_Op *op)
{
	return (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) || op->atom == DW_OP_regx;
}

static int refuse_places(const struct search *search)
{
	return error_set(search->err, EINVAL,
			 "%s: the debug information has it in another place than the calling convention",
			 search->item->label);
}

static int compare_register(const struct search *search, const Dwarf_Op *op)
{
	const struct value_location *location = &search->location;

	if (search->layout.nparts == 0)
		return 0;
	if (location->on_stack || register_of(op, search->facts->abi.arm64) != location->places[0])
		return refuse_places(search);
	return 0;
}

/* Go's frame base is the caller's stack pointer. Up to 1.16, composite values are described only in part. */
static int compare_stack(const struct search *search, const Dwarf_Op *op)
{
	int64_t offset = op->atom == DW_OP_fbreg ? (int64_t)op->number : 0;

	if (!search->facts->abi.go || search->layout.nparts != 1 ||
	    (op->atom != DW_OP_fbreg && op->atom != DW_OP_call_frame_cfa))
		return 0;
	if (search->location.on_stack ? search->location.stack != offset : offset >= 0)
		return refuse_places(search);
	return 0;
}

/* A local function, or a copy, may take other arguments than in its source. */
static bool may_differ(struct search *search)
{
	return !search->facts->abi.go &&
	       (search->facts->is_copy || !has_flag(&search->function, DW_AT_external));
}

static int compare_places(struct search *search, Dwarf_Die *parameter)
{
	const Dwarf_Op *op;

	if (search->facts->abi.go && search->facts->abi.go_minor == NO_LOCATIONS)
		return 0;
	op = location_of(search, parameter);
	if (op && is_register(op))
		return compare_register(search, op);
	if (op)
		return search->facts->is_copy ? refuse_places(search) : compare_stack(search, op);
	if (may_differ(search))
		return error_set(search->err, EINVAL, "%s: the compiler has optimized it away",
				 search->item->label);
	return 0;
}

/* --- parameters --- */

/* The parameters so far: all of them, and those that argN counts. */
struct parameter_count {
	unsigned all, numbered;
};

enum parameter_kind { PARAMETER, RECEIVER, HIDDEN };

static enum parameter_kind value_dwarf_kind_of(const struct search *search, Dwarf_Die *die, unsigned before)
{
	const char *name = name_of(die);

	if (search->facts->abi.go) {
		if (strcmp(name, ".dict") == 0)
			return HIDDEN;
		return search->facts->has_receiver && before == 0 ? RECEIVER : PARAMETER;
	}
	if (!has_flag(die, DW_AT_artificial))
		return PARAMETER;
	return strcmp(name, "this") == 0 ? RECEIVER : HIDDEN;
}

static bool value_dwarf_is_wanted(const struct search *search, enum parameter_kind kind, unsigned number,
				  const char *name)
{
	switch (search->item->base) {
	case BASE_RECEIVER:
		return kind == RECEIVER;
	case BASE_ARG:
		return kind == PARAMETER && number == search->item->number;
	case BASE_NAME:
		return kind != HIDDEN && strcmp(name, search->item->name) == 0;
	default:
		return false;
	}
}

static void note_name(struct search *search, enum parameter_kind kind, const char *name)
{
	if (kind != HIDDEN && search->nnames < LISTED && name[0])
		snprintf(search->names[search->nnames++], VALUE_NAME_MAX, "%.*s", text_fit(name, 60), name);
}

static int value_dwarf_refuse_unknown(const struct search *search)
{
	char list[LISTED * VALUE_NAME_MAX + 32] = "";
	size_t len = 0;

	for (unsigned i = 0; i < search->nnames; i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "; it has ",
					search->names[i]);
	if (search->item->base == BASE_ARG)
		return error_set(search->err, ENOENT, "%s: there is no argument %u%.*s", search->item->label,
				 search->item->number, text_fit(list, 200), list);
	if (search->item->base == BASE_RECEIVER)
		return error_set(search->err, ENOENT, "%s: the function is not a method%.*s",
				 search->item->label, text_fit(list, 200), list);
	return error_set(search->err, ENOENT, "%s: there is no parameter %s%.*s", search->item->label,
			 search->item->name, text_fit(list, 200), list);
}

static const struct value_layout one_word = {
	.size = WORD, .align = WORD, .nparts = 1, .parts = {{.size = WORD}}};

/* If the result is returned in memory, a pointer to it comes first (System V ABI for x86-64, 3.2.3). */
static bool skip_result(struct search *search, struct call_cursor *cursor)
{
	const struct call_abi *abi = &search->facts->abi;
	struct value_layout layout;
	struct value_location location;
	Dwarf_Die type;

	if (abi->go || abi->arm64 || !type_of_entry(&search->function, &type))
		return true;
	if (!type_layout(&type, abi, &layout))
		return type_is_scalar(&type);
	if (layout.by_reference || layout.in_memory)
		call_next(cursor, &one_word, &location);
	return true;
}

/* Takes the next parameter. Returns 1 if it is the wanted one, 0 if not, or a negative errno. */
static int take_parameter(struct search *search, struct call_cursor *cursor, Dwarf_Die *die,
			  struct parameter_count *count)
{
	enum parameter_kind kind = value_dwarf_kind_of(search, die, count->all);
	const char *name = name_of(die);

	note_name(search, kind, name);
	count->numbered += kind == PARAMETER;
	if (!type_of_entry(die, &search->type) ||
	    !type_layout(&search->type, &search->facts->abi, &search->layout) ||
	    !call_next(cursor, &search->layout, &search->location))
		return error_set(search->err, EINVAL,
				 "%s: the place of parameter %.*s is not known, because of its type",
				 search->item->label, text_fit(name, 60), name);
	count->all++;
	return value_dwarf_is_wanted(search, kind, count->numbered, name) ? 1 : 0;
}

static int find_parameter(struct search *search)
{
	const struct call_facts *facts = search->facts;
	struct call_cursor cursor = call_begin(&facts->abi);
	struct parameter_count count = {.all = 0};
	bool dictionary = facts->is_generic;
	struct value_location location;
	Dwarf_Die die;
	int rc = 0;

	if (!skip_result(search, &cursor))
		return error_set(search->err, EINVAL,
				 "%s: it is not known how the function returns its result",
				 search->item->label);
	if (dwarf_child(&search->list, &die))
		return value_dwarf_refuse_unknown(search);
	for (unsigned i = 0; i < MOST_MEMBERS && count.all < MOST_PARAMETERS; i++) {
		if (is_parameter(search, &die)) {
			if (strcmp(name_of(&die), ".dict") == 0)
				dictionary = false;
			/*
			 * A generic function's dictionary follows the receiver
			 * (cmd/compile/internal/noder/reader.go, shapeSig).
			 */
			if (dictionary && count.all >= facts->has_receiver) {
				call_next(&cursor, &one_word, &location);
				dictionary = false;
			}
			rc = take_parameter(search, &cursor, &die, &count);
			if (rc)
				return rc < 0 ? rc : compare_places(search, &die);
		}
		if (dwarf_siblingof(&die, &die))
			break;
	}
	return value_dwarf_refuse_unknown(search);
}

/* --- fields --- */

static int value_dwarf_refuse_field(const struct search *search, const char *field, const char *why)
{
	return error_set(search->err, EINVAL, "%s: %s %s", search->item->label, field, why);
}

static int go_to_field(struct search *search, struct value_access *access, const char *name)
{
	uint64_t offset = 0;
	int rc = 0;

	if (type_is_pointer(&search->type)) {
		rc = access_pointer(access, search->err);
		if (rc || !type_of_entry(&search->type, &search->type))
			return rc ? rc
				  : value_dwarf_refuse_field(search, name, "is behind a pointer to no type");
	}
	switch (type_member(&search->type, name, &search->type, &offset)) {
	case 0:
		return access_field(access, offset, search->err);
	case -ENOTSUP:
		return value_dwarf_refuse_field(search, name,
						"is a bit field, or behind a virtual base class");
	case -ENOTDIR:
		return value_dwarf_refuse_field(search, name, "does not exist: the value has no fields");
	default:
		return value_dwarf_refuse_field(search, name, "is not a field of that type");
	}
}

/* --- the value --- */

static int refuse_type(const struct search *search, const struct type_shape *shape)
{
	return error_set(search->err, EINVAL, "%s: it is %s in the debug information, not %s",
			 search->item->label, shape->words, search->item->type->name);
}

/* True if the type that the user gives fits the debug information. */
static bool value_dwarf_fits(const struct value_type *type, const struct type_shape *shape, bool go)
{
	unsigned size = go ? type->size : type->c_size;

	switch (shape->kind) {
	case SHAPE_STRING:
		return type->kind == VALUE_GO_STRING || type->shown;
	case SHAPE_SLICE:
		return type->shown || (type->kind == VALUE_GO_STRING && shape->of_bytes);
	case SHAPE_NUMBER:
		return size == shape->size && type->words == 1 && type->kind != VALUE_C_STRING;
	case SHAPE_FLOAT:
		return size == shape->size && type->kind == VALUE_FLOAT;
	case SHAPE_POINTER:
	case SHAPE_CHAR_POINTER:
		return type->kind == VALUE_C_STRING || (size == WORD && type->words == 1);
	case SHAPE_CHARS:
		return type->kind == VALUE_C_STRING;
	default:
		return false;
	}
}

/* Completes the rule by the debug information alone. */
static int end_by_shape(struct search *search, struct value_access *access, const struct type_shape *shape)
{
	int rc;

	switch (shape->kind) {
	case SHAPE_NUMBER:
	case SHAPE_FLOAT:
		return access_end(access, shape->value_kind, (uint8_t)shape->size, search->err);
	case SHAPE_POINTER:
		return access_end(access, VALUE_POINTER, WORD, search->err);
	case SHAPE_CHAR_POINTER:
		return access_end(access, VALUE_C_STRING, WORD, search->err);
	case SHAPE_STRING:
		return access_end(access, VALUE_GO_STRING, WORD, search->err);
	case SHAPE_SLICE:
		rc = access_field(access, WORD, search->err);
		return rc ? rc : access_end(access, VALUE_SIGNED, WORD, search->err);
	case SHAPE_CHARS:
		rc = access_end(access, VALUE_CHARS, 1, search->err);
		if (shape->size < access->rule.max)
			access->rule.max = (uint16_t)shape->size;
		return rc;
	default:
		return error_set(search->err, EINVAL, "%s is %s, which cannot be shown: name a field of it",
				 search->item->label, shape->words);
	}
}

static int value_dwarf_end_value(struct search *search, struct value_access *access)
{
	const struct value_type *type = search->item->type;
	bool go = search->facts->abi.go;
	struct type_shape shape;
	int rc = 0;

	if (type_is_reference(&search->type)) {
		rc = access_pointer(access, search->err);
		if (rc || !type_of_entry(&search->type, &search->type))
			return rc ? rc : value_dwarf_refuse_field(search, "it", "is a reference to no type");
	}
	type_shape(&search->type, go, &shape);
	if (!type)
		return end_by_shape(search, access, &shape);
	if (!value_dwarf_fits(type, &shape, go))
		return refuse_type(search, &shape);
	if (shape.kind == SHAPE_CHARS || (shape.kind == SHAPE_FLOAT && type->kind == VALUE_FLOAT))
		return end_by_shape(search, access, &shape);
	rc = access_field(access, type->shown * WORD, search->err);
	return rc ? rc : access_end(access, type->kind, go ? type->size : type->c_size, search->err);
}

static int find_value(struct search *search)
{
	int rc = find_parameter(search);
	struct value_access access;

	if (rc)
		return rc;
	access = access_begin(&search->location, &search->layout, search->item->label);
	if (search->layout.by_reference)
		rc = access_pointer(&access, search->err);
	for (unsigned i = 0; i < search->item->nfields && rc == 0; i++)
		rc = go_to_field(search, &access, search->item->fields[i]);
	if (rc == 0)
		rc = value_dwarf_end_value(search, &access);
	*search->rule = access.rule;
	return rc;
}

static int find_value_in(void *ctx, Dwarf_Die *function)
{
	struct search *search = ctx;
	Dwarf_Addr low;

	if (dwarf_lowpc(function, &low) || low != search->facts->entry)
		return -ENODATA;
	search->function = *function;
	if (!origin_of(function, &search->list))
		search->list = *function;
	return find_value(search);
}

int value_plan_dwarf(const struct value_item *item, const struct call_facts *facts, struct value_rule *rule,
		     struct error *err)
{
	struct search search = {.item = item, .facts = facts, .rule = rule, .err = err};

	return native_dwarf_with_function(facts->dwarf, facts->entry, find_value_in, &search);
}
