/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Unwatched time is not running time: a goroutine that runs when a gap begins is shown as blocked ("not
 * watched") and its P as idle, until the snapshot at the end of the gap shows what they do.
 */
#ifndef GOTRACE_MODEL_GAP_H
#define GOTRACE_MODEL_GAP_H

#include "model/state.h"

/* Nothing has been recorded since that time, ns. */
void gap_begin(struct model *md, uint64_t since);
/* Recording resumes at this time, ns. */
void gap_end(struct model *md, uint64_t now);
/* The trace ends (LOG_END): in a gap, a log event of annotators makes it as long as the recording. */
void gap_end_of_trace(struct model *md, const struct log_record *end);

/*
 * Remembers what a note says of all that follows it: that nothing is watched, or what is left out. A reader
 * that begins with a later generation must know it, too.
 */
void gap_note(struct model *md, const struct log_note *note);
/* Repeats it in the generation that has just been opened. */
void gap_note_again(struct model *md);

#endif
