/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* /tmp/perf-PID.map: its lines, memory that is used again, and the names of known compilers. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "code/symbol/perf_map.h"

static const char *file;

static size_t add(struct perf_map *map, const char *text, size_t at)
{
	file = text;
	size_t taken = perf_map_add(map, at, text + at, strlen(text + at));

	perf_map_sort(map);
	return taken;
}

/* The name is in the text that was added last. */
static void finds(struct perf_map *map, uint64_t address, const char *wanted)
{
	struct perf_map_name name;

	if (!perf_map_find(map, address, &name)) {
		assert_null(wanted);
		return;
	}
	assert_non_null(wanted);
	assert_int_equal(name.len, strlen(wanted));
	assert_memory_equal(file + name.at, wanted, name.len);
}

static void lines(void **state)
{
	static const char text[] = "1000 20 one\n"
				   "0x0000000000002000 0x0000000000000010 int two(int, long)\n"
				   "3000 10 \n"
				   "no line\n"
				   "4000 0 nothing\n"
				   "5000 10\n"
				   "\n"
				   "FFFFFFFFFFFFFFF0 10 last\n"
				   "6000 100000000 too large\n"
				   "7000 10 not complete";
	struct perf_map *map = perf_map_new();

	(void)state;
	assert_int_equal(add(map, text, 0), strrchr(text, '\n') + 1 - text);
	finds(map, 0xfff, NULL);
	finds(map, 0x1000, "one");
	finds(map, 0x101f, "one");
	finds(map, 0x1020, NULL);
	finds(map, 0x200f, "int two(int, long)");
	finds(map, 0x3000, NULL);
	finds(map, 0x4000, NULL);
	finds(map, 0x6000, NULL);
	finds(map, 0x7000, NULL);
	finds(map, UINT64_MAX, "last");
	perf_map_free(map);
}

/* Lines are appended while the program runs, and the newest one counts. */
static void memory_is_used_again(void **state)
{
	static const char text[] = "1000 100 large\n"
				   "1040 10 small\n"
				   "1000 20 new\n";
	size_t first = (size_t)(strchr(text, '\n') + 1 - text);
	struct perf_map *map = perf_map_new();

	(void)state;
	file = text;
	assert_int_equal(perf_map_add(map, 0, text, first + 4), first);
	perf_map_sort(map);
	finds(map, 0x1044, "large");
	assert_int_equal(add(map, text, first), strlen(text) - first);
	finds(map, 0x1010, "new");
	finds(map, 0x1030, "large");
	finds(map, 0x1044, "small");
	finds(map, 0x10ff, "large");
	perf_map_free(map);
	assert_non_null(map = perf_map_new());
	finds(map, 0x1000, NULL);
	perf_map_free(map);
}

static void names(void **state)
{
	static const struct {
		const char *text, *function, *file;
		unsigned line;
	} cases[] = {
		{"JS:*parse /srv/app.js:12:3", "parse", "/srv/app.js", 12},
		{"JS:~ node:internal/timers:5:1", "(anonymous)", "node:internal/timers", 5},
		{"JS:^get size file:///srv/app.js:7:9", "get size", "file:///srv/app.js", 7},
		{"LazyCompile:*old /srv/old.js:3", "old", "/srv/old.js", 3},
		{"Builtin:ArrayMap", "Builtin:ArrayMap", "", 0},
		{"RegExp:^a(b|c) d$", "RegExp:^a(b|c) d$", "", 0},
		{"int Shop.parse(java.lang.String, int)", "Shop.parse", "", 0},
		{"java.lang.Object Shop.<init>(long)", "Shop.<init>", "", 0},
		{"instance void [Shop] Shop.Api::Get(string)[Tier1]", "Shop.Api::Get", "", 0},
		{"py::parse:/srv/app.py", "parse", "/srv/app.py", 0},
		{"py::no file", "py::no file", "", 0},
		{"I2C/C2I adapters", "I2C/C2I adapters", "", 0},
		{"$lists:map/2", "$lists:map/2", "", 0},
		{"JS:*", "JS:*", "", 0},
		{"JS:", "JS:", "", 0},
		{"f(", "f(", "", 0},
		{"windows\r", "windows", "", 0},
		{"", "", "", 0},
	};
	static char large[4096];
	struct jit_name name;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		jit_name_parse(cases[i].text, strlen(cases[i].text), &name);
		assert_string_equal(name.function, cases[i].function);
		assert_string_equal(name.file, cases[i].file);
		assert_int_equal(name.line, cases[i].line);
	}
	memset(large, 'x', sizeof(large));
	jit_name_parse(large, sizeof(large), &name);
	assert_int_equal(strlen(name.function), sizeof(name.function) - 1);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(lines),
	cmocka_unit_test(memory_is_used_again),
	cmocka_unit_test(names),
};

UNIT_TESTS(tests, NULL, NULL);
