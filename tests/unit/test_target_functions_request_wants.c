/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* --requests: lists of kinds, and the names of the probes that they stand for. */

#include "unit.h"

#include <string.h>

#include "target/functions/request_wants.h"

static void test_lists(void **state)
{
	struct error err;

	(void)state;
	assert_int_equal(request_list_check("http", NULL), 0);
	assert_int_equal(request_list_check("sql,http", NULL), 0);
	assert_int_equal(request_list_check("auto", NULL), 0);
	assert_int_not_equal(request_list_check("", &err), 0);
	assert_int_not_equal(request_list_check("http,,sql", &err), 0);
	assert_int_not_equal(request_list_check("http.server", &err), 0);
	assert_int_not_equal(request_list_check("htt", &err), 0);
	assert_non_null(strstr(err.text, "'htt' is not one of: http, grpc, redis, otel, sql, auto"));
}

/* Each probe of each preset is added once, and found by its name. */
static void test_probes(void **state)
{
	static struct function_want wanted[MAX_FUNCTIONS];
	static struct request_wants wants;
	const struct request_preset *preset;
	unsigned n = 0, seen = 0;
	bool all;

	(void)state;
	assert_int_equal(request_wants_add(&wants, "auto,http", true, wanted, &n, NULL), 0);
	for (unsigned i = 0; i < request_preset_count; i++) {
		for (unsigned k = 0; request_presets[i].probes[k].function; k++, seen++) {
			assert_ptr_equal(request_wanted(&wanted[seen], &preset, &all),
					 &request_presets[i].probes[k]);
			assert_ptr_equal(preset, &request_presets[i]);
			assert_true(all);
		}
	}
	assert_int_equal(seen, n);
	wanted[0].text = "http.server/99";
	assert_null(request_wanted(&wanted[0], &preset, &all));
	wanted[0].text = "http.server";
	assert_null(request_wanted(&wanted[0], &preset, &all));
	wanted[0].text = "http.server/";
	assert_null(request_wanted(&wanted[0], &preset, &all));
	wanted[0].text = "main.f/0";
	assert_null(request_wanted(&wanted[0], &preset, &all));
	n = MAX_FUNCTIONS - 2;
	assert_int_not_equal(request_wants_add(&wants, "http", false, wanted, &n, NULL), 0);
}

/* Tables have a terminating entry, names fit, and exactly the values with the type role have types. */
static void test_tables(void **state)
{
	(void)state;
	for (unsigned i = 0; i < request_preset_count; i++) {
		const struct request_preset *preset = &request_presets[i];

		assert_null(preset->probes[REQUEST_PROBES - 1].function);
		assert_true(strlen(preset->name) + 4 < sizeof(((struct request_wants *)0)->names[0]));
		for (const struct request_probe *probe = preset->probes; probe->function; probe++) {
			assert_null(probe->values[REQUEST_VALUES - 1].role);
			for (unsigned k = 0; probe->values[k].role; k++)
				assert_int_equal(strcmp(probe->values[k].role, REQUEST_TYPE) == 0,
						 probe->values[k].types[0] && probe->values[k].types[1]);
		}
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_lists),
	cmocka_unit_test(test_probes),
	cmocka_unit_test(test_tables),
};

UNIT_TESTS(tests, NULL, NULL);
