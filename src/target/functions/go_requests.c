/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/functions/go_functions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/functions/request_wants.h"
#include "target/function.h"
#include "target/requests.h"
#include "util/utf8.h"

enum { WORD = 8 };

/* A preset in this program. */
struct preset_plan {
	const struct request_preset *preset;
	uint32_t numbers[REQUEST_PROBES]; /* of its probes; 0: not wanted */
	bool all_values;
	struct request_point points[REQUEST_PROBES];
	int found[REQUEST_PROBES]; /* result of request_point_find(); 1: not for this release */
	struct error why[REQUEST_PROBES];
	unsigned begins, ends; /* number found */
};

struct request_planner {
	const struct target *target;
	struct function_plan *plan;
	struct request_names names;
	int fd;
	struct error *err;
};

/* --- the report --- */

__attribute__((format(printf, 2, 3))) static void report_append(struct function_plan *plan,
								const char *format, ...)
{
	size_t len = strlen(plan->report);
	va_list args;

	va_start(args, format);
	vsnprintf(plan->report + len, sizeof(plan->report) - len, format, args);
	va_end(args);
}

/* Reports why the preset is not traced: the reason of the last required probe that was not found. */
static void go_requests_report_left_out(struct function_plan *plan, const struct preset_plan *in)
{
	bool absent = true;
	const char *why = NULL;

	for (unsigned i = 0; in->preset->probes[i].function; i++) {
		if (in->found[i] == 0 || in->found[i] == 1 || in->preset->probes[i].part)
			continue;
		absent = absent && in->found[i] == -ESRCH;
		why = why ? why : in->why[i].text;
	}
	if (absent && !in->begins)
		report_append(plan, "-%s: not in the program\n", in->preset->title);
	else
		report_append(plan, "!%s: left out: %.*s\n", in->preset->title,
			      text_fit(why ? why : "not known for this release of Go", 150),
			      why ? why : "not known for this release of Go");
}

static bool is_same_part(const struct request_probe *one, const struct request_probe *two)
{
	return strcmp(one->part ? one->part : "", two->part ? two->part : "") == 0;
}

/*
 * Library versions differ: a probe that may be absent is missing only if the program has its function, and no
 * other probe of its part and site is found.
 */
static bool is_missing(const struct preset_plan *in, unsigned i)
{
	const struct request_probe *probe = &in->preset->probes[i], *other = in->preset->probes;

	if (in->found[i] >= 0 || !probe->may_be_absent)
		return in->found[i] < 0;
	for (unsigned k = 0; other[k].function; k++) {
		if (in->found[k] == 0 && other[k].site == probe->site && is_same_part(&other[k], probe))
			return false;
	}
	return in->found[i] != -ESRCH;
}

/* Reports a preset that is traced, and what is missing of it. */
static void report_traced(const struct request_planner *planner, const struct preset_plan *in)
{
	struct function_plan *plan = planner->plan;
	char missing[400] = "";
	size_t len = 0;

	for (unsigned i = 0; in->preset->probes[i].function && len < sizeof(missing); i++) {
		const struct request_probe *probe = &in->preset->probes[i];
		const char *host = request_inlined_in(&planner->names, probe->function);

		if (is_missing(in, i))
			len += (size_t)snprintf(missing + len, sizeof(missing) - len, "; %s%s: %.*s",
						probe->part ? "without " : "some probes are missing",
						probe->part ? probe->part : "",
						text_fit(in->why[i].text, 100), in->why[i].text);
		else if (in->found[i] == 0 && host &&
			 !(i && in->preset->probes[i - 1].function &&
			   strcmp(in->preset->probes[i - 1].function, probe->function) == 0))
			len += (size_t)snprintf(missing + len, sizeof(missing) - len,
						"; incomplete: %.*s is also inlined into %.*s",
						text_fit(probe->function, 80), probe->function,
						text_fit(host, 80), host);
	}
	report_append(plan, "%c%s: traced%s\n", *missing ? '!' : '+', in->preset->title, missing);
}

/* --- probes --- */

static void go_requests_put_label(const struct request_point *point, const char *role,
				  char label[VALUE_LABEL_MAX])
{
	if (strcmp(role, REQUEST_TYPE) == 0)
		snprintf(label, VALUE_LABEL_MAX, "%s=%08" PRIx32 ",%08" PRIx32, role, point->hashes[0],
			 point->hashes[1]);
	else
		snprintf(label, VALUE_LABEL_MAX, "%s", role);
}

static int add_values(struct request_planner *planner, const struct request_point *point, uint32_t number,
		      uint8_t site)
{
	struct function_values values = {.rules = point->rules, .number = number, .site = site};

	if (!point->rules.n)
		return 0;
	for (uint32_t i = 0; i < point->rules.n; i++)
		go_requests_put_label(point, point->roles[i], values.labels[i]);
	return function_plan_read(planner->plan, &values, planner->err);
}

