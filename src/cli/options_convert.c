/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The options of gotrace convert. */
#include "cli/options.h"

#include <errno.h>
#include <string.h>

#include "cli/options_common.h"
#include "cli/record_export.h"
#include "util/suggest.h"
#include "cli/values.h"

enum convert_key {
	KEY_FORMAT = 1000,
	KEY_BINARY,
	KEY_RAW,
	KEY_RESOURCE,
};

static const struct argp_option table[] = {
	{"output", 'o', "FILE", 0, "Write the trace here; - is standard output; for parquet, a directory", 1},
	{"format", KEY_FORMAT, "FORMAT", 0,
	 "The format to write: that of a Go release, 1.5 to 1.26, or v0; or that of another tool: perfetto, "
	 "pprof:NAME, "
	 "folded:NAME "
	 "(NAME is block, mutex, sched, syscall, net, cpu or wall), flame, sqlite, parquet "
	 "(default: perfetto for -o FILE.perfetto-trace)",
	 1},
	{"binary", KEY_BINARY, "FILE", 0,
	 "Take names from the traced program, for traces of Go 1.5, 1.6 and v0, which have only addresses",
	 1},
	{"raw", KEY_RAW, NULL, 0, "parquet: write tables with each interval and event, too", 1},
	{"resource", KEY_RESOURCE, "KEY=VALUE", 0,
	 "parquet: where the traces are from, as attributes of OpenTelemetry: service.name, service.version, "
	 "host.name, process.pid, process.executable.name, container.id, k8s.pod.name, k8s.namespace.name, "
	 "deployment.environment.name, build.id, k8s.pod.uid (default: what the trace says)",
	 1},
	{"quiet", 'q', NULL, 0, "Print errors only", 2},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static int refuse_convert_format(const char *option, const char *text, struct error *err)
{
	static const char *const tools[] = {"perfetto", "pprof", "folded", "flame", "sqlite", "parquet"};
	const char *meant = suggest_name(text, tools, sizeof(tools) / sizeof(tools[0]));

	return error_set(err, EINVAL,
			 "%s '%s' is not a format%s%s%s (perfetto, pprof:NAME, folded:NAME, flame, sqlite, "
			 "parquet, or " FORMATS_OF_GO ")",
			 option, text, meant ? ": did you mean '" : "", meant ? meant : "",
			 meant ? "'?" : "");
}

/* Takes the format of a Go release, or of another tool. */
static int set_format(void *member, const char *option, const char *text, struct error *err)
{
	struct convert_options *options = member;

	options->export = EXPORT_NONE;
	options->format = WIRE_NONE;
	err->text[0] = '\0';
	if (export_parse(text, &options->export, &options->profile, err))
		return 0;
	if (err->text[0])
		return -EINVAL;
	return parse_format(option, text, &options->format, err) ? refuse_convert_format(option, text, err)
								 : 0;
}

static int set_attribute(void *member, const char *option, const char *text, struct error *err)
{
	struct convert_options *options = member;
	const char *equals = strchr(text, '=');
	size_t len = equals ? (size_t)(equals - text) : 0;
	enum resource_attribute which;

	if (!equals || !equals[1])
		return error_set(err, EINVAL, "%s: KEY=VALUE is needed, as in service.name=shop", option);
	which = resource_find(text, len);
	if (which == RESOURCE_ATTRIBUTES)
		return error_set(err, EINVAL, "%s: no table has a column for '%.*s'; --help has the keys",
				 option, (int)(len > 80 ? 80 : len), text);
	if (which == RESOURCE_PID && strspn(equals + 1, "0123456789") != strlen(equals + 1))
		return error_set(err, EINVAL, "%s: process.pid is a number", option);
	options->attributes[which] = equals + 1;
	return 0;
}

static int options_convert_add_input(void *member, const char *option, const char *text, struct error *err)
{
	struct convert_options *options = member;

	(void)option;
	if (options->ninputs == MAX_INPUTS)
		return error_set(err, EINVAL, "more than %d traces", MAX_INPUTS);
	options->inputs[options->ninputs++] = text;
	options->input = options->inputs[0];
	return 0;
}

static const struct option_binding bindings[] = {
	{OPTION_WITH(ARGP_KEY_ARG, options_convert_add_input)},
	{OPTION_TEXT('o', convert_options, output)},
	{OPTION_WITH(KEY_FORMAT, set_format)},
	{OPTION_TEXT(KEY_BINARY, convert_options, binary)},
	{OPTION_TRUE(KEY_RAW, convert_options, raw)},
	{OPTION_WITH(KEY_RESOURCE, set_attribute)},
	{OPTION_TRUE('q', convert_options, quiet)},
	{OPTION_END},
};

static const struct option_parser parser = {
	.argp = {.options = table,
		 .parser = options_take,
		 .doc = "Write an execution trace of any Go release in the format of another one, or of "
			"another tool."
			"\v"
			"Exit status: 0 written whole, 1 no trace, 2 wrong usage, 3 written up to a fault "
			"in FILE."},
	.bindings = bindings,
	.usage = "gotrace convert [OPTION...] FILE... -o FILE --format FORMAT",
};

static int options_convert_check_together(const struct convert_options *options, struct error *err)
{
	bool parquet = options->export == EXPORT_PARQUET, attributes = false;

	for (unsigned i = 0; i < RESOURCE_ATTRIBUTES; i++)
		attributes |= options->attributes[i] != NULL;
	if (options->ninputs > 1 && options->export != EXPORT_PERFETTO && !parquet)
		return error_set(err, EINVAL, "only --format perfetto and parquet take several traces");
	if (!parquet && (options->raw || attributes))
		return error_set(err, EINVAL, "--raw and --resource need --format parquet");
	if (parquet && strcmp(options->output, "-") == 0)
		return error_set(err, EINVAL, "--format parquet writes many files: give a directory with -o");
	return 0;
}

int options_convert(int argc, char **argv, struct convert_options *options, struct error *err)
{
	int rc;

	memset(options, 0, sizeof(*options));
	rc = options_parse(&parser, argc, argv, options, NULL, err);
	if (rc)
		return rc;
	if (!options->input || !options->output)
		return error_set(err, EINVAL, "convert needs a trace and -o FILE");
	if (options->format == WIRE_NONE && options->export == EXPORT_NONE && record_exports(options->output))
		options->export = EXPORT_PERFETTO;
	if (options->format == WIRE_NONE && options->export == EXPORT_NONE)
		return error_set(err, EINVAL, "no format given: use --format, 1.5 to 1.26, v0, perfetto ...");
	return options_convert_check_together(options, err);
}
