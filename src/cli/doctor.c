/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace doctor: checks this machine for the features that tracing needs. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "capture/features.h"
#include "cli/layout_file.h"
#include "cli/options.h"
#include "cli/with_inspector.h"
#include "target/functions/request_wants.h"
#include "sandbox/remote.h"
#include "target/process.h"
#include "target/target.h"
#include "util/json.h"
#include "util/message.h"
#include "util/text.h"

/* The process to examine. */
struct doctor_process {
	pid_t pid;          /* 0 = none */
	const char *layout; /* of --layout; NULL = none */
	bool go;            /* a Go program; false: traced as threads */
	struct error fault; /* why it cannot be traced; "" = it can */
	char requests[sizeof(((struct function_plan *)0)->report)]; /* as function_plan.report */
};

/* Finds what --requests=auto would trace. A failure is ignored: the program can be traced regardless. */
static void find_requests(struct sandbox *inspector, struct doctor_process *process)
{
	static struct function_want wanted[MAX_FUNCTIONS];
	static struct request_wants wants;
	struct function_plan functions;
	struct error why;
	unsigned n = 0;

	if (request_wants_add(&wants, "auto", false, wanted, &n, &why) ||
	    remote_functions_plan(inspector, 0, "", wanted, n, &functions, &why))
		return;
	memcpy(process->requests, functions.report, sizeof(process->requests));
	functions_free(&functions);
}

static int doctor_open_program(struct sandbox *inspector, void *ctx, struct error *err)
{
	struct doctor_process *process = ctx;
	struct probe_plan plan = {.n = 0};
	struct target *target;
	int rc = remote_target_open(inspector, process->pid, &target, err);

	process->go = rc != -ENOEXEC;
	if (rc == -ENOEXEC && process->layout)
		return error_set(err, EINVAL,
				 "--layout is for Go programs: this process is traced as threads");
	if (rc)
		return process->go ? rc : 0;
	if (process->layout)
		layout_report(target, process->layout);
	rc = target_plan(target, &plan, err);
	if (rc == 0)
		find_requests(inspector, process);
	target_free(target);
	return rc;
}

/* Does what a trace does before it attaches: finds the process, its kind and its probe points. */
static void examine(struct doctor_process *process)
{
	const struct inspector_job job = {
		.pid = process->pid, .layout = process->layout, .work = doctor_open_program, .ctx = process};
	int rc = process_check("/proc", process->pid, &process->fault);

	if (rc == 0)
		rc = features_check_target("", process->pid, &process->fault);
	if (rc == 0 && with_inspector(&job, &process->fault) == 0)
		process->fault.text[0] = '\0';
}

static const char *mark(const struct feature *feature)
{
	static const char *const marks[] = {
		[FEATURE_AVAILABLE] = "ok  ", [FEATURE_REPLACED] = "less", [FEATURE_MISSING] = "NO  "};

	return marks[feature->state];
}

static void print_requests(const struct doctor_process *process)
{
	char text[sizeof(process->requests)], *save = NULL;

	memcpy(text, process->requests, sizeof(text));
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		text_make_printable(line);
		printf("%s --requests: %s\n",
		       *line == '+'   ? "ok  "
		       : *line == '!' ? "less"
				      : "--  ",
		       line + 1);
	}
}

static const char *of_others(bool go, bool c)
{
	if (go == c)
		return go ? "and programs in C and C++" : "nor can programs in C and C++";
	return c ? "programs in C and C++ can" : "programs in C and C++ cannot";
}

static void print_lines(const struct features *features, const struct doctor_process *process, bool go,
			bool c)
{
	for (unsigned i = 0; i < features->n; i++)
		printf("%s %s\n", mark(&features->list[i]), features_line(&features->list[i]).text);
	if (process->fault.text[0])
		printf("NO   process %d: %s\n", (int)process->pid, process->fault.text);
	else if (process->pid)
		printf("ok   process %d: %s\n", (int)process->pid,
		       process->go ? "a Go program" : "not a Go program: its threads can be traced");
	print_requests(process);
	printf("Go programs %s be traced here, %s.\n", go ? "can" : "cannot", of_others(go, c));
}

static void json_or_null(struct json *json, const char *name, const char *text)
{
	json_text(json, name, text[0] ? text : NULL);
}

static void print_feature(struct json *json, const struct feature *feature)
{
	json_open(json, NULL, '{');
	json_text(json, "name", feature->name);
	json_text(json, "state", features_state_name(feature->state));
	json_text(json, "found", feature->found);
	json_or_null(json, "cost", feature->cost);
	json_or_null(json, "advice", feature->advice);
	json_open(json, "needed_for", '[');
	if (feature->needs & NEED_GO)
		json_text(json, NULL, "go");
	if (feature->needs & NEED_C)
		json_text(json, NULL, "c");
	if (feature->needs & NEED_SAMPLES)
		json_text(json, NULL, "samples");
	if (feature->needs & NEED_FUNCTIONS)
		json_text(json, NULL, "functions");
	if (feature->needs & NEED_SYSCALLS)
		json_text(json, NULL, "syscalls");
	json_close(json, ']');
	json_close(json, '}');
}

static void print_json_requests(struct json *json, const struct doctor_process *process)
{
	char text[sizeof(process->requests)], *save = NULL;

	memcpy(text, process->requests, sizeof(text));
	json_open(json, "requests", '[');
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		json_open(json, NULL, '{');
		json_text(json, "state", *line == '+' ? "traced" : *line == '!' ? "incomplete" : "absent");
		json_text(json, "text", line + 1);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void doctor_print_json(const struct features *features, const struct doctor_process *process, bool go,
			      bool c)
{
	struct json json = {.out = stdout};

	json_open(&json, NULL, '{');
	json_bool(&json, "go", go);
	json_bool(&json, "c", c);
	json_open(&json, "features", '[');
	for (unsigned i = 0; i < features->n; i++)
		print_feature(&json, &features->list[i]);
	json_close(&json, ']');
	if (process->pid) {
		json_open(&json, "process", '{');
		json_integer(&json, "pid", process->pid);
		json_text(&json, "kind", process->fault.text[0] ? NULL : process->go ? "go" : "c");
		json_or_null(&json, "fault", process->fault.text);
		print_json_requests(&json, process);
		json_close(&json, '}');
	}
	json_close(&json, '}');
	printf("\n");
}

static int verdict(const struct doctor_process *process, bool go, bool c)
{
	if (process->pid)
		return !process->fault.text[0] && (process->go ? go : c) ? STATUS_WHOLE : STATUS_NONE;
	return go && c ? STATUS_WHOLE : go || c ? STATUS_CUT : STATUS_NONE;
}

static int do_check(const struct doctor_options *options)
{
	struct doctor_process process = {.pid = options->pid, .layout = options->layout};
	struct features features;
	struct error err;
	bool go, c;

	features_probe(&features,
		       &(struct features_options){.root = "", .btf = options->btf, .thorough = true});
	go = !features_find_missing(&features, NEED_GO);
	c = !features_find_missing(&features, NEED_C);
	if (process.pid)
		examine(&process);
	if (sandbox_confine(&err))
		message_error(&err); /* this, too, is something that the machine cannot do */
	if (options->json)
		doctor_print_json(&features, &process, go, c);
	else
		print_lines(&features, &process, go, c);
	return verdict(&process, go, c);
}

int command_doctor(int argc, char **argv)
{
	struct doctor_options options;
	struct error err;
	int status;

	status = options_doctor(argc, argv, &options, &err);
	if (status)
		return options_end(status, "gotrace doctor", &err);
	return do_check(&options);
}
