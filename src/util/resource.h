/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where a trace is from: what OpenTelemetry calls resource attributes. The text form is that of
 * OTEL_RESOURCE_ATTRIBUTES: "key=value,key=value", with % and two hexadecimal digits for other characters.
 */
#ifndef GOTRACE_UTIL_RESOURCE_H
#define GOTRACE_UTIL_RESOURCE_H

#include <stdbool.h>
#include <stddef.h>

enum resource_attribute {
	RESOURCE_SERVICE_NAME,
	RESOURCE_SERVICE_VERSION,
	RESOURCE_HOST_NAME,
	RESOURCE_PID, /* a number */
	RESOURCE_EXECUTABLE,
	RESOURCE_CONTAINER_ID,
	RESOURCE_POD_NAME,
	RESOURCE_NAMESPACE_NAME,
	RESOURCE_ENVIRONMENT,
	RESOURCE_BUILD_ID,
	RESOURCE_POD_UID,
	RESOURCE_ATTRIBUTES
};

/* The keys in OpenTelemetry: "service.name". */
extern const char *const resource_keys[RESOURCE_ATTRIBUTES];
/* Finds an attribute by its key of len bytes. RESOURCE_ATTRIBUTES: none has that key. */
enum resource_attribute resource_find(const char *key, size_t len);

/* RESOURCE_VALUE: size of a value; a longer one is not taken. RESOURCE_TEXT: most bytes of a printed part. */
enum { RESOURCE_VALUE = 256, RESOURCE_TEXT = 480 };

struct otel_resource {
	char values[RESOURCE_ATTRIBUTES][RESOURCE_VALUE]; /* "" = unknown */
};

/*
 * Takes the attributes of a text of n bytes that are known and have a value, over those that there are. The
 * text is untrusted: other keys, malformed values and those with control characters are left out.
 */
void resource_take(struct otel_resource *resource, const char *text, size_t n);
/* Takes one value that is not encoded, with the same checks. */
void resource_set(struct otel_resource *resource, enum resource_attribute which, const char *value, size_t n);
/*
 * Takes OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES of an environment: entries that end with NUL, the last
 * of which may be cut and is then left out. The service's name is that of OTEL_SERVICE_NAME if it is there.
 */
void resource_take_environment(struct otel_resource *resource, const char *environment, size_t n);
/* Takes the container's id and the pod's uid from a text such as /proc/PID/cgroup has. */
void resource_take_cgroup(struct otel_resource *resource, const char *text);
/*
 * Prints attributes from *next on, as many as fit, and advances *next. Returns false if there are none left.
 * A text of resource_take() with the same values.
 */
bool resource_print(const struct otel_resource *resource, unsigned *next, char text[RESOURCE_TEXT + 1]);

#endif
