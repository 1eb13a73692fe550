/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace flame: writes a flame graph of a trace, as one page. */
#include "cli/cli.h"

#include "cli/export.h"
#include "cli/options.h"

int command_flame(int argc, char **argv)
{
	struct flame_options options;
	struct export_input input = {0};
	struct export_job job = {.format = EXPORT_FLAME, .inputs = &input, .ninputs = 1};
	struct error err;
	int status = options_flame(argc, argv, &options, &err);

	if (status)
		return options_end(status, "gotrace flame", &err);
	input.path = options.input;
	job.output = options.output;
	job.binary = options.binary;
	return export_run(&job);
}
