/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace ps: lists the goroutines of a process from its memory, without attaching to it. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/layout_file.h"
#include "cli/options.h"
#include "cli/with_inspector.h"
#include "analysis/goroutines/print.h"
#include "sandbox/remote.h"
#include "target/target.h"
#include "util/clock.h"
#include "util/message.h"
#include "util/utf8.h"

struct ps {
	const struct ps_options *options;
	struct g_listing listings[2];
	unsigned nlistings;
	struct log_record tables[1 + MAX_PLUGINS]; /* copies: of the executable and of its plugins */
	unsigned ntables;
};

static int take_listing(const struct target *target, uint32_t most, struct g_listing *listing,
			struct error *err)
{
	static const uint32_t no_markers[2];
	struct target_snapshot *snapshot = NULL;
	int rc = target_log_info(target, 0, listing_put, listing, err);

	if (rc == 0)
		rc = target_snapshot_begin_detailed(target, most, listing_put, listing, &snapshot, err);
	if (rc)
		return rc;
	do
		rc = target_snapshot_read(snapshot, err);
	while (rc > 0);
	if (rc == 0 && target_snapshot_put(snapshot, no_markers))
		rc = error_set(err, EIO, "PID %d: cannot read its goroutines", (int)target->pid);
	target_snapshot_free(snapshot);
	if (rc == 0 && !listing_is_whole(listing))
		rc = error_set(err, EBADMSG, "PID %d: cannot read its goroutines", (int)target->pid);
	return rc;
}

/* The target owns the table and is freed before names are looked up. */
static int copy_table(struct ps *ps, const struct log_record *record)
{
	void *bytes = malloc(record->size);

	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, record->data, record->size);
	ps->tables[ps->ntables++] =
		(struct log_record){.type = record->type, .size = record->size, .data = bytes};
	return 0;
}

static void ps_report_plugin(struct error *err)
{
	text_make_printable(err->text);
	message("stacks will show addresses instead of names in a plugin: %s", err->text);
}

/* nplugins: a negative errno if they could not be found. */
static int copy_tables(struct target *target, int nplugins, struct ps *ps)
{
	struct log_record record;
	struct error err = {""};
	int rc;

	if (target_functab(target, &record, &err)) {
		message("stacks will show addresses instead of names: %s", err.text);
		return 0;
	}
	rc = copy_table(ps, &record);
	for (int i = 0; rc == 0 && i < nplugins; i++) {
		if (target_plugin_functab(target, (unsigned)i, &record, &err) == 0)
			rc = copy_table(ps, &record);
		else
			ps_report_plugin(&err);
	}
	return rc;
}

static void wait_ns(uint64_t ns)
{
	struct timespec left = {.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

static int find_plugins(struct target *target)
{
	struct error err = {""};
	int n = target_plugins(target, &err);

	if (n < 0)
		ps_report_plugin(&err);
	return n == -E2BIG ? MAX_PLUGINS : n;
}

static int read_target(struct target *target, const struct ps_options *options, struct ps *ps,
		       struct error *err)
{
	/* What their functions wait for is found in their code, too. */
	int nplugins = find_plugins(target);
	int rc = take_listing(target, options->most, &ps->listings[0], err);

	ps->nlistings = 1;
	if (rc == 0 && options->between_ns) {
		wait_ns(options->between_ns);
		rc = take_listing(target, options->most, &ps->listings[1], err);
		ps->nlistings = 2;
	}
	if (rc == 0 && copy_tables(target, nplugins, ps))
		rc = error_set(err, ENOMEM, "out of memory");
	return rc;
}

static int read_process(struct sandbox *inspector, void *ctx, struct error *err)
{
	struct ps *ps = ctx;
	const struct ps_options *options = ps->options;
	struct target *target;
	int rc = remote_target_open(inspector, options->pid, &target, err);

	if (rc == -ENOEXEC)
		return error_set(err, ENOEXEC, "PID %d is not a Go program: ps shows goroutines",
				 (int)options->pid);
	if (rc)
		return rc;
	layout_report(target, options->layout);
	rc = read_target(target, options, ps, err);
	target_free(target);
	return rc;
}

static int ps_print(const struct ps_options *options, const struct ps *ps, struct error *err)
{
	const struct groups_options how = {
		.by = options->by_label    ? BY_LABEL
		      : options->by_labels ? BY_LABELS
					   : BY_STACK,
		.label = options->by_label,
		.all = options->all,
	};
	const struct g_listing *now = &ps->listings[ps->nlistings - 1];
	struct groups groups;
	int rc = groups_make(&groups, ps->nlistings > 1 ? &ps->listings[0] : NULL, now, ps->tables,
			     ps->ntables, &how);

	if (rc)
		rc = error_set(err, -rc, "out of memory");
	else if (options->json)
		groups_print_json(&groups, stdout);
	else
		groups_print_text(&groups, stdout, options->all);
	if (rc == 0 && (fflush(stdout) || ferror(stdout)))
		rc = error_set(err, EIO, "cannot write to standard output");
	if (rc == 0 && (now->head.left_out || groups.labels_lost))
		rc = 1;
	groups_free(&groups);
	return rc;
}

static int ps_show(const struct ps_options *options, struct error *err)
{
	struct ps ps = {.options = options};
	const struct inspector_job job = {
		.pid = options->pid, .layout = options->layout, .work = read_process, .ctx = &ps};
	int rc = with_inspector(&job, err);

	if (rc == 0)
		rc = ps_print(options, &ps, err);
	listing_free(&ps.listings[0]);
	listing_free(&ps.listings[1]);
	for (unsigned i = 0; i < ps.ntables; i++)
		free((void *)(uintptr_t)ps.tables[i].data);
	return rc;
}

int command_ps(int argc, char **argv)
{
	struct ps_options options;
	struct error err = {""};
	int rc;

	rc = options_ps(argc, argv, &options, &err);
	if (rc)
		return options_end(rc, "gotrace ps", &err);
	rc = ps_show(&options, &err);
	if (rc < 0)
		message_error(&err);
	return rc < 0 ? STATUS_NONE : rc ? STATUS_CUT : STATUS_WHOLE;
}
