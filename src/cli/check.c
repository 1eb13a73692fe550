/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace check: validates a trace and summarizes its contents. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/input.h"
#include "cli/options.h"
#include "workers/summary/table.h"
#include "sandbox/sandbox.h"
#include "util/json.h"
#include "util/message.h"
#include "util/text.h"
#include "trace/wire/wire.h"

struct checked {
	const struct check_options *options;
	struct input in;
	struct wire_report *report;
	bool valid, repaired;
};

/* Formats before Go 1.22 have no generations: the file is valid as a whole or not at all. */
static bool is_v1(const struct wire_report *report)
{
	return report->version && report->version < WIRE_GO122;
}

static int repair(struct checked *checked, struct error *err)
{
	const struct wire_report *report = checked->report;
	const char *path = checked->options->input;

	if (checked->valid)
		return 0;
	if (report->generations == 0)
		return error_set(err, EBADMSG, "%s has no %s to keep; it was not changed", path,
				 is_v1(report) ? "valid beginning" : "whole generation");
	if (ftruncate(checked->in.fd, (off_t)report->valid_bytes))
		return error_set(err, errno, "cannot cut %s: %s", path, strerror(errno));
	checked->repaired = true;
	return 0;
}

static void print_fault(const struct checked *checked)
{
	const struct wire_report *report = checked->report;

	if (checked->valid)
		return;
	printf("fault at byte %llu: %s\n", (unsigned long long)report->error_offset, report->error.text);
	if (report->generations == 0)
		return;
	printf("valid up to byte %llu of %llu%s\n", (unsigned long long)report->valid_bytes,
	       (unsigned long long)report->total_bytes,
	       checked->repaired ? "; cut there" : " (--repair cuts there)");
	/* Format 1.26 marks the end of each generation. In older formats, the next generation ends it. */
	if (checked->repaired && report->version < WIRE_GO126 && !is_v1(report))
		printf("this format does not mark the end of a generation: the cut is after the last whole "
		       "one\n");
}

static void print_events(const struct wire_report *report)
{
	for (unsigned type = 0; type < 256; type++) {
		if (report->events[type] == 0)
			continue;
		printf("  %14s  %s\n", text_count(report->events[type]).bytes,
		       wire_report_event(report, type));
	}
}

static void format_name(const struct wire_report *report, char name[16])
{
	if (report->version == WIRE_V0)
		strcpy(name, "v0");
	else
		snprintf(name, 16, "1.%u", report->version);
}

static void print_format(const struct wire_report *report)
{
	char name[16];

	if (!report->version)
		return;
	format_name(report, name);
	printf("format %s%s, %s, ", report->version == WIRE_V0 ? "" : "go ", name,
	       text_bytes(report->total_bytes).bytes);
	if (!is_v1(report))
		printf("%s generations, ", text_count(report->generations).bytes);
	printf("%s\n", text_time(report->last_ns - report->first_ns).bytes);
}

static void print_report(const struct checked *checked)
{
	const struct wire_report *report = checked->report;
	const char *verdict = checked->valid        ? "valid"
			      : report->generations ? "valid up to a point"
						    : "not valid";

	printf("%s: %s\n", text_path(checked->options->input).bytes, verdict);
	print_format(report);
	print_fault(checked);
	if (report->generations == 0)
		return;
	printf("%s goroutines, %s Ps, %s threads; events:\n", text_count(report->goroutines).bytes,
	       text_count(report->procs).bytes, text_count(report->threads).bytes);
	print_events(report);
}

static void put_events(struct json *json, const struct wire_report *report)
{
	json_open(json, "events", '{');
	for (unsigned type = 0; type < 256; type++) {
		if (report->events[type] > 0)
			json_number(json, wire_report_event(report, type), report->events[type]);
	}
	json_close(json, '}');
}

static void check_print_json(const struct checked *checked)
{
	const struct wire_report *report = checked->report;
	struct json json = {.out = stdout};
	char format[16];

	format_name(report, format);
	json_open(&json, NULL, '{');
	json_text(&json, "file", checked->options->input);
	json_bool(&json, "valid", checked->valid);
	json_bool(&json, "repaired", checked->repaired);
	json_text(&json, "format", report->version ? format : NULL);
	json_number(&json, "generations", report->generations);
	json_number(&json, "bytes", report->total_bytes);
	json_number(&json, "valid_bytes", report->valid_bytes);
	json_text(&json, "error", checked->valid ? NULL : report->error.text);
	if (!checked->valid)
		json_number(&json, "error_offset", report->error_offset);
	json_number(&json, "first_ns", report->first_ns);
	json_number(&json, "last_ns", report->last_ns);
	json_number(&json, "goroutines", report->goroutines);
	json_number(&json, "procs", report->procs);
	json_number(&json, "threads", report->threads);
	put_events(&json, report);
	json_close(&json, '}');
	putchar('\n');
}

static int check_status_of(const struct checked *checked)
{
	if (checked->valid)
		return STATUS_WHOLE;
	return checked->report->generations > 0 ? STATUS_CUT : STATUS_NONE;
}

static int check(struct checked *checked, struct error *err)
{
	int rc = sandbox_confine(err), failed = 0;

	if (!rc)
		rc = input_begin_trace(&checked->in, err);
	if (rc)
		return rc;
	checked->valid = wire_check(checked->in.bytes, checked->in.size, checked->report) == 0;
	if (checked->options->repair)
		failed = repair(checked, err);
	if (checked->options->json)
		check_print_json(checked);
	else
		print_report(checked);
	if (fflush(stdout) || ferror(stdout))
		return error_set(err, EIO, "cannot write the result: %s", strerror(errno));
	return failed ? failed : check_status_of(checked);
}

int command_check(int argc, char **argv)
{
	struct check_options options;
	struct checked checked = {.options = &options};
	struct error err;
	int status;

	status = options_check(argc, argv, &options, &err);
	if (status)
		return options_end(status, "gotrace check", &err);
	checked.report = calloc(1, sizeof(*checked.report));
	status = checked.report ? input_open(&checked.in, options.input, options.repair, &err)
				: error_set(&err, ENOMEM, "out of memory");
	if (status == 0) {
		status = check(&checked, &err);
		input_close(&checked.in);
	}
	free(checked.report);
	if (status >= 0)
		return status;
	message_error(&err);
	return STATUS_NONE;
}
