/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/lake.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "cli/cli.h"
#include "cli/confined.h"
#include "cli/signals.h"
#include "cli/trace_file.h"
#include "export/export.h"
#include "pipeline/output.h"
#include "sandbox/sandbox.h"
#include "trace/ops/own_logs.h"
#include "trace/wire/read_v1.h"
#include "util/message.h"

struct lake_input {
	struct trace_file file;
	bool refused;
};

/* One trace on its way into the lake. */
struct lake_job {
	const struct convert_options *options;
	struct channel *files;
	struct trace_file *file;
	struct lake_options lake;
	struct output outputs[LAKE_TABLES];
	struct otel_resource resource; /* what the trace says of where it is from */
	struct census census;
	struct census_pass *pass;
	struct analysis *analysis;
	struct exporter *exporter;
	struct lake_finding *findings;
	struct lake_frame *frames;
	size_t nfindings, nframes;
	char pid[16], trace_id[33], service[128];
	struct error *err;
};

/* --- the first pass: findings, and what the tables need to begin with --- */

static void take_resource(struct lake_job *job, const struct generation *gen)
{
	for (size_t i = 0; i < gen->nops; i++) {
		const struct op *op = &gen->ops[i];
		size_t len;

		if (op->kind == OP_LOG)
			resource_log_take(tables_string(gen->tables, op->string, &len),
					  tables_string(gen->tables, op->string2, &len), &job->resource);
	}
}

static int take_first(void *ctx, const struct generation *gen)
{
	struct lake_job *job = ctx;

	if (signals_seen())
		return error_set(job->err, EINTR, "interrupted");
	if (census_generation(job->pass, gen) || analysis_generation(job->analysis, gen))
		return error_set(job->err, ENOMEM, "out of memory");
	take_resource(job, gen);
	return 0;
}

static void forget_first(struct lake_job *job)
{
	census_pass_free(job->pass);
	census_free(&job->census);
	analysis_free(job->analysis);
	job->pass = NULL;
	job->analysis = NULL;
}

static int begin_first(void *ctx)
{
	struct lake_job *job = ctx;
	const struct analysis_options options = {
		.name = trace_file_name(job->file),
		.file = trace_file_name(job->file),
		.short_calls = v1_format(job->file->in.bytes, job->file->in.size) != WIRE_NONE,
	};

	forget_first(job);
	if (census_init(&job->census))
		return -ENOMEM;
	job->pass = census_begin(&job->census);
	job->analysis = analysis_new(&options);
	return job->pass && job->analysis ? 0 : -ENOMEM;
}

/* Copies the frames of a stack of a finding, and returns where they are. */
static const struct lake_frame *lake_copy_frames(struct lake_job *job, unsigned finding, bool waker,
						 uint32_t n)
{
	struct lake_frame *frames = &job->frames[job->nframes];

	for (uint32_t i = 0; i < n; i++) {
		struct analysis_frame frame = analysis_finding_frame(job->analysis, finding, waker, i);

		frames[i] = (struct lake_frame){frame.func, frame.file, frame.line};
	}
	job->nframes += n;
	return frames;
}

static int copy_findings(struct lake_job *job)
{
	struct analysis_finding from;
	size_t frames = 1;
	unsigned n = 0;

	for (; analysis_finding(job->analysis, n, &from); n++)
		frames += from.nstack + from.nwaker_stack;
	job->findings = calloc(n + 1, sizeof(*job->findings));
	job->frames = calloc(frames, sizeof(*job->frames));
	if (!job->findings || !job->frames)
		return -ENOMEM;
	for (unsigned i = 0; analysis_finding(job->analysis, i, &from); i++)
		job->findings[i] = (struct lake_finding){
			.rule = from.rule,
			.level = from.level,
			.text = from.text,
			.next = from.next,
			.explained_by = from.explained_by,
			.impact = from.impact,
			.n = from.n,
			.total_ns = from.total_ns,
			.p99_ns = from.p99_ns,
			.max_ns = from.max_ns,
			.worst_ns = from.worst_ns,
			.stack = lake_copy_frames(job, i, false, from.nstack),
			.nstack = from.nstack,
			.waker_stack = lake_copy_frames(job, i, true, from.nwaker_stack),
			.nwaker_stack = from.nwaker_stack,
			.most_frames = ANALYSIS_FRAMES,
		};
	job->lake.findings = job->findings;
	job->lake.nfindings = n;
	return 0;
}

