/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Names of native code from the log, and stacks made of them. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rawlog/rawlog.h"
#include "code/symbol/natives.h"
#include "code/symbol/symbol.h"
#include "code/symbol/symbol.h"

struct named {
	const char *function, *file;
	uint32_t line;
};

struct payload {
	_Alignas(8) uint8_t bytes[4096];
	size_t size;
};

static void append(struct payload *payload, const void *bytes, size_t size)
{
	memcpy(payload->bytes + payload->size, bytes, size);
	payload->size += size;
}

static struct payload make(uint64_t pc, const struct named *names, uint16_t n)
{
	struct payload payload = {.size = 0};
	struct log_symbol head = {.pc = pc, .nframes = n};

	append(&payload, &head, sizeof(head));
	for (unsigned i = 0; i < n; i++) {
		struct log_symbol_frame frame = {names[i].line, (uint16_t)strlen(names[i].function),
						 (uint16_t)strlen(names[i].file)};

		append(&payload, &frame, sizeof(frame));
		append(&payload, names[i].function, frame.function_len);
		append(&payload, names[i].file, frame.file_len);
	}
	return payload;
}

static void put(struct natives *natives, uint64_t pc, const struct named *names, uint16_t n)
{
	struct payload payload = make(pc, names, n);

	assert_int_equal(natives_put(natives, payload.bytes, payload.size), 0);
}

struct world {
	struct strtab *strings;
	struct natives *natives;
	struct symbol *symbol;
};

static int enter(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	world->strings = strtab_new();
	world->natives = natives_new(world->strings);
	world->symbol = symbol_new(NULL, world->strings);
	symbol_use_natives(world->symbol, world->natives);
	*state = world;
	return 0;
}

static int leave(void **state)
{
	struct world *world = *state;

	symbol_free(world->symbol);
	natives_free(world->natives);
	strtab_free(world->strings);
	free(world);
	return 0;
}

static void assert_frame(struct world *world, const struct frame *frame, const char *function,
			 const char *file, uint32_t line)
{
	assert_string_equal(strtab_get(world->strings, frame->func, NULL), function);
	assert_string_equal(strtab_get(world->strings, frame->file, NULL), file);
	assert_int_equal(frame->line, line);
}

static void test_inlined_calls_are_frames(void **state)
{
	static const struct named names[] = {{"inner", "a.c", 1}, {"middle", "b.c", 2}, {"outer", "c.c", 3}};
	struct world *world = *state;
	struct frame frames[MAX_FRAMES];
	const uint64_t pcs[] = {0x1001, 0x2001};

	put(world->natives, 0x1001, names, 3);
	put(world->natives, 0x2001, (struct named[]){{"main", "", 0}}, 1);
	assert_int_equal(symbol_frames(world->symbol, pcs, 2, 0, 0, frames), 4);
	assert_frame(world, &frames[0], "inner", "a.c", 1);
	assert_frame(world, &frames[1], "middle", "b.c", 2);
	assert_frame(world, &frames[2], "outer", "c.c", 3);
	assert_frame(world, &frames[3], "main", "", 0);
	/* Readers identify a frame by its PC. */
	for (unsigned i = 0; i < 4; i++) {
		for (unsigned k = 0; k < i; k++)
			assert_true(frames[i].pc != frames[k].pc);
	}
	assert_int_equal(frames[2].pc, 0x1000);
	assert_int_equal(frames[3].pc, 0x2000);
	assert_int_equal(frames[0].pc, INLINED_PC | 2ull << INLINED_SHIFT | 0x1000);
}

static void test_addresses_without_a_name(void **state)
{
	struct world *world = *state;
	struct frame frames[MAX_FRAMES];
	const uint64_t pcs[] = {0x1001, 0x7fffdead0001}, strange[] = {0x99};
	unsigned n;

	put(world->natives, 0x1001, (struct named[]){{"libfoo.so.1+0x1000", "", 0}}, 1);
	put(world->natives, 0x7fffdead0001, NULL, 0);
	assert_int_equal(symbol_frames(world->symbol, pcs, 2, 0, 0, frames), 2);
	assert_frame(world, &frames[0], "libfoo.so.1+0x1000", "", 0);
	assert_frame(world, &frames[1], "0x7fffdead0000", "", 0);
	/* An unknown address stays an address, as without names. */
	assert_null(natives_frames(world->natives, 0x99, &n));
	assert_null(natives_frames(world->natives, 0, &n));
	assert_int_equal(symbol_frames(world->symbol, strange, 1, 0, 0, frames), 1);
	assert_int_equal(frames[0].func, 0);
	assert_int_equal(frames[0].pc, 0x98);
}

