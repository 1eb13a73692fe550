/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Types in debug information: how their values lie in memory, how they are passed, and what they mean. */
#ifndef GOTRACE_TARGET_FUNCTIONS_TYPE_LAYOUT_H
#define GOTRACE_TARGET_FUNCTIONS_TYPE_LAYOUT_H

#include <elfutils/libdw.h>

#include "target/functions/call_abi.h"

/*
 * Gets the type of a parameter, a variable or a pointer's target, without typedefs and qualifiers. Returns
 * false if there is none.
 */
bool type_of_entry(Dwarf_Die *entry, Dwarf_Die *type);
bool type_is_pointer(Dwarf_Die *type);   /* also true for C++ references */
bool type_is_reference(Dwarf_Die *type); /* of C++ */
/* True if the type is neither a struct nor anything else that could be returned in memory. */
bool type_is_scalar(Dwarf_Die *type);
/* Returns false if it is not known how such a value is passed. */
bool type_layout(Dwarf_Die *type, const struct call_abi *abi, struct value_layout *layout);
/*
 * Finds a member by name, including in anonymous structs, embedded structs and base classes. Returns 0 and
 * sets *member_type and *offset; -ENOENT; -ENOTSUP if the member has no offset in bytes; or -ENOTDIR if the
 * type is not a struct.
 */
int type_member(Dwarf_Die *type, const char *name, Dwarf_Die *member_type, uint64_t *offset);

enum shape_kind {
	SHAPE_OTHER,
	SHAPE_NUMBER,
	SHAPE_FLOAT,
	SHAPE_POINTER,
	SHAPE_CHAR_POINTER,
	SHAPE_CHARS,  /* an array of char; size = its bytes */
	SHAPE_STRING, /* Go's, or libstdc++'s: pointer and length */
	SHAPE_SLICE,  /* pointer, length, capacity */
};

struct type_shape {
	enum shape_kind kind;
	uint8_t value_kind; /* enum value_kind of a number */
	uint32_t size;
	bool of_bytes;     /* a slice of bytes */
	const char *words; /* for messages: "a struct" */
};

void type_shape(Dwarf_Die *type, bool go, struct type_shape *shape);

#endif
