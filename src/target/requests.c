/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/requests.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/isa/jumps.h"
#include "code/isa/value_places.h"
#include "code/symbol/inlined.h"
#include "target/function.h"
#include "target/private.h"

/* Bytes to read of a text (a route, path or statement), at most. */
#define REQUEST_TEXT 200u

/* --- names --- */

static void list_field(struct type_field *fields, unsigned *n, const char *type, const char *path)
{
	if (!path)
		return;
	if (fields)
		fields[*n] = (struct type_field){.type = type, .path = path};
	++*n;
}

static void list_fields_of(const struct request_probe *probe, struct type_field *fields, unsigned *n)
{
	for (const struct request_value *value = probe->values; value->role; value++) {
		list_field(fields, n, value->type, value->path);
		list_field(fields, n, value->given_type, value->given_path);
		for (unsigned i = 0; i < REQUEST_TYPES && value->types[i]; i++)
			list_field(fields, n, value->types[i], TYPE_POINTER_TO);
	}
}

/* Lists the fields that presets use. Returns their number. If fields is NULL, only counts them. */
static unsigned list_fields(struct type_field *fields)
{
	unsigned n = 0;

	for (unsigned i = 0; i < request_preset_count; i++) {
		for (const struct request_probe *probe = request_presets[i].probes; probe->function; probe++)
			list_fields_of(probe, fields, &n);
	}
	return n;
}

static unsigned list_functions(struct inlined_name *functions)
{
	unsigned n = 0;

	for (unsigned i = 0; i < request_preset_count; i++) {
		for (const struct request_probe *probe = request_presets[i].probes; probe->function;
		     probe++, n++) {
			if (functions)
				functions[n].name = probe->function;
		}
	}
	return n;
}

int request_names_find(const struct target *target, struct request_names *names)
{
	const struct target_image *image = target->image;
	struct type_places places;

	*names = (struct request_names){.nfields = list_fields(NULL), .nfunctions = list_functions(NULL)};
	names->fields = calloc(names->nfields, sizeof(*names->fields));
	names->functions = calloc(names->nfunctions, sizeof(*names->functions));
	if (!names->fields || !names->functions)
		return -ENOMEM;
	list_fields(names->fields);
	list_functions(names->functions);
	functab_find_inlined(target->functab, names->functions, names->nfunctions);
	if (!type_places_find(&image->elf, image->module.address, image->release, target->go_minor, &places))
		return 0;
	return type_fields_find(&image->elf, &places, names->fields, names->nfields);
}

void request_names_free(struct request_names *names)
{
	free(names->fields);
	free(names->functions);
	*names = (struct request_names){.nfields = 0};
}

const char *request_inlined_in(const struct request_names *names, const char *function)
{
	for (unsigned i = 0; i < names->nfunctions; i++) {
		if (strcmp(names->functions[i].name, function) == 0)
			return names->functions[i].in;
	}
	return NULL;
}

static const struct type_field *find_field(const struct request_names *names, const char *type,
					   const char *path)
{
	for (unsigned i = 0; i < names->nfields; i++) {
		const struct type_field *field = &names->fields[i];

		if (field->n && strcmp(field->type, type) == 0 && strcmp(field->path, path) == 0)
			return field;
	}
	return NULL;
}

/* --- values --- */

/* Whether a field can be read as this value. */
static bool request_value_fits(const struct request_value *value, const struct type_field *field)
{
	if (value->part)
		return field->kind == TYPE_INTERFACE;
	if (value->nsteps)
		return field->kind == TYPE_SLICE || field->kind == TYPE_POINTER ||
		       field->kind == TYPE_INTERFACE;
	switch (value->kind) {
	case VALUE_GO_STRING:
		return field->kind == TYPE_STRING;
	case VALUE_BYTES:
		return field->kind == TYPE_ARRAY;
	default:
		if (field->kind == TYPE_ARRAY)
			return field->size == value->size;
		return value->size == 8 ? field->kind == TYPE_INT || field->kind == TYPE_POINTER ||
						  field->kind == TYPE_INT64 || field->kind == TYPE_UINT64
		       : value->size == 4 ? field->kind == TYPE_INT32 || field->kind == TYPE_UINT32
					  : field->kind == TYPE_BOOL || field->kind == TYPE_UINT8;
	}
}

