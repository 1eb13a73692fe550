/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/options_recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options_common.h"
#include "cli/values.h"
#include "target/functions/request_wants.h"
#include "target/functions/value_list.h"

/* Unique among the tables of recording_live, where recording_refuse() looks up the name of a key. */
enum recording_key {
	KEY_AS = 3000,
	KEY_REGION,
	KEY_TASK,
	KEY_REQUESTS,
	KEY_REQUEST_VALUES,
	KEY_FORMAT,
	KEY_NO_SYSCALLS,
	KEY_NO_LABELS,
	KEY_KERNEL_STACKS,
	KEY_OS,
	KEY_NO_OS,
	KEY_OS_REGIONS,
	KEY_CPUS,
	KEY_LOCKS,
	KEY_NO_LOCKS,
	KEY_CPU_SAMPLES,
	KEY_NO_CPU_SAMPLES,
	KEY_RUNTIME_FRAMES,
	KEY_RING_SIZE,
	KEY_RINGS,
	KEY_MAX_OVERHEAD,
	KEY_BUFFER,
	KEY_DETAIL,
	KEY_EXACT,
	KEY_LIGHT,
	KEY_STARTS_ONLY,
	KEY_BTF,
};

/* The limit of capture. */
#define MAX_RINGS 64

/* Go's profiler takes 100 samples per second. 10,000 is one per 100 us of CPU time: a few percent. */
enum { SAMPLE_HZ = 100, MAX_SAMPLE_HZ = 10000 };

static const struct argp_option common_table[] = {
	{"as", KEY_AS, "KIND", 0,
	 "go: trace goroutines; c: threads (default: goroutines of Go programs, threads of others)", 1},
	{"requests", KEY_REQUESTS, "KINDS", 0,
	 "Record requests of a Go program as user tasks: http, grpc, redis, otel, sql; auto: all it has", 1},
	{"request-values", KEY_REQUEST_VALUES, NULL, 0, "With --requests: show query strings of URLs", 1},
	{"no-syscalls", KEY_NO_SYSCALLS, NULL, 0, "Do not record system calls", 3},
	{"no-labels", KEY_NO_LABELS, NULL, 0, "Do not record pprof labels of goroutines", 3},
	{"kernel-stacks", KEY_KERNEL_STACKS, NULL, 0, "For threads: also where in the kernel they wait", 3},
	{"os", KEY_OS, "TIME", 0,
	 "Mark where a running goroutine had no CPU for this long (default: 1ms); off: do not record it; "
	 "all: "
	 "record CPUs and interrupts, too",
	 3},
	{"cpu-samples", KEY_CPU_SAMPLES, "HZ", 0, "CPU samples per second of CPU time (default: 100)", 3},
	{"runtime-frames", KEY_RUNTIME_FRAMES, NULL, 0, "Keep the runtime's own frames in stacks", 3},
	{"detail", KEY_DETAIL, "LEVEL", 0,
	 "exact: record everything, whatever it costs; light: infer the starts of goroutines; starts: probe "
	 "only them (default: auto)",
	 3},
	{"buffer", KEY_BUFFER, "BYTES", 0, "Memory for records to encode (default: 128M or less)", 3},
	OPTIONS_LAYOUT(3),
	/* In the manual only. */
	{"ring-size", KEY_RING_SIZE, "BYTES", OPTION_HIDDEN, NULL, 3},
	{"rings", KEY_RINGS, "N", OPTION_HIDDEN, NULL, 3},
	{"btf", KEY_BTF, "FILE", OPTION_HIDDEN, NULL, 3},
	OPTION_OLD("exact", KEY_EXACT, NULL),
	OPTION_OLD("light", KEY_LIGHT, NULL),
	OPTION_OLD("starts-only", KEY_STARTS_ONLY, NULL),
	OPTION_OLD("spans", KEY_STARTS_ONLY, NULL),
	OPTION_OLD("no-os", KEY_NO_OS, NULL),
	OPTION_OLD("os-regions", KEY_OS_REGIONS, "TIME"),
	OPTION_OLD("cpus", KEY_CPUS, NULL),
	OPTION_OLD("no-cpu-samples", KEY_NO_CPU_SAMPLES, NULL),
	{NULL, 0, NULL, 0, NULL, 0},
};

