/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Value rules for functions in this file, from its own debug information. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "code/isa/value_places.h"
#include "target/functions/functions.h"
#include "target/functions/value_plan.h"

struct place {
	char scheme[8];
	const char *path;
};

union number {
	int whole;
	float real;
};

struct thing {
	int id;
	const char *name;
	struct place *place;
	struct {
		unsigned short size;
	};
	union number number;
	unsigned bits : 3;
	struct thing *next;
};

struct pair {
	long left, right;
};

struct large {
	long words[3];
};

int take_numbers(int one, unsigned char two, long three, _Bool four);
int take_thing(const struct thing *thing, double real, const char *text);
long take_structs(struct pair pair, struct large large, long last);
struct large give_large(int id);

/* The tests take the functions' addresses, so that they exist as written. */
__attribute__((noinline)) int take_numbers(int one, unsigned char two, long three, _Bool four)
{
	return one + two + (int)three + four;
}

__attribute__((noinline)) int take_thing(const struct thing *thing, double real, const char *text)
{
	return thing->id + (int)real + (text != NULL);
}

__attribute__((noinline)) long take_structs(struct pair pair, struct large large, long last)
{
	return pair.left + large.words[0] + last;
}

__attribute__((noinline)) struct large give_large(int id)
{
	return (struct large){{id}};
}

static int (*const volatile numbers_used)(int, unsigned char, long, _Bool) = take_numbers;
static int (*const volatile thing_used)(const struct thing *, double, const char *) = take_thing;
static long (*const volatile structs_used)(struct pair, struct large, long) = take_structs;
static struct large (*const volatile large_used)(int) = give_large;

static struct function_plan plan;
static struct error err;

static int make(const char *text)
{
	const struct function_want want = {.text = text, .kind = FUNCTION_REGION};

	err.text[0] = '\0';
	return functions_plan(0, "/proc/self/exe", &want, 1, &plan, &err);
}

static const struct value_rule *rule(unsigned i)
{
	assert_int_equal(plan.nvalues, 1);
	assert_true(i < plan.values[0].rules.n);
	return &plan.values[0].rules.rules[i];
}

static void expect_made(const char *text)
{
	if (make(text))
		fail_msg("%s: %s", text, err.text);
}

static uint8_t c_word(unsigned i)
{
	return (uint8_t)place_of_c_word(false, i);
}

static void expect_number(unsigned i, uint8_t kind, uint8_t size, uint8_t place)
{
	assert_int_equal(rule(i)->kind, kind);
	assert_int_equal(rule(i)->size, size);
	assert_int_equal(rule(i)->place, place);
	assert_int_equal(rule(i)->nsteps, 0);
}

static void numbers(void **state)
{
	(void)state;
	assert_non_null(numbers_used);
	expect_made("take_numbers(one, b=arg2, three, four)");
	expect_number(0, VALUE_SIGNED, 4, c_word(0));
	expect_number(1, VALUE_UNSIGNED, 1, c_word(1));
	expect_number(2, VALUE_SIGNED, 8, c_word(2));
	expect_number(3, VALUE_BOOL, 1, c_word(3));
	assert_string_equal(plan.values[0].labels[1], "b");
	assert_int_equal(FUNCTION_VALUES(plan.lists[0].probes[0].cookie), 1);
	functions_free(&plan);
}

static void expect_steps(unsigned i, unsigned n, size_t first, size_t second)
{
	assert_int_equal(rule(i)->place, c_word(0));
	assert_int_equal(rule(i)->nsteps, n);
	assert_int_equal(rule(i)->offsets[0], first);
	assert_int_equal(rule(i)->offsets[1], second);
}

static void fields(void **state)
{
	(void)state;
	assert_non_null(thing_used);
	expect_made("take_thing(thing->place.path, thing->place->scheme, thing->next->next->id, thing.size)");
	expect_steps(0, 2, offsetof(struct thing, place), offsetof(struct place, path));
	assert_int_equal(rule(0)->kind, VALUE_C_STRING);
	expect_steps(1, 2, offsetof(struct thing, place), 0);
	assert_int_equal(rule(1)->kind, VALUE_CHARS);
	assert_int_equal(rule(1)->max, 8);
	expect_steps(2, 3, offsetof(struct thing, next), offsetof(struct thing, next));
	expect_steps(3, 1, offsetof(struct thing, size), 0);
	functions_free(&plan);
	expect_made("take_thing(text, n=thing->number.whole, thing)");
	expect_number(0, VALUE_C_STRING, 8, c_word(1)); /* the double is elsewhere */
	expect_steps(1, 1, offsetof(struct thing, number), 0);
	expect_number(2, VALUE_POINTER, 8, c_word(0));
	functions_free(&plan);
}

/* Two words in registers, three in memory, and a result that needs a place. */
static void composite_values(void **state)
{
	(void)state;
	assert_non_null(structs_used);
	assert_non_null(large_used);
	expect_made("take_structs(pair.right, last)");
	expect_number(0, VALUE_SIGNED, 8, c_word(1));
	expect_number(1, VALUE_SIGNED, 8, c_word(2));
	functions_free(&plan);
	expect_made("give_large(id)");
	expect_number(0, VALUE_SIGNED, 4, c_word(1));
	functions_free(&plan);
}