/* Up to Go 1.16, arguments are on the stack, and the first step leads to them. */
static bool set_place(const struct target *target, const struct request_value *value, uint32_t distance,
		      struct value_rule *rule)
{
	bool arm64 = target->image->elf.arm64;
	int one, two;

	if (value->of_callee) {
		/* On arm64, a word for the link register comes first. */
		rule->place = VALUE_STACK;
		rule->offsets[rule->nsteps++] = 8 * (value->word + arm64) - (int32_t)distance;
		return true;
	}
	if (target->go_minor <= ABI0_LAST || value->on_stack) {
		rule->place = VALUE_STACK;
		rule->offsets[rule->nsteps++] = 8 * value->word;
		return true;
	}
	one = place_of_go_word(arm64, value->word);
	two = value->kind == VALUE_GO_STRING ? place_of_go_word(arm64, value->word + 1u) : one;
	if (one == PLACE_NONE || two == PLACE_NONE)
		return false;
	rule->place = (uint8_t)one;
	rule->place2 = (uint8_t)two;
	return true;
}

static bool add_step(struct value_rule *rule, uint32_t offset)
{
	if (rule->nsteps == VALUE_STEPS)
		return false;
	rule->offsets[rule->nsteps++] = (int32_t)offset;
	return true;
}

/* Whether the value applies to the program's version of the library. */
static bool is_given(const struct request_value *value, const struct request_names *names)
{
	const struct type_field *field;

	if (!value->given_path)
		return true;
	field = find_field(names, value->given_type, value->given_path);
	return field && field->n == 1 && (!value->given_at || field->offsets[0] == value->given_at);
}

/* Returns false if the program's types do not have the value. */
static bool make_rule(const struct target *target, const struct request_value *value,
		      const struct request_names *names, uint32_t distance, struct value_rule *rule)
{
	const struct type_field *field = NULL;
	bool ok;

	*rule = (struct value_rule){
		.kind = value->kind, .size = value->size ? value->size : 8, .max = REQUEST_TEXT};
	ok = set_place(target, value, distance, rule);
	if (ok && value->path) {
		field = find_field(names, value->type, value->path);
		ok = field && request_value_fits(value, field);
		for (unsigned i = 0; ok && i < field->n; i++)
			ok = add_step(rule, field->offsets[i] + (i + 1 == field->n ? value->part : 0));
	}
	for (unsigned i = 0; ok && i < value->nsteps; i++)
		ok = add_step(rule, value->steps[i]);
	return ok;
}

static bool has_role(const struct request_point *point, const char *role)
{
	for (uint32_t i = 0; i < point->rules.n; i++) {
		if (strcmp(point->roles[i], role) == 0)
			return true;
	}
	return false;
}

/*
 * Whether the probe requires this value: to pair begin and end, to recognise an end, to trust another value,
 * or to be of any use.
 */
static bool is_needed(const char *role)
{
	return strcmp(role, REQUEST_KEY) == 0 || strcmp(role, REQUEST_KEYS) == 0 ||
	       strcmp(role, REQUEST_DONE) == 0 || strcmp(role, REQUEST_FAILED) == 0 ||
	       strcmp(role, REQUEST_TYPE) == 0 || strcmp(role, REQUEST_PREPARED) == 0 ||
	       strcmp(role, REQUEST_ROWS) == 0 || strcmp(role, REQUEST_ROUTE) == 0 ||
	       strcmp(role, REQUEST_SUBROUTE) == 0;
}

/* Returns false if the program does not have all of the value's types. */
static bool find_hashes(const struct request_value *value, const struct request_names *names,
			struct request_point *point)
{
	for (unsigned i = 0; i < REQUEST_TYPES && value->types[i]; i++) {
		const struct type_field *type = find_field(names, value->types[i], TYPE_POINTER_TO);

		if (!type || !type->hash)
			return false;
		point->hashes[i] = type->hash;
	}
	return true;
}

