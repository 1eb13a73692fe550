/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <string.h>
#include <errno.h>
#include "unit.h"

#include "cli/options.h"
#include "cli/options_analysis.h"
#include "cli/options_flight.h"
#include "pipeline/pipeline.h"

enum { MAX_WORDS = 16 };

/* A writable argv made from literals, as exec provides it. */
struct line {
	char bytes[MAX_WORDS][48];
	char *argv[MAX_WORDS + 1];
	int argc;
};

static void line_make(struct line *line, const char *const *words)
{
	line->argc = 0;
	for (; *words; words++, line->argc++) {
		assert_true(line->argc < MAX_WORDS && strlen(*words) < sizeof(line->bytes[0]));
		strcpy(line->bytes[line->argc], *words);
		line->argv[line->argc] = line->bytes[line->argc];
	}
	line->argv[line->argc] = NULL;
}

#define LINE(line, ...) line_make(&(line), (const char *const[]){"gotrace", __VA_ARGS__, NULL})

static void record_a_process(void **state)
{
	struct record_options options;
	struct error err;
	struct line line;

	(void)state;
	LINE(line, "-p", "42", "-d", "500ms", "-o", "x.trace", "--format=1.23", "--max-size", "10M");
	assert_int_equal(options_record(line.argc, line.argv, &options, &err), 0);
	assert_int_equal(options.pid, 42);
	assert_int_equal(options.duration_ns, 500000000);
	assert_string_equal(options.output, "x.trace");
	assert_int_equal(options.trace_options.format, WIRE_GO123);
	assert_int_equal(options.max_bytes, 10 << 20);
	assert_true(options.syscalls);
	assert_null(options.command);
}

static void record_as(void **state)
{
	struct record_options options;
	struct error err;
	struct line line;

	(void)state;
	LINE(line, "-p", "42");
	assert_int_equal(options_record(line.argc, line.argv, &options, &err), 0);
	assert_int_equal(options.as, AS_IT_IS);
	LINE(line, "-p", "42", "--as", "c");
	assert_int_equal(options_record(line.argc, line.argv, &options, &err), 0);
	assert_int_equal(options.as, AS_C);
	LINE(line, "--as=go", "--", "server");
	assert_int_equal(options_record(line.argc, line.argv, &options, &err), 0);
	assert_int_equal(options.as, AS_GO);
	LINE(line, "-p", "42", "--as", "rust");
	assert_int_equal(options_record(line.argc, line.argv, &options, &err), -EINVAL);
	assert_non_null(strstr(err.text, "'rust'"));
}

static void record_flags(void **state)
{
	struct record_options options;
	struct error err;
	struct line line;

	(void)state;
	LINE(line, "--pid=7", "--no-syscalls", "--no-labels", "--runtime-frames", "--json", "-q", "--raw",
	     "r", "--ring-size", "1M", "--rings", "2", "--probe-only");
	assert_int_equal(options_record(line.argc, line.argv, &options, &err), 0);
	assert_false(options.syscalls || options.labels);
	assert_true(options.trace_options.runtime_frames && options.json && options.quiet &&
		    options.probe_only);
	assert_string_equal(options.raw, "r");
	assert_int_equal(options.ring_bytes, 1 << 20);
	assert_int_equal(options.rings, 2);
}

static void record_alloc(void **state)
{
	struct record_options options;
	struct error err;
	struct line line;

	(void)state;
	LINE(line, "-p", "42");
	assert_int_equal(options_record(line.argc, line.argv, &options, &err), 0);
	assert_true(options.labels);
	assert_false(options.alloc);
	LINE(line, "-p", "42", "--alloc", "--format", "1.23");
	assert_int_equal(options_record(line.argc, line.argv, &options, &err), 0);
	assert_true(options.alloc);
	LINE(line, "-p", "42", "--alloc", "--format", "1.22");
	assert_int_equal(options_record(line.argc, line.argv, &options, &err), -EINVAL);
	assert_non_null(strstr(err.text, "--alloc"));
}

