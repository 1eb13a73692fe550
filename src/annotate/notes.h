/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef GOTRACE_ANNOTATE_NOTES_H
#define GOTRACE_ANNOTATE_NOTES_H

#include "model/annotator.h"

struct notes;

/* For the generation_watch: see annotate_log(). */
void notes_add(struct notes *notes, long place, uint32_t stack, const char *text);

#endif
