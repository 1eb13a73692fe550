/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Which symbols match the name that a user gives a function. */

#include "unit.h"

#include <errno.h>
#include <string.h>

#include "target/functions/function_names.h"

static void specs(void **state)
{
	struct function_spec spec;
	struct error err;

	(void)state;
	assert_int_equal(function_spec_parse("work", &spec, &err), 0);
	assert_string_equal(spec.where, "");
	assert_string_equal(spec.name, "work");
	assert_string_equal(spec.part, "work");
	assert_int_equal(function_spec_parse("libm.so.6:sin", &spec, &err), 0);
	assert_string_equal(spec.where, "libm.so.6");
	assert_string_equal(spec.name, "sin");
	assert_int_equal(function_spec_parse("shop::Box<a::b>::put(int, char)", &spec, &err), 0);
	assert_string_equal(spec.where, "");
	assert_string_equal(spec.part, "put");
	assert_true(spec.parameters);
	assert_int_equal(function_spec_parse("x.cc:shop::pay", &spec, &err), 0);
	assert_string_equal(spec.where, "x.cc");
	assert_string_equal(spec.name, "shop::pay");
	assert_int_equal(function_spec_parse("shop::Guard::~Guard", &spec, &err), 0);
	assert_string_equal(spec.part, "Guard");
	assert_int_equal(function_spec_parse("operator<<(std::ostream&, X)", &spec, &err), 0);
	assert_string_equal(spec.part, "");
}

static void bad_specs(void **state)
{
	char longest[700];
	struct function_spec spec;
	struct error err;

	(void)state;
	assert_int_equal(function_spec_parse("", &spec, &err), -EINVAL);
	assert_int_equal(function_spec_parse(":f", &spec, &err), -EINVAL);
	assert_int_equal(function_spec_parse("a.so:", &spec, &err), -EINVAL);
	memset(longest, 'f', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(function_spec_parse(longest, &spec, &err), -EINVAL);
	longest[300] = ':';
	assert_int_equal(function_spec_parse(longest, &spec, &err), -EINVAL);
}

static bool means(const char *text, const char *symbol)
{
	struct function_spec spec;
	char readable[FUNCTION_NAME_MAX];

	return function_spec_parse(text, &spec, NULL) == 0 && function_matches(&spec, symbol, readable);
}

static void matches(void **state)
{
	(void)state;
	assert_true(means("work", "work"));
	assert_true(means("work", "work.constprop.0"));
	assert_true(means("work", "work.isra.0"));
	assert_true(means("work", "work@@V_2"));
	assert_false(means("work", "work.cold"));
	assert_false(means("work", "work.part.0"));
	assert_true(means("work.part.0", "work.part.0"));
	assert_false(means("work", "works"));
	assert_false(means("wor", "work"));
	/* shop::price(int), shop::price(std::string const&) */
	assert_true(means("shop::price", "_ZN4shop5priceEi"));
	assert_true(means("shop::price(int)", "_ZN4shop5priceEi"));
	assert_true(means("shop::price( int )", "_ZN4shop5priceEi"));
	assert_false(means("shop::price(long)", "_ZN4shop5priceEi"));
	assert_false(means("price", "_ZN4shop5priceEi"));
	assert_true(means("_ZN4shop5priceEi", "_ZN4shop5priceEi"));
	/* shop::Box<int>::put(int); void twice<int>(int); X::operator()(int) const; operator<<(X, X) */
	assert_true(means("shop::Box<int>::put", "_ZN4shop3BoxIiE3putEi"));
	assert_true(means("shop::Box::put", "_ZN4shop3BoxIiE3putEi"));
	assert_true(means("twice", "_Z5twiceIiEvT_"));
	assert_true(means("twice<int>", "_Z5twiceIiEvT_"));
	assert_true(means("twice<int>(int)", "_Z5twiceIiEvT_"));
	assert_true(means("void twice<int>(int)", "_Z5twiceIiEvT_"));
	assert_true(means("X::operator()", "_ZNK1XclEi"));
	assert_true(means("X::operator()(int) const", "_ZNK1XclEi"));
	assert_true(means("operator<<", "_Zls1XS_"));
	assert_true(means("X::~X", "_ZN1XD1Ev"));
	assert_true(means("(anonymous namespace)::f", "_ZN12_GLOBAL__N_11fEi"));
}

static void parts(void **state)
{
	const struct function_symbol cold = {.name = "f.cold"}, part = {.name = "f.part.0.cold"},
				     other = {.name = "ff.cold"}, whole = {.name = "f.constprop.0"};

	(void)state;
	assert_int_equal(function_base("f.constprop.0"), 1);
	assert_int_equal(function_base("f"), 1);
	assert_int_equal(function_base(""), 0);
	assert_int_equal(function_base(".hidden.x"), 7);
	assert_true(function_is_part(&cold, "f", 1));
	assert_true(function_is_part(&part, "f.constprop.0", 1));
	assert_false(function_is_part(&other, "f", 1));
	assert_false(function_is_part(&whole, "f", 1));
}

static void files(void **state)
{
	(void)state;
	assert_true(function_is_in("libm.so.6", "/lib/x86_64-linux-gnu/libm.so.6"));
	assert_true(function_is_in("libm.so", "/lib/x86_64-linux-gnu/libm.so.6"));
	assert_true(function_is_in("libm", "/lib/x86_64-linux-gnu/libm.so.6"));
	assert_true(function_is_in("/usr/bin/x", "/usr/bin/x"));
	assert_true(function_is_in("x", "/usr/bin/x"));
	assert_false(function_is_in("lib", "/lib/x86_64-linux-gnu/libm.so.6"));
	assert_false(function_is_in("main", "/srv/main.c"));
}

static void similar_names(void **state)
{
	static const char *const names[] = {"nothing", "worker", "wrok",  "usleep", "_ZN4shop5priceEi",
					    "work",    "work",   "wark",  "works",  "rework",
					    "w",       "",       "x.cold"};
	struct similar_functions similar = {.n = 0};
	struct function_spec spec;

	(void)state;
	function_spec_parse("wrk", &spec, NULL);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		similar_functions_offer(&similar, &spec, names[i]);
	assert_int_equal(similar.n, 3);
	assert_string_equal(similar.names[0], "wrok");
	assert_string_equal(similar.names[1], "work");
	assert_string_equal(similar.names[2], "wark");
	similar.n = 0;
	function_spec_parse("prise", &spec, NULL);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		similar_functions_offer(&similar, &spec, names[i]);
	assert_int_equal(similar.n, 1);
	assert_string_equal(similar.names[0], "shop::price");
	/* No more than fit, the most similar first. */
	similar.n = 0;
	function_spec_parse("work", &spec, NULL);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			similar_functions_offer(&similar, &spec, names[i]);
	}
	assert_int_equal(similar.n, SIMILAR_FUNCTIONS);
	for (unsigned i = 1; i < similar.n; i++)
		assert_true(similar.distances[i - 1] <= similar.distances[i]);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(specs), cmocka_unit_test(bad_specs), cmocka_unit_test(matches),
	cmocka_unit_test(parts), cmocka_unit_test(files),     cmocka_unit_test(similar_names),
};

UNIT_TESTS(tests, NULL, NULL);