static unsigned sample_rate(const char *option)
{
	struct record_options options;
	struct error err;
	struct line line;

	LINE(line, "-p", "7", option);
	assert_int_equal(options_record(line.argc, line.argv, &options, &err), 0);
	return options.sample_hz;
}

static void cpu_samples(void **state)
{
	(void)state;
	assert_int_equal(sample_rate("-q"), 100);
	assert_int_equal(sample_rate("--cpu-samples=1000"), 1000);
	assert_int_equal(sample_rate("--cpu-samples=49Hz"), 49);
	assert_int_equal(sample_rate("--cpu-samples=10000"), 10000);
	assert_int_equal(sample_rate("--cpu-samples=0"), 0);
	assert_int_equal(sample_rate("--no-cpu-samples"), 0);
}

static void command_keeps_its_own_options(void **state)
{
	struct record_options options;
	struct error err;
	struct line line;

	(void)state;
	LINE(line, "-d", "2s", "--", "./server", "-p", "80", "--", "--help");
	assert_int_equal(options_record(line.argc, line.argv, &options, &err), 0);
	assert_non_null(options.command);
	assert_string_equal(options.command[0], "./server");
	assert_string_equal(options.command[1], "-p");
	assert_string_equal(options.command[2], "80");
	assert_string_equal(options.command[3], "--");
	assert_string_equal(options.command[4], "--help");
	assert_null(options.command[5]);
	assert_int_equal(options.pid, 0);
}

static void refuse(const char *const *words, const char *text)
{
	struct record_options options;
	struct error err;
	struct line line;

	line_make(&line, words);
	assert_int_equal(options_record(line.argc, line.argv, &options, &err), -EINVAL);
	assert_non_null(strstr(err.text, text));
}

#define REFUSE(text, ...) refuse((const char *const[]){"gotrace", __VA_ARGS__, NULL}, text)

static struct record_options recorded(const char *const *words)
{
	struct record_options options;
	struct error err;
	struct line line;

	line_make(&line, words);
	assert_int_equal(options_record(line.argc, line.argv, &options, &err), 0);
	return options;
}

#define RECORDED(...) recorded((const char *const[]){"gotrace", "-p1", __VA_ARGS__, NULL})

static void details(void **state)
{
	(void)state;
	assert_int_equal(RECORDED("-q").detail, DETAIL_AUTO);
	assert_int_equal(RECORDED("--detail", "exact").detail, DETAIL_EXACT);
	assert_int_equal(RECORDED("--detail=light").detail, DETAIL_LIGHT);
	assert_int_equal(RECORDED("--detail=starts").detail, DETAIL_STARTS);
	assert_int_equal(RECORDED("--detail=starts", "--detail=auto").detail, DETAIL_AUTO);
}

static void os_is(struct record_options options, bool off, bool cpus, uint64_t off_cpu_ns)
{
	assert_int_equal(options.os.off, off);
	assert_int_equal(options.os.cpus, cpus);
	assert_int_equal(options.trace_options.off_cpu_ns, off_cpu_ns);
}

static void os_details(void **state)
{
	struct replay_options replay;
	struct error err;
	struct line line;

	(void)state;
	os_is(RECORDED("-q"), false, false, 0);
	os_is(RECORDED("--os=off"), true, false, 0);
	os_is(RECORDED("--os=off", "--os", "5ms"), false, false, 5000000);
	os_is(RECORDED("--os=all"), false, true, 0);
	os_is(RECORDED("--os=summary"), false, false, OFF_CPU_NO_REGIONS);
	os_is(RECORDED("--os=all,2ms"), false, true, 2000000);
	os_is(RECORDED("--os=all,summary"), false, true, OFF_CPU_NO_REGIONS);
	LINE(line, "raw", "-o", "x", "--os=all");
	assert_int_equal(options_replay(line.argc, line.argv, &replay, &err), 0);
	assert_int_equal(replay.trace_options.off_cpu_ns, 1); /* of what the log has, all */
	LINE(line, "raw", "-o", "x", "--os=off");
	assert_int_equal(options_replay(line.argc, line.argv, &replay, &err), -EINVAL);
	assert_non_null(strstr(err.text, "--os=summary"));
}

