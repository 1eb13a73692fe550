/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/options.h"

#include <argp.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options_common.h"
#include "cli/record_export.h"
#include "cli/values.h"
#include "native/request_wants.h"
#include "native/value_list.h"

enum record_key {
	KEY_FORMAT = 1000,
	KEY_RAW,
	KEY_JSON,
	KEY_STATS,
	KEY_SORT,
	KEY_MAX_SIZE,
	KEY_NO_SYSCALLS,
	KEY_NO_LABELS,
	KEY_RING_SIZE,
	KEY_RUNTIME_FRAMES,
	KEY_PROBE_ONLY,
	KEY_EXACT,
	KEY_LIGHT,
	KEY_STARTS_ONLY,
	KEY_KERNEL_STACKS,
	KEY_OS,
	KEY_NO_OS,
	KEY_OS_REGIONS,
	KEY_CPUS,
	KEY_LOCKS,
	KEY_MAX_OVERHEAD,
	KEY_BUFFER,
	KEY_RINGS,
	KEY_CPU_SAMPLES,
	KEY_NO_CPU_SAMPLES,
	KEY_ALLOC,
	KEY_AS,
	KEY_CHILDREN,
	KEY_REGION,
	KEY_TASK,
	KEY_BTF,
	KEY_REQUESTS,
	KEY_REQUEST_VALUES,
};

/* As many as capture takes. */
#define MAX_RINGS 64

/* 100 is what Go's own profiler takes; 10,000 a CPU is a sample each 100 us, and costs some percent. */
enum { SAMPLE_HZ = 100, MAX_SAMPLE_HZ = 10000 };

