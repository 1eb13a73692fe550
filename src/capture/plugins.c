/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/plugins.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/gotrace.skel.h"
#include "capture/backend.h"
#include "capture/bpf_go.h"
#include "capture/snapshot.h"
#include "capture/probe_set.h"
#include "util/utf8.h"

static void plugin_report(const struct capture *capture, const char *text)
{
	const struct plugin_outlet *outlet = &capture->options.plugins;

	if (outlet->report)
		outlet->report(outlet->ctx, text);
}

/* Why code of plugins is not probed; for the log, where only the first reason is kept until it is noted. */
static void miss(struct capture *capture, const struct error *why)
{
	struct plugin_set *set = &capture->plugins;

	plugin_report(capture, why->text);
	if (set->missing[0])
		return;
	snprintf(set->missing, sizeof(set->missing), "a plugin's code is not observed: %.*s",
		 text_fit(why->text, 400), why->text);
	text_make_printable(set->missing);
}

/* What depends on the executable's plan is left out if the executable has none of it. */
static void plugin_plan_fit(const struct probe_plan *plan, struct probe_plan *own)
{
	if (!plan->g_labels)
		target_plan_drop(own, SITE_LABELS);
}

static int plugin_add(struct capture *capture, unsigned i, struct error *err)
{
	const struct capture_options *options = &capture->options;
	struct target_plugin *plugin = calloc(1, sizeof(*plugin));
	int rc;

	if (!plugin)
		return error_set(err, ENOMEM, "out of memory");
	rc = target_plugin_read(options->target, i, options->plan, plugin, err);
	if (rc) {
		free(plugin);
		return rc;
	}
	plugin_plan_fit(options->plan, &plugin->plan);
	capture->plugins.all[i] = plugin;
	return 0;
}

/*
 * Adds the plugins that are new in the list. Each is numbered as in the target, whether or not it can be
 * probed.
 */
static int plugins_look_up(struct capture *capture, struct error *err)
{
	struct plugin_set *set = &capture->plugins;
	struct error why = {""};
	int n;

	if (!set->is_possible || !capture->options.target->pid)
		return 0;
	set->opened = lease_plugins(&capture->control.lease);
	n = target_plugins(capture->options.target, &why);
	if (n == -ESRCH) {
		*err = why;
		return n;
	}
	if (n < 0) {
		/* The list grows only: this would fail again each time. */
		if (!set->is_unreadable)
			miss(capture, &why);
		set->is_unreadable = true;
		if (n != -E2BIG)
			return 0;
		n = MAX_PLUGINS;
	}
	for (; set->n < (unsigned)n; set->n++) {
		int rc = plugin_add(capture, set->n, &why);

		if (rc == -ESRCH) {
			*err = why;
			return rc;
		}
		if (rc)
			miss(capture, &why);
	}
	return 0;
}

void plugins_find(struct capture *capture)
{
	struct error err = {""};

	capture->plugins.is_possible = target_may_have_plugins(capture->options.target);
	plugins_look_up(capture, &err);
}

static void pass_places(struct capture *capture)
{
	struct gotrace_bpf *skeleton = capture->bpf.skeleton;
	const struct plugin_set *set = &capture->plugins;
	uint32_t n = 0;

	for (unsigned i = 0; i < set->n; i++) {
		if (set->all[i])
			memcpy((void *)&skeleton->bss->plugins[n++], &set->all[i]->places,
			       sizeof(set->all[i]->places));
	}
	skeleton->bss->plugin_count = n;
}

int plugins_update(struct capture *capture, struct error *err)
{
	struct plugin_set *set = &capture->plugins;
	int rc = plugins_look_up(capture, err);

	pass_places(capture);
	for (; rc == 0 && set->attached < set->n; set->attached++) {
		const struct target_plugin *plugin = set->all[set->attached];
		struct error why = {""};

		if (plugin && probe_set_attach_plugin(capture, plugin, &why))
			miss(capture, &why);
		else if (plugin)
			capture->stats.probes += plugin->plan.n;
	}
	return rc;
}

static int put_names(struct capture *capture, unsigned i)
{
	const struct plugin_outlet *outlet = &capture->options.plugins;
	struct log_record record;
	struct error err = {""};
	char text[sizeof(err.text) + 80];

	if (!outlet->put_functab)
		return 0;
	if (target_plugin_functab(capture->options.target, i, &record, &err) == 0)
		return outlet->put_functab(outlet->ctx, &record);
	/* If its file could not be read, that has been reported. */
	if (!capture->plugins.all[i])
		return 0;
	snprintf(text, sizeof(text), "stacks will show addresses instead of names in a plugin: %s", err.text);
	plugin_report(capture, text);
	return 0;
}

int plugins_log(struct capture *capture)
{
	struct plugin_set *set = &capture->plugins;
	int rc = 0;

	for (; rc == 0 && set->named < set->n; set->named++)
		rc = put_names(capture, set->named);
	if (rc || !set->missing[0] || capture->gap.state != GAP_NONE)
		return rc;
	rc = note_put(capture, LOG_NOTE_INCOMPLETE | capture->backend->note_flags(capture), set->missing);
	set->missing[0] = '\0';
	return rc;
}

void plugins_close(struct capture *capture)
{
	struct plugin_set *set = &capture->plugins;

	for (unsigned i = 0; i < set->n; i++) {
		if (set->all[i])
			close(set->all[i]->fd);
		free(set->all[i]);
	}
	set->n = 0;
}