/* Options of earlier releases, which scripts may use, and those that only the manual has. */
static void old_names(void **state)
{
	struct record_options options;
	struct replay_options replay;
	struct sites_options sites;
	struct error err;
	struct line line;

	(void)state;
	assert_int_equal(RECORDED("--exact").detail, DETAIL_EXACT);
	assert_int_equal(RECORDED("--light").detail, DETAIL_LIGHT);
	assert_int_equal(RECORDED("--starts-only").detail, DETAIL_STARTS);
	assert_int_equal(RECORDED("--spans").detail, DETAIL_STARTS);
	os_is(RECORDED("--no-os"), true, false, 0);
	os_is(RECORDED("--cpus", "--os-regions=2ms"), false, true, 2000000);
	os_is(RECORDED("--os-regions", "none"), false, false, OFF_CPU_NO_REGIONS);
	assert_int_equal(RECORDED("--no-cpu-samples").sample_hz, 0);
	assert_false(RECORDED("--locks", "--no-locks").trace_options.locks);
	options = RECORDED("--rings=2", "--ring-size=1M", "--btf=types");
	assert_int_equal(options.rings, 2);
	assert_int_equal(options.ring_bytes, 1 << 20);
	assert_string_equal(options.btf, "types");
	LINE(line, "raw", "-o", "x", "--os-regions=none");
	assert_int_equal(options_replay(line.argc, line.argv, &replay, &err), 0);
	assert_int_equal(replay.trace_options.off_cpu_ns, OFF_CPU_NO_REGIONS);
	LINE(line, "--region=main.f", "42");
	assert_int_equal(options_sites(line.argc, line.argv, &sites, &err), 0);
	assert_int_equal(sites.pid, 42);
	assert_int_equal(sites.nfunctions, 1);
}

static void process_by_option(void **state)
{
	struct sites_options sites;
	struct snapshot_options snapshot;
	struct ps_options ps;
	struct top_options top;
	struct error err;
	struct line line;

	(void)state;
	LINE(line, "-p42");
	assert_int_equal(options_sites(line.argc, line.argv, &sites, &err), 0);
	assert_int_equal(sites.pid, 42);
	assert_int_equal(options_snapshot(line.argc, line.argv, &snapshot, &err), 0);
	assert_int_equal(snapshot.pid, 42);
	LINE(line, "42");
	assert_int_equal(options_snapshot(line.argc, line.argv, &snapshot, &err), 0);
	assert_int_equal(snapshot.pid, 42);
	LINE(line, "-p42", "43");
	assert_int_equal(options_sites(line.argc, line.argv, &sites, &err), -EINVAL);
	assert_int_equal(options_snapshot(line.argc, line.argv, &snapshot, &err), -EINVAL);
	for (const char *const *name = (const char *const[]){"-i3s", "--interval=3s", "-d3s", NULL}; *name;
	     name++) {
		LINE(line, "-p42", *name);
		assert_int_equal(options_ps(line.argc, line.argv, &ps, &err), 0);
		assert_int_equal(ps.between_ns, 3000000000);
		assert_int_equal(options_top(line.argc, line.argv, &top, &err), 0);
		assert_int_equal(top.interval_ns, 3000000000);
	}
}

