/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace sites: lists the probe points of a process. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/layout_file.h"
#include "cli/options.h"
#include "cli/sites_functions.h"
#include "cli/with_inspector.h"
#include "sandbox/remote.h"
#include "target/target.h"
#include "util/message.h"

static const char *site_name(unsigned site)
{
	static const char *const names[] = {
		[SITE_PARK] = "park",
		[SITE_READY] = "ready",
		[SITE_UNBLOCK] = "unblock",
		[SITE_EXECUTE] = "execute",
		[SITE_GOSCHED] = "gosched",
		[SITE_GOYIELD] = "goyield",
		[SITE_PREEMPTPARK] = "preemptpark",
		[SITE_DESTROY] = "destroy",
		[SITE_NEWPROC] = "newproc",
		[SITE_CORO] = "coro",
		[SITE_SYS_ENTER] = "sys_enter",
		[SITE_SYS_EXIT] = "sys_exit",
		[SITE_SYSCALL_BLOCK] = "syscall_block",
		[SITE_CGO_ENTER] = "cgo_enter",
		[SITE_CGO_RETURN] = "cgo_return",
		[SITE_CGO_EXIT] = "cgo_exit",
		[SITE_EXIT_NO_P] = "exit_no_p",
		[SITE_NEEDM] = "needm",
		[SITE_DROPM] = "dropm",
		[SITE_ACQUIREP] = "acquirep",
		[SITE_RELEASEP] = "releasep",
		[SITE_STEALP] = "stealp",
		[SITE_HANDOFFP] = "handoffp",
		[SITE_GCWAIT] = "gcwait",
		[SITE_PROCRESIZE] = "procresize",
		[SITE_STW_BEGIN] = "stw_begin",
		[SITE_STW_END] = "stw_end",
		[SITE_GC_BEGIN] = "gc_begin",
		[SITE_GC_END] = "gc_end",
		[SITE_TASK_BEGIN] = "task_begin",
		[SITE_TASK_END] = "task_end",
		[SITE_REGION_BEGIN] = "region",
		[SITE_LOG] = "user_log",
		[SITE_LABELS] = "labels",
		[SITE_REGION_START] = "region_start",
		[SITE_REGION_STOP] = "region_stop",
		[SITE_HEAP_ALLOC] = "heap_alloc",
		[SITE_HEAP_GOAL] = "heap_goal",
		[SITE_SWEEP_BEGIN] = "sweep_begin",
		[SITE_SWEEP_END] = "sweep_end",
		[SITE_ASSIST_BEGIN] = "assist",
		[SITE_HEAP_RESET] = "heap_reset",
		[SITE_SWEEP_SPAN] = "sweep_span",
		[SITE_RECLAIM_CHUNK] = "reclaim_chunk",
		[SITE_ALLOC_SPAN] = "alloc_span",
		[SITE_ALLOC_SPAN_FREE] = "alloc_span_free",
		[SITE_ALLOC_STACK] = "alloc_stack",
		[SITE_ALLOC_STACK_FREE] = "alloc_stack_free",
	};

	if (site >= sizeof(names) / sizeof(names[0]) || !names[site])
		return "other";
	return names[site];
}

/* Prints "runtime.park_m+0xa push" without the instruction. */
static void print_probe(const struct probe *probe)
{
	printf("%.*s %s 0x%llx\n", (int)strcspn(probe->name, " "), probe->name, site_name(probe->site),
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

static int print_plan(struct sandbox *inspector, void *ctx, struct error *err)
{
	const struct sites_options *options = ctx;
	struct probe_plan plan = {.n = 0};
	struct target *target;
	int rc = layout_file_give(inspector, options->layout, err);

	if (rc == 0)
		rc = remote_target_open(inspector, options->pid, &target, err);
	if (rc && options->nfunctions)
		return print_functions(inspector, options, NULL, err);
	if (rc)
		return rc;
	layout_report(target, options->layout);
	if (options->nfunctions) {
		rc = print_functions(inspector, options, target, err);
		target_free(target);
		return rc;
	}
	rc = target_plan(target, &plan, err);
	for (unsigned i = 0; rc == 0 && i < plan.n; i++)
		print_probe(&plan.probes[i]);
	if (rc == 0 && plan.left_out[0])
		printf("# left out: %s\n", plan.left_out);
	target_free(target);
	return rc;
}

int command_sites(int argc, char **argv)
{
	struct sites_options options;
	struct error err;
	int status;

	status = options_sites(argc, argv, &options, &err);
	if (status)
		return options_end(status, "gotrace sites", &err);
	if (with_inspector(options.pid, print_plan, &options, &err)) {
		message_error(&err);
		return STATUS_NONE;
	}
	return STATUS_WHOLE;
}
