/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace layout: prints the table for --layout, made from a toolchain or a program. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/input.h"
#include "cli/options.h"
#include "cli/toolchain.h"
#include "sandbox/sandbox.h"
#include "target/layout_text.h"
#include "util/message.h"
#include "util/text.h"
#include "util/utf8.h"

static int layout_open_program(struct input *program, const char *path, struct error *err)
{
	struct stat st;
	int fd;

	*program = (struct input){.path = path, .fd = -1, .copy = -1};
	if (stat(path, &st))
		return error_set(err, errno, "cannot open %s: %s", text_path(path).bytes, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return input_open(program, path, false, err);
	fd = toolchain_build(path, err);
	return fd < 0 ? fd : input_adopt(program, fd, path, err);
}

/* Warns of parts of the runtime that were not linked in: without them a table fits only some programs. */
static void warn_of_gaps(const struct layout_table *table, const char *path)
{
	const struct release *release = &table->release;
	bool texts = release->reasons[REASON_BLOCK].n && release->reasons[REASON_STW].n &&
		     release->reasons[REASON_STOP].n;
	bool coroutines = release->layout.go.coro_gp != LAYOUT_ABSENT;

	if (!texts || !coroutines)
		message("%s does not contain the whole runtime (%s%s%s): a table made from the "
			"toolchain's root is more complete",
			text_path(path).bytes, texts ? "" : "runtime/trace strings",
			!texts && !coroutines ? ", " : "", coroutines ? "" : "iter.Pull");
}

static int layout_print_table(int fd, const char *path, struct error *err)
{
	struct error inner = {""};
	struct layout_table table;
	int rc = layout_table_read(fd, &table, &inner);

	if (rc == 0) {
		rc = layout_text_print(&table, stdout, &inner);
		warn_of_gaps(&table, path);
		release_free(&table.release);
	}
	if (rc) {
		text_make_printable(inner.text);
		return error_set(err, -rc, "%s %s", text_path(path).bytes, inner.text);
	}
	return fflush(stdout) || ferror(stdout) ? error_set(err, EIO, "cannot write to standard output") : 0;
}

/* The program is untrusted input: it is read without privileges. */
static int layout_show(const struct layout_options *options, struct error *err)
{
	struct input program;
	int rc = layout_open_program(&program, options->go, err);

	if (rc == 0)
		rc = sandbox_confine(err);
	if (rc == 0)
		rc = input_begin(&program, err);
	if (rc == 0)
		rc = layout_print_table(program.fd, options->go, err);
	input_close(&program);
	return rc;
}

int command_layout(int argc, char **argv)
{
	struct layout_options options;
	struct error err = {""};
	int status;

	status = options_layout(argc, argv, &options, &err);
	if (status)
		return options_end(status, "gotrace layout", &err);
	if (layout_show(&options, &err) == 0)
		return STATUS_WHOLE;
	message_error(&err);
	return STATUS_NONE;
}
