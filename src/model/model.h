/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The state machine of goroutines, Ps and Ms. Takes the records of the raw
 * log in their order and turns them into ops, generation by generation. What
 * has no site to probe is inferred, what was lost is repaired; the ops are
 * valid whatever the log holds.
 */
#ifndef GOTRACE_MODEL_H
#define GOTRACE_MODEL_H

#include "model/types.h"
#include "util/error.h"

struct model;

struct model *model_new(const struct model_options *options);
void model_free(struct model *model);
/* Feeds one record of the log. 0, or a negative errno: the sink's, -ENOMEM, -EBADMSG. */
int model_feed(struct model *model, const struct log_record *record, struct error *err);
/*
 * For a generation_watch: a user log event right behind ops[place], of the goroutine that runs there, with
 * this stack (0: none); or, with LOG_AT_END or where no goroutine runs, of the goroutine "gotrace" at the end
 * of the generation.
 */
void model_log(struct model *model, long place, uint32_t stack, const char *text);
/* The text of a string id, of this generation too; "" if there is none. */
const char *model_string(const struct model *model, uint32_t string);
/* What a goroutine, by its index in tables.goroutines, runs, or a thread is called: startpc and name. */
void model_describe(struct model *model, uint32_t g, struct goroutine_stats *row);
/* The goroutine "gotrace", which is none of the target's. */
bool model_is_own(const struct model *model, uint32_t g);
uint64_t model_goid(const struct model *model, uint32_t g); /* 0 = not known yet */
/* Closes the last generation. May be called with a log that ended anywhere. */
int model_finish(struct model *model, struct error *err);

const struct model_stats *model_stats(const struct model *model);
/* Rows, the greatest first; owned by the model, sorted again by each call. */
const struct goroutine_stats *model_goroutine_stats(struct model *model, enum stat_order order,
						    size_t *count);
const struct whole_stats *model_whole_stats(const struct model *model);
/* After model_finish; pointers are the model's. */
void model_cpu_figures(struct model *model, struct cpu_figures *figures);
unsigned model_threads(const struct model *model); /* that are known now */
const struct tables *model_tables(const struct model *model);
/* The target, as LOG_TARGET describes it; NULL before that. */
const struct log_target *model_target(const struct model *model);

#endif
