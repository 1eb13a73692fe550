/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Type descriptors are laid out as in internal/abi/type.go (Go 1.21 and later) or runtime/type.go. Up to
 * 1.26, moduledata.typelinks lists those that package reflect may look up; the others are their elements and
 * fields. Go 1.27 has no such list, but stores all descriptors contiguously (runtime/type.go,
 * moduleTypelinks).
 */
#include "target/type_descriptors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/map64.h"

enum {
	FIRST_RELEASE = 9,
	LAST_WITH_WIDE_NAMES = 16,     /* a name's length is two bytes, later a varint */
	LAST_WITH_SHIFTED_OFFSET = 18, /* a field's offset is shifted by one, for a flag */
	MAX_TYPES = 1 << 19,
	MAX_FIELDS = 1 << 22, /* limit on fields examined in total */
	MAX_NAME = 1 << 12,
};

/* Offsets in a descriptor, and sizes. */
enum {
	SIZE = 0,
	FLAGS = 20,
	KIND = 23,
	NAME = 40,
	POINTER_TO = 44, /* offset of the type of pointers to it; 0 = none */
	HEAD = 48,
	ELEM = 48, /* of arrays, channels, pointers and slices; key of a map */
	MAP_ELEM = 56,
	FIELDS = 56,
	FIELD_COUNT = 64,
	STRUCT_SIZE = 80,
	FIELD_SIZE = 24,
	FUNC_IN = 48,
	FUNC_OUT = 50,
	METHOD_COUNT = 64, /* of an interface */
	UNCOMMON_SIZE = 16,
	METHOD_SIZE = 16,
	IMETHOD_SIZE = 8,
};

enum { FLAG_UNCOMMON = 1, FLAG_EXTRA_STAR = 2, KIND_MASK = 0x1f };

struct type_name {
	const char *bytes;
	size_t len;
};

struct type_walk {
	const struct image *image;
	const struct type_places *places;
	struct type_field *fields;
	unsigned nfields;
	struct map64 known; /* addresses that are on the list */
	uint64_t *list;
	size_t n, capacity;
	uint32_t looked_at; /* struct fields examined */
};

