/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Attributes of a resource: from an environment, from a cgroup, printed and read again. */
#include <string.h>

#include "unit.h"

#include "util/resource.h"

static struct otel_resource it;

static void take(const char *text)
{
	it = (struct otel_resource){0};
	resource_take(&it, text, strlen(text));
}

static void known_keys_are_taken_and_decoded(void **state)
{
	(void)state;
	take(" service.name = a%2Cb%20c "
	     ",secret.key=x,k8s.pod.name=p-1,host.name=%zz,build.id=%4,service.version=");
	assert_string_equal(it.values[RESOURCE_SERVICE_NAME], "a,b c");
	assert_string_equal(it.values[RESOURCE_POD_NAME], "p-1");
	assert_string_equal(it.values[RESOURCE_HOST_NAME], "");
	assert_string_equal(it.values[RESOURCE_BUILD_ID], "");
	assert_string_equal(it.values[RESOURCE_SERVICE_VERSION], "");
	take("service.name=a%0ab,process.pid=12x,,=,k8s.namespace.name");
	for (unsigned i = 0; i < RESOURCE_ATTRIBUTES; i++)
		assert_string_equal(it.values[i], "");
}

static void a_value_that_is_too_long_is_left_out(void **state)
{
	char text[RESOURCE_VALUE + 32] = "service.name=";

	(void)state;
	memset(text + strlen(text), 'x', RESOURCE_VALUE);
	take(text);
	assert_string_equal(it.values[RESOURCE_SERVICE_NAME], "");
	text[strlen("service.name=") + RESOURCE_VALUE - 1] = '\0';
	take(text);
	assert_int_equal(strlen(it.values[RESOURCE_SERVICE_NAME]), RESOURCE_VALUE - 1);
}

static void only_two_variables_of_an_environment_count(void **state)
{
	static const char environment[] = "SECRET=service.name=stolen\0OTEL_SERVICE_NAME=shop\0"
					  "OTEL_RESOURCE_ATTRIBUTES=service.name=other,service.version=v2\0"
					  "OTEL_SERVICE_NAMES=x\0OTEL_SERVICE_NAME=cut";

	(void)state;
	it = (struct otel_resource){0};
	resource_take_environment(&it, environment, sizeof(environment) - 1);
	assert_string_equal(it.values[RESOURCE_SERVICE_NAME], "shop");
	assert_string_equal(it.values[RESOURCE_SERVICE_VERSION], "v2");
}

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void containers_and_pods_by_their_cgroup(void **state)
{
	(void)state;
	it = (struct otel_resource){0};
	resource_take_cgroup(&it, "0::/system.slice/docker-" ID ".scope\n");
	assert_string_equal(it.values[RESOURCE_CONTAINER_ID], ID);
	assert_string_equal(it.values[RESOURCE_POD_UID], "");
	it = (struct otel_resource){0};
	resource_take_cgroup(&it, "0::/kubepods.slice/kubepods-pod12345678_1234_1234_1234_123456789abc.slice/"
				  "cri-containerd-" ID ".scope\n");
	assert_string_equal(it.values[RESOURCE_CONTAINER_ID], ID);
	assert_string_equal(it.values[RESOURCE_POD_UID], "12345678-1234-1234-1234-123456789abc");
	it = (struct otel_resource){0};
	resource_take_cgroup(&it, "0::/user.slice/" ID "0\n1:cpu:/pod1234");
	assert_string_equal(it.values[RESOURCE_CONTAINER_ID], "");
	assert_string_equal(it.values[RESOURCE_POD_UID], "");
}

static void what_is_printed_reads_the_same(void **state)
{
	struct otel_resource all = {0}, again = {0};
	char text[RESOURCE_TEXT + 1];
	unsigned next = 0, parts = 0;

	(void)state;
	for (unsigned i = 0; i < RESOURCE_ATTRIBUTES; i++)
		resource_set(&all, i, "12345678901234567890123456789012345678901234567890", 50);
	resource_set(&all, RESOURCE_SERVICE_NAME, "a b,c=d%\xc3\xa9", 10);
	for (; resource_print(&all, &next, text); parts++) {
		assert_true(strlen(text) <= RESOURCE_TEXT);
		resource_take(&again, text, strlen(text));
	}
	assert_true(parts > 1);
	for (unsigned i = 0; i < RESOURCE_ATTRIBUTES; i++)
		assert_string_equal(all.values[i], again.values[i]);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(known_keys_are_taken_and_decoded),
	cmocka_unit_test(a_value_that_is_too_long_is_left_out),
	cmocka_unit_test(only_two_variables_of_an_environment_count),
	cmocka_unit_test(containers_and_pods_by_their_cgroup),
	cmocka_unit_test(what_is_printed_reads_the_same),
};

UNIT_TESTS(tests, NULL, NULL);