static const struct argp_option table[] = {
	{"pid", 'p', "PID", 0, "Trace this running process", 1},
	{"duration", 'd', "TIME", 0, "End after this time: 500ms, 5s, 2m (default: until Ctrl-C)", 1},
	{"output", 'o', "FILE", 0,
	 "Write the trace here; - is standard output (default: a new gotrace-PID-UTCTIME.trace); "
	 "FILE.perfetto-trace is written for Perfetto, with --children as one file",
	 1},
	{"as", KEY_AS, "KIND", 0,
	 "go: trace goroutines; c: trace threads, of any program (default: goroutines of Go programs, "
	 "threads of others)",
	 1},
	{"region", KEY_REGION, "FUNC", 0,
	 "Record every call of this function as a user region: f, ns::f, ns::f(int), libz.so:f, file.c:f, "
	 "main.f. In parentheses behind it, arguments to show as a log: 'main.f(id, r.URL.Path, "
	 "n=arg3:len)'. "
	 "May be repeated",
	 1},
	{"task", KEY_TASK, "FUNC", 0,
	 "Record every call of this function as a user task, with arguments as for --region", 1},
	{"requests", KEY_REQUESTS, "KINDS", 0,
	 "Record the requests that a Go program serves and makes as user tasks: http, grpc, redis, otel, "
	 "sql; "
	 "auto: all that it has",
	 1},
	{"request-values", KEY_REQUEST_VALUES, NULL, 0, "With --requests: show query strings of URLs, too",
	 1},
	{"children", KEY_CHILDREN, NULL, 0,
	 "Also trace its descendants, present and future; all as threads, and each in a file of its own, "
	 "FILE.PID",
	 1},
	{"max-size", KEY_MAX_SIZE, "BYTES", 0, "End when the trace has about this size: 500k, 100M, 2G", 1},
	{"json", KEY_JSON, NULL, 0, "Print the summary as JSON on standard output", 2},
	{"quiet", 'q', NULL, 0, "Print errors and losses only", 2},
	{"stats", KEY_STATS, NULL, 0, "Show in the summary how the trace was recorded, and more rows", 2},
	{"sort", KEY_SORT, "COLUMN", 0,
	 "Sort the summary's rows by running, runnable, blocked or count (default: running)", 2},
	{"format", KEY_FORMAT, "GO", 0,
	 "Write the format of this Go release, 1.5 to 1.26, or v0 (default: the target's own)", 3},
	{"raw", KEY_RAW, "FILE", 0, "Also keep the raw log, for gotrace replay", 3},
	{"no-syscalls", KEY_NO_SYSCALLS, NULL, 0, "Do not record system calls", 3},
	{"no-labels", KEY_NO_LABELS, NULL, 0, "Do not record pprof labels of goroutines", 3},
	{"kernel-stacks", KEY_KERNEL_STACKS, NULL, 0,
	 "Of threads: also record where in the kernel each wait is", 3},
	{"os", KEY_OS, NULL, 0, "Record when the threads of a Go program have no CPU (default)", 3},
	{"no-os", KEY_NO_OS, NULL, 0, "Do not record when threads have no CPU", 3},
	{"os-regions", KEY_OS_REGIONS, "TIME", 0,
	 "Mark in the trace where a running goroutine had no CPU for this long (default: 1ms); none: no "
	 "marks",
	 3},
	{"cpus", KEY_CPUS, NULL, 0,
	 "Also record which CPU each thread runs on, and what interrupts take; mark every time without one",
	 3},
	{"locks", KEY_LOCKS, NULL, 0,
	 "Log at each wait for a lock or channel which one it is, by address (a user log, category lock)", 3},
	{"cpu-samples", KEY_CPU_SAMPLES, "HZ", OPTION_ARG_OPTIONAL,
	 "CPU samples per second of CPU time (default: 100); 0 for none", 3},
	{"no-cpu-samples", KEY_NO_CPU_SAMPLES, NULL, 0, "Take no CPU samples", 3},
	{"alloc", KEY_ALLOC, NULL, 0, "Also record heap spans and goroutine stacks (Go 1.23 and later)", 3},
	{"runtime-frames", KEY_RUNTIME_FRAMES, NULL, 0, "Keep the runtime's own frames in stacks", 3},
	{"ring-size", KEY_RING_SIZE, "BYTES", 0, "Size of the ring between kernel and gotrace (default: 16M)",
	 3},
	{"rings", KEY_RINGS, "N", 0,
	 "Divide the ring among at most N rings, each for some of the CPUs (default: one for every 8 CPUs)",
	 3},
	{"max-overhead", KEY_MAX_OVERHEAD, "PCT", 0,
	 "Record less when recording costs the target more than this percentage of its own CPU time "
	 "(default: 200); none: no limit",
	 3},
	{"buffer", KEY_BUFFER, "BYTES", 0,
	 "Memory for records that wait to be encoded (default: 128M, at most a tenth of the free memory)", 3},
	{"exact", KEY_EXACT, NULL, 0,
	 "Record everything, whatever it costs; exit with status 3 if that was not possible", 3},
	{"light", KEY_LIGHT, NULL, 0, "Never probe the starts of goroutines: infer them", 3},
	{"starts-only", KEY_STARTS_ONLY, NULL, 0,
	 "Probe only the starts of goroutines: half the cost; wakers are not recorded", 3},
	{"spans", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 3},
	{"btf", KEY_BTF, "FILE", 0,
	 "Read the kernel's types from this file (BTF, or a vmlinux that has it) if the kernel has none", 3},
	OPTIONS_LAYOUT(3),
	{"probe-only", KEY_PROBE_ONLY, NULL, OPTION_HIDDEN, NULL, 3},
	{"version", 'v', NULL, 0, "Print the version", 4},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

/* What the option parser fills in. */
struct parse {
	struct record_options *options;
	struct error *err;
};

static int set_ring(struct record_options *options, const char *text, struct error *err)
{
	uint64_t bytes;
	/* The kernel takes a power of two of pages below 4 GiB; gotrace rounds up. */
	int rc = parse_size("--ring-size", text, 64u << 10, 1u << 30, &bytes, err);

	if (rc == 0)
		options->ring_bytes = (uint32_t)bytes;
	return rc;
}

static int set_rings(struct record_options *options, const char *text, struct error *err)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || n < 1 || n > MAX_RINGS)
		return error_set(err, EINVAL, "--rings: '%s' is not a number from 1 to %d", text, MAX_RINGS);
	options->rings = (unsigned)n;
	return 0;
}

static int set_kind(struct record_options *options, const char *text, struct error *err)
{
	if (strcmp(text, "go") && strcmp(text, "c"))
		return error_set(err, EINVAL, "--as: '%s' is neither go nor c", text);
	options->as = strcmp(text, "go") ? AS_C : AS_GO;
	return 0;
}

static int add_function(struct record_options *options, enum log_function_kind kind, const char *text,
			struct error *err)
{
	const char *option = kind == FUNCTION_TASK ? "--task" : "--region";
	struct value_list list;
	struct error why;

