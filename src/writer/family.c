/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "writer/family.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "native/shared_names.h"
#include "rawlog/split.h"
#include "util/map64.h"
#include "writer/family_report.h"

/* A process that is being traced. */
struct member {
	struct family *family;
	struct pipeline *pipe;
	struct shared_names *names;
	struct output trace, raw;
	pid_t pid;
	char comm[16], exe[256]; /* of the program that it runs now */
	struct progress counted; /* of it, in the family's */
};

struct family {
	struct family_options options;
	struct split *split;
	struct output trace, raw; /* of the first process, until it begins */
	pid_t first;
	struct map64 used;       /* pids that had a trace -> how many */
	struct map64 told;       /* about debug files */
	struct family_rows rows; /* of those that have ended */
	struct error error;
	_Atomic uint64_t written, expected;
};

/* --- files --- */

static int open_files(struct family *family, pid_t pid, struct output *trace, struct output *raw,
		      struct error *err)
{
	struct channel *clerk = family->options.clerk;
	const uint32_t *before = map64_get(&family->used, (uint64_t)pid);
	uint32_t times = before ? *before + 1 : 1;
	int rc;

	output_init(raw);
	rc = clerk_open(clerk, CLERK_TRACE, pid, times, trace, err);
	if (rc == 0 && family->options.raw)
		rc = clerk_open(clerk, CLERK_RAW, pid, times, raw, err);
	if (rc == 0 && map64_set(&family->used, (uint64_t)pid, times))
		rc = error_set(err, ENOMEM, "out of memory");
	if (rc) {
		output_discard(trace);
		output_discard(raw);
		output_init(trace);
		output_init(raw);
	}
	return rc;
}

int family_open_first(struct family *family, pid_t pid, struct error *err)
{
	family->first = pid;
	return open_files(family, pid, &family->trace, &family->raw, err);
}

/* The first process's files were opened before. */
static int take_files(struct member *member, struct error *err)
{
	struct family *family = member->family;
	int rc = 0;

	if (family->first == member->pid) {
		family->first = 0;
		member->trace = family->trace;
		member->raw = family->raw;
		output_init(&family->trace);
		output_init(&family->raw);
	} else {
		rc = open_files(family, member->pid, &member->trace, &member->raw, err);
	}
	if (rc == 0)
		rc = output_publish(&member->trace, err);
	if (rc == 0 && family->options.raw)
		rc = output_publish(&member->raw, err);
	return rc;
}

/* --- a member's log --- */

static void count_progress(struct member *member)
{
	struct progress now = pipeline_progress(member->pipe);
	struct family *family = member->family;

	family->written += now.written - member->counted.written;
	family->expected += now.expected - member->counted.expected;
	member->counted = now;
}

/* What the process is called changes with its program. */
static void note_name(struct member *member, const struct raw_text *text)
{
	size_t len = text->len < sizeof(member->comm) ? text->len : sizeof(member->comm) - 1;

	if (text->record.site != SITE_COMM || text->record.tid != (uint32_t)member->pid)
		return;
	memcpy(member->comm, text->text, len);
	member->comm[len] = '\0';
}

/* Keeps what was known if it has ended by now. */
static void note_exe(struct member *member)
{
	char link[64], path[sizeof(member->exe)];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)member->pid);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return;
	memcpy(member->exe, path, (size_t)n);
	member->exe[n] = '\0';
}

static void note_records(struct member *member, const struct log_record *record)
{
	const struct raw_record *records = record->data;

	for (size_t i = 0; i < record->size / sizeof(*records); i++) {
		if (records[i].site == SITE_EXEC)
			note_exe(member);
	}
}

/* What the names hand on. */
static int put_named(void *ctx, const struct log_record *record)
{
	struct member *member = ctx;
	int rc = pipeline_put(member->pipe, record);

	count_progress(member);
	return rc;
}

static int put_member(void *stream, const struct log_record *record)
{
	struct member *member = stream;

	if (record->type == LOG_TEXT)
		note_name(member, record->data);
	if (record->type == LOG_RECORDS)
		note_records(member, record);
	return shared_names_put(member->names, record);
}

