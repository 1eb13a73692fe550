/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The strings and stacks of a file of wire v1 or v0. They are told once, before
 * their first use, and hold for the rest of the file.
 */
#ifndef GOTRACE_DICT_V1_H
#define GOTRACE_DICT_V1_H

#include "wire/frames.h"
#include "wire/stream_v1.h"

struct dict_v1 {
	struct file_v1 *file; /* not owned: records go into its tables */
	struct frame_names names;
	const struct tables *tables; /* of the open generation */
	uint32_t *strings;           /* by string id: its id in the file, 0 = not there yet */
	size_t nstrings;
	uint32_t *stacks,
		*starts; /* by stack id: its id in the file plus 1; as a stack, as where one starts */
	size_t nstacks, nstarts;
	uint32_t string_count, stack_count; /* ids given */
	uint32_t unknown_start;             /* of goroutines of which nothing is known; 0 = not there yet */
};

void dict_v1_init(struct dict_v1 *dict, struct file_v1 *file, const struct wire_options *options);
void dict_v1_free(struct dict_v1 *dict);

/* Ids in the file; 0 for none, and when out of memory (file->failed). */
uint32_t dict_v1_string(struct dict_v1 *dict, uint32_t id);
uint32_t dict_v1_stack(struct dict_v1 *dict, uint32_t id);
/*
 * Where a goroutine starts, from the stack of its entry and, if that is not known, from its own stack. From
 * go 1.7 on a stack of one frame, which every reader wants to be there; before that a PC, 0 if it is not
 * known. *timer is set if that is runtime.timerproc.
 */
uint64_t dict_v1_start(struct dict_v1 *dict, uint32_t entry, uint32_t own, bool *timer);
/* A text for a UserLog; *len is cut to what readers take. NULL if there is none. */
const char *dict_v1_text(const struct dict_v1 *dict, uint32_t id, size_t *len);

#endif
