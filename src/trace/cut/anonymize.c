/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "trace/cut/anonymize.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/symbol/symbol.h"
#include "util/array.h"
#include "trace/ops/gap_log.h"
#include "trace/ops/own_logs.h"
#include "trace/ops/own_names.h"

/* What a string is used for. The first use decides, except that USE_KEPT overrides all others. */
enum string_use { USE_NONE, USE_KEPT, USE_FUNCTION, USE_FILE, USE_NAME };

struct anonymizer {
	struct strtab *strings, *texts; /* ids are those of the trace */
	struct tables tables;
	uint8_t *uses; /* by string id */
	size_t use_capacity;
	bool *kept_texts; /* by id in this generation's texts */
	size_t text_capacity;
	uint32_t stacks; /* number of stacks already marked */
};

struct anonymizer *anonymizer_new(void)
{
	struct anonymizer *anonymizer = calloc(1, sizeof(*anonymizer));

	if (!anonymizer)
		return NULL;
	anonymizer->strings = strtab_new();
	anonymizer->texts = strtab_new();
	if (anonymizer->strings && anonymizer->texts)
		return anonymizer;
	anonymizer_free(anonymizer);
	return NULL;
}

void anonymizer_free(struct anonymizer *anonymizer)
{
	if (!anonymizer)
		return;
	if (anonymizer->strings)
		strtab_free(anonymizer->strings);
	if (anonymizer->texts)
		strtab_free(anonymizer->texts);
	free(anonymizer->uses);
	free(anonymizer->kept_texts);
	free(anonymizer);
}

static int anonymizer_mark(struct anonymizer *anonymizer, uint32_t string, enum string_use use)
{
	if (!string || string & TEXT_ID)
		return 0;
	if (array_grow(&anonymizer->uses, &anonymizer->use_capacity, (size_t)string + 1, 1))
		return -ENOMEM;
	if (!anonymizer->uses[string] || use == USE_KEPT)
		anonymizer->uses[string] = (uint8_t)use;
	return 0;
}

/* Returns true for gotrace's own logs without names: of CPUs, locks, repairs, what was left out, the machine.
 */
static bool is_own_log(const struct op *op, const struct tables *tables)
{
	size_t len;
	const char *category = tables_string(tables, op->string, &len);
	const char *text = tables_string(tables, op->string2, &len);
	struct lock_log lock;
	struct stopped_log stopped;
	struct kernel_log kernel;
	struct host_log host;
	uint64_t repaired, lost;
	unsigned missing;
	uint32_t cpu;

	return lock_log_parse(category, text, &lock) || cpu_log_parse(category, text, &cpu) ||
	       left_out_log_parse(category, text, &missing) || repair_log_parse(category, text, &repaired) ||
	       loss_log_parse(category, text, &lost) || host_log_parse(category, text, &host) ||
	       kernel_log_parse(category, text, &kernel) || stopped_log_parse(category, text, &stopped) ||
	       (strcmp(category, OWN_LOG_CATEGORY) == 0 && strcmp(text, GAP_LOG_BEGIN GAP_LOG_LIMIT) == 0);
}

static int keep_message(struct anonymizer *anonymizer, uint32_t id)
{
	if (!(id & TEXT_ID))
		return anonymizer_mark(anonymizer, id, USE_KEPT);
	id &= ~TEXT_ID;
	if (array_grow(&anonymizer->kept_texts, &anonymizer->text_capacity, (size_t)id + 1, 1))
		return -ENOMEM;
	anonymizer->kept_texts[id] = true;
	return 0;
}

static int mark_log(struct anonymizer *anonymizer, const struct op *op, const struct tables *tables)
{
	if (is_own_log(op, tables))
		return keep_message(anonymizer, op->string2);
	return anonymizer_mark(anonymizer, op->string, USE_NAME) ||
			       anonymizer_mark(anonymizer, op->string2, USE_NAME)
		       ? -ENOMEM
		       : 0;
}

static int mark_op(struct anonymizer *anonymizer, const struct op *op, const struct tables *tables)
{
	switch (op->kind) {
	case OP_LOG:
		return mark_log(anonymizer, op, tables);
	case OP_GO_STATUS:
	case OP_GO_STOP:
	case OP_GO_BLOCK:
	case OP_STW_BEGIN:
	case OP_GO_LABEL:
		return anonymizer_mark(anonymizer, op->string, USE_KEPT);
	default:
		return anonymizer_mark(anonymizer, op->string, USE_NAME) ||
				       anonymizer_mark(anonymizer, op->string2, USE_NAME)
			       ? -ENOMEM
			       : 0;
	}
}