static int first_pass(struct lake_job *job, struct error *err)
{
	const struct convert_sink sink = {
		.generation = take_first, .restart = begin_first, .ctx = job, .source_times = true};
	int rc = begin_first(job);

	if (!rc)
		rc = trace_file_read(job->file, &sink, err);
	if (rc && rc != -EBADMSG)
		return err->text[0] ? rc : error_set(err, -rc, "out of memory");
	if (census_end(job->pass) || analysis_end(job->analysis) || copy_findings(job))
		return error_set(err, ENOMEM, "out of memory");
	return 0;
}

/* --- what the trace itself does not have --- */

/* Without a clock in the trace, the file's last modification is taken for the trace's end. */
static int find_wall(struct lake_job *job, const struct lake_input *input, struct error *err)
{
	const struct census *census = &job->census;
	uint64_t length = census->end - census->start;

	job->lake.wall_recorded = census->wall_ns != 0;
	if (census->wall_ns)
		job->lake.start_wall_ns = census->wall_ns + census->start - census->clock_ns;
	else if (input->file.in.modified_ns > length)
		job->lake.start_wall_ns = input->file.in.modified_ns - length;
	else
		return error_set(err, EINVAL,
				 "%s: the trace has no wall-clock time, and a pipe has none either: give the "
				 "file itself",
				 input->file.path);
	if (!census->wall_ns && !job->options->quiet)
		message("%s: the trace does not have the wall-clock time: taken from the file's modification "
			"time",
			input->file.path);
	return 0;
}

static int name_trace(struct lake_job *job, const struct lake_input *input, struct error *err)
{
	const char **attributes = job->lake.attributes;
	pid_t pid = trace_file_pid(job->file->path);
	uint64_t id[2];

	memcpy(attributes, job->options->attributes, sizeof(job->lake.attributes));
	for (unsigned i = 0; i < RESOURCE_ATTRIBUTES; i++) {
		if (!attributes[i] && job->resource.values[i][0])
			attributes[i] = job->resource.values[i];
	}
	snprintf(job->pid, sizeof(job->pid), "%d", (int)pid);
	if (!attributes[RESOURCE_PID] && pid)
		attributes[RESOURCE_PID] = job->pid;
	lake_name_service(&job->lake, &job->census, job->service);
	trace_file_id(job->file, id);
	snprintf(job->trace_id, sizeof(job->trace_id), "%016llx%016llx", (unsigned long long)id[0],
		 (unsigned long long)id[1]);
	job->lake.trace_id = job->trace_id;
	job->lake.file_bytes = job->file->in.size;
	job->lake.raw = job->options->raw;
	return find_wall(job, input, err);
}

/* --- the second pass: the tables --- */

static int write_table(void *ctx, enum lake_table table, const void *bytes, size_t n)
{
	struct lake_job *job = ctx;
	struct output *out = &job->outputs[table];
	char path[LAKE_PATH_BYTES];
	int rc = 0;

	if (out->fd < 0 && lake_path(&job->lake, table, path))
		return error_set(job->err, ENAMETOOLONG, "the names of service and host are too long");
	if (out->fd < 0)
		rc = confined_open_below(job->files, path, out, job->err);
	if (!rc)
		rc = output_write(out, bytes, n);
	if (rc && !job->err->text[0])
		error_set(job->err, -rc, "cannot write %s: %s", output_name(out), strerror(-rc));
	return rc;
}

static int take_second(void *ctx, const struct generation *gen)
{
	struct lake_job *job = ctx;

	if (signals_seen())
		return error_set(job->err, EINTR, "interrupted");
	return exporter_generation(job->exporter, gen, job->err);
}

/* Only a file that has changed since the first pass has another fault. */
static int refuse_restart(void *ctx)
{
	struct lake_job *job = ctx;

	return error_set(job->err, EBADMSG, "%s has changed", job->file->path);
}