static void nonsense_is_refused(void **state)
{
	(void)state;
	REFUSE("-d '12abc'", "-p", "1", "-d", "12abc");
	REFUSE("-p 'x'", "-p", "x");
	REFUSE("--cpu-samples '10001'", "-p", "1", "--cpu-samples=10001");
	REFUSE("--cpu-samples 'often'", "-p", "1", "--cpu-samples=often");
	REFUSE("--cpu-samples '-1'", "-p", "1", "--cpu-samples=-1");
	REFUSE("no process given", "-d", "5s");
	REFUSE("no process given", "--");
	REFUSE("exclude each other", "-p", "1", "--", "ls");
	REFUSE("after --", "ls", "-p", "1");
	REFUSE("after --", "-p", "1", "ls");
	REFUSE("both write to standard output", "-p", "1", "-o", "-", "--json");
	REFUSE("both write to standard output", "-o", "-", "--", "ls");
	REFUSE("--raw", "-p", "1", "--raw", "-");
	REFUSE("same file", "-p", "1", "--raw", "a", "-o", "a");
	REFUSE("1.22, 1.23, 1.25, 1.26", "-p", "1", "--format", "1.99");
	REFUSE("out of range", "-p", "1", "--ring-size", "1");
	REFUSE("from 1 to 64", "-p", "1", "--rings", "0");
	REFUSE("from 1 to 64", "-p", "1", "--rings", "65");
	REFUSE("from 1 to 64", "-p", "1", "--rings", "-1");
	REFUSE("from 1 to 64", "-p", "1", "--rings", "2x");
	REFUSE("--detail: 'most' is not exact", "-p", "1", "--detail", "most");
	REFUSE("--detail=exact excludes --max-overhead", "-p", "1", "--detail=exact", "--max-overhead", "10");
	REFUSE("--os: 'never' is not off", "-p", "1", "--os=never");
	REFUSE("--os: 'all5ms' is not off", "-p", "1", "--os=all5ms");
	REFUSE("--os: 'all,' is not off", "-p", "1", "--os=all,");
	REFUSE("--os: 'off,all' is not off", "-p", "1", "--os=off,all");
	REFUSE("--os: '' is not off", "-p", "1", "--os=");
	REFUSE("--os: '-q' is not off", "-p", "1", "--os", "-q");
}

/* Every option shared by gotrace and gotrace flight has the same effect in both, and the last one counts. */
static void recording_as_in(const struct record_options *options)
{
	assert_int_equal(options->as, AS_GO);
	assert_int_equal(options->trace_options.format, WIRE_GO123);
	assert_int_equal(options->trace_options.off_cpu_ns, 2000000);
	assert_int_equal(options->sample_hz, 49);
	assert_int_equal(options->max_overhead, OVERHEAD_NONE);
	assert_int_equal(options->buffer_bytes, 8 << 20);
	assert_true(options->os.cpus && options->trace_options.locks && !options->os.off && options->labels);
	assert_false(options->syscalls || options->detail);
}

static void recording_is_shared(void **state)
{
	struct record_options record;
	struct flight_options flight;
	struct error err;
	struct line line;

	(void)state;
	LINE(line, "-p1", "--as=go", "--format=1.23", "--os=off", "--os=all,2ms", "--cpu-samples=49",
	     "--max-overhead=none", "--buffer=8M", "--no-locks", "--locks", "--detail=exact", "--detail=auto",
	     "--no-syscalls");
	assert_int_equal(options_record(line.argc, line.argv, &record, &err), 0);
	recording_as_in(&record);
	assert_int_equal(options_flight(line.argc, line.argv, &flight, &err), 0);
	recording_as_in(&flight.record);
	LINE(line, "-p1", "--task=f", "--region", "main.g(id)", "--requests=http", "--request-values");
	assert_int_equal(options_record(line.argc, line.argv, &record, &err), 0);
	assert_int_equal(options_flight(line.argc, line.argv, &flight, &err), 0);
	assert_int_equal(record.nfunctions, 2);
	assert_int_equal(flight.record.nfunctions, 2);
	assert_int_equal(flight.record.functions[0].kind, FUNCTION_TASK);
	assert_string_equal(flight.record.functions[1].text, "main.g(id)");
	assert_string_equal(flight.record.requests, record.requests);
	assert_true(flight.record.request_values && !flight.record.try_functions);
}

static void flight_defaults(void **state)
{
	struct flight_options flight;
	struct error err;
	struct line line;

	(void)state;
	LINE(line, "-p1");
	assert_int_equal(options_flight(line.argc, line.argv, &flight, &err), 0);
	assert_int_equal(flight.record.max_overhead, 10);
	assert_int_equal(flight.record.sample_hz, 100);
	assert_false(flight.record.trace_options.locks || flight.record.os.cpus || flight.record.requests);
	LINE(line, "-p1", "--cpu-samples", "7");
	assert_int_equal(options_flight(line.argc, line.argv, &flight, &err), 0);
	assert_int_equal(flight.record.sample_hz, 7);
	LINE(line, "-p1", "--detail=exact");
	assert_int_equal(options_flight(line.argc, line.argv, &flight, &err), 0);
	assert_int_equal(flight.record.max_overhead, 0);
}

