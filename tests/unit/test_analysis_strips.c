/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The strips of findings share the memory: a busy time early in the trace leaves space for a later one. */
#include "unit.h"

#include "analysis/strips.h"

#include "script.h"

static void pass_spans(struct analysis *a, uint64_t from, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const struct span span = {
			.start = a->begin + from, .end = a->begin + from + 10, .activity = ACT_SLEEP};

		a->observer.span(a->observer.ctx, a, 2, &span);
	}
}

/* Returns the JSON, to be freed. */
static char *strips_text(const struct strips *strips, const struct analysis *a)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(out);
	strips_json(strips, a, out);
	fclose(out);
	return text;
}

/* Two findings, about 1 s and 4 s after the begin of a trace of 5 s, and one about no place. */
static struct analysis *analyse_places(struct script *s)
{
	struct analysis *a;

	procs(s, 1);
	create(s, 2, stack(s, "main.serve", NULL, 1, NULL));
	start(s, 2, 0);
	a = analyse(s, NULL);
	a->nfindings = 3;
	a->findings[0] = (struct finding){.worst_ns = 1000 * MS, .worst_goid = 2, .max_ns = MS};
	a->findings[1] = (struct finding){.worst_ns = 0};
	a->findings[2] = (struct finding){.worst_ns = 4000 * MS, .worst_goid = 2, .max_ns = MS};
	return a;
}

static void test_each_finding_has_its_share(void **state)
{
	enum { ALL = 1 << 19 }; /* of all strips: two have half of it each */
	struct script *s = script_new(5000 * MS);
	struct analysis *a = analyse_places(s);
	struct strips *strips = strips_new(a);
	char *text, *second;

	(void)state;
	assert_non_null(strips);
	strips_watch(strips, a);
	pass_spans(a, 1000 * MS, ALL);
	pass_spans(a, 4000 * MS, ALL / 2);
	text = strips_text(strips, a);
	assert_non_null(strstr(text, "\"findings\":[{\"goroutine\":2,"));
	second = strstr(text, ",null,{\"goroutine\":2,");
	assert_non_null(second);
	assert_null(strstr(second, "\"truncated\":true"));
	*second = '\0';
	assert_non_null(strstr(text, "\"truncated\":true"));
	free(text);

	/* The second pass begins again. */
	strips_watch(strips, a);
	pass_spans(a, 1000 * MS, 1);
	text = strips_text(strips, a);
	assert_non_null(strstr(text, "\"truncated\":false"));
	assert_null(strstr(text, "\"truncated\":true"));
	assert_non_null(strstr(text, ",null,null]"));
	free(text);
	strips_free(strips);
	analysis_free(a);
	script_free(s);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_each_finding_has_its_share),
};

UNIT_TESTS(tests, NULL, NULL);
