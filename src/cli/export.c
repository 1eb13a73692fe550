/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/export.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/confined.h"
#include "cli/signals.h"
#include "pipeline/output.h"
#include "sandbox/sandbox.h"
#include "target/target.h"
#include "util/message.h"

struct pass {
	struct census_pass *census;
	struct exporter *exporter;
	struct error *err;
};

static int take_census(void *ctx, const struct generation *gen)
{
	struct pass *pass = ctx;

	if (signals_seen())
		return error_set(pass->err, EINTR, "interrupted");
	return census_generation(pass->census, gen) ? error_set(pass->err, ENOMEM, "out of memory") : 0;
}

static int export_take_generation(void *ctx, const struct generation *gen)
{
	struct pass *pass = ctx;

	if (signals_seen())
		return error_set(pass->err, EINTR, "interrupted");
	return exporter_generation(pass->exporter, gen, pass->err);
}

static int count_all(struct trace_file *file, struct census *census, struct error *err)
{
	struct pass pass = {.err = err};
	const struct convert_sink sink = {.generation = take_census, .ctx = &pass, .source_times = true};
	int rc;

	if (census_init(census))
		return error_set(err, ENOMEM, "out of memory");
	pass.census = census_begin(census);
	rc = pass.census ? trace_file_read(file, &sink, err) : error_set(err, ENOMEM, "out of memory");
	if ((!rc || rc == -EBADMSG) && census_end(pass.census))
		rc = error_set(err, ENOMEM, "out of memory");
	census_pass_free(pass.census);
	return rc;
}

static int export_write_all(struct trace_file *file, const struct export_options *options,
			    const struct census *census, struct error *err)
{
	struct pass pass = {.err = err};
	const struct convert_sink sink = {
		.generation = export_take_generation, .ctx = &pass, .source_times = true};
	int rc;

	pass.exporter = exporter_new(options, census, err);
	if (!pass.exporter)
		return -EIO;
	rc = trace_file_read(file, &sink, err);
	if (!rc || rc == -EBADMSG) {
		int finished = exporter_finish(pass.exporter, err);

		rc = finished ? finished : rc;
	}
	exporter_free(pass.exporter);
	return rc;
}

int export_file(struct trace_file *file, const struct export_options *options, struct error *err)
{
	struct export_options full = *options;
	struct census census = {0};
	int rc;

	err->text[0] = '\0';
	rc = count_all(file, &census, err);
	full.title = trace_file_name(file);
	full.pid = options->pid ? options->pid : trace_file_pid(file->path);
	full.source = file->result.version;
	if (options->format == EXPORT_PERFETTO && options->part == 0)
		trace_file_id(file, full.uuid);
	if (!rc || rc == -EBADMSG)
		rc = export_write_all(file, &full, &census, err);
	census_free(&census);
	return rc;
}

/* Traces may belong to another user. */
static int open_inputs(const struct export_job *job, struct trace_file *files, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; i < job->ninputs && !rc; i++) {
		const struct export_input *input = &job->inputs[i];

		rc = input->fd ? trace_file_adopt(&files[i], input->fd, input->path, err)
			       : trace_file_open(&files[i], input->path, i ? NULL : job->binary, err);
	}
	return rc;
}

/* All have the names of the first one's program. */
static int begin_inputs(const struct export_job *job, struct trace_file *files, struct target **binary,
			struct error *err)
{
	int rc = sandbox_confine(err);

	for (size_t i = 0; i < job->ninputs && !rc; i++)
		rc = trace_file_begin(&files[i], err);
	*binary = files[0].binary;
	files[0].binary = NULL;
	return rc;
}

static int one_input(const struct export_job *job, size_t i, struct trace_file *file, struct output *out,
		     struct error *err)
{
	const struct export_options options = {
		.format = job->format,
		.profile = job->profile,
		.part = (uint32_t)i,
		.process = job->inputs[i].title,
		.pid = job->inputs[i].pid,
		.machine = job->machine,
		.out = {.write = output_write, .ctx = out},
	};
	int rc = export_file(file, &options, err);

	return !rc || rc == -EBADMSG ? trace_file_status(file) : rc;
}

static int write_inputs(const struct export_job *job, struct trace_file *files, struct target *binary,
			struct output *out, struct error *err)
{
	int status = STATUS_WHOLE, rc = 0;

	for (size_t i = 0; i < job->ninputs && rc >= 0; i++) {
		files[i].binary = binary;
		rc = one_input(job, i, &files[i], out, err);
		files[i].binary = NULL;
		trace_file_close(&files[i]);
		status = rc > status ? rc : status;
	}
	if (out->error)
		return error_set(err, out->error, "cannot write %s: %s", output_name(out),
				 strerror(out->error));
	return rc < 0 ? rc : status;
}

static int export_publish(struct output *out, struct error *err)
{
	int rc = output_commit(out);

	if (!rc && output_publish(out, err))
		return -EIO;
	if (!rc)
		rc = output_close(out);
	return rc ? error_set(err, -rc, "cannot write %s: %s", output_name(out), strerror(-rc)) : 0;
}

int export_into(const struct export_job *job, struct output *out, struct error *err)
{
	struct trace_file *files = calloc(job->ninputs, sizeof(*files));
	struct target *binary = NULL;
	int rc = files ? 0 : error_set(err, ENOMEM, "out of memory");

	if (!rc)
		rc = open_inputs(job, files, err);
	if (!rc)
		rc = begin_inputs(job, files, &binary, err);
	if (!rc)
		rc = write_inputs(job, files, binary, out, err);
	for (size_t i = 0; files && i < job->ninputs; i++)
		trace_file_close(&files[i]);
	free(files);
	target_free(binary);
	if (rc >= 0 && export_publish(out, err))
		return -EIO;
	return rc;
}

static int cli_export_work(void *ctx, struct channel *files, struct error *err)
{
	const struct export_job *job = ctx;
	struct output out;
	int rc;

	signals_install();
	output_init(&out);
	rc = confined_open(files, 1, &out, err) ? -EIO : export_into(job, &out, err);
	if (rc < 0)
		output_discard(&out);
	return rc;
}

int export_run(const struct export_job *job)
{
	const struct confined_job confined = {
		.output = job->output, .work = cli_export_work, .ctx = (void *)(uintptr_t)job};

	return confined_run(&confined);
}
