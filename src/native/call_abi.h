/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where arguments are when a call begins, by the calling conventions: Go's with registers from 1.17 on
 * (src/cmd/compile/abi-internal.md), its ABI0 with all of them on the stack, System V's for x86-64 (3.2.3)
 * and AAPCS64 (6.8.2). Pure functions.
 */
#ifndef GOTRACE_NATIVE_CALL_ABI_H
#define GOTRACE_NATIVE_CALL_ABI_H

#include <stdbool.h>
#include <stdint.h>

struct call_abi {
	bool arm64;
	bool go;
	unsigned go_minor; /* of a Go program */
};

enum { VALUE_PARTS = 16 };

/* The words and numbers of a value, those within structs and arrays included. */
struct value_layout {
	uint32_t size, align;
	bool in_memory;    /* the convention never puts it into registers */
	bool by_reference; /* a pointer to it is passed */
	unsigned nparts;
	struct value_part {
		uint32_t offset;
		uint32_t size;
		bool is_float;
	} parts[VALUE_PARTS];
};

/* The arguments before the next one. */
struct call_cursor {
	const struct call_abi *abi;
	unsigned integers, floats; /* registers in use */
	uint32_t stack;            /* bytes above the caller's stack pointer */
};

struct value_home {
	bool on_stack;
	int32_t stack; /* bytes above the caller's stack pointer */
	/* Else for each part the register (isa/value_places.h), or PLACE_NONE if hits do not have it. */
	int places[VALUE_PARTS];
};

struct call_cursor call_begin(const struct call_abi *abi);
/* Gives the next argument its place. False if this is not known for such a value. */
bool call_next(struct call_cursor *cursor, const struct value_layout *layout, struct value_home *home);

#endif
