/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Expands the model's stacks to frames for a file. */
#ifndef GOTRACE_TRACE_WIRE_FRAMES_H
#define GOTRACE_TRACE_WIRE_FRAMES_H

#include "trace/ops/op.h"
#include "code/symbol/symbol.h"
#include "trace/wire/wire.h"

/* Above every user address (x86-64 and arm64 with 48 bits), so no real PC equals it. */
#define LITERAL_PC (1ull << 48)

/* Sources of names. Neither is owned; both may be NULL. */
struct frame_names {
	struct symbol *symbol;
	const struct functab *functab;
	unsigned flags; /* enum symbol_flags */
};

struct frame_names frames_names(const struct wire_options *options);
/* Writes the frames of a stack, leaf first. Returns their number (0 ... MAX_FRAMES) or -ENOMEM. */
int frames_of(const struct frame_names *names, const struct stack *stack, unsigned flags,
	      struct frame frames[MAX_FRAMES]);

#endif