static void test_what_comes_again_replaces(void **state)
{
	struct world *world = *state;
	struct frame frames[MAX_FRAMES];
	const uint64_t pc = 0x5001;
	unsigned version = natives_version(world->natives);

	put(world->natives, pc, (struct named[]){{"old", "old.c", 1}}, 1);
	assert_int_equal(natives_version(world->natives), version);
	assert_int_equal(symbol_frames(world->symbol, &pc, 1, 0, 0, frames), 1);
	assert_frame(world, &frames[0], "old", "old.c", 1);
	put(world->natives, pc, (struct named[]){{"in", "n.h", 2}, {"new", "new.c", 3}}, 2);
	assert_true(natives_version(world->natives) != version);
	assert_int_equal(symbol_frames(world->symbol, &pc, 1, 0, 0, frames), 2);
	assert_frame(world, &frames[0], "in", "n.h", 2);
	assert_frame(world, &frames[1], "new", "new.c", 3);
}

/* Earlier names of an address are discarded: for days, code may come and go at one address. */
/* Earlier names of an address are discarded: code may come and go at one address for days. */
static void test_old_names_are_forgotten(void **state)
{
	struct world *world = *state;
	struct named names[2] = {{"outer", "o.c", 1}, {"inner", "i.c", 2}};
	const struct frame *first, *again;
	unsigned n;

	put(world->natives, 0x1001, names, 2);
	for (uint32_t i = 0; i < 200000; i++) {
		names[0].line = i;
		put(world->natives, 0x2001, names, i % 2 + 1);
	}
	first = natives_frames(world->natives, 0x1001, &n);
	assert_int_equal(n, 2);
	assert_int_equal(first[0].line, 1);
	again = natives_frames(world->natives, 0x2001, &n);
	assert_int_equal(n, 2);
	assert_int_equal(again[0].line, 199999);
	assert_true(again - first < 20000);
}

/* A name arrives after its address was looked up without success. */
static void test_names_that_come_late(void **state)
{
	struct world *world = *state;
	struct frame frames[MAX_FRAMES];
	const uint64_t pc = 0x6001;

	assert_int_equal(symbol_frames(world->symbol, &pc, 1, 0, 0, frames), 1);
	assert_int_equal(frames[0].func, 0);
	put(world->natives, pc, (struct named[]){{"late", "l.c", 9}}, 1);
	assert_int_equal(symbol_frames(world->symbol, &pc, 1, 0, 0, frames), 1);
	assert_frame(world, &frames[0], "late", "l.c", 9);
}

static void test_many(void **state)
{
	struct world *world = *state;
	char name[32];
	unsigned n;

	for (uint64_t pc = 1; pc < 20000; pc++) {
		snprintf(name, sizeof(name), "f%u", (unsigned)pc % 1000);
		put(world->natives, pc, (struct named[]){{name, "f.c", (uint32_t)pc}}, 1);
	}
	for (uint64_t pc = 1; pc < 20000; pc++) {
		const struct frame *frame = natives_frames(world->natives, pc, &n);

		snprintf(name, sizeof(name), "f%u", (unsigned)pc % 1000);
		assert_int_equal(n, 1);
		assert_frame(world, frame, name, "f.c", (uint32_t)pc);
	}
}

/* Every truncation and every wrong length is rejected, and changes nothing. */
static void test_bad_payloads(void **state)
{
	static const struct named names[] = {{"inner", "a.c", 1}, {"outer", "c.c", 3}};
	struct world *world = *state;
	struct payload good = make(0x1001, names, 2), bad;
	struct log_symbol head;
	unsigned n;

	for (size_t size = 0; size < good.size; size++)
		assert_int_equal(natives_put(world->natives, good.bytes, size), -EBADMSG);
	assert_int_equal(natives_put(world->natives, good.bytes, good.size + 1), -EBADMSG);
	bad = make(0, names, 2);
	assert_int_equal(natives_put(world->natives, bad.bytes, bad.size), -EBADMSG);
	bad = good;
	memcpy(&head, bad.bytes, sizeof(head));
	head.nframes = NATIVE_DEPTH + 1;
	memcpy(bad.bytes, &head, sizeof(head));
	assert_int_equal(natives_put(world->natives, bad.bytes, bad.size), -EBADMSG);
	assert_null(natives_frames(world->natives, 0x1001, &n));
	put(world->natives, 0x1001, names, 2);
	assert_non_null(natives_frames(world->natives, 0x1001, &n));
	assert_int_equal(n, 2);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_inlined_calls_are_frames, enter, leave),
	cmocka_unit_test_setup_teardown(test_addresses_without_a_name, enter, leave),
	cmocka_unit_test_setup_teardown(test_what_comes_again_replaces, enter, leave),
	cmocka_unit_test_setup_teardown(test_old_names_are_forgotten, enter, leave),
	cmocka_unit_test_setup_teardown(test_names_that_come_late, enter, leave),
	cmocka_unit_test_setup_teardown(test_many, enter, leave),
	cmocka_unit_test_setup_teardown(test_bad_payloads, enter, leave),
};

UNIT_TESTS(tests, NULL, NULL);