/* Returns true for functions of the runtime, and for frames that gotrace itself adds to stacks. */
static bool is_common(const struct tables *tables, uint32_t string)
{
	size_t len;
	const char *text = strtab_get(tables->strings, string, &len);

	return strncmp(text, "runtime.", 8) == 0 || strncmp(text, "[interrupt", 10) == 0 ||
	       strcmp(text, "[lost]") == 0 || strcmp(text, "[gotrace]") == 0 || strcmp(text, "gotrace") == 0;
}

static int mark_stacks(struct anonymizer *anonymizer, const struct tables *tables)
{
	for (; anonymizer->stacks < tables->nstacks; anonymizer->stacks++) {
		const struct stack *stack = &tables->stacks[anonymizer->stacks];

		for (uint32_t i = 0; i < stack->n && stack->frames; i++) {
			uint32_t func = stack->frames[i].func;

			if (anonymizer_mark(anonymizer, func,
					    is_common(tables, func) ? USE_KEPT : USE_FUNCTION) ||
			    anonymizer_mark(anonymizer, stack->frames[i].file, USE_FILE))
				return -ENOMEM;
		}
	}
	return 0;
}

static bool name_begins_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Returns true for names that gotrace itself writes. */
static bool is_own(const char *text)
{
	return strcmp(text, OWN_LOG_CATEGORY) == 0 || strcmp(text, LOCK_LOG_CATEGORY) == 0 ||
	       strcmp(text, CPU_LOG_CATEGORY) == 0 || off_cpu_region_reason(text);
}

/*
 * Returns the prefix of a gap message, or "". Readers need it to find the times when nothing was recorded.
 * Only the prefix is kept, because the program's own messages could begin the same way.
 */
static const char *kept_beginning(const char *text)
{
	static const char *const kept[] = {GAP_LOG_BEGIN ": ", GAP_LOG_END, GAP_LOG_LAST};

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		if (name_begins_with(text, kept[i]))
			return kept[i];
	}
	return "";
}

/* Adds the string with this id, anonymized, under the same id. */
static int add_string(struct anonymizer *anonymizer, const struct tables *tables, uint32_t id)
{
	static const char *const formats[] = {[USE_NONE] = "string%u",
					      [USE_FUNCTION] = "pkg.func%u",
					      [USE_FILE] = "file%u.go",
					      [USE_NAME] = "name%u"};
	unsigned use = id < anonymizer->use_capacity ? anonymizer->uses[id] : USE_NONE;
	size_t len;
	const char *kept = strtab_get(tables->strings, id, &len);
	char text[64];
	int n;

	if (use == USE_KEPT || is_own(kept))
		return strtab_add(anonymizer->strings, kept, len) == id ? 0 : -ENOMEM;
	n = snprintf(text, sizeof(text), "%s", kept_beginning(kept));
	n += snprintf(text + n, sizeof(text) - (size_t)n, formats[use], id);
	if (use == USE_FUNCTION && has_thread_name(kept, len))
		snprintf(text + n, sizeof(text) - (size_t)n, " [thread%u]", id);
	return strtab_add_str(anonymizer->strings, text) == id ? 0 : -ENOMEM;
}

static int add_texts(struct anonymizer *anonymizer, const struct strtab *from)
{
	char text[64];

	strtab_clear(anonymizer->texts);
	for (uint32_t id = 1; from && id < strtab_count(from); id++) {
		const char *given = strtab_get(from, id, NULL);
		bool is_kept = id < anonymizer->text_capacity && anonymizer->kept_texts[id];

		snprintf(text, sizeof(text), "%stext%u", kept_beginning(given), id);
		if (strtab_add_str(anonymizer->texts, is_kept ? given : text) != id)
			return -ENOMEM;
	}
	if (anonymizer->kept_texts)
		memset(anonymizer->kept_texts, 0, anonymizer->text_capacity);
	return 0;
}

int anonymizer_generation(struct anonymizer *anonymizer, const struct generation *gen, struct generation *out)
{
	for (size_t i = 0; i < gen->nops; i++) {
		if (mark_op(anonymizer, &gen->ops[i], gen->tables))
			return -ENOMEM;
	}
	if (mark_stacks(anonymizer, gen->tables))
		return -ENOMEM;
	for (uint32_t id = strtab_count(anonymizer->strings); id < strtab_count(gen->tables->strings); id++) {
		if (id && add_string(anonymizer, gen->tables, id))
			return -ENOMEM;
	}
	if (add_texts(anonymizer, gen->tables->texts))
		return -ENOMEM;
	*out = *gen;
	anonymizer->tables = *gen->tables;
	anonymizer->tables.strings = anonymizer->strings;
	anonymizer->tables.texts = anonymizer->texts;
	out->tables = &anonymizer->tables;
	return 0;
}
