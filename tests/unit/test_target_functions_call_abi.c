/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "unit.h"

#include <string.h>

#include "code/isa/value_places.h"
#include "target/functions/call_facts.h"

static const struct value_layout word = {.size = 8, .align = 8, .nparts = 1, .parts = {{0, 8, false}}};
static const struct value_layout byte = {.size = 1, .align = 1, .nparts = 1, .parts = {{0, 1, false}}};
static const struct value_layout real = {.size = 8, .align = 8, .nparts = 1, .parts = {{0, 8, true}}};
static const struct value_layout string = {
	.size = 16, .align = 8, .nparts = 2, .parts = {{0, 8, false}, {8, 8, false}}};
static const struct value_layout array = {.size = 24, .align = 8, .in_memory = true};

static struct value_location next(struct call_cursor *cursor, const struct value_layout *layout)
{
	struct value_location location;

	assert_true(call_next(cursor, layout, &location));
	return location;
}

static void expect_register(struct value_location location, int place)
{
	assert_false(location.on_stack);
	assert_int_equal(location.places[0], place);
}

static void expect_stack(struct value_location location, int offset)
{
	assert_true(location.on_stack);
	assert_int_equal(location.stack, offset);
}

/* cmd/compile/abi-internal.md: a value that does not fit leaves the registers to later ones. */
static void go_registers(void **state)
{
	const struct call_abi abi = {.go = true, .go_minor = 26};
	struct call_cursor cursor = call_begin(&abi);

	(void)state;
	for (unsigned i = 0; i < 8; i++)
		expect_register(next(&cursor, &word), place_of_go_word(false, i));
	expect_register(next(&cursor, &real), PLACE_NONE);
	expect_stack(next(&cursor, &string), 0);
	expect_stack(next(&cursor, &array), 16);
	expect_register(next(&cursor, &byte), place_of_go_word(false, 8));
	expect_stack(next(&cursor, &byte), 40);
	expect_stack(next(&cursor, &word), 48);
	assert_int_equal(place_of_go_word(false, 9), PLACE_NONE);
}

static void go_stack(void **state)
{
	const struct call_abi abi = {.go = true, .go_minor = 16};
	struct call_cursor cursor = call_begin(&abi);

	(void)state;
	expect_stack(next(&cursor, &byte), 0);
	expect_stack(next(&cursor, &byte), 1);
	expect_stack(next(&cursor, &string), 8);
	expect_stack(next(&cursor, &real), 24);
}

static void go_arm64(void **state)
{
	const struct call_abi abi = {.go = true, .go_minor = 26, .arm64 = true};
	const struct call_abi old = {.go = true, .go_minor = 17, .arm64 = true};
	struct call_cursor cursor = call_begin(&abi);

	(void)state;
	for (int i = 0; i < 16; i++)
		expect_register(next(&cursor, &word), i);
	expect_stack(next(&cursor, &word), 8);
	cursor = call_begin(&old);
	expect_stack(next(&cursor, &word), 8);
}

/* System V ABI for x86-64, 3.2.3: the registers of each kind are used up in order, independently. */
static void c_registers(void **state)
{
	static const int places[] = {14, 13, 12, 11, 9, 8}; /* di si dx cx r8 r9 in struct pt_regs */
	const struct call_abi abi = {.go = false};
	struct call_cursor cursor = call_begin(&abi);
	struct value_layout large = {.size = 40, .align = 8, .in_memory = true};

	(void)state;
	for (unsigned i = 0; i < 5; i++)
		expect_register(next(&cursor, &word), places[i]);
	expect_stack(next(&cursor, &string), 0); /* two words: not in one register */
	expect_register(next(&cursor, &byte), places[5]);
	expect_register(next(&cursor, &real), PLACE_NONE);
	expect_stack(next(&cursor, &byte), 16);
	expect_stack(next(&cursor, &large), 24);
}

static void names(void **state)
{
	static const struct {
		const char *name;
		bool receiver, pointer, generic;
	} all[] = {
		{"main.f", false, false, false},
		{"main.(*T).f", true, true, false},
		{"main.T.f", true, false, false},
		{"example.com/x.y/main.f", false, false, false},
		{"example.com/x.y/main.(*T).f", true, true, false},
		{"main.f[...]", false, false, true},
		{"main.(*T[...]).f", true, true, true},
		{"main.(*T[go.shape.string]).f", true, true, true},
		{"main.f[go.shape.struct { a.b/c.D int }]", false, false, true},
		{"main.f[int]", false, false, false},
		{"main.f.func1", false, false, false},
		{"main.(*T).f.func2", false, false, false},
		{"main.f.gowrap1", false, false, false},
		{"main.T.function", true, false, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct call_facts facts = {.has_receiver = false};

		call_facts_of_go(&facts, all[i].name);
		assert_int_equal(facts.has_receiver, all[i].receiver);
		assert_int_equal(facts.receiver_is_pointer, all[i].pointer);
		assert_int_equal(facts.is_generic, all[i].generic);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(go_registers), cmocka_unit_test(go_stack), cmocka_unit_test(go_arm64),
	cmocka_unit_test(c_registers),  cmocka_unit_test(names),
};

UNIT_TESTS(tests, NULL, NULL);
