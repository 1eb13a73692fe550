/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where fields are in the structs of a Go program's packages, from the type descriptors that its garbage
 * collector and package reflect need. They are there in stripped programs, too, so no release of a library
 * needs a table. Every struct that is allocated on the heap or stored in an interface has one. Pure.
 */
#ifndef GOTRACE_TARGET_TYPE_DESCRIPTORS_H
#define GOTRACE_TARGET_TYPE_DESCRIPTORS_H

#include "target/image.h"
#include "target/layout.h"

/* Pointers on the way to a field, and one more. */
#define TYPE_PATH_STEPS 4u
/* Instead of a path: the type of pointers to the struct, which interfaces have. */
#define TYPE_POINTER_TO "*"
/* Where a descriptor has its hash, which interfaces' types are compared by (internal/abi, Type.Hash). */
#define TYPE_HASH 16u

/* The kinds of a field that callers ask for (internal/abi, Kind); others have their own numbers. */
enum type_kind {
	TYPE_NONE = 0,
	TYPE_BOOL = 1,
	TYPE_INT = 2,
	TYPE_INT8 = 3,
	TYPE_INT16 = 4,
	TYPE_INT32 = 5,
	TYPE_INT64 = 6,
	TYPE_UINT = 7,
	TYPE_UINT8 = 8,
	TYPE_UINT32 = 10,
	TYPE_UINT64 = 11,
	TYPE_ARRAY = 17,
	TYPE_CHAN = 18,
	TYPE_FUNC = 19,
	TYPE_INTERFACE = 20,
	TYPE_MAP = 21,
	TYPE_POINTER = 22,
	TYPE_SLICE = 23,
	TYPE_STRING = 24,
	TYPE_STRUCT = 25,
	TYPE_KINDS = 27,
};

/* A field that is wanted, and where it is. */
struct type_field {
	const char *type; /* "net/http.Request": import path and name */
	const char *path; /* "URL.Path": fields; a pointer to a struct is followed */
	/*
	 * The field is at address + offsets[0] with n = 1. Each further step loads a pointer there, and adds
	 * the next offset. n = 0: the program has no descriptor of the type, or the type has no such field.
	 */
	uint32_t offsets[TYPE_PATH_STEPS];
	uint8_t n;
	uint8_t kind;  /* enum type_kind */
	uint64_t size; /* of the field, bytes */
	uint32_t hash; /* of TYPE_POINTER_TO: of that type, with n = 1 */
};

/* Where moduledata has the addresses of the descriptors. */
struct type_places {
	uint64_t types, etypes; /* all of them, and their names */
	uint64_t links;         /* offsets from types, int32 each */
	uint64_t nlinks;        /* 0 from Go 1.27 on, where descriptors follow one another up to: */
	uint64_t end;
	unsigned minor; /* release */
};

/* Link-time addresses. The image must be relocated. False if the release is older than 1.9, or not readable.
 */
bool type_places_find(const struct image *image, uint64_t moduledata, const struct release *release,
		      unsigned minor, struct type_places *places);
/*
 * Fills in offsets, n and kind of each field. Reads each descriptor once. Returns 0, also if some are not
 * found, or -ENOMEM.
 */
int type_fields_find(const struct image *image, const struct type_places *places, struct type_field *fields,
		     unsigned n);

#endif