static uint64_t type_word_at(const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

static uint32_t half_at(const uint8_t *bytes)
{
	uint32_t half;

	memcpy(&half, bytes, sizeof(half));
	return half;
}

/* --- names --- */

/* Gets the text of a name, stored as a byte of flags, the length and the text. */
static bool name_at(const struct type_walk *walk, uint64_t address, struct type_name *text)
{
	size_t rest, at = 1, len = 0;
	const uint8_t *bytes = image_rest(walk->image, address, &rest);

	if (!bytes || rest < 3)
		return false;
	if (walk->places->minor <= LAST_WITH_WIDE_NAMES) {
		len = (size_t)bytes[1] << 8 | bytes[2];
		at = 3;
	} else {
		len = bytes[at++] & 0x7f;
		if (bytes[1] & 0x80) {
			len |= (size_t)(bytes[at] & 0x7f) << 7;
			if (bytes[at++] & 0x80)
				return false; /* 16 KB or more */
		}
	}
	if (len > MAX_NAME || len > rest - at)
		return false;
	*text = (struct type_name){(const char *)bytes + at, len};
	return true;
}

static bool name_off(const struct type_walk *walk, uint32_t offset, struct type_name *text)
{
	const struct type_places *places = walk->places;

	return offset < places->etypes - places->types && name_at(walk, places->types + offset, text);
}

static bool type_is_text(const struct type_name *text, const char *wanted, size_t len)
{
	return text->len == len && memcmp(text->bytes, wanted, len) == 0;
}

/* Gets a type's name, such as "http.Request", without the star of a string shared with the pointer type. */
static bool read_type_name(const struct type_walk *walk, const uint8_t *bytes, struct type_name *text)
{
	if (!name_off(walk, half_at(bytes + NAME), text))
		return false;
	if (bytes[FLAGS] & FLAG_EXTRA_STAR && text->len) {
		text->bytes++;
		text->len--;
	}
	return true;
}

/* Returns a named struct's descriptor, with the import path after it, or NULL if it is something else. */
static const uint8_t *named_struct(const struct type_walk *walk, uint64_t address)
{
	const uint8_t *bytes = image_bytes(walk->image, address, STRUCT_SIZE + UNCOMMON_SIZE);

	return bytes && (bytes[KIND] & KIND_MASK) == TYPE_STRUCT && bytes[FLAGS] & FLAG_UNCOMMON ? bytes
												 : NULL;
}

/* Whether the struct is `wanted`, such as "net/http.Request". */
static bool is_type(const struct type_walk *walk, const uint8_t *bytes, const struct type_name *name,
		    const char *wanted)
{
	const char *dot = strrchr(wanted, '.'), *in_name;
	struct type_name package;
	size_t tail;

	if (!dot)
		return false;
	tail = strlen(dot);
	if (name->len <= tail || memcmp(name->bytes + name->len - tail, dot, tail) != 0)
		return false;
	/* In a generic type's name, the last dot may be in its arguments. */
	in_name = memchr(name->bytes, '.', name->len);
	if (in_name != name->bytes + name->len - tail)
		return false;
	return name_off(walk, half_at(bytes + STRUCT_SIZE), &package) &&
	       type_is_text(&package, wanted, (size_t)(dot - wanted));
}

/* --- fields --- */

struct field {
	struct type_name name;
	uint64_t type, offset;
};

/* Returns the fields of a struct, or NULL if they are not readable. */
static const uint8_t *fields_of(const struct type_walk *walk, const uint8_t *descriptor, uint64_t *n)
{
	*n = type_word_at(descriptor + FIELD_COUNT);
	if (*n > MAX_FIELDS)
		return NULL;
	return image_bytes(walk->image, type_word_at(descriptor + FIELDS), *n * FIELD_SIZE);
}

static bool field_at(const struct type_walk *walk, const uint8_t *bytes, struct field *field)
{
	unsigned shift = walk->places->minor <= LAST_WITH_SHIFTED_OFFSET;

	field->type = type_word_at(bytes + 8);
	field->offset = type_word_at(bytes + 16) >> shift;
	return field->offset <= LAYOUT_MOST_OFFSET && name_at(walk, type_word_at(bytes), &field->name);
}

static bool field_named(struct type_walk *walk, const uint8_t *descriptor, const char *name, size_t len,
			struct field *field)
{
	uint64_t n = 0;
	const uint8_t *bytes = fields_of(walk, descriptor, &n);

	for (uint64_t i = 0; bytes && i < n && walk->looked_at < MAX_FIELDS; i++, walk->looked_at++) {
		if (field_at(walk, bytes + i * FIELD_SIZE, field) && type_is_text(&field->name, name, len))
			return true;
	}
	return false;
}

static const uint8_t *struct_at(const struct type_walk *walk, uint64_t address)
{
	const uint8_t *bytes = image_bytes(walk->image, address, STRUCT_SIZE);

	return bytes && (bytes[KIND] & KIND_MASK) == TYPE_STRUCT ? bytes : NULL;
}

/* Follows the path from a struct. Fills in *wanted if the field exists. */
static void find_path(struct type_walk *walk, const uint8_t *descriptor, struct type_field *wanted)
{
	uint32_t offsets[TYPE_PATH_STEPS] = {0};
	const char *name = wanted->path;
	unsigned n = 1;

	for (;;) {
		size_t len = strcspn(name, ".");
		struct field field;
		const uint8_t *type;

		if (!descriptor || !field_named(walk, descriptor, name, len, &field))
			return;
		type = image_bytes(walk->image, field.type, ELEM + 8);
		if (!type)
			return;
		offsets[n - 1] += (uint32_t)field.offset;
		name += len;
		if (!*name) {
			memcpy(wanted->offsets, offsets, sizeof(offsets));
			wanted->kind = type[KIND] & KIND_MASK;
			wanted->size = type_word_at(type + SIZE);
			wanted->n = (uint8_t)n;
			return;
		}
		name++;
		if ((type[KIND] & KIND_MASK) == TYPE_POINTER) {
			if (n++ == TYPE_PATH_STEPS)
				return;
			field.type = type_word_at(type + ELEM);
		}
		descriptor = struct_at(walk, field.type);
	}
}

/*
 * Finds the pointer type (Go: "ptrToThis"). Named types have one if the program uses such pointers
 * (cmd/compile, writeType).
 */
static void find_pointer(const struct type_walk *walk, uint64_t address, const uint8_t *descriptor,
			 struct type_field *wanted)
{
	const struct type_places *places = walk->places;
	uint32_t offset = half_at(descriptor + POINTER_TO);
	const uint8_t *bytes = NULL;

	if (offset && offset < places->etypes - places->types)
		bytes = image_bytes(walk->image, places->types + offset, ELEM + 8);
	if (!bytes || (bytes[KIND] & KIND_MASK) != TYPE_POINTER || type_word_at(bytes + ELEM) != address)
		return;
	wanted->hash = half_at(bytes + TYPE_HASH);
	wanted->kind = TYPE_POINTER;
	wanted->n = 1;
}

/* --- the walk --- */

static int type_add_type(struct type_walk *walk, uint64_t address)
{
	const struct type_places *places = walk->places;
	int rc;

	if (address < places->types || address >= places->etypes || walk->n >= MAX_TYPES ||
	    map64_get(&walk->known, address))
		return 0;
	rc = map64_set(&walk->known, address, 1);
	if (rc == 0)
		rc = array_grow(&walk->list, &walk->capacity, walk->n + 1, sizeof(*walk->list));
	if (rc == 0)
		walk->list[walk->n++] = address;
	return rc;
}

static int add_fields(struct type_walk *walk, const uint8_t *descriptor)
{
	uint64_t n = 0;
	const uint8_t *bytes = fields_of(walk, descriptor, &n);
	int rc = 0;

	for (uint64_t i = 0; rc == 0 && bytes && i < n && walk->looked_at < MAX_FIELDS;
	     i++, walk->looked_at++)
		rc = type_add_type(walk, type_word_at(bytes + i * FIELD_SIZE + 8));
	return rc;
}

/* Adds the types of which this one is composed. */
static int type_add_parts(struct type_walk *walk, uint64_t address)
{
	const uint8_t *bytes = image_bytes(walk->image, address, HEAD);
	unsigned kind = bytes ? bytes[KIND] & KIND_MASK : TYPE_NONE;
	int rc = 0;

	if (kind == TYPE_STRUCT) {
		bytes = struct_at(walk, address);
		return bytes ? add_fields(walk, bytes) : 0;
	}
	if (kind == TYPE_ARRAY || kind == TYPE_CHAN || kind == TYPE_POINTER || kind == TYPE_SLICE ||
	    kind == TYPE_MAP) {
		bytes = image_bytes(walk->image, address, MAP_ELEM + 8);
		rc = bytes ? type_add_type(walk, type_word_at(bytes + ELEM)) : 0;
	}
	if (rc == 0 && kind == TYPE_MAP && bytes)
		rc = type_add_type(walk, type_word_at(bytes + MAP_ELEM));
	return rc;
}

static void look_at_struct(struct type_walk *walk, uint64_t address)
{
	const uint8_t *bytes = named_struct(walk, address);
	struct type_name name;

	if (!bytes || !read_type_name(walk, bytes, &name))
		return;
	for (unsigned i = 0; i < walk->nfields; i++) {
		struct type_field *wanted = &walk->fields[i];

		if (wanted->n || !is_type(walk, bytes, &name, wanted->type))
			continue;
		if (strcmp(wanted->path, TYPE_POINTER_TO) == 0)
			find_pointer(walk, address, bytes, wanted);
		else
			find_path(walk, bytes, wanted);
	}
}

static int add_links(struct type_walk *walk)
{
	const struct type_places *places = walk->places;
	const uint8_t *links = image_bytes(walk->image, places->links, places->nlinks * sizeof(uint32_t));
	int rc = 0;

	for (uint64_t i = 0; links && rc == 0 && i < places->nlinks; i++)
		rc = type_add_type(walk, places->types + half_at(links + i * sizeof(uint32_t)));
	return rc;
}

/* --- Go 1.27: contiguous descriptors --- */

/* Size of a kind's descriptor, without what follows it (Go 1.27 internal/abi); 0 = no such kind. */
static unsigned descriptor_size(unsigned kind)
{
	static const uint8_t sizes[TYPE_KINDS] = {
		[TYPE_ARRAY] = 72, [TYPE_CHAN] = 64,  [TYPE_FUNC] = 56,    [TYPE_INTERFACE] = 80,
		[TYPE_MAP] = 136,  [TYPE_SLICE] = 56, [TYPE_POINTER] = 56, [TYPE_STRUCT] = STRUCT_SIZE,
	};

	if (kind == TYPE_NONE || kind >= TYPE_KINDS)
		return 0;
	return sizes[kind] ? sizes[kind] : HEAD;
}

/* Size of the data between a descriptor and its methods: parameters, interface methods or fields. */
static uint64_t size_after(const uint8_t *bytes, unsigned kind)
{
	uint16_t in, out;

	switch (kind) {
	case TYPE_FUNC:
		memcpy(&in, bytes + FUNC_IN, sizeof(in));
		memcpy(&out, bytes + FUNC_OUT, sizeof(out));
		return (uint64_t)(in + (out & 0x7fff)) * 8; /* the top bit: variadic */
	case TYPE_INTERFACE:
		return type_word_at(bytes + METHOD_COUNT) * IMETHOD_SIZE;
	case TYPE_STRUCT:
		return type_word_at(bytes + FIELD_COUNT) * FIELD_SIZE;
	default:
		return 0;
	}
}

/* Returns the distance to the next descriptor, or 0 if this is not one (type.go, DescriptorSize). */
static uint64_t distance_to_next(const struct type_walk *walk, uint64_t address)
{
	const uint8_t *bytes = image_bytes(walk->image, address, HEAD);
	unsigned kind = bytes ? bytes[KIND] & KIND_MASK : TYPE_NONE, size = descriptor_size(kind);
	uint64_t after, limit = walk->places->end - address;
	uint16_t methods = 0;

	bytes = size ? image_bytes(walk->image, address, size) : NULL;
	if (!bytes)
		return 0;
	after = size_after(bytes, kind);
	if (after > limit)
		return 0;
	if (bytes[FLAGS] & FLAG_UNCOMMON) {
		bytes = image_bytes(walk->image, address, size + UNCOMMON_SIZE);
		if (!bytes)
			return 0;
		memcpy(&methods, bytes + size + 4, sizeof(methods));
		after += UNCOMMON_SIZE + (uint64_t)methods * METHOD_SIZE;
	}
	return (size + after + 7) & ~7ull;
}

static int add_contiguous(struct type_walk *walk)
{
	/* The linker leaves the first word free (cmd/link/internal/ld/data.go). */
	uint64_t at = walk->places->types + 8, distance;
	int rc = 0;

	while (rc == 0 && at < walk->places->end && walk->n < MAX_TYPES) {
		distance = distance_to_next(walk, at);
		if (!distance)
			break;
		rc = type_add_type(walk, at);
		at += distance;
	}
	return rc;
}

int type_fields_find(const struct image *image, const struct type_places *places, struct type_field *fields,
		     unsigned n)
{
	struct type_walk walk = {.image = image, .places = places, .fields = fields, .nfields = n};
	int rc;

	for (unsigned i = 0; i < n; i++)
		fields[i].n = 0;
	rc = places->nlinks ? add_links(&walk) : add_contiguous(&walk);
	for (size_t i = 0; rc == 0 && i < walk.n; i++) {
		look_at_struct(&walk, walk.list[i]);
		rc = type_add_parts(&walk, walk.list[i]);
	}
	map64_free(&walk.known);
	free(walk.list);
	return rc;
}

/* --- moduledata --- */

bool type_places_find(const struct image *image, uint64_t moduledata, const struct release *release,
		      unsigned minor, struct type_places *places)
{
	const struct runtime_offsets *at = &release->layout.runtime;
	uint64_t size;

	*places = (struct type_places){.minor = minor};
	if (minor < FIRST_RELEASE || at->module_types == LAYOUT_ABSENT ||
	    at->module_etypes == LAYOUT_ABSENT ||
	    !image_pointer(image, moduledata + at->module_types, &places->types) ||
	    !image_pointer(image, moduledata + at->module_etypes, &places->etypes) ||
	    places->types >= places->etypes ||
	    !image_bytes(image, places->types, places->etypes - places->types))
		return false;
	if (at->module_typedesclen != LAYOUT_ABSENT) {
		if (!image_pointer(image, moduledata + at->module_typedesclen, &size) ||
		    size > places->etypes - places->types)
			return false;
		places->end = places->types + size;
		return true;
	}
	return at->module_typelinks != LAYOUT_ABSENT &&
	       image_pointer(image, moduledata + at->module_typelinks, &places->links) &&
	       image_pointer(image, moduledata + at->module_typelinks + 8, &places->nlinks) &&
	       places->nlinks <= MAX_TYPES &&
	       image_bytes(image, places->links, places->nlinks * sizeof(uint32_t));
}