	if (!*text)
		return error_set(err, EINVAL, "%s: which function?", option);
	if (options->nfunctions == MAX_FUNCTIONS)
		return error_set(err, EINVAL, "%s: more than %u functions", option, MAX_FUNCTIONS);
	if (value_list_parse(text, &list, &why))
		return error_set(err, EINVAL, "%s: %s", option, why.text);
	options->functions[options->nfunctions++] = (struct function_want){.text = text, .kind = kind};
	return 0;
}

static int set_value(struct record_options *options, int key, char *text, struct error *err)
{
	switch (key) {
	case 'p':
		if (options->pid)
			return error_set(err, EINVAL,
					 "-p can be given only once: run one gotrace for each process");
		return parse_pid("-p", text, &options->pid, err);
	case 'd':
		return parse_duration("-d", text, &options->duration_ns, err);
	case 'o':
		options->output = text;
		return 0;
	case KEY_RAW:
		options->raw = text;
		return 0;
	case KEY_FORMAT:
		return parse_format("--format", text, &options->format, err);
	case KEY_MAX_SIZE:
		return parse_size("--max-size", text, 1, INT64_MAX, &options->max_bytes, err);
	case KEY_AS:
		return set_kind(options, text, err);
	case KEY_OS_REGIONS:
		return parse_off_cpu("--os-regions", text, &options->off_cpu_ns, err);
	case KEY_SORT:
		return parse_sort(text, &options->style.sort, err);
	case KEY_REGION:
		return add_function(options, FUNCTION_REGION, text, err);
	case KEY_TASK:
		return add_function(options, FUNCTION_TASK, text, err);
	case KEY_REQUESTS:
		options->requests = text;
		return request_list_check(text, err);
	case KEY_BTF:
		options->btf = text;
		return 0;
	case OPTIONS_LAYOUT_KEY:
		options->layout = text;
		return 0;
	case KEY_RINGS:
		return set_rings(options, text, err);
	case KEY_CPU_SAMPLES:
		return parse_rate("--cpu-samples", text, MAX_SAMPLE_HZ, &options->sample_hz, err);
	case KEY_MAX_OVERHEAD:
		return parse_overhead(text, &options->max_overhead, err);
	case KEY_BUFFER:
		return parse_buffer(text, &options->buffer_bytes, err);
	default:
		return set_ring(options, text, err);
	}
}