static void flight_refuses(const char *option, const char *text)
{
	struct flight_options flight;
	struct error err;
	struct line line;

	LINE(line, "-p1", option);
	assert_int_equal(options_flight(line.argc, line.argv, &flight, &err), -EINVAL);
	assert_non_null(strstr(err.text, text));
}

static void flight_cannot(void **state)
{
	(void)state;
	flight_refuses("--alloc", "--alloc: a flight recorder");
	flight_refuses("--children", "--children: a flight recorder");
	flight_refuses("--raw=log", "--raw: a flight recorder");
	flight_refuses("--requests=ftp", "ftp");
	flight_refuses("--rings=65", "from 1 to 64");
}

static void live_recording(void **state)
{
	struct report_options report;
	struct top_options top;
	struct error err;
	struct line line;

	(void)state;
	LINE(line, "-p", "42");
	assert_int_equal(options_report(line.argc, line.argv, &report, &err), 0);
	assert_int_equal(report.record.pid, 42);
	assert_int_equal(report.record.duration_ns, 5000000000);
	assert_true(report.record.trace_options.locks && report.record.labels && !report.record.os.off);
	assert_int_equal(report.record.sample_hz, 100);
	LINE(line, "-p", "42", "-d", "2s", "--no-locks", "--os=off", "--requests=http", "--layout", "table",
	     "--region", "main.f");
	assert_int_equal(options_report(line.argc, line.argv, &report, &err), 0);
	assert_int_equal(report.record.duration_ns, 2000000000);
	assert_false(report.record.trace_options.locks || report.record.try_functions);
	assert_true(report.record.os.off);
	assert_string_equal(report.record.requests, "http");
	assert_string_equal(report.record.layout, "table");
	assert_int_equal(report.record.nfunctions, 1);
	assert_int_equal(options_top(line.argc, line.argv, &top, &err), 0);
	assert_int_equal(top.interval_ns, 2000000000);
	assert_string_equal(top.record.layout, "table");
	assert_false(top.record.trace_options.locks);
	LINE(line, "-p", "42", "--detail=exact", "--max-overhead=9");
	assert_int_equal(options_report(line.argc, line.argv, &report, &err), -EINVAL);
	assert_int_equal(options_top(line.argc, line.argv, &top, &err), -EINVAL);
	LINE(line, "-p", "42", "--label", "a=b", "--no-labels");
	assert_int_equal(options_report(line.argc, line.argv, &report, &err), -EINVAL);
	assert_non_null(strstr(err.text, "--label and --no-labels"));
	LINE(line, "-p", "42", "--by-label", "a", "--no-labels");
	assert_int_equal(options_report(line.argc, line.argv, &report, &err), -EINVAL);
	assert_non_null(strstr(err.text, "--by-label and --no-labels"));
	LINE(line, "x", "--html", "-", "--json");
	assert_int_equal(options_report(line.argc, line.argv, &report, &err), -EINVAL);
	assert_non_null(strstr(err.text, "--html=- excludes --json"));
	LINE(line, "x", "--html", "page", "--json");
	assert_int_equal(options_report(line.argc, line.argv, &report, &err), 0);
}

/* Options for recording are refused if there is a trace file. */
static void file_refuses(const char *option, const char *name)
{
	struct report_options report;
	struct why_options why;
	struct error err;
	struct line line;

	LINE(line, option, "file");
	assert_int_equal(options_report(line.argc, line.argv, &report, &err), -EINVAL);
	assert_non_null(strstr(err.text, name));
	assert_non_null(strstr(err.text, "-p PID"));
	LINE(line, option, "file", "--goroutine", "1");
	assert_int_equal(options_why(line.argc, line.argv, &why, &err), -EINVAL);
	assert_non_null(strstr(err.text, name));
}

