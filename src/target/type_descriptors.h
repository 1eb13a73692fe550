/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Finds fields in the structs of a Go program's packages, from the type descriptors that its garbage
 * collector and package reflect need. Stripped programs have them, too, so no release of a library needs a
 * table. Every struct that is allocated on the heap or stored in an interface has one. Pure.
 */
#ifndef GOTRACE_TARGET_TYPE_DESCRIPTORS_H
#define GOTRACE_TARGET_TYPE_DESCRIPTORS_H

#include "target/image.h"
#include "target/layout.h"

/* Pointers on the way to a field, at most, plus one. */
#define TYPE_PATH_STEPS 4u
/* In place of a path: the type of pointers to the struct, which is what interfaces hold. */
#define TYPE_POINTER_TO "*"
/* Offset of a descriptor's hash, by which interfaces' types are compared (internal/abi, Type.Hash). */
#define TYPE_HASH 16u

/* Kinds of fields that callers use (internal/abi, Kind); others keep their own numbers. */
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

/* A field to look up, and its location. */
struct type_field {
	const char *type; /* "net/http.Request": import path and name */
	const char *path; /* "URL.Path": fields; pointers to structs are followed */
	/*
	 * With n = 1, the field is at address + offsets[0]. Each further step loads a pointer there and adds
	 * the next offset. n = 0: the program has no descriptor of the type, or the type has no such field.
	 */
	uint32_t offsets[TYPE_PATH_STEPS];
	uint8_t n;
	uint8_t kind;  /* enum type_kind */
	uint64_t size; /* of the field, bytes */
	uint32_t hash; /* with TYPE_POINTER_TO: hash of the pointer type; n = 1 */
};

/* Addresses of the descriptors, from moduledata. */
struct type_places {
	uint64_t types, etypes; /* range of all descriptors and their names */
	uint64_t links;         /* offsets from types, int32 each */
	uint64_t nlinks;        /* 0 from Go 1.27 on, where descriptors are contiguous */
	uint64_t end;           /* from Go 1.27 on: end of the descriptors */
	unsigned minor;         /* release */
};

/*
 * Gets the link-time addresses. The image must be relocated. Returns false if the release is older than 1.9
 * or the data is not readable.
 */
bool type_places_find(const struct image *image, uint64_t moduledata, const struct release *release,
		      unsigned minor, struct type_places *places);
/*
 * Fills in offsets, n, kind, size and hash of each field. Reads each descriptor once. Returns 0, even if some
 * are not found, or -ENOMEM.
 */
int type_fields_find(const struct image *image, const struct type_places *places, struct type_field *fields,
		     unsigned n);

#endif
