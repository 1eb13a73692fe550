/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A model under test. Its records must be legal, and its ops are checked with op_rules. */
#ifndef GOTRACE_CHECKED_MODEL_H
#define GOTRACE_CHECKED_MODEL_H

#include "unit.h"

#include "annotate/annotate.h"
#include "op_rules.h"

struct checked_model {
	struct op_rules *rules;
	struct strtab *strings;
	struct model *model;
	uint64_t wall; /* ns: of the last generation */
};

/* The model has its own strings. The caller frees it with checked_model_free. */
static inline void checked_model_annotated(struct checked_model *checked, struct model_options options,
					   const struct annotate_options *annotate)
{
	checked->rules = op_rules_new();
	checked->strings = options.strings = strtab_new();
	checked->model = annotate_model_new(&options, annotate);
	assert_non_null(checked->model);
}

static inline void checked_model_new(struct checked_model *checked, struct model_options options)
{
	checked_model_annotated(checked, options, NULL);
}

static inline void checked_model_free(struct checked_model *checked)
{
	model_free(checked->model);
	op_rules_free(checked->rules);
	strtab_free(checked->strings);
}

static inline void checked_model_feed(struct checked_model *checked, uint32_t type, const void *data,
				      size_t size)
{
	struct log_record record = {.type = type, .size = (uint32_t)size, .data = data};
	struct error err = {""};

	if (rawlog_check_record(&record, &err) || model_feed(checked->model, &record, &err))
		fail_msg("%s", err.text);
}

/* To be called by the sink, for each generation. */
static inline void checked_model_check(struct checked_model *checked, const struct generation *gen)
{
	uint64_t wall = gen->wall_sec * 1000000000 + gen->wall_nsec;
	struct error err = {""};

	if (op_rules_generation(checked->rules, gen, &err))
		fail_msg("generation %u: %s", gen->number, err.text);
	/* Readers want both clocks to go forward, whatever happens to the wall clock. */
	if (gen->wall_sec && wall <= checked->wall)
		fail_msg("generation %u: the wall clock goes back", gen->number);
	checked->wall = wall;
}

static inline void checked_model_finish(struct checked_model *checked)
{
	struct error err = {""};

	if (model_finish(checked->model, &err))
		fail_msg("%s", err.text);
}

#endif