static void files_are_recorded(void **state)
{
	struct report_options report;
	struct error err;
	struct line line;

	(void)state;
	file_refuses("--layout=x", "--layout says");
	file_refuses("--requests=http", "--requests says");
	file_refuses("--locks", "--locks says");
	file_refuses("--no-locks", "--no-locks says");
	file_refuses("--detail=exact", "--detail says");
	file_refuses("--os=off", "--os says");
	file_refuses("--exact", "--exact says");
	file_refuses("--spans", "--starts-only says");
	LINE(line, "file", "--region=f", "--detail=light");
	assert_int_equal(options_report(line.argc, line.argv, &report, &err), -EINVAL);
	assert_non_null(strstr(err.text, "--region says"));
	LINE(line, "file", "--all", "-q");
	assert_int_equal(options_report(line.argc, line.argv, &report, &err), 0);
}

static void why_a_function(void **state)
{
	struct why_options why;
	struct error err;
	struct line line;

	(void)state;
	LINE(line, "file", "--region", "main.f");
	assert_int_equal(options_why(line.argc, line.argv, &why, &err), 0);
	assert_int_equal(why.record.nfunctions, 0);
	LINE(line, "-p1", "--region", "main.f", "--no-syscalls");
	assert_int_equal(options_why(line.argc, line.argv, &why, &err), 0);
	assert_int_equal(why.record.nfunctions, 1);
	assert_int_equal(why.record.functions[0].kind, FUNCTION_REGION);
	assert_true(why.record.try_functions && why.record.trace_options.locks && !why.record.syscalls);
	LINE(line, "-p1", "--task", "main.f");
	assert_int_equal(options_why(line.argc, line.argv, &why, &err), 0);
	assert_int_equal(why.record.functions[0].kind, FUNCTION_TASK);
	LINE(line, "-p1", "--task", "load(a=b:nothing)"); /* a task of the program itself, or of --requests */
	assert_int_equal(options_why(line.argc, line.argv, &why, &err), 0);
	assert_int_equal(why.record.nfunctions, 0);
	assert_string_equal(why.task, "load(a=b:nothing)");
}

static void help_and_version_need_nothing_else(void **state)
{
	struct record_options options;
	struct error err;
	struct line line;

	(void)state;
	LINE(line, "--help");
	assert_int_equal(options_record(line.argc, line.argv, &options, &err), OPTIONS_HELPED);
	LINE(line, "--usage");
	assert_int_equal(options_record(line.argc, line.argv, &options, &err), OPTIONS_HELPED);
	LINE(line, "--version");
	assert_int_equal(options_record(line.argc, line.argv, &options, &err), 0);
	assert_true(options.version);
}

static void layouts(void **state)
{
	struct record_options record;
	struct layout_options layout;
	struct doctor_options doctor;
	struct sites_options sites;
	struct ps_options ps;
	struct error err;
	struct line line;

	(void)state;
	LINE(line, "--go", "/usr/local/go");
	assert_int_equal(options_layout(line.argc, line.argv, &layout, &err), 0);
	assert_string_equal(layout.go, "/usr/local/go");
	LINE(line, "--go", "one", "--go", "two");
	assert_int_equal(options_layout(line.argc, line.argv, &layout, &err), -EINVAL);
	LINE(line, "/usr/local/go");
	assert_int_equal(options_layout(line.argc, line.argv, &layout, &err), -EINVAL);
	assert_non_null(strstr(err.text, "--go PATH"));
	line_make(&line, (const char *const[]){"gotrace", NULL});
	assert_int_equal(options_layout(line.argc, line.argv, &layout, &err), -EINVAL);
	LINE(line, "-p", "42", "--layout", "table");
	assert_int_equal(options_record(line.argc, line.argv, &record, &err), 0);
	assert_string_equal(record.layout, "table");
	assert_int_equal(options_ps(line.argc, line.argv, &ps, &err), 0);
	assert_string_equal(ps.layout, "table");
	assert_int_equal(options_doctor(line.argc, line.argv, &doctor, &err), 0);
	assert_string_equal(doctor.layout, "table");
	LINE(line, "--layout", "table");
	assert_int_equal(options_doctor(line.argc, line.argv, &doctor, &err), -EINVAL);
	assert_non_null(strstr(err.text, "-p PID"));
	LINE(line, "--layout", "table", "42");
	assert_int_equal(options_sites(line.argc, line.argv, &sites, &err), 0);
	assert_string_equal(sites.layout, "table");
	assert_int_equal(sites.pid, 42);
	LINE(line, "-p", "42");
	assert_int_equal(options_record(line.argc, line.argv, &record, &err), 0);
	assert_null(record.layout);
}

