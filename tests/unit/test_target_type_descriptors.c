/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Hand-made type descriptors of three eras of releases, intact and damaged in every byte. */

#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "target/type_descriptors.h"

/* One segment: the descriptors from TYPES on, then their names, fields and links, and moduledata. */
#define BASE   0x500000ull
#define TYPES  0x40u
#define NAMES  0x800u
#define LINKS  0xc00u
#define MODULE 0x1000u
#define SIZE   0x1400u

struct maker {
	uint8_t bytes[SIZE];
	unsigned minor;
	uint32_t next_type, next_name;
	uint32_t types[8];
	unsigned ntypes;
};

static void put64(struct maker *maker, uint32_t at, uint64_t value)
{
	memcpy(maker->bytes + at, &value, sizeof(value));
}

static void put32(struct maker *maker, uint32_t at, uint32_t value)
{
	memcpy(maker->bytes + at, &value, sizeof(value));
}

static uint32_t put_name(struct maker *maker, const char *text)
{
	uint32_t at = maker->next_name, len = (uint32_t)strlen(text), head = 2;

	if (maker->minor <= 16) {
		maker->bytes[at + 2] = (uint8_t)len;
		head = 3;
	} else if (len < 128) {
		maker->bytes[at + 1] = (uint8_t)len;
	} else {
		maker->bytes[at + 1] = (uint8_t)(len | 0x80);
		maker->bytes[at + 2] = (uint8_t)(len >> 7);
		head = 3;
	}
	memcpy(maker->bytes + at + head, text, len);
	maker->next_name += head + len;
	return at;
}

/* Adds a descriptor, and reserves size bytes for it and what follows it. */
static uint32_t put_type(struct maker *maker, unsigned kind, const char *name, uint8_t flags, uint32_t size)
{
	uint32_t at = maker->next_type;

	maker->bytes[at + 20] = flags;
	maker->bytes[at + 23] = (uint8_t)kind;
	put32(maker, at + 40, put_name(maker, name) - TYPES);
	maker->next_type += (size + 7) & ~7u;
	maker->types[maker->ntypes++] = at;
	return at;
}

struct made_field {
	const char *name;
	uint32_t type, offset;
};

static uint32_t put_struct(struct maker *maker, const char *name, const char *package,
			   const struct made_field *fields, unsigned n)
{
	uint32_t at = put_type(maker, TYPE_STRUCT, name, 3, 80 + 16 + n * 24);

	put64(maker, at + 56, BASE + at + 96);
	put64(maker, at + 64, n);
	put32(maker, at + 80, put_name(maker, package) - TYPES);
	for (unsigned i = 0; i < n; i++) {
		uint32_t to = at + 96 + i * 24;

		put64(maker, to, BASE + put_name(maker, fields[i].name));
		put64(maker, to + 8, BASE + fields[i].type);
		put64(maker, to + 16, (uint64_t)fields[i].offset << (maker->minor <= 18));
	}
	return at;
}

/* import "net/url"; type Request struct { Method string; in struct { URL *url.URL } } */
static void make(struct maker *maker, unsigned minor)
{
	const struct layout *layout = &release_find(minor)->layout;
	uint32_t string, url, url_pointer, inner, request;

	*maker = (struct maker){.minor = minor, .next_type = TYPES + 8, .next_name = NAMES};
	string = put_type(maker, TYPE_STRING, "string", 0, 48);
	url = put_struct(maker, "*url.URL", "net/url",
			 (struct made_field[]){{"Scheme", string, 0}, {"Path", string, 56}}, 2);
	url_pointer = put_type(maker, TYPE_POINTER, "*url.URL", 0, 56);
	put64(maker, url_pointer + 48, BASE + url);
	put32(maker, url_pointer + 16, 0xabcd1234);
	put32(maker, url + 44, url_pointer - TYPES);
	inner = put_struct(maker, "*http.inner", "net/http", (struct made_field[]){{"URL", url_pointer, 8}},
			   1);
	request = put_struct(maker, "*http.Request", "net/http",
			     (struct made_field[]){{"Method", string, 0}, {"in", inner, 16}}, 2);
	put64(maker, MODULE + layout->runtime.module_types, BASE + TYPES);
	put64(maker, MODULE + layout->runtime.module_etypes, BASE + LINKS);
	if (layout->runtime.module_typedesclen != LAYOUT_ABSENT) {
		put64(maker, MODULE + layout->runtime.module_typedesclen, maker->next_type - TYPES);
		return;
	}
	put32(maker, LINKS, request - TYPES); /* the others are its parts */
	put64(maker, MODULE + layout->runtime.module_typelinks, BASE + LINKS);
	put64(maker, MODULE + layout->runtime.module_typelinks + 8, 1);
}

