/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Strings and stacks of a wire v1 or v0 file. Each is written once, before its first use, and stays valid for
 * the rest of the file.
 */
#ifndef GOTRACE_TRACE_WIRE_DICT_V1_H
#define GOTRACE_TRACE_WIRE_DICT_V1_H

#include "trace/wire/frames.h"
#include "trace/wire/stream_v1.h"

struct dict_v1 {
	struct file_v1 *file; /* not owned: records go into its tables */
	struct frame_names names;
	const struct tables *tables; /* of the open generation */
	uint32_t *strings;           /* by string id: its id in the file, 0 = not written yet */
	size_t nstrings;
	/* By stack id: its id in the file plus 1, as a stack and as a start location; 0 = not written yet. */
	uint32_t *stacks, *starts;
	size_t nstacks, nstarts;
	uint32_t string_count, stack_count; /* ids assigned */
	uint32_t unknown_start; /* start of goroutines whose start is unknown; 0 = not written yet */
};

void dict_v1_init(struct dict_v1 *dict, struct file_v1 *file, const struct wire_options *options);
void dict_v1_free(struct dict_v1 *dict);

/* Return ids in the file, or 0 for none and on error (file->failed). */
uint32_t dict_v1_string(struct dict_v1 *dict, uint32_t id);
uint32_t dict_v1_stack(struct dict_v1 *dict, uint32_t id);
/*
 * Returns the start location of a goroutine: that of the stack `entry` or, if that is 0, of its own stack.
 * From go 1.7 on this is the id of a one-frame stack, which every reader requires; in older formats it is a
 * PC, 0 if unknown. Sets *timer if the start is runtime.timerproc.
 */
uint64_t dict_v1_start(struct dict_v1 *dict, uint32_t entry, uint32_t own, bool *timer);
/* Returns the message of a UserLog, NULL if there is none. *len is capped at V1_MAX_STRING. */
const char *dict_v1_text(const struct dict_v1 *dict, uint32_t id, size_t *len);

#endif
