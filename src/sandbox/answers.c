/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sandbox/answers.h"

#include <string.h>

#include "util/utf8.h"

#define MAX_CODE (1ull << 30) /* per file: target/names/modules.c */

enum {
	LAST_MINOR = 99,     /* allows for future Go releases */
	MAX_OFFSET = 0x1000, /* of a field of runtime.g */
};

/* The text is printed, so it must not contain control characters. */
static bool answer_is_text(const char *text, size_t size)
{
	size_t n = strnlen(text, size), len;

	for (size_t i = 0; i < n; i += len) {
		if (!text_is_printable(text_next(text + i, n - i, &len)))
			return false;
	}
	return n < size;
}

bool answer_facts_are_good(const struct target_facts *facts)
{
	return facts->go_minor <= LAST_MINOR && facts->nearest <= LAST_MINOR &&
	       facts->given <= (facts->nearest > 0) &&
	       answer_is_text(facts->go_version, sizeof(facts->go_version)) && facts->alloc <= ALLOC_SPANS &&
	       facts->file <= GO_LIBRARY;
}

bool answer_plan_is_good(const struct probe_plan *plan, uint64_t file_size)
{
	if (plan->n > MAX_PROBES || plan->g_labels > MAX_OFFSET ||
	    !answer_is_text(plan->left_out, sizeof(plan->left_out)))
		return false;
	for (unsigned i = 0; i < plan->n; i++) {
		const struct probe *probe = &plan->probes[i];

		if (!answer_is_text(probe->name, sizeof(probe->name)) || probe->file_offset >= file_size ||
		    probe->is_copy > 1)
			return false;
	}
	return true;
}

bool answer_plugin_is_good(const struct plugin_facts *facts, uint64_t file_size)
{
	return answer_is_text(facts->name, sizeof(facts->name)) &&
	       answer_plan_is_good(&facts->plan, file_size);
}

bool answer_module_is_good(const struct module_facts *facts)
{
	if (facts->n > MODULE_SEGMENTS || facts->rows > MAX_ANSWER_ROWS || facts->base % UNWIND_PAGE ||
	    facts->size > MAX_CODE || facts->base > UINT64_MAX - facts->size)
		return false;
	for (unsigned i = 0; i < facts->n; i++) {
		const struct module_segment *segment = &facts->segments[i];

		if (segment->address > INT64_MAX || segment->offset > INT64_MAX || segment->size > INT64_MAX)
			return false;
	}
	return true;
}

bool answer_rows_are_good(const struct module_facts *facts, const struct unwind_row *rows)
{
	for (uint64_t i = 0; i < facts->rows; i++) {
		if (rows[i].start > facts->size || (i && rows[i].start < rows[i - 1].start))
			return false;
	}
	return true;
}

bool answer_list_is_good(const struct function_list_facts *facts)
{
	bool site = facts->site == SITE_FUNCTION_BEGIN || facts->site == SITE_FUNCTION_END ||
		    facts->site == SITE_REQUEST_BEGIN || facts->site == SITE_REQUEST_END;

	return site && facts->n > 0 && facts->n <= MAX_LIST_PROBES;
}

static bool is_rule(const struct value_rule *rule)
{
	if (rule->kind < VALUE_SIGNED || rule->kind > VALUE_CHARS || rule->nsteps > VALUE_STEPS ||
	    rule->max > VALUE_TEXTS_MAX || (rule->place >= VALUE_REGS && rule->place != VALUE_STACK) ||
	    rule->place2 >= VALUE_REGS)
		return false;
	if (rule->kind == VALUE_BYTES)
		return rule->size >= 1 && rule->size <= 16;
	return rule->size == 1 || rule->size == 2 || rule->size == 4 || rule->size == 8;
}

static bool has_values(uint8_t site)
{
	return site == SITE_FUNCTION_BEGIN || site == SITE_REQUEST_BEGIN || site == SITE_REQUEST_END;
}

bool answer_values_are_good(const struct function_values *values, size_t n, unsigned nfunctions)
{
	for (size_t i = 0; i < n; i++) {
		const struct function_values *one = &values[i];

		if (one->number < 1 || one->number > nfunctions || !has_values(one->site) ||
		    one->rules.n < 1 || one->rules.n > VALUES_MAX)
			return false;
		for (uint32_t j = 0; j < one->rules.n; j++) {
			if (!is_rule(&one->rules.rules[j]) ||
			    !answer_is_text(one->labels[j], sizeof(one->labels[j])))
				return false;
		}
	}
	return n <= VALUE_SETS;
}

bool answer_function_probes_are_good(const struct function_probe *probes, uint32_t n, unsigned nfunctions,
				     unsigned nvalues, uint64_t file_size)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t number = FUNCTION_NUMBER(probes[i].cookie);

		if (probes[i].offset >= file_size || number < 1 || number > nfunctions ||
		    FUNCTION_VALUES(probes[i].cookie) > nvalues)
			return false;
	}
	return true;
}