static int make_rules(const struct target *target, const struct request_probe *probe,
		      const struct request_names *names, bool all_values, struct request_point *point,
		      struct error *err)
{
	for (const struct request_value *value = probe->values; value->role; value++) {
		uint32_t n = point->rules.n;

		if ((value->only_if_asked && !all_values) || has_role(point, value->role) || n == VALUES_MAX)
			continue;
		if (is_given(value, names) && find_hashes(value, names, point) &&
		    make_rule(target, value, names, point->distance, &point->rules.rules[n])) {
			point->roles[n] = value->role;
			point->rules.n++;
		}
	}
	for (const struct request_value *value = probe->values; value->role; value++) {
		if (is_needed(value->role) && !has_role(point, value->role))
			return error_set(err, ENOTSUP, "the program has no usable type information for %s.%s",
					 value->type ? value->type : probe->function,
					 value->path ? value->path : value->role);
	}
	return 0;
}

/* --- places --- */

/* The words of results that are read from registers. */
static uint32_t result_words(const struct target *target, const struct request_probe *probe)
{
	uint32_t words = 0;

	for (const struct request_value *value = probe->values; value->role; value++) {
		if (target->go_minor > ABI0_LAST && !value->of_callee && !value->on_stack)
			words |= (value->kind == VALUE_GO_STRING && !value->path ? 3u : 1u) << value->word;
	}
	return words;
}

static int find_call(const struct code *code, uint64_t callee, size_t *offset)
{
	struct call_site site;

	if (code_calls(code, callee, &site, 1) != 1)
		return -ENOENT;
	*offset = site.offset;
	return 0;
}

static int find_at_call(const struct target *target, const struct request_probe *probe,
			struct request_point *point, struct error *err)
{
	struct call_results results = {.first = probe->place == REQUEST_AFTER_FIRST_CALL,
				       .words = result_words(target, probe)};
	uint64_t callee, end;
	struct code code;
	size_t offset;
	uint32_t delta;
	int rc = target_code(target, probe->function, &code);

	if (rc == 0)
		rc = target_find_function(target, probe->callee, &callee, &end);
	if (rc == 0) {
		results.callee = callee - target->bias;
		rc = probe->place == REQUEST_AT_CALL ? find_call(&code, results.callee, &offset)
						     : code_jump_after_call(&code, &results, &offset);
	}
	if (rc == 0)
		rc = target_function_delta(target, code.address + offset, &delta);
	if (rc)
		return error_set(err, ENOTSUP, "%s is not compiled as expected", probe->function);
	point->address = code.address + offset;
	point->distance = delta + 8;
	return 0;
}

static int request_find_point(const struct target *target, const struct request_probe *probe,
			      struct request_point *point, struct error *err)
{
	uint64_t entry, end;
	struct target_function function;

	if (probe->given_function && !functab_has_name(target->functab, probe->given_function))
		return error_set(err, ESRCH, "the program does not have %s", probe->given_function);
	if (target_find_function(target, probe->function, &entry, &end))
		return error_set(err, functab_has_name(target->functab, probe->function) ? ENOENT : ESRCH,
				 functab_has_name(target->functab, probe->function)
					 ? "%s is inlined into its callers"
					 : "the program does not have %s",
				 probe->function);
	if (probe->place != REQUEST_AT_BEGIN)
		return find_at_call(target, probe, point, err);
	if (target_function(target, probe->function, &function, err))
		return -ENOTSUP;
	point->address = function.begin;
	point->condition = function.condition;
	point->distance = 8;
	return 0;
}

bool request_probe_is_for(const struct target *target, const struct request_probe *probe)
{
	return target->go_minor >= probe->since && (!probe->last || target->go_minor <= probe->last);
}

int request_point_find(const struct target *target, const struct request_probe *probe,
		       const struct request_names *names, bool all_values, struct request_point *point,
		       struct error *err)
{
	int rc;

	*point = (struct request_point){.address = 0};
	rc = request_find_point(target, probe, point, err);
	return rc ? rc : make_rules(target, probe, names, all_values, point, err);
}