static int set_flag(struct record_options *options, int key)
{
	switch (key) {
	case 'q':
		options->quiet = true;
		return 0;
	case 'v':
		options->version = true;
		return 0;
	case 'h':
		options->help = true;
		return 0;
	case KEY_REQUEST_VALUES:
		options->request_values = true;
		return 0;
	case KEY_CHILDREN:
		options->children = true;
		return 0;
	case KEY_JSON:
		options->json = true;
		return 0;
	case KEY_STATS:
		options->style.stats = true;
		return 0;
	case KEY_NO_SYSCALLS:
		options->syscalls = false;
		return 0;
	case KEY_NO_LABELS:
		options->labels = false;
		return 0;
	case KEY_KERNEL_STACKS:
		options->kernel_stacks = true;
		return 0;
	case KEY_OS:
		options->off_cpu = true;
		return 0;
	case KEY_NO_OS:
		options->off_cpu = false;
		return 0;
	case KEY_CPUS:
		options->cpus = true;
		return 0;
	case KEY_LOCKS:
		options->locks = true;
		return 0;
	case KEY_CPU_SAMPLES:
		options->sample_hz = SAMPLE_HZ;
		return 0;
	case KEY_NO_CPU_SAMPLES:
		options->sample_hz = 0;
		return 0;
	case KEY_RUNTIME_FRAMES:
		options->runtime_frames = true;
		return 0;
	case KEY_PROBE_ONLY:
		options->probe_only = true;
		return 0;
	case KEY_EXACT:
		options->exact = true;
		return 0;
	case KEY_LIGHT:
		options->light = true;
		return 0;
	case KEY_ALLOC:
		options->alloc = true;
		return 0;
	case KEY_STARTS_ONLY:
		options->starts_only = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The first word behind "--" and all that follow are the command. */
static int take_word(const struct parse *parse, const char *word, struct argp_state *state)
{
	if (!state->quoted || state->next - 1 < state->quoted)
		return error_set(parse->err, EINVAL,
				 "'%s' is not a command or an option (a program to start goes after --)",
				 word);
	parse->options->command = &state->argv[state->next - 1];
	state->next = state->argc;
	return 0;
}

static error_t on_option(int key, char *text, struct argp_state *state)
{
	struct parse *parse = state->input;

	if (key == ARGP_KEY_ARG)
		return -take_word(parse, text, state);
	if (text)
		return -set_value(parse->options, key, text, parse->err);
	return set_flag(parse->options, key);
}

static int check_together(const struct record_options *options, struct error *err)
{
	bool standard = options->output && strcmp(options->output, "-") == 0;

	if (options->pid && options->command)
		return error_set(err, EINVAL, "-p PID and -- CMD exclude each other");
	if (!options->pid && !options->command)
		return error_set(err, EINVAL, "no process given: use -p PID, or -- CMD to start one");
	if (options->children && standard)
		return error_set(err, EINVAL,
				 "--children writes one file for each process: it excludes -o -");
	if (options->children && options->as == AS_GO)
		return error_set(err, EINVAL, "--children traces threads: it excludes --as go");
	if (standard && options->json)
		return error_set(err, EINVAL, "-o - and --json both write to standard output");
	if (standard && options->command)
		return error_set(err, EINVAL, "-o - and the program after -- both write to standard output");
	if (options->exact && (options->light || options->starts_only || options->max_overhead))
		return error_set(err, EINVAL, "--exact excludes %s",
				 options->light         ? "--light"
				 : options->starts_only ? "--starts-only"
							: "--max-overhead");
	if (options->light && options->starts_only)
		return error_set(err, EINVAL, "--light and --starts-only exclude each other");
	if (options->cpus && !options->off_cpu)
		return error_set(err, EINVAL, "--cpus and --no-os exclude each other");
	if (options->alloc && options->format != WIRE_NONE && options->format < WIRE_GO123)
		return error_set(err, EINVAL,
				 "--alloc: formats before that of Go 1.23 have no memory events");
	if (options->raw && strcmp(options->raw, "-") == 0)
		return error_set(err, EINVAL, "--raw needs a file, not standard output");
	if (options->raw && options->output && strcmp(options->raw, options->output) == 0)
		return error_set(err, EINVAL, "-o and --raw name the same file");
	return 0;
}

static const struct argp parser = {
	.options = table,
	.parser = on_option,
	.doc = "Write a Go execution trace of a running process, which needs no preparation."
	       "\v"
	       "Examples:\n  sudo gotrace -p 1234 -d 5s          trace a process for five "
	       "seconds\n  sudo gotrace -p 1234 -o slow.trace  until Ctrl-C, into this file\n  sudo gotrace "
	       "-- ./server -port 80   start a program and trace all of "
	       "it\n  sudo gotrace -p 1234 --as c         its threads, as the kernel schedules them\n  sudo "
	       "gotrace -p 1234 --children     and all its descendants, present and future\n  go tool trace "
	       "slow.trace            open the result\n\ngotrace flight, "
	       "replay, check, doctor and sites have a --help of their own.\nExit status: 0 "
	       "written whole (with --: the status of CMD), 1 no trace, 2 wrong usage, 3 written "
	       "but something was lost or cut.",
};

int options_record(int argc, char **argv, struct record_options *options, struct error *err)
{
	struct parse parse = {.options = options, .err = err};
	int rc;

	*options = (struct record_options){
		.syscalls = true, .labels = true, .off_cpu = true, .sample_hz = SAMPLE_HZ};
	err->text[0] = '\0';
	rc = options_parse(&parser, argc, argv, &parse);
	if (rc || options->help || options->version)
		return rc;
	return check_together(options, err);
}

void options_help_record(void)
{
	options_print_help(&parser, "gotrace [OPTION...] -p PID\n"
				    "       gotrace [OPTION...] -- CMD [ARG...]\n"
				    "       gotrace flight -p PID -o DIR | snapshot [PID]\n"
				    "       gotrace top -p PID\n"
				    "       gotrace report | why | flame | sql | dump FILE\n"
				    "       gotrace diff BEFORE AFTER\n"
				    "       gotrace check [--repair] FILE\n"
				    "       gotrace cut | convert FILE -o FILE\n"
				    "       gotrace replay RAW -o FILE\n"
				    "       gotrace layout --go PATH\n"
				    "       gotrace doctor [-p PID] | sites PID");
}
