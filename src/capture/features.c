/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/features.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/capability.h>

#include "util/utf8.h"

struct feature *feature_add(struct features *features, const char *name)
{
	struct feature *feature =
		&features->list[features->n < MAX_FEATURES - 1 ? features->n++ : features->n];

	*feature = (struct feature){.name = name};
	return feature;
}

void feature_available(struct feature *feature, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(feature->found, sizeof(feature->found), fmt, args);
	va_end(args);
}

static void set_texts(struct feature *feature, const char *found, const char *cost, const char *advice)
{
	snprintf(feature->found, sizeof(feature->found), "%s", found);
	snprintf(feature->cost, sizeof(feature->cost), "%s", cost);
	snprintf(feature->advice, sizeof(feature->advice), "%s", advice);
}

void feature_replaced(struct feature *feature, const char *found, const char *cost, const char *advice)
{
	feature->state = FEATURE_REPLACED;
	set_texts(feature, found, cost, advice);
}

void feature_missing(struct feature *feature, unsigned needs, const char *found, const char *cost,
		     const char *advice)
{
	feature->state = FEATURE_MISSING;
	feature->needs = needs;
	set_texts(feature, found, cost, advice);
}

bool feature_read(const char *root, const char *path, char *text, size_t size)
{
	char full[512];
	FILE *file;
	bool read;

	snprintf(full, sizeof(full), "%s%s", root, path);
	file = fopen(full, "re");
	read = file && fgets(text, (int)size, file);
	if (file)
		fclose(file);
	if (!read)
		text[0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return read;
}

/* Gets the value of a line of /proc/self/status. Returns false if there is none. */
static bool own_status(const char *root, const char *key, char *value, size_t size)
{
	char path[512], line[256];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "%s/proc/self/status", root);
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file)) {
		found = strncmp(line, key, strlen(key)) == 0;
		if (found)
			snprintf(value, size, "%s", line + strlen(key));
	}
	if (file)
		fclose(file);
	return found;
}

bool feature_capable(const char *root, unsigned bit)
{
	char value[64];

	return own_status(root, "CapEff:", value, sizeof(value)) && strtoull(value, NULL, 16) >> bit & 1;
}

static bool is_filtered(const char *root)
{
	char value[64];

	return own_status(root, "Seccomp:", value, sizeof(value)) && strtoul(value, NULL, 10) == 2;
}

void feature_why_refused(const char *root, int error, const char *capabilities, char *text, size_t size)
{
	bool may = feature_capable(root, CAP_SYS_ADMIN) ||
		   (feature_capable(root, CAP_PERFMON) && feature_capable(root, CAP_BPF));

	if (is_filtered(root) && (may || (error != EPERM && error != EACCES)))
		snprintf(text, size,
			 "a seccomp filter is active: allow bpf(2) and perf_event_open(2) in it, or run "
			 "gotrace outside it");
	else if (error == ENOSYS)
		snprintf(text, size, "the kernel was built without it");
	else if (!may || capabilities)
		snprintf(text, size, "use sudo, or grant %s",
			 capabilities ? capabilities : "CAP_BPF and CAP_PERFMON (root before Linux 5.8)");
	else
		snprintf(text, size,
			 "a security module or a policy of the hypervisor refuses it: ask the administrator");
}

const struct feature *features_find_missing(const struct features *features, unsigned needs)
{
	for (unsigned i = 0; i < features->n; i++) {
		const struct feature *feature = &features->list[i];

		if (feature->state == FEATURE_MISSING && feature->needs & needs)
			return feature;
	}
	return NULL;
}

struct feature_line features_line(const struct feature *feature)
{
	struct feature_line line;

	snprintf(line.text, sizeof(line.text), "%s: %s%s%s%s%s", feature->name, feature->found,
		 feature->cost[0] ? "; " : "", feature->cost, feature->advice[0] ? "; " : "",
		 feature->advice);
	text_make_printable(line.text); /* paths of --btf and --layout */
	return line;
}

const char *features_state_name(enum feature_state state)
{
	static const char *const names[] = {"here", "replaced", "missing"};

	return names[state];
}
