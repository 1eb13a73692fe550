/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* User log events written by gotrace, not by the target. */
#ifndef GOTRACE_MODEL_NOTES_H
#define GOTRACE_MODEL_NOTES_H

#include "model/state.h"

/*
 * Writes a log event now, of a running goroutine or else the synthetic one. text: a string id, with or
 * without TEXT_ID.
 */
void note_write(struct model *md, uint32_t text);
/* The same with a category other than "gotrace". */
void note_write_as(struct model *md, const char *category, uint32_t text);
/* Returns the id of a text that is valid in this generation. */
uint32_t note_text(struct model *md, const char *text);
/* Writes how many ops of this generation are repaired, if any are. No repaired op may follow in it. */
void note_repairs(struct model *md);
/* Calls the generation_watch and writes the events that it adds. The ops must be complete. */
void notes_watch(struct model *md);
/* For the generation_watch: see model_log(). */
void notes_add(struct model *md, long place, uint32_t stack, const char *text);
void notes_free(struct pending_logs *logs);

#endif
