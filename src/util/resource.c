/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/resource.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "util/text.h"

const char *const resource_keys[RESOURCE_ATTRIBUTES] = {
	[RESOURCE_SERVICE_NAME] = "service.name",
	[RESOURCE_SERVICE_VERSION] = "service.version",
	[RESOURCE_HOST_NAME] = "host.name",
	[RESOURCE_PID] = "process.pid",
	[RESOURCE_EXECUTABLE] = "process.executable.name",
	[RESOURCE_CONTAINER_ID] = "container.id",
	[RESOURCE_POD_NAME] = "k8s.pod.name",
	[RESOURCE_NAMESPACE_NAME] = "k8s.namespace.name",
	[RESOURCE_ENVIRONMENT] = "deployment.environment.name",
	[RESOURCE_BUILD_ID] = "build.id",
	[RESOURCE_POD_UID] = "k8s.pod.uid",
};

enum resource_attribute resource_find(const char *key, size_t len)
{
	unsigned i = 0;

	while (i < RESOURCE_ATTRIBUTES &&
	       (strlen(resource_keys[i]) != len || memcmp(resource_keys[i], key, len) != 0))
		i++;
	return (enum resource_attribute)i;
}

void resource_set(struct otel_resource *resource, enum resource_attribute which, const char *value, size_t n)
{
	if (n == 0 || n >= RESOURCE_VALUE)
		return;
	for (size_t i = 0; i < n; i++) {
		if (iscntrl((unsigned char)value[i]) ||
		    (which == RESOURCE_PID && !isdigit((unsigned char)value[i])))
			return;
	}
	memcpy(resource->values[which], value, n);
	resource->values[which][n] = '\0';
}

/* Decodes %XX. Returns false if the text is malformed or too long. */
static bool decode_percent(const char *text, size_t n, char out[RESOURCE_VALUE], size_t *len)
{
	*len = 0;
	for (size_t i = 0; i < n; i++) {
		int high = 0, low = text[i];

		if (*len == RESOURCE_VALUE)
			return false;
		if (text[i] == '%') {
			if (n - i < 3)
				return false;
			high = text_hex_digit(text[i + 1]);
			low = text_hex_digit(text[i + 2]);
			if (high < 0 || low < 0)
				return false;
			i += 2;
		}
		out[(*len)++] = (char)(high * 16 + low);
	}
	return true;
}

static void trim_blanks(const char **text, size_t *n)
{
	while (*n && (**text == ' ' || **text == '\t'))
		(*text)++, (*n)--;
	while (*n && ((*text)[*n - 1] == ' ' || (*text)[*n - 1] == '\t'))
		(*n)--;
}

static void resource_take_pair(struct otel_resource *resource, const char *pair, size_t n)
{
	const char *equals = memchr(pair, '=', n), *value;
	size_t key = equals ? (size_t)(equals - pair) : 0, left = equals ? n - key - 1 : 0, len;
	char decoded[RESOURCE_VALUE];
	enum resource_attribute which;

	if (!equals)
		return;
	value = equals + 1;
	trim_blanks(&pair, &key);
	trim_blanks(&value, &left);
	which = resource_find(pair, key);
	if (which != RESOURCE_ATTRIBUTES && decode_percent(value, left, decoded, &len))
		resource_set(resource, which, decoded, len);
}

void resource_take(struct otel_resource *resource, const char *text, size_t n)
{
	while (n) {
		const char *comma = memchr(text, ',', n);
		size_t len = comma ? (size_t)(comma - text) : n;

		resource_take_pair(resource, text, len);
		text += len + (comma != NULL);
		n -= len + (comma != NULL);
	}
}

void resource_take_environment(struct otel_resource *resource, const char *environment, size_t n)
{
	static const char list[] = "OTEL_RESOURCE_ATTRIBUTES=", name[] = "OTEL_SERVICE_NAME=";
	const char *service = NULL, *end;

	for (; n && (end = memchr(environment, '\0', n));
	     n -= (size_t)(end + 1 - environment), environment = end + 1) {
		if (strncmp(environment, list, sizeof(list) - 1) == 0)
			resource_take(resource, environment + sizeof(list) - 1,
				      (size_t)(end - environment) - (sizeof(list) - 1));
		if (strncmp(environment, name, sizeof(name) - 1) == 0)
			service = environment + sizeof(name) - 1;
	}
	if (service)
		resource_set(resource, RESOURCE_SERVICE_NAME, service, strlen(service));
}

/* Runtimes end a cgroup's path with the container's id, 64 digits: "docker-ID.scope", "cri-containerd-ID". */
static void take_container(struct otel_resource *resource, const char *text)
{
	for (size_t run = 0; *text; text++) {
		bool digit = isdigit((unsigned char)*text) || (*text >= 'a' && *text <= 'f');

		run = digit ? run + 1 : 0;
		if (run == 64 && !(isalnum((unsigned char)text[1])))
			resource_set(resource, RESOURCE_CONTAINER_ID, text - 63, 64);
	}
}

/* The kubelet's name of a pod's cgroup: "podUID", where the systemd driver has _ for -. */
static void take_pod(struct otel_resource *resource, const char *text)
{
	enum { UID = 36 };
	char uid[UID];

	for (text = strstr(text, "pod"); text; text = strstr(text + 1, "pod")) {
		size_t i = 0;

		for (; i < UID &&
		       (isxdigit((unsigned char)text[3 + i]) || text[3 + i] == '-' || text[3 + i] == '_');
		     i++)
			uid[i] = text[3 + i] == '_' ? '-' : text[3 + i];
		if (i == UID && uid[8] == '-' && uid[13] == '-' && uid[18] == '-' && uid[23] == '-')
			resource_set(resource, RESOURCE_POD_UID, uid, UID);
	}
}

void resource_take_cgroup(struct otel_resource *resource, const char *text)
{
	take_container(resource, text);
	take_pod(resource, text);
}

/* "service.name=shop". Returns its length. */
static size_t print_pair(const struct otel_resource *resource, unsigned which,
			 char out[64 + 3 * RESOURCE_VALUE])
{
	size_t n = (size_t)sprintf(out, "%s=", resource_keys[which]);

	for (const char *at = resource->values[which]; *at; at++) {
		if (isalnum((unsigned char)*at) || strchr("-._/:@+", *at))
			out[n++] = *at;
		else
			n += (size_t)sprintf(out + n, "%%%02x", (unsigned char)*at);
	}
	out[n] = '\0';
	return n;
}

bool resource_print(const struct otel_resource *resource, unsigned *next, char text[RESOURCE_TEXT + 1])
{
	char pair[64 + 3 * RESOURCE_VALUE];
	size_t len = 0;

	for (; *next < RESOURCE_ATTRIBUTES; (*next)++) {
		size_t n = resource->values[*next][0] ? print_pair(resource, *next, pair) : 0;

		if (n == 0 || n > RESOURCE_TEXT)
			continue; /* unknown, or too long for any part */
		if (len + n + (len > 0) > RESOURCE_TEXT)
			break;
		len += (size_t)snprintf(text + len, RESOURCE_TEXT + 1 - len, "%s%s", len ? "," : "", pair);
	}
	return len > 0;
}