static bool find(const struct maker *maker, struct type_field *fields, unsigned n)
{
	struct image image = {
		.data = maker->bytes,
		.size = SIZE,
		.n = 1,
		.segments = {{.address = BASE, .file_size = SIZE, .memory_size = SIZE, .writable = true}},
	};
	struct type_places places;

	if (!type_places_find(&image, BASE + MODULE, release_find(maker->minor), maker->minor, &places))
		return false;
	assert_int_equal(type_fields_find(&image, &places, fields, n), 0);
	return true;
}

#define FIELDS                                                                                               \
	{                                                                                                    \
		{.type = "net/http.Request", .path = "Method"}, {.type = "net/http.Request", .path = "in"},  \
			{.type = "net/http.Request", .path = "in.URL"},                                      \
			{.type = "net/http.Request", .path = "in.URL.Path"},                                 \
			{.type = "net/url.URL", .path = "Path"}, {.type = "net/url.URL", .path = "Pat"},     \
			{.type = "http.Request", .path = "Method"},                                          \
			{.type = "net/http.Request", .path = "Method.x"},                                    \
			{.type = "net/http.Request", .path = ""},                                            \
			{.type = "net/http.Request",                                                         \
			 .path = TYPE_POINTER_TO}, /* there are no such pointers */                          \
			{.type = "net/url.URL", .path = TYPE_POINTER_TO},                                    \
	}

#define FIELD_COUNT 11

static const unsigned minors[] = {9, 16, 17, 18, 19, 22, 26, 27};

static void test_intact(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(minors) / sizeof(minors[0]); i++) {
		struct type_field fields[] = FIELDS;
		struct maker maker;

		make(&maker, minors[i]);
		assert_true(find(&maker, fields, FIELD_COUNT));
		assert_int_equal(fields[0].n, 1);
		assert_int_equal(fields[0].offsets[0], 0);
		assert_int_equal(fields[0].kind, TYPE_STRING);
		assert_int_equal(fields[1].kind, TYPE_STRUCT);
		assert_int_equal(fields[2].n, 1);
		assert_int_equal(fields[2].offsets[0], 24);
		assert_int_equal(fields[2].kind, TYPE_POINTER);
		assert_int_equal(fields[3].n, 2);
		assert_int_equal(fields[3].offsets[0], 24);
		assert_int_equal(fields[3].offsets[1], 56);
		assert_int_equal(fields[4].offsets[0], 56);
		for (unsigned k = 5; k < 10; k++)
			assert_int_equal(fields[k].n, 0);
		assert_int_equal(fields[10].n, 1);
		assert_int_equal(fields[10].hash, 0xabcd1234);
	}
}

/* Nothing is read outside of the image, and every search ends. */
static void test_damaged(void **state)
{
	static const uint8_t values[] = {0, 1, 0x19, 0x7f, 0xff};

	(void)state;
	for (size_t i = 0; i < sizeof(minors) / sizeof(minors[0]); i++) {
		struct maker good, *maker = malloc(sizeof(*maker));

		assert_non_null(maker);
		make(&good, minors[i]);
		for (uint32_t at = 0; at < SIZE; at++) {
			for (size_t k = 0; k < sizeof(values); k++) {
				struct type_field fields[] = FIELDS;

				*maker = good;
				maker->bytes[at] = values[k];
				find(maker, fields, FIELD_COUNT);
			}
		}
		free(maker);
	}
}

/* A struct that contains itself, and one that says it has more fields than there are bytes. */
static void test_hostile(void **state)
{
	struct type_field fields[] = FIELDS;
	struct maker maker;

	(void)state;
	make(&maker, 26);
	put64(&maker, maker.types[4] + 96 + 24 + 8, BASE + maker.types[4]);
	assert_true(find(&maker, fields, FIELD_COUNT));
	assert_int_equal(fields[0].n, 1);
	assert_int_equal(fields[3].n, 0);
	put64(&maker, maker.types[4] + 64, 1ull << 61);
	assert_true(find(&maker, fields, FIELD_COUNT));
	assert_int_equal(fields[0].n, 0);
	make(&maker, 26);
	put64(&maker, maker.types[2] + 48, BASE + maker.types[0]); /* a pointer to something else */
	assert_true(find(&maker, fields, FIELD_COUNT));
	assert_int_equal(fields[10].n, 0);
	put32(&maker, maker.types[1] + 44, 0xffffff00);
	assert_true(find(&maker, fields, FIELD_COUNT));
	assert_int_equal(fields[10].n, 0);
	make(&maker, 8);
	assert_false(find(&maker, fields, FIELD_COUNT));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_intact),
	cmocka_unit_test(test_damaged),
	cmocka_unit_test(test_hostile),
};

UNIT_TESTS(tests, NULL, NULL);