/* --- members come and go --- */

static void free_member(struct member *member)
{
	struct family *family = member->family;

	if (!family->error.text[0] && member->pipe) {
		const struct error *trace = pipeline_trace_error(member->pipe);

		family->error = trace->text[0] ? *trace : *pipeline_raw_error(member->pipe);
	}
	shared_names_free(member->names);
	pipeline_free(member->pipe);
	free(member);
}

static int open_member(struct member *member, const struct member *parent, struct error *err)
{
	struct pipeline_options wanted = {.trace = &member->trace, .format = member->family->options.format};
	int rc = take_files(member, err);

	if (rc)
		return rc;
	if (member->family->options.raw)
		wanted.raw = &member->raw;
	member->pipe = pipeline_new(&wanted);
	member->names = shared_names_new(member->pid, put_named, member, parent ? parent->names : NULL,
					 &member->family->told);
	return member->pipe && member->names ? 0 : error_set(err, ENOMEM, "out of memory");
}

static void describe(struct member *member, struct log_target *target, const struct member *parent)
{
	if (parent)
		memcpy(member->exe, parent->exe, sizeof(member->exe));
	if (target->exe[0])
		memcpy(member->exe, target->exe, sizeof(member->exe));
	else
		note_exe(member);
	if (!target->comm[0] && parent)
		memcpy(target->comm, parent->comm, sizeof(target->comm));
	memcpy(member->comm, target->comm, sizeof(member->comm));
	memcpy(target->exe, member->exe, sizeof(target->exe));
}

/* The first failure is told; a process without files is counted among those that were left out. */
static void *begin_member(void *ctx, struct log_target *target, void *parent)
{
	struct family *family = ctx;
	struct member *member = calloc(1, sizeof(*member));
	struct error err = {""};

	if (!member)
		return NULL;
	member->family = family;
	member->pid = (pid_t)target->pid;
	output_init(&member->trace);
	output_init(&member->raw);
	describe(member, target, parent);
	if (open_member(member, parent, &err) == 0)
		return member;
	output_discard(&member->trace);
	output_discard(&member->raw);
	if (!family->error.text[0])
		family->error = err;
	free_member(member);
	return NULL;
}

static void end_member(void *stream)
{
	struct member *member = stream;
	struct family *family = member->family;
	struct ended ended = {.pipe = member->pipe,
			      .trace = &member->trace,
			      .raw = family->options.raw ? &member->raw : NULL,
			      .comm = member->comm,
			      .exe = member->exe,
			      .json = family->options.json};

	pipeline_finish(member->pipe);
	count_progress(member);
	family_rows_add(&family->rows, &ended);
	free_member(member);
}

/* --- all of them --- */

struct family *family_new(const struct family_options *options)
{
	struct family *family = calloc(1, sizeof(*family));
	struct split_options wanted = {
		.begin = begin_member, .put = put_member, .end = end_member, .ctx = family};

	if (!family)
		return NULL;
	family->options = *options;
	output_init(&family->trace);
	output_init(&family->raw);
	family->split = split_new(&wanted);
	if (!family->split) {
		free(family);
		return NULL;
	}
	return family;
}

int family_put(void *ctx, const struct log_record *record)
{
	struct family *family = ctx;

	return split_put(family->split, record);
}

struct progress family_progress(struct family *family)
{
	return (struct progress){.written = family->written, .expected = family->expected};
}

const struct error *family_error(const struct family *family)
{
	return &family->error;
}

void family_finish(struct family *family)
{
	family->rows.left_out = split_left_out(family->split);
	split_free(family->split);
	family->split = NULL;
}

int family_report(struct family *family, const struct family_report *report)
{
	return family_rows_report(&family->rows, report, family->options.json);
}

void family_discard(struct family *family)
{
	output_discard(&family->trace);
	output_discard(&family->raw);
}

void family_free(struct family *family)
{
	if (!family)
		return;
	if (family->split)
		split_free(family->split);
	family_rows_free(&family->rows);
	map64_free(&family->used);
	map64_free(&family->told);
	free(family);
}
