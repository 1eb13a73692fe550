/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/functions/call_abi.h"

#include "code/isa/value_places.h"

enum {
	WORD = 8,
	GO_REGISTERS_SINCE = 17, /* on amd64; 18 on arm64 */
	C_WORDS = 6,
	C_WORDS_ARM64 = 8,
	C_LARGEST = 16, /* bytes; larger values are in memory */
};

/* On arm64, a Go caller reserves the word at its stack pointer for the callee's link register. */
struct call_cursor call_begin(const struct call_abi *abi)
{
	return (struct call_cursor){.abi = abi, .stack = abi->go && abi->arm64 ? WORD : 0};
}

static uint32_t align_up(uint32_t offset, uint32_t align)
{
	return align ? (offset + align - 1) / align * align : offset;
}

static void put_on_stack(struct call_cursor *cursor, const struct value_layout *layout, uint32_t align,
			 struct value_location *location)
{
	location->on_stack = true;
	cursor->stack = align_up(cursor->stack, align);
	location->stack = (int32_t)cursor->stack;
	cursor->stack += layout->size;
}

static void put_in_registers(struct call_cursor *cursor, const struct value_layout *layout,
			     int (*word)(bool, unsigned), struct value_location *location)
{
	for (unsigned i = 0; i < layout->nparts; i++) {
		if (layout->parts[i].is_float)
			cursor->floats++;
		location->places[i] =
			layout->parts[i].is_float ? PLACE_NONE : word(cursor->abi->arm64, cursor->integers++);
	}
}

static unsigned count_floats(const struct value_layout *layout)
{
	unsigned n = 0;

	for (unsigned i = 0; i < layout->nparts; i++)
		n += layout->parts[i].is_float;
	return n;
}

/* A value is entirely in registers or entirely on the stack. */
static bool next_of_go(struct call_cursor *cursor, const struct value_layout *layout,
		       struct value_location *location)
{
	bool arm64 = cursor->abi->arm64;
	unsigned floats = count_floats(layout), integers = layout->nparts - floats;
	unsigned most = arm64 ? GO_FLOATS_ARM64 : GO_FLOATS_AMD64;
	unsigned since = arm64 ? GO_REGISTERS_SINCE + 1 : GO_REGISTERS_SINCE;

	if (cursor->abi->go_minor < since || layout->in_memory ||
	    (integers && place_of_go_word(arm64, cursor->integers + integers - 1) == PLACE_NONE) ||
	    cursor->floats + floats > most)
		put_on_stack(cursor, layout, layout->align, location);
	else
		put_in_registers(cursor, layout, place_of_go_word, location);
	return true;
}

static bool next_of_c(struct call_cursor *cursor, const struct value_layout *layout,
		      struct value_location *location)
{
	bool arm64 = cursor->abi->arm64, large = layout->size > C_LARGEST || layout->in_memory;
	unsigned floats = count_floats(layout), integers = layout->nparts - floats;
	unsigned most = arm64 ? C_WORDS_ARM64 : C_WORDS;

	if (arm64 && (large || layout->nparts > 1))
		return false; /* arm64 has more rules for composite values */
	if (layout->size && !layout->nparts && !large)
		return false;
	if (large || cursor->integers + integers > most || cursor->floats + floats > C_FLOATS)
		put_on_stack(cursor, layout, layout->align > WORD ? layout->align : WORD, location);
	else
		put_in_registers(cursor, layout, place_of_c_word, location);
	return true;
}

bool call_next(struct call_cursor *cursor, const struct value_layout *layout, struct value_location *location)
{
	*location = (struct value_location){.on_stack = false};
	for (unsigned i = 0; i < VALUE_PARTS; i++)
		location->places[i] = PLACE_NONE;
	return cursor->abi->go ? next_of_go(cursor, layout, location) : next_of_c(cursor, layout, location);
}
