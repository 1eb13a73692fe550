/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The state machine of goroutines, Ps and Ms. It takes the records of the raw log in order and turns them
 * into ops, generation by generation. Steps without a probe point are inferred, and lost ones are repaired.
 * The ops are valid whatever the log holds.
 */
#ifndef GOTRACE_MODEL_MODEL_H
#define GOTRACE_MODEL_MODEL_H

#include "model/types.h"
#include "util/error.h"

struct model;

struct model *model_new(const struct model_options *options);
void model_free(struct model *model);
/* Feeds one record of the log. Returns 0; -ENOMEM or -EBADMSG, with *err set; or the sink's error. */
int model_feed(struct model *model, const struct log_record *record, struct error *err);
/* Returns the text of a string id, also of one valid only in this generation; "" if there is none. */
const char *model_string(const struct model *model, uint32_t string);
/* Sets startpc, name and system of *row for goroutine index g: its start function, or its name as a thread.
 */
void model_describe(struct model *model, uint32_t g, struct goroutine_stats *row);
/* Whether g is the goroutine "gotrace", which does not belong to the target. */
bool model_is_own(const struct model *model, uint32_t g);
uint64_t model_goid(const struct model *model, uint32_t g); /* 0 = not known yet */
/*
 * Closes the last generation. The log may have ended anywhere. Returns 0, or a negative errno: -ENOMEM, with
 * *err set, or the sink's error.
 */
int model_finish(struct model *model, struct error *err);

const struct model_stats *model_stats(const struct model *model);
/* Returns rows, greatest first. The model owns them, and each call sorts them again. */
const struct goroutine_stats *model_goroutine_stats(struct model *model, enum stat_order order,
						    size_t *count);
const struct program_stats *model_program_stats(const struct model *model);
unsigned model_threads(const struct model *model); /* number known now */
const struct tables *model_tables(const struct model *model);
/* Returns the target as described by LOG_TARGET; NULL before that record. */
const struct log_target *model_target(const struct model *model);

#endif
