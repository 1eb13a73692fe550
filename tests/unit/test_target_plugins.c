/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The list of modules in a process's memory: whole, endless, damaged, too long. */

#include "unit.h"

#include <errno.h>

#include "target/private.h"

enum { NEXT = 0x248, MODULES = 6, FIRST = 0x555000 };

/* A program's modules, at FIRST and then a page apart; next[i] is what module i has in its last field. */
struct memory {
	uint64_t next[MODULES];
	unsigned n, reads;
};

static uint64_t module_at(unsigned i)
{
	return FIRST + i * 0x1000ull;
}

static int read_word(void *ctx, uint64_t address, uint64_t *word)
{
	struct memory *memory = ctx;

	memory->reads++;
	for (unsigned i = 0; i < memory->n; i++) {
		if (address == module_at(i) + NEXT) {
			*word = memory->next[i];
			return 0;
		}
	}
	return -EFAULT;
}

static struct memory make(unsigned n)
{
	struct memory memory = {.n = n};

	for (unsigned i = 0; i + 1 < n; i++)
		memory.next[i] = module_at(i + 1);
	return memory;
}

static int list(struct memory *memory, uint64_t *found, unsigned max)
{
	return plugins_list(FIRST, NEXT, read_word, memory, found, max);
}

static void test_whole_lists(void **state)
{
	struct memory memory = make(1);
	uint64_t found[MODULES];

	(void)state;
	assert_int_equal(list(&memory, found, MODULES), 0);
	memory = make(4);
	assert_int_equal(list(&memory, found, MODULES), 3);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(found[i], module_at(i + 1));
	/* From the last known one on, only new ones. */
	assert_int_equal(plugins_list(module_at(2), NEXT, read_word, &memory, found, MODULES), 1);
	assert_int_equal(found[0], module_at(3));
}

static void test_too_many(void **state)
{
	struct memory memory = make(4);
	uint64_t found[MODULES];

	(void)state;
	assert_int_equal(list(&memory, found, 3), 3);
	assert_int_equal(list(&memory, found, 2), -E2BIG);
	assert_int_equal(list(&memory, found, 0), -E2BIG);
}

static void test_damaged_lists(void **state)
{
	struct memory memory = make(4);
	uint64_t found[MODULES];

	(void)state;
	memory.next[3] = module_at(1); /* a circle */
	memory.reads = 0;
	assert_int_equal(list(&memory, found, MODULES), -EBADMSG);
	assert_int_equal(memory.reads, 4);
	memory.next[3] = module_at(4) + 4;
	assert_int_equal(list(&memory, found, MODULES), -EBADMSG);
	memory.next[3] = 8;
	assert_int_equal(list(&memory, found, MODULES), -EBADMSG);
	memory.next[3] = module_at(9); /* not mapped */
	assert_int_equal(list(&memory, found, MODULES), -EFAULT);
}

/* Addresses belong to the plugin that has them, and else to the program. */
static void test_owners(void **state)
{
	struct target plugins[2] = {{.pid = 1}, {.pid = 2}}, program = {.pid = 3};
	struct target_image image = {.plugins = {
					     .all = {&plugins[0], &plugins[1]},
					     .places = {{.text = {0x1000, 0x2000},
							 .copies = {[PLUGIN_CHANRECV] = {0x1100, 0x1180}}},
							{.text = {0x8000, 0x9000}}},
					     .n = 2,
				     }};

	(void)state;
	program.image = &image;
	assert_ptr_equal(plugins_owner(&program, 0x1000), &plugins[0]);
	assert_ptr_equal(plugins_owner(&program, 0x2000), &program);
	assert_ptr_equal(plugins_owner(&program, 0x8fff), &plugins[1]);
	assert_ptr_equal(plugins_owner(&program, 0), &program);
	assert_true(plugins_have(&program, PLUGIN_CHANRECV, 0x1100));
	assert_false(plugins_have(&program, PLUGIN_CHANRECV, 0x1180));
	assert_false(plugins_have(&program, PLUGIN_CHANSEND, 0x1100));
	assert_false(plugins_have(&program, PLUGIN_CHANSEND, 0));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_whole_lists),
	cmocka_unit_test(test_too_many),
	cmocka_unit_test(test_damaged_lists),
	cmocka_unit_test(test_owners),
};

UNIT_TESTS(tests, NULL, NULL);
