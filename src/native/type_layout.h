/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Types in debug information: how values of them lie in memory and are passed, and what they mean. */
#ifndef GOTRACE_NATIVE_TYPE_LAYOUT_H
#define GOTRACE_NATIVE_TYPE_LAYOUT_H

#include <elfutils/libdw.h>

#include "native/call_abi.h"

/* The type of a parameter, a variable or a pointer's target, without typedefs and qualifiers. False: none. */
bool type_of_entry(Dwarf_Die *entry, Dwarf_Die *type);
bool type_is_pointer(Dwarf_Die *type);   /* a C++ reference, too */
bool type_is_reference(Dwarf_Die *type); /* of C++ */
/* Neither a struct nor anything else that could be returned in memory. */
bool type_is_scalar(Dwarf_Die *type);
/* False if it is not known how such a value is passed. */
bool type_layout(Dwarf_Die *type, const struct call_abi *abi, struct value_layout *layout);
/*
 * Finds a member by name, also in structs without a name, in embedded ones and in base classes. Returns 0
 * with its type and its offset; -ENOENT; -ENOTSUP if it has no offset in bytes; -ENOTDIR if the type is not a
 * struct.
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
	const char *words; /* "a struct" */
};

void type_shape(Dwarf_Die *type, bool go, struct type_shape *shape);

#endif
