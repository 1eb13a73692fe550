/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "target/functions/value_list.h"

static struct value_list list;
static struct error err;

static int parse(const char *text)
{
	err.text[0] = '\0';
	return value_list_parse(text, &list, &err);
}

static void names_without_a_list(void **state)
{
	static const char *const names[] = {"f",
					    "main.(*T).f",
					    "main.f[...]",
					    "ns::f(int, char)",
					    "f(int*)",
					    "f(const char *, unsigned long)",
					    "X::operator()",
					    "T::operator=(T const&)",
					    "f()",
					    "(f)",
					    ")",
					    ""};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(parse(names[i]), 0);
		assert_false(list.certain);
		if (i != 3)
			assert_int_equal(list.n, 0);
	}
}

static void whole_items(void **state)
{
	const struct value_item *item = list.items;

	(void)state;
	assert_int_equal(parse("main.(*T).f (id = arg1:int, r.URL->Path , recv , _=word12:string, name)"), 0);
	assert_true(list.certain);
	assert_int_equal(list.name_len, strlen("main.(*T).f"));
	assert_int_equal(list.n, 5);
	assert_string_equal(item[0].label, "id");
	assert_int_equal(item[0].base, BASE_ARG);
	assert_int_equal(item[0].number, 1);
	assert_string_equal(item[0].type->name, "int");
	assert_string_equal(item[1].label, "r.URL->Path");
	assert_int_equal(item[1].base, BASE_NAME);
	assert_string_equal(item[1].name, "r");
	assert_int_equal(item[1].nfields, 2);
	assert_string_equal(item[1].fields[1], "Path");
	assert_null(item[1].type);
	assert_int_equal(item[2].base, BASE_RECEIVER);
	assert_int_equal(item[3].base, BASE_WORD);
	assert_int_equal(item[3].number, 12);
	assert_true(item[3].hidden);
	assert_string_equal(item[4].label, "name");
}

/* These may be a C++ function's parameters: no error, and both readings are kept. */
static void uncertain_lists(void **state)
{
	(void)state;
	assert_int_equal(parse("f(id, name)"), 0);
	assert_false(list.certain);
	assert_int_equal(list.n, 2);
	assert_int_equal(list.name_len, 1);
	assert_int_equal(parse("f(a, b, c, d, e)"), 0);
	assert_int_equal(list.n, 0);
}

static void refuse(const char *text, const char *why)
{
	assert_int_equal(parse(text), -EINVAL);
	if (!strstr(err.text, why))
		fail_msg("%s: %s", text, err.text);
}

static void mistakes(void **state)
{
	(void)state;
	refuse("f(a=)", "missing at the end");
	refuse("f(a=arg1:)", "a type is missing");
	refuse("f(a=arg1:float)", "'float' is not a type");
	refuse("f(a=arg0)", "count from 1");
	refuse("f(a=arg100)", "count from 1");
	refuse("f(a=word01)", "count from 1");
	refuse("f(a=b.)", "name of a field is missing");
	refuse("f(a=b.c.d.e.f.g)", "more than 4 fields");
	refuse("f(a=b c)", "',' or ')' is expected at 'c'");
	refuse("f(a=b,)", "missing at the end");
	refuse("f(a=1b)", "a parameter is expected at '1b'");
	refuse("f(_=arg1:int)", "no value is shown");
	refuse("f(a=a,b=b,c=c,d=d,e=e)", "more than 4 values");
	refuse("f(a=\x1b[2J)", "expected at");
	refuse("f(x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa)", "longer than 63");
	refuse("f(a=b, aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb)",
	       "a short name");
}

static void many_items(void **state)
{
	char text[1024] = "f(a=arg99:int";

	(void)state;
	for (unsigned i = 1; i < VALUE_ITEMS; i++)
		strcat(text, ",_=arg1:int");
	strcat(text, ")");
	assert_int_equal(parse(text), 0);
	assert_int_equal(list.n, VALUE_ITEMS);
	text[strlen(text) - 1] = '\0';
	strcat(text, ",_=arg1:int)");
	refuse(text, "more than 24 items");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(names_without_a_list), cmocka_unit_test(whole_items),
	cmocka_unit_test(uncertain_lists),      cmocka_unit_test(mistakes),
	cmocka_unit_test(many_items),
};

UNIT_TESTS(tests, NULL, NULL);