static const struct argp_option functions_table[] = {
	{"region", KEY_REGION, "FUNC", 0,
	 "Record calls of this function as user regions, with arguments as a log: 'main.f(id, r.URL.Path)'; "
	 "may be repeated",
	 1},
	{"task", KEY_TASK, "FUNC", 0, "Record calls of this function as user tasks", 1},
	{NULL, 0, NULL, 0, NULL, 0},
};

static const struct argp_option in_file_table[] = {
	{"format", KEY_FORMAT, "GO", 0,
	 "Write the format of this Go release, 1.5 to 1.26, or v0 (default: that of the target)", 3},
	{"locks", KEY_LOCKS, NULL, 0, "Log which lock or channel each wait is for", 3},
	{"no-locks", KEY_NO_LOCKS, NULL, OPTION_HIDDEN, NULL, 3}, /* the default */
	{NULL, 0, NULL, 0, NULL, 0},
};

#define MAX_OVERHEAD(percent)                                                                                \
	{                                                                                                    \
		"max-overhead", KEY_MAX_OVERHEAD, "PCT", 0,                                                  \
			"Record less above this cost, in percent of the target's CPU time "                  \
			"(default: " percent "); none: no limit",                                            \
			3                                                                                    \
	}

static const struct argp_option limits_table[] = {
	MAX_OVERHEAD("200"),
	{NULL, 0, NULL, 0, NULL, 0},
};

static const struct argp_option flight_table[] = {
	MAX_OVERHEAD("10"),
	{NULL, 0, NULL, 0, NULL, 0},
};

static const struct argp_option live_table[] = {
	MAX_OVERHEAD("200"),
	{"no-locks", KEY_NO_LOCKS, NULL, 0, "Do not record which lock or channel each wait is for", 3},
	{"locks", KEY_LOCKS, NULL, OPTION_HIDDEN, NULL, 3}, /* the default */
	{NULL, 0, NULL, 0, NULL, 0},
};

/* --- values --- */

static int set_kind(void *options, const char *option, const char *text, struct error *err)
{
	if (strcmp(text, "go") && strcmp(text, "c"))
		return error_set(err, EINVAL, "%s: '%s' is neither go nor c", option, text);
	((struct record_options *)options)->as = strcmp(text, "go") ? AS_C : AS_GO;
	return 0;
}

static int set_ring(void *options, const char *option, const char *text, struct error *err)
{
	uint64_t bytes;
	/* The kernel requires a power of two of pages below 4 GiB. gotrace rounds up. */
	int rc = parse_size(option, text, 64u << 10, 1u << 30, &bytes, err);

	if (rc == 0)
		((struct record_options *)options)->ring_bytes = (uint32_t)bytes;
	return rc;
}

static int set_rings(void *options, const char *option, const char *text, struct error *err)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || n < 1 || n > MAX_RINGS)
		return error_set(err, EINVAL, "%s: '%s' is not a number from 1 to %d", option, text,
				 MAX_RINGS);
	((struct record_options *)options)->rings = (unsigned)n;
	return 0;
}

static int options_recording_add_function(struct record_options *options, enum log_function_kind kind,
					  const char *option, const char *text, struct error *err)
{
	struct value_list list;
	struct error why;

	if (!*text)
		return error_set(err, EINVAL, "%s: no function given", option);
	if (options->nfunctions == MAX_FUNCTIONS)
		return error_set(err, EINVAL, "%s: more than %u functions", option, MAX_FUNCTIONS);
	if (value_list_parse(text, &list, &why))
		return error_set(err, EINVAL, "%s: %s", option, why.text);
	options->functions[options->nfunctions++] = (struct function_want){.text = text, .kind = kind};
	return 0;
}

