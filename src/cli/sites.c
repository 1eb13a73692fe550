/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace sites: lists the probe points of a process. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/layout_file.h"
#include "cli/options.h"
#include "cli/sites_functions.h"
#include "cli/with_inspector.h"
#include "sandbox/remote.h"
#include "target/target.h"
#include "util/message.h"
#include "util/utf8.h"

/* The names of the sites are those of their programs. */
static const char *const names[UINT8_MAX + 1] = {
#define PROGRAM(name)                                            #name
#define SITE(name, number, program, go_handler, threads_handler) [SITE_##name] = program,
#include "bpf/site_list.h"
#undef SITE
#undef PROGRAM
};

/* Prints "runtime.park_m+0xa push" without the instruction. */
static void print_probe(const struct probe *probe)
{
	const char *name = names[probe->site] ? names[probe->site] : "other";

	printf("%.*s %s 0x%llx\n", (int)strcspn(probe->name, " "), probe->name, name,
	       (unsigned long long)probe->file_offset);
}

/* target: NULL if the process cannot be traced as a Go program. */
static int print_functions(struct sandbox *inspector, const struct sites_options *options,
			   const struct target *target, struct error *err)
{
	struct function_plan plan;
	int rc = remote_functions_plan(inspector, target ? 0 : options->pid, "", options->functions,
				       options->nfunctions, &plan, err);

	if (rc)
		return rc;
	sites_functions_print(&plan);
	functions_free(&plan);
	return 0;
}

/* target: NULL if the process cannot be traced as a Go program. */
static int sites_print_names(struct sandbox *inspector, const struct sites_options *options,
			     const struct target *target, struct error *err)
{
	struct function_list list = {.prefix = options->list};
	int rc = remote_functions_list(inspector, target ? 0 : options->pid, &list, err);

	if (rc == 0 && sites_names_print(&list))
		rc = error_set(err, ENOMEM, "out of memory");
	if (rc == 0 && list.cut)
		printf("# there are more: give a longer prefix\n");
	function_list_free(&list);
	return rc;
}

static void sites_print_probes(const struct probe_plan *plan)
{
	for (unsigned i = 0; i < plan->n; i++)
		print_probe(&plan->probes[i]);
	if (plan->left_out[0])
		printf("# left out: %s\n", plan->left_out);
}

/* Offsets are those of the plugin's file. */
static int print_plugins(struct target *target, const struct probe_plan *plan, struct error *err)
{
	struct target_plugin *plugin = malloc(sizeof(*plugin));
	struct error some = {""};
	int n = target_plugins(target, &some);

	if (!plugin)
		n = error_set(&some, ENOMEM, "out of memory");
	if (n < 0 && n != -E2BIG)
		*err = some;
	if (n == -E2BIG) {
		text_make_printable(some.text);
		printf("# plugins left out: %s\n", some.text);
		n = MAX_PLUGINS;
	}
	for (int i = 0; i < n; i++) {
		struct error why = {""};

		if (target_plugin_read(target, (unsigned)i, plan, plugin, &why)) {
			text_make_printable(why.text);
			printf("# plugin left out: %s\n", why.text);
			continue;
		}
		printf("# plugin %s\n", plugin->name);
		sites_print_probes(&plugin->plan);
		close(plugin->fd);
	}
	free(plugin);
	return n < 0 ? n : 0;
}

static int print_sites(struct target *target, struct error *err)
{
	struct probe_plan plan = {.n = 0};
	int rc = target_plan(target, &plan, err);

	if (rc)
		return rc;
	sites_print_probes(&plan);
	return print_plugins(target, &plan, err);
}

static int print_plan(struct sandbox *inspector, void *ctx, struct error *err)
{
	const struct sites_options *options = ctx;
	struct target *target;
	int rc = remote_target_open(inspector, options->pid, &target, err);

	if (rc) {
		if (options->list)
			return sites_print_names(inspector, options, NULL, err);
		return options->nfunctions ? print_functions(inspector, options, NULL, err) : rc;
	}
	layout_report(target, options->layout);
	if (options->list)
		rc = sites_print_names(inspector, options, target, err);
	else if (options->nfunctions)
		rc = print_functions(inspector, options, target, err);
	else
		rc = print_sites(target, err);
	target_free(target);
	return rc;
}

int command_sites(int argc, char **argv)
{
	struct sites_options options;
	struct inspector_job job = {.work = print_plan, .ctx = &options};
	struct error err;
	int status;

	status = options_sites(argc, argv, &options, &err);
	if (status)
		return options_end(status, "gotrace sites", &err);
	job.pid = options.pid;
	job.layout = options.layout;
	if (with_inspector(&job, &err)) {
		message_error(&err);
		return STATUS_NONE;
	}
	return STATUS_WHOLE;
}