static void other_commands(void **state)
{
	struct replay_options replay;
	struct check_options check;
	struct convert_options convert;
	struct dump_options dump;
	struct sites_options sites;
	struct error err;
	struct line line;

	(void)state;
	LINE(line, "raw", "-o", "x", "--json");
	assert_int_equal(options_replay(line.argc, line.argv, &replay, &err), 0);
	assert_string_equal(replay.input, "raw");
	assert_string_equal(replay.output, "x");
	assert_true(replay.json);
	LINE(line, "raw");
	assert_int_equal(options_replay(line.argc, line.argv, &replay, &err), -EINVAL);
	LINE(line, "raw", "more", "-o", "x");
	assert_int_equal(options_replay(line.argc, line.argv, &replay, &err), -EINVAL);
	LINE(line, "--repair", "f");
	assert_int_equal(options_check(line.argc, line.argv, &check, &err), 0);
	assert_true(check.repair);
	assert_string_equal(check.input, "f");
	LINE(line, "--json");
	assert_int_equal(options_check(line.argc, line.argv, &check, &err), -EINVAL);
	LINE(line, "old", "-o", "new", "--format", "1.9", "--binary", "server", "-q");
	assert_int_equal(options_convert(line.argc, line.argv, &convert, &err), 0);
	assert_string_equal(convert.input, "old");
	assert_string_equal(convert.output, "new");
	assert_string_equal(convert.binary, "server");
	assert_int_equal(convert.format, WIRE_GO19);
	assert_true(convert.quiet);
	LINE(line, "old", "-o", "new");
	assert_int_equal(options_convert(line.argc, line.argv, &convert, &err), -EINVAL);
	LINE(line, "old", "--format", "1.26");
	assert_int_equal(options_convert(line.argc, line.argv, &convert, &err), -EINVAL);
	LINE(line, "old", "older", "-o", "new", "--format", "1.26");
	assert_int_equal(options_convert(line.argc, line.argv, &convert, &err), -EINVAL);
	LINE(line, "old", "-o", "new", "--format", "1.4711");
	assert_int_equal(options_convert(line.argc, line.argv, &convert, &err), -EINVAL);
	LINE(line, "--stacks", "f", "--json");
	assert_int_equal(options_dump(line.argc, line.argv, &dump, &err), 0);
	assert_true(dump.stacks && dump.json && !dump.absolute);
	assert_string_equal(dump.input, "f");
	LINE(line, "--absolute");
	assert_int_equal(options_dump(line.argc, line.argv, &dump, &err), -EINVAL);
	LINE(line, "12");
	assert_int_equal(options_sites(line.argc, line.argv, &sites, &err), 0);
	assert_int_equal(sites.pid, 12);
	LINE(line, "12", "13");
	assert_int_equal(options_sites(line.argc, line.argv, &sites, &err), -EINVAL);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(record_a_process),
	cmocka_unit_test(record_as),
	cmocka_unit_test(record_flags),
	cmocka_unit_test(cpu_samples),
	cmocka_unit_test(record_alloc),
	cmocka_unit_test(command_keeps_its_own_options),
	cmocka_unit_test(details),
	cmocka_unit_test(os_details),
	cmocka_unit_test(old_names),
	cmocka_unit_test(process_by_option),
	cmocka_unit_test(nonsense_is_refused),
	cmocka_unit_test(recording_is_shared),
	cmocka_unit_test(flight_defaults),
	cmocka_unit_test(flight_cannot),
	cmocka_unit_test(live_recording),
	cmocka_unit_test(files_are_recorded),
	cmocka_unit_test(why_a_function),
	cmocka_unit_test(help_and_version_need_nothing_else),
	cmocka_unit_test(layouts),
	cmocka_unit_test(other_commands),
};

UNIT_TESTS(tests, NULL, NULL);