static int add_region(void *options, const char *option, const char *text, struct error *err)
{
	return options_recording_add_function(options, FUNCTION_REGION, option, text, err);
}

static int add_task(void *options, const char *option, const char *text, struct error *err)
{
	return options_recording_add_function(options, FUNCTION_TASK, option, text, err);
}

static int set_requests(void *options, const char *option, const char *text, struct error *err)
{
	(void)option;
	((struct record_options *)options)->requests = text;
	return request_list_check(text, err);
}

static int set_samples(void *options, const char *option, const char *text, struct error *err)
{
	return parse_rate(option, text, MAX_SAMPLE_HZ, &((struct record_options *)options)->sample_hz, err);
}

static int set_no_samples(void *options, const char *option, const char *text, struct error *err)
{
	(void)option, (void)text, (void)err;
	((struct record_options *)options)->sample_hz = 0;
	return 0;
}

static int set_detail(void *detail, const char *option, const char *text, struct error *err)
{
	return parse_detail(option, text, detail, err);
}

static int set_os(void *options, const char *option, const char *text, struct error *err)
{
	struct record_options *record = options;

	return parse_os(option, text, &record->os, &record->trace_options.off_cpu_ns, err);
}

/* --- old names --- */

static int set_exact(void *detail, const char *option, const char *text, struct error *err)
{
	(void)option, (void)text, (void)err;
	*(enum record_detail *)detail = DETAIL_EXACT;
	return 0;
}

static int set_light(void *detail, const char *option, const char *text, struct error *err)
{
	(void)option, (void)text, (void)err;
	*(enum record_detail *)detail = DETAIL_LIGHT;
	return 0;
}

static int set_starts(void *detail, const char *option, const char *text, struct error *err)
{
	(void)option, (void)text, (void)err;
	*(enum record_detail *)detail = DETAIL_STARTS;
	return 0;
}

static int set_no_os(void *os, const char *option, const char *text, struct error *err)
{
	(void)option, (void)text, (void)err;
	*(struct os_detail *)os = (struct os_detail){.off = true};
	return 0;
}

static int set_cpus(void *os, const char *option, const char *text, struct error *err)
{
	(void)option, (void)text, (void)err;
	((struct os_detail *)os)->off = false;
	((struct os_detail *)os)->cpus = true;
	return 0;
}

static int set_overhead(void *options, const char *option, const char *text, struct error *err)
{
	(void)option;
	return parse_overhead(text, &((struct record_options *)options)->max_overhead, err);
}

static int set_buffer(void *options, const char *option, const char *text, struct error *err)
{
	(void)option;
	return parse_buffer(text, &((struct record_options *)options)->buffer_bytes, err);
}

