/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Locates the arguments at the start of a call, by calling convention: Go's with registers from 1.17 on
 * (src/cmd/compile/abi-internal.md), Go's ABI0 with all of them on the stack, System V for x86-64 (3.2.3),
 * and AAPCS64 (6.8.2). Pure functions.
 */
#ifndef GOTRACE_TARGET_FUNCTIONS_CALL_ABI_H
#define GOTRACE_TARGET_FUNCTIONS_CALL_ABI_H

#include <stdbool.h>
#include <stdint.h>

struct call_abi {
	bool arm64;
	bool go;
	unsigned go_minor; /* release of a Go program, 1.x */
};

enum { VALUE_PARTS = 16 };

/* The words and numbers of a value, including those inside structs and arrays. */
struct value_layout {
	uint32_t size, align;
	bool in_memory;    /* the convention never passes it in registers */
	bool by_reference; /* a pointer to it is passed */
	unsigned nparts;
	struct value_part {
		uint32_t offset;
		uint32_t size;
		bool is_float;
	} parts[VALUE_PARTS];
};

/* The registers and stack taken by the arguments so far. */
struct call_cursor {
	const struct call_abi *abi;
	unsigned integers, floats; /* registers in use */
	uint32_t stack;            /* bytes above the caller's stack pointer */
};

struct value_location {
	bool on_stack;
	int32_t stack; /* bytes above the caller's stack pointer */
	/* If not on_stack: each part's register (code/isa/value_places.h), or PLACE_NONE if unreadable. */
	int places[VALUE_PARTS];
};

struct call_cursor call_begin(const struct call_abi *abi);
/* Places the next argument. Returns false if the place of such a value is not known. */
bool call_next(struct call_cursor *cursor, const struct value_layout *layout,
	       struct value_location *location);

#endif
