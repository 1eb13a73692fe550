/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The options of gotrace convert. */
#include "cli/options.h"

#include <errno.h>

#include "cli/options_common.h"
#include "cli/record_export.h"
#include "cli/values.h"

enum convert_key {
	KEY_FORMAT = 1000,
	KEY_BINARY,
};

static const struct argp_option table[] = {
	{"output", 'o', "FILE", 0, "Write the trace here; - is standard output", 1},
	{"format", KEY_FORMAT, "FORMAT", 0,
	 "The format to write: that of a Go release, 1.5 to 1.26, or v0; or that of another tool: perfetto, "
	 "pprof:NAME, "
	 "folded:NAME "
	 "(NAME is block, mutex, sched, syscall, net, cpu or wall), flame, sqlite "
	 "(default: perfetto for -o FILE.perfetto-trace)",
	 1},
	{"binary", KEY_BINARY, "FILE", 0,
	 "Take names from the traced program, for traces of Go 1.5, 1.6 and v0, which have addresses only",
	 1},
	{"quiet", 'q', NULL, 0, "Print errors only", 2},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

/* The format of a Go release, or of another tool. 0 or -EINVAL. */
static int take_format(struct convert_options *options, const char *text, struct error *err)
{
	options->export = EXPORT_NONE;
	options->format = WIRE_NONE;
	err->text[0] = '\0';
	if (export_parse(text, &options->export, &options->profile, err))
		return 0;
	return err->text[0] ? -EINVAL : parse_format("--format", text, &options->format, err);
}

static int take_input(struct convert_options *options, const char *text, struct error *err)
{
	if (options->ninputs == MAX_INPUTS)
		return error_set(err, EINVAL, "more than %d traces", MAX_INPUTS);
	options->inputs[options->ninputs++] = text;
	options->input = options->inputs[0];
	return 0;
}

static error_t on_option(int key, char *text, struct argp_state *state)
{
	const struct option_target *parse = state->input;
	struct convert_options *options = parse->options;

	switch (key) {
	case ARGP_KEY_ARG:
		return -take_input(options, text, parse->err);
	case 'o':
		options->output = text;
		return 0;
	case KEY_FORMAT:
		return -take_format(options, text, parse->err);
	case KEY_BINARY:
		options->binary = text;
		return 0;
	case 'q':
		options->quiet = true;
		return 0;
	case 'h':
		options->help = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
	.options = table,
	.parser = on_option,
	.doc = "Write an execution trace of any Go release in the format of another one, or of "
	       "another tool."
	       "\v"
	       "Exit status: 0 written whole, 1 no trace, 2 wrong usage, 3 written up to a fault "
	       "in FILE.",
};

int options_convert(int argc, char **argv, struct convert_options *options, struct error *err)
{
	int rc = options_into(&parser, argc, argv, options, sizeof(*options), err);

	if (rc || options->help)
		return rc;
	if (!options->input || !options->output)
		return error_set(err, EINVAL, "convert needs a trace and -o FILE");
	if (options->format == WIRE_NONE && options->export == EXPORT_NONE && record_exports(options->output))
		options->export = EXPORT_PERFETTO;
	if (options->format == WIRE_NONE && options->export == EXPORT_NONE)
		return error_set(err, EINVAL, "no format given: use --format, 1.5 to 1.26, v0, perfetto ...");
	if (options->ninputs > 1 && options->export != EXPORT_PERFETTO)
		return error_set(err, EINVAL, "only --format perfetto takes several traces");
	return 0;
}

void options_help_convert(void)
{
	options_print_help(&parser, "gotrace convert [OPTION...] FILE... -o FILE --format FORMAT");
}