static const struct option_binding bindings[] = {
	{OPTION_WITH(KEY_AS, set_kind)},
	{OPTION_WITH(KEY_REGION, add_region)},
	{OPTION_WITH(KEY_TASK, add_task)},
	{OPTION_WITH(KEY_REQUESTS, set_requests)},
	{OPTION_TRUE(KEY_REQUEST_VALUES, record_options, request_values)},
	{OPTION_FORMAT(KEY_FORMAT, record_options, trace_options.format)},
	{OPTION_FALSE(KEY_NO_SYSCALLS, record_options, syscalls)},
	{OPTION_FALSE(KEY_NO_LABELS, record_options, labels)},
	{OPTION_TRUE(KEY_KERNEL_STACKS, record_options, kernel_stacks)},
	{OPTION_WITH(KEY_OS, set_os)},
	{KEY_NO_OS, OPTION_MEMBER(struct os_detail, record_options, os), set_no_os},
	{OPTION_OS_REGIONS(KEY_OS_REGIONS, record_options, trace_options.off_cpu_ns)},
	{KEY_CPUS, OPTION_MEMBER(struct os_detail, record_options, os), set_cpus},
	{OPTION_TRUE(KEY_LOCKS, record_options, trace_options.locks)},
	{OPTION_FALSE(KEY_NO_LOCKS, record_options, trace_options.locks)},
	{OPTION_WITH(KEY_CPU_SAMPLES, set_samples)},
	{OPTION_WITH(KEY_NO_CPU_SAMPLES, set_no_samples)},
	{OPTION_TRUE(KEY_RUNTIME_FRAMES, record_options, trace_options.runtime_frames)},
	{OPTION_WITH(KEY_RING_SIZE, set_ring)},
	{OPTION_WITH(KEY_RINGS, set_rings)},
	{OPTION_WITH(KEY_MAX_OVERHEAD, set_overhead)},
	{OPTION_WITH(KEY_BUFFER, set_buffer)},
	{KEY_DETAIL, OPTION_MEMBER(enum record_detail, record_options, detail), set_detail},
	{KEY_EXACT, OPTION_MEMBER(enum record_detail, record_options, detail), set_exact},
	{KEY_LIGHT, OPTION_MEMBER(enum record_detail, record_options, detail), set_light},
	{KEY_STARTS_ONLY, OPTION_MEMBER(enum record_detail, record_options, detail), set_starts},
	{OPTION_TEXT(KEY_BTF, record_options, btf)},
	{OPTION_TEXT(OPTIONS_LAYOUT_KEY, record_options, layout)},
	{OPTION_END},
};

/* --- the parsers --- */

static error_t options_recording_on_option(int key, char *text, struct argp_state *state)
{
	struct recording_parse *parse = state->input;
	error_t rc = options_bind(bindings, parse->options, key, text, state, parse->err);

	if (rc != ARGP_ERR_UNKNOWN && !parse->given)
		parse->given = key;
	return rc;
}

static void pass_on(struct argp_state *state, const struct argp_child *children)
{
	for (unsigned i = 0; children[i].argp; i++)
		state->child_inputs[i] = state->input;
}

static const struct argp_child live_children[] = {
	{.argp = &recording_common}, {.argp = &recording_functions}, {.argp = NULL}};
static const struct argp_child why_children[] = {{.argp = &recording_common}, {.argp = NULL}};

static error_t on_live(int key, char *text, struct argp_state *state)
{
	if (key == ARGP_KEY_INIT)
		pass_on(state, live_children);
	return options_recording_on_option(key, text, state);
}

static error_t on_why(int key, char *text, struct argp_state *state)
{
	if (key == ARGP_KEY_INIT)
		pass_on(state, why_children);
	return options_recording_on_option(key, text, state);
}

const struct argp recording_common = {.options = common_table, .parser = options_recording_on_option};
const struct argp recording_functions = {.options = functions_table, .parser = options_recording_on_option};
const struct argp recording_in_file = {.options = in_file_table, .parser = options_recording_on_option};
const struct argp recording_limits = {.options = limits_table, .parser = options_recording_on_option};
const struct argp recording_flight = {.options = flight_table, .parser = options_recording_on_option};
const struct argp recording_live = {.options = live_table, .parser = on_live, .children = live_children};
const struct argp recording_why = {.options = live_table, .parser = on_why, .children = why_children};

/* --- before and after parsing --- */

struct record_options recording_defaults(void)
{
	return (struct record_options){.syscalls = true, .labels = true, .sample_hz = SAMPLE_HZ};
}

struct record_options recording_live_defaults(void)
{
	struct record_options options = recording_defaults();

	options.trace_options.locks = true;
	return options;
}

int recording_check(const struct record_options *options, struct error *err)
{
	if (options->detail == DETAIL_EXACT && options->max_overhead)
		return error_set(err, EINVAL, "--detail=exact excludes --max-overhead");
	return 0;
}

int recording_refuse(const struct recording_parse *parse, struct error *err)
{
	if (!parse->given)
		return 0;
	return error_set(err, EINVAL,
			 "--%s says how a process is recorded: it needs -p PID instead of a trace file",
			 options_long_name(&recording_live, parse->given));
}