static int go_requests_add_probe(struct request_planner *planner, const struct preset_plan *in, unsigned i)
{
	const struct request_point *point = &in->points[i];
	uint8_t site = in->preset->probes[i].site;
	uint64_t cookie = FUNCTION_COOKIE(in->numbers[i], point->distance / WORD, point->condition);
	int values = add_values(planner, point, in->numbers[i], site);
	uint64_t offset;

	if (values < 0)
		return values;
	if (!target_function_offset(planner->target, point->address, &offset))
		return error_set(planner->err, EBADMSG, "its code at 0x%llx is not in the file",
				 (unsigned long long)point->address);
	return function_plan_add(planner->plan, planner->fd, site, offset,
				 cookie | FUNCTION_READS((uint64_t)values), planner->err);
}

/* True if the part has ends and none was found: its requests would never end. */
static bool has_no_end(const struct preset_plan *in, const struct request_probe *begin)
{
	bool has_ends = false;

	for (unsigned i = 0; in->preset->probes[i].function; i++) {
		const struct request_probe *end = &in->preset->probes[i];

		if (end->site != SITE_REQUEST_END || !is_same_part(begin, end))
			continue;
		if (in->found[i] == 0)
			return false;
		has_ends = true;
	}
	return has_ends;
}

static bool begins_task(const struct request_probe *probe)
{
	static const char *const others[] = {REQUEST_PREPARED, REQUEST_ROWS, REQUEST_ROUTE, REQUEST_SUBROUTE};
	const char *role = probe->values[0].role;

	for (size_t i = 0; role && i < sizeof(others) / sizeof(others[0]); i++) {
		if (strcmp(role, others[i]) == 0)
			return false;
	}
	return probe->site == SITE_REQUEST_BEGIN;
}

static void count_points(struct preset_plan *in)
{
	for (unsigned i = 0; in->preset->probes[i].function; i++) {
		const struct request_probe *probe = &in->preset->probes[i];

		if (in->found[i] == 0 && begins_task(probe) && has_no_end(in, probe))
			in->found[i] = error_set(&in->why[i], ENOTSUP, "the end of %s is not known",
						 probe->function);
		in->begins += in->found[i] == 0 && begins_task(probe);
		in->ends += in->found[i] == 0 && probe->site == SITE_REQUEST_END;
	}
}

/* Whether an earlier probe of the same part was found. */
static bool is_replaced(const struct preset_plan *in, unsigned i)
{
	const struct request_probe *probes = in->preset->probes;

	for (unsigned k = 0; k < i && probes[i].alternative; k++) {
		if (in->found[k] == 0 && is_same_part(&probes[k], &probes[i]))
			return true;
	}
	return false;
}

static void find_points(struct request_planner *planner, struct preset_plan *in)
{
	for (unsigned i = 0; in->preset->probes[i].function; i++) {
		const struct request_probe *probe = &in->preset->probes[i];

		in->found[i] = 1;
		if (!in->numbers[i] || !request_probe_is_for(planner->target, probe) || is_replaced(in, i))
			continue;
		in->found[i] = request_point_find(planner->target, probe, &planner->names, in->all_values,
						  &in->points[i], &in->why[i]);
	}
	count_points(in);
}

static int plan_preset(struct request_planner *planner, struct preset_plan *in)
{
	int rc = 0;

	find_points(planner, in);
	if (!in->begins || !in->ends) {
		go_requests_report_left_out(planner->plan, in);
		return 0;
	}
	report_traced(planner, in);
	for (unsigned i = 0; rc == 0 && in->preset->probes[i].function; i++) {
		if (in->found[i] == 0)
			rc = go_requests_add_probe(planner, in, i);
	}
	return rc;
}

/* Collects the numbers of a preset's probes. False if it is not wanted. */
static bool go_requests_is_wanted(const struct function_plan *plan, const struct request_preset *preset,
				  struct preset_plan *in)
{
	bool any = false;

	*in = (struct preset_plan){.preset = preset};
	for (uint32_t i = 0; i < plan->nwanted; i++) {
		const struct request_preset *of;
		const struct request_probe *probe = request_wanted(&plan->wanted[i], &of, &in->all_values);

		if (!probe || of != preset)
			continue;
		in->numbers[probe - preset->probes] = i + 1;
		any = true;
	}
	return any;
}

int go_requests_plan(const struct target *target, struct function_plan *plan, int fd, struct error *err)
{
	struct request_planner planner = {.target = target, .plan = plan, .fd = fd, .err = err};
	struct preset_plan *in = malloc(sizeof(*in));
	int rc = in ? request_names_find(target, &planner.names) : -ENOMEM;

	for (unsigned i = 0; rc == 0 && i < request_preset_count; i++) {
		if (go_requests_is_wanted(plan, &request_presets[i], in))
			rc = plan_preset(&planner, in);
	}
	request_names_free(&planner.names);
	free(in);
	return rc == -ENOMEM ? error_set(err, ENOMEM, "out of memory") : rc;
}