static int second_pass(struct lake_job *job, struct error *err)
{
	bool whole = !job->file->result.fault.text[0];

	const struct export_options options = {
		.format = EXPORT_PARQUET, .title = trace_file_name(job->file), .lake = &job->lake};
	const struct convert_sink sink = {
		.generation = take_second,
		.restart = whole ? refuse_restart : NULL,
		.ctx = job,
		.source_times = true,
	};
	int rc;

	err->text[0] = '\0';
	job->exporter = exporter_new(&options, &job->census, err);
	if (!job->exporter)
		return -EIO;
	rc = trace_file_read(job->file, &sink, err);
	if (!rc || rc == -EBADMSG)
		rc = exporter_finish(job->exporter, err);
	return rc;
}

/* `trace` is the last one: when its row is there, so are the other tables. */
static int publish_all(struct lake_job *job, struct error *err)
{
	int rc = 0;

	for (int i = LAKE_TABLES - 1; i >= 0 && !rc; i--) {
		struct output *out = &job->outputs[i];

		if (out->fd < 0)
			continue;
		rc = output_commit(out);
		if (!rc && output_publish(out, err))
			return -EIO;
		if (!rc)
			rc = output_close(out);
		if (rc)
			error_set(err, -rc, "cannot write %s: %s", output_name(out), strerror(-rc));
	}
	return rc;
}

/* Returns the exit status, or a negative errno and sets *err. */
static int lake_write_trace(const struct convert_options *options, struct channel *files,
			    struct lake_input *input, struct error *err)
{
	struct lake_job job = {
		.options = options,
		.files = files,
		.file = &input->file,
		.lake = {.write = write_table, .ctx = &job},
		.err = err,
	};
	int rc;

	for (unsigned i = 0; i < LAKE_TABLES; i++)
		output_init(&job.outputs[i]);
	rc = trace_file_begin(&input->file, err);
	if (!rc)
		rc = first_pass(&job, err);
	if (!rc)
		rc = name_trace(&job, input, err);
	if (!rc)
		rc = second_pass(&job, err);
	if (!rc)
		rc = publish_all(&job, err);
	for (unsigned i = 0; i < LAKE_TABLES; i++)
		output_discard(&job.outputs[i]);
	exporter_free(job.exporter);
	forget_first(&job);
	free(job.findings);
	free(job.frames);
	return rc ? rc : trace_file_status(&input->file);
}

/* --- all inputs --- */

/* Opens the input while files can be opened. */
static void open_input(struct lake_input *input, const char *path, const char *binary)
{
	struct error err = {""};

	input->refused = trace_file_open(&input->file, path, binary, &err) != 0;
	if (input->refused)
		message_error(&err);
}

/* Returns the exit status: the worst of all. */
static int lake_write_all(const struct convert_options *options, struct channel *files,
			  struct lake_input *inputs)
{
	int status = STATUS_WHOLE;

	for (size_t i = 0; i < options->ninputs && !signals_seen(); i++) {
		struct error err = {""};
		int rc = inputs[i].refused ? -EBADMSG : lake_write_trace(options, files, &inputs[i], &err);

		if (err.text[0] && rc < 0)
			message_error(&err);
		if (rc < 0)
			status = STATUS_NONE;
		else if (rc != STATUS_WHOLE && status == STATUS_WHOLE)
			status = rc;
		trace_file_close(&inputs[i].file);
	}
	return signals_seen() ? STATUS_NONE : status;
}

static int lake_work(void *ctx, struct channel *files, struct error *err)
{
	const struct convert_options *options = ctx;
	struct lake_input *inputs = calloc(options->ninputs, sizeof(*inputs));
	int rc = inputs ? 0 : error_set(err, ENOMEM, "out of memory");

	signals_install();
	for (size_t i = 0; i < options->ninputs && !rc; i++)
		open_input(&inputs[i], options->inputs[i], options->binary);
	if (!rc)
		rc = sandbox_confine(err);
	if (!rc)
		rc = lake_write_all(options, files, inputs);
	for (size_t i = 0; inputs && i < options->ninputs; i++)
		trace_file_close(&inputs[i].file);
	free(inputs);
	return rc;
}

int lake_run(const struct convert_options *options)
{
	const struct confined_job job = {.output = options->output,
					 .tree = true,
					 .work = lake_work,
					 .ctx = (void *)(uintptr_t)options};

	return confined_run(&job);
}