static void refuse(const char *text, const char *why)
{
	int rc = make(text);

	if (rc == 0 || !strstr(err.text, why))
		fail_msg("%s: %d %s", text, rc, err.text);
	assert_int_equal(plan.nvalues, 0);
	assert_int_equal(plan.nlists, 0);
}

static void refused(void **state)
{
	(void)state;
	refuse("take_numbers(five)", "there is no parameter five; it has one, two, three, four");
	refuse("take_numbers(arg5)", "there is no argument 5");
	refuse("take_numbers(one:string)", "a number in the debug information, not string");
	refuse("take_numbers(one:int64)", "a number in the debug information, not int64");
	refuse("take_numbers(one.x)", "x does not exist: the value has no fields");
	refuse("take_numbers(recv)", "not a method");
	refuse("take_thing(thing->bits)", "bits is a bit field");
	refuse("take_thing(thing->none)", "none is not a field of that type");
	refuse("take_thing(thing->place->path->x)", "no fields");
	refuse("take_thing(real)", "floating-point register");
	refuse("take_structs(pair)", "name a field of it");
	refuse("take_structs(large.words)", "an array, which cannot be shown");
}

/* --- without debug information --- */

static struct function_values values;

static int plan_go(const char *text, const char *name, unsigned minor)
{
	struct call_facts facts = {.abi = {.go = true, .go_minor = minor}};
	struct value_list list;

	err.text[0] = '\0';
	assert_int_equal(value_list_parse(text, &list, &err), 0);
	call_facts_of_go(&facts, name);
	return values_plan(&list, &facts, &values, &err);
}

static const struct value_rule *given(unsigned i)
{
	return &values.rules.rules[i];
}

static void go_types(void **state)
{
	(void)state;
	assert_int_equal(plan_go("f(a=arg1:string, b=arg2:uint8, _=arg3:float64, c=arg4:len, w=word2:int)",
				 "main.f", 26),
			 0);
	assert_int_equal(values.rules.n, 4);
	assert_int_equal(given(0)->place, place_of_go_word(false, 0));
	assert_int_equal(given(0)->place2, place_of_go_word(false, 1));
	assert_int_equal(given(1)->place, place_of_go_word(false, 2));
	assert_int_equal(given(2)->place, place_of_go_word(false, 4)); /* the slice's second word */
	assert_int_equal(given(3)->place, place_of_go_word(false, 1));
	assert_int_equal(plan_go("f(a=arg1:string, b=arg2:uint8, c=arg3:bytes)", "main.f", 16), 0);
	assert_int_equal(given(1)->place, VALUE_STACK);
	assert_int_equal(given(1)->offsets[0], 16);
	assert_int_equal(given(2)->offsets[0], 24);
}

static void go_methods(void **state)
{
	(void)state;
	assert_int_equal(plan_go("f(arg1:int)", "main.(*T).f", 26), 0);
	assert_int_equal(given(0)->place, place_of_go_word(false, 1));
	assert_int_equal(plan_go("f(arg1:int)", "main.f[...]", 26), 0);
	assert_int_equal(given(0)->place, place_of_go_word(false, 1));
	assert_int_equal(plan_go("f(arg1:int)", "main.(*T[...]).f", 26), 0);
	assert_int_equal(given(0)->place, place_of_go_word(false, 2));
	assert_int_equal(plan_go("f(_=recv:string, arg1:int)", "main.T.f", 26), 0);
	assert_int_equal(given(0)->place, place_of_go_word(false, 2));
	assert_int_equal(plan_go("f(arg1:int)", "main.T.f", 26), -EINVAL);
	assert_int_equal(plan_go("f(a=arg2:int)", "main.f", 26), -EINVAL);
	assert_int_equal(plan_go("f(a=arg1:long)", "main.f", 26), -EINVAL);
	assert_int_equal(plan_go("f(a=arg1:any)", "main.f", 26), -EINVAL);
	assert_int_equal(plan_go("f(a=arg1:float64)", "main.f", 26), -EINVAL);
	assert_int_equal(plan_go("f(a=arg1:float64)", "main.f", 16), 0);
	assert_int_equal(plan_go("f(a=arg1:int, b=arg1:string)", "main.f", 26), -EINVAL);
	assert_int_equal(plan_go("f(a=word1)", "main.f", 26), -EINVAL);
	assert_int_equal(plan_go("f(a=word9:string)", "main.f", 26), -EINVAL);
	assert_int_equal(plan_go("f(arg1.x, a=arg1:int)", "main.f", 26), -EINVAL);
}

/* The code before the probe point has changed a register. */
static void changed_registers(void **state)
{
	struct call_facts facts = {.written = 1u << 7}; /* rdi */
	struct value_list list;

	(void)state;
	value_list_parse("f(a=arg1:int)", &list, &err);
	assert_int_equal(values_plan(&list, &facts, &values, &err), -EAGAIN);
	value_list_parse("f(_=arg1:int, b=arg2:int)", &list, &err);
	assert_int_equal(values_plan(&list, &facts, &values, &err), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(numbers),           cmocka_unit_test(fields),   cmocka_unit_test(composite_values),
	cmocka_unit_test(refused),           cmocka_unit_test(go_types), cmocka_unit_test(go_methods),
	cmocka_unit_test(changed_registers),
};

UNIT_TESTS(tests, NULL, NULL);
