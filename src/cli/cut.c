/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace cut: extracts a piece of a trace, or splits it into pieces, in the trace's own format. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/confined.h"
#include "cli/cut.h"
#include "cli/cut_scope.h"
#include "cli/options.h"
#include "cli/signals.h"
#include "cli/trace_file.h"
#include "trace/cut/anonymize.h"
#include "trace/cut/cut.h"
#include "trace/cut/wall_clock.h"
#include "pipeline/output.h"
#include "sandbox/sandbox.h"
#include "util/message.h"
#include "util/text.h"
#include "trace/wire/wire.h"

struct cut {
	const struct cut_command_options *options;
	struct channel *files;   /* opens the pieces */
	enum wire_format newest; /* that the pieces' reader knows; WIRE_NONE = it knows all */
	struct trace_file file;
	struct cut_scope scope;
	struct wall_moment from, to; /* of wall-clock times */
	struct cutter *cutter;
	struct anonymizer *anonymizer; /* or NULL */
	struct wire *wire;             /* of the open piece, or NULL */
	struct output piece;
	enum wire_format format;
	bool measuring; /* the pass writes nothing */
	unsigned pieces;
	uint64_t total;                 /* bytes of all pieces */
	uint64_t nops;                  /* of the trace, without statuses */
	uint64_t written;               /* ops of all pieces, without statuses */
	bool found[MAX_CUT_GOROUTINES]; /* the goroutines that are asked for, in the trace */
	bool full;                      /* --max-size is reached */
	uint64_t bytes;                 /* of the open piece */
	uint64_t last_bytes;            /* of its last generation */
	uint64_t largest;
	struct error *err;
};

/* --- pieces --- */

static int write_piece(void *ctx, const void *bytes, size_t n)
{
	struct cut *cut = ctx;

	cut->bytes += n;
	cut->total += n;
	return cut->measuring ? 0 : output_write(&cut->piece, bytes, n);
}

static int open_piece(struct cut *cut)
{
	const struct wire_options options = {.format = cut->format,
					     .out = {.write = write_piece, .ctx = cut}};

	cut->pieces++;
	if (cut->options->split_bytes && !cut->measuring &&
	    confined_open(cut->files, cut->pieces, &cut->piece, cut->err))
		return -EIO;
	cut->bytes = cut->last_bytes = 0;
	cut->wire = wire_new(&options, cut->err);
	return cut->wire ? 0 : -EIO;
}

static int cannot_write(const struct cut *cut, int code)
{
	return error_set(cut->err, code, "cannot write %s: %s", output_name(&cut->piece), strerror(code));
}

static int close_piece(struct cut *cut)
{
	int rc;

	wire_free(cut->wire);
	cut->wire = NULL;
	if (cut->bytes > cut->largest)
		cut->largest = cut->bytes;
	if (cut->measuring)
		return 0;
	rc = output_commit(&cut->piece);
	if (!rc && output_publish(&cut->piece, cut->err))
		return -EIO;
	if (!rc)
		rc = output_close(&cut->piece);
	return rc ? cannot_write(cut, -rc) : 0;
}

static uint64_t most_files(const struct cut *cut)
{
	return cut->options->max_files ? cut->options->max_files : 1000;
}

static uint64_t most_bytes(const struct cut *cut)
{
	uint64_t most = 10 * (uint64_t)cut->file.in.size;

	return cut->options->max_total ? cut->options->max_total : most > 64u << 20 ? most : 64u << 20;
}

static bool is_too_much(const struct cut *cut)
{
	return cut->pieces > most_files(cut) || cut->total > most_bytes(cut);
}

static bool is_status(const struct op *op)
{
	return op->kind == OP_GO_STATUS || op->kind == OP_PROC_STATUS;
}

static int take_cut(void *ctx, const struct generation *gen)
{
	struct cut *cut = ctx;
	struct generation other = *gen;
	uint64_t before;

	if (cut->full)
		return 0;
	if (cut->measuring && is_too_much(cut))
		return -E2BIG;
	if (!cut->wire && open_piece(cut))
		return -EIO;
	if (cut->anonymizer && anonymizer_generation(cut->anonymizer, gen, &other))
		return error_set(cut->err, ENOMEM, "out of memory");
	before = cut->bytes;
	if (wire_generation(cut->wire, &other, cut->err))
		return cut->piece.error ? cannot_write(cut, cut->piece.error) : -EIO;
	cut->last_bytes = cut->bytes - before;
	for (size_t i = 0; i < gen->nops; i++)
		cut->written += !is_status(&gen->ops[i]);
	if (!gen->last)
		return 0;
	cut->full = cut->options->max_bytes > 0;
	return close_piece(cut);
}

/* Generations are small. Leaves space for one more, for the tables at the end of a piece. */
static bool piece_is_full(void *ctx, size_t nops)
{
	const struct cut *cut = ctx;
	uint64_t most = cut->options->split_bytes ? cut->options->split_bytes : cut->options->max_bytes;
	uint64_t more = cut->last_bytes ? cut->last_bytes : nops * 8;

	return most && cut->bytes + 3 * more > most;
}

/* --- passes --- */

static void look_for_goroutines(struct cut *cut, const struct tables *tables)
{
	for (size_t i = 0; i < cut->options->ngoids; i++) {
		for (uint32_t g = 1; g < tables->ngoroutines && !cut->found[i]; g++)
			cut->found[i] = tables->goids[g] == cut->options->goids[i];
	}
}

static int take_scope(void *ctx, const struct generation *gen)
{
	struct cut *cut = ctx;

	if (signals_seen())
		return error_set(cut->err, EINTR, "interrupted");
	wall_moment_take(&cut->from, gen);
	wall_moment_take(&cut->to, gen);
	for (size_t i = 0; i < gen->nops; i++)
		cut->nops += !is_status(&gen->ops[i]);
	look_for_goroutines(cut, gen->tables);
	return cut_scope_generation(&cut->scope, gen) ? error_set(cut->err, ENOMEM, "out of memory") : 0;
}

static int cut_take_generation(void *ctx, const struct generation *gen)
{
	struct cut *cut = ctx;
	int rc;

	if (signals_seen())
		return error_set(cut->err, EINTR, "interrupted");
	rc = cutter_generation(cut->cutter, gen);
	return rc == -ENOMEM ? error_set(cut->err, ENOMEM, "out of memory") : rc;
}

/*
 * Returns the format of the pieces: the trace's, or one that the reader knows. From Go 1.23 on, Go's readers
 * know no format below that of 1.11 (internal/trace/reader.go), which all since 1.11 know.
 */
static enum wire_format piece_format(const struct cut *cut)
{
	enum wire_format format = (enum wire_format)cut->file.result.version;

	if (cut->newest != WIRE_NONE && cut->newest < format)
		return cut->newest;
	return cut->newest >= WIRE_GO111 && format < WIRE_GO111 ? WIRE_GO111 : format;
}

static int find_scope(struct cut *cut)
{
	const struct convert_sink sink = {.generation = take_scope, .ctx = cut};
	int rc = 0;

	cut->scope.task = cut->options->task;
	cut->from.wall_ns = cut->options->from.ns;
	cut->to.wall_ns = cut->options->to.ns;
	for (size_t i = 0; i < cut->options->ngoids && !rc; i++)
		rc = cut_scope_add(&cut->scope, cut->options->goids[i]);
	if (!rc)
		rc = trace_file_read(&cut->file, &sink, cut->err);
	if (rc && rc != -EBADMSG)
		return rc;
	if (cut_scope_finish(&cut->scope))
		return error_set(cut->err, ENOMEM, "out of memory");
	for (size_t i = 0; i < cut->options->ngoids; i++) {
		if (!cut->found[i])
			return error_set(cut->err, ENOENT, "%s has no goroutine %llu", cut->file.path,
					 (unsigned long long)cut->options->goids[i]);
	}
	if (cut->options->task && !cut->scope.n)
		return error_set(cut->err, ENOENT, "%s has no task %llu", cut->file.path,
				 (unsigned long long)cut->options->task);
	if ((cut->options->from.is_wall || cut->options->to.is_wall) && !cut->from.is_known)
		return error_set(cut->err, EINVAL,
				 "%s has no wall clock: give --from and --to as time since its start",
				 cut->file.path);
	cut->format = piece_format(cut);
	return 0;
}

static uint64_t later(uint64_t start, uint64_t ns)
{
	return ns < UINT64_MAX - start ? start + ns : UINT64_MAX;
}

static uint64_t moment_in(const struct cut *cut, const struct moment *moment, const struct wall_moment *wall)
{
	return moment->is_wall ? wall->trace_ns : later(cut->scope.start, moment->ns);
}

static struct cut_options cutter_options(struct cut *cut)
{
	const struct cut_command_options *options = cut->options;
	const struct cut_scope *scope = &cut->scope;
	bool some = options->ngoids || options->task;
	struct cut_options wanted = {
		.from = moment_in(cut, &options->from, &cut->from),
		.to = options->has_to ? moment_in(cut, &options->to, &cut->to) : UINT64_MAX,
		.goids = some ? scope->goids : NULL,
		.ngoids = some ? scope->n : 0,
		.generation = take_cut,
		.ends = piece_is_full,
		.ctx = cut,
	};
	uint64_t most = options->split_bytes ? options->split_bytes : options->max_bytes;

	if (options->has_last)
		wanted.from = scope->end - scope->start > options->last_ns ? scope->end - options->last_ns
									   : scope->start;
	if (options->task && scope->task_begin > wanted.from)
		wanted.from = scope->task_begin;
	if (options->task && scope->task_end && scope->task_end < wanted.to)
		wanted.to = scope->task_end;
	/* An op takes about 4 to 8 bytes, so a piece has at least ten generations. */
	if (most)
		wanted.most_ops = most / 100 > 20000 ? 20000 : most / 100;
	return wanted;
}

static void end_pass(struct cut *cut)
{
	wire_free(cut->wire);
	cutter_free(cut->cutter);
	anonymizer_free(cut->anonymizer);
	cut->wire = NULL;
	cut->cutter = NULL;
	cut->anonymizer = NULL;
}

/* Makes all pieces. -E2BIG: they would take too much (err is not set). */
static int make_pieces(struct cut *cut)
{
	const struct convert_sink sink = {.generation = cut_take_generation, .ctx = cut};
	const struct cut_options options = cutter_options(cut);
	int rc;

	cut->pieces = 0;
	cut->bytes = cut->last_bytes = cut->total = cut->largest = cut->written = 0;
	cut->cutter = cutter_new(&options);
	if (cut->options->anonymize)
		cut->anonymizer = anonymizer_new();
	if (!cut->cutter || (cut->options->anonymize && !cut->anonymizer))
		return error_set(cut->err, ENOMEM, "out of memory");
	rc = trace_file_read(&cut->file, &sink, cut->err);
	if (rc && rc != -EBADMSG)
		return rc;
	if (cut->wire) /* a fault ended the piece early */
		rc = close_piece(cut);
	else
		rc = 0;
	if (!rc && !cut->pieces)
		rc = error_set(cut->err, ENOENT, "no event of %s is in that range: the trace lasts %s",
			       cut->file.path, text_time(cut->scope.end - cut->scope.start).bytes);
	return rc;
}

/* Each piece has the states of all live objects, so many small pieces may take much more than the trace. */
static int cut_refuse(const struct cut *cut)
{
	uint64_t done = cutter_ops(cut->cutter);
	double scale = (double)cut->nops / (double)(done ? done : 1);

	return error_set(
		cut->err, E2BIG,
		"--split %s would take about %s files, %s in all: each has the states of all goroutines. "
		"Give larger pieces, or allow it with --max-files and --max-total",
		text_bytes(cut->options->split_bytes).bytes,
		text_count((uint64_t)((double)cut->pieces * scale)).bytes,
		text_bytes((uint64_t)((double)cut->total * scale)).bytes);
}

/* Makes the pieces of --split without writing them, to find out what they take. */
static int cut_measure(struct cut *cut)
{
	int rc;

	cut->measuring = true;
	rc = make_pieces(cut);
	if (!rc && is_too_much(cut))
		rc = -E2BIG;
	cut->measuring = false;
	if (rc == -E2BIG)
		rc = cut_refuse(cut);
	end_pass(cut);
	return rc;
}

static void cut_report(const struct cut *cut)
{
	message("wrote %s events in %u file%s, %s in all, the largest has %s", text_count(cut->written).bytes,
		cut->pieces, cut->pieces == 1 ? "" : "s", text_bytes(cut->total).bytes,
		text_bytes(cut->largest).bytes);
}

/* Over such a gap, the states in the piece are not reliable. */
static void warn(const struct cut *cut)
{
	uint64_t n = cutter_unmarked_gaps(cut->cutter);

	if (n)
		message("the piece contains %s unmarked gap%s in which nothing was recorded: "
			"gotrace sql %s \"SELECT ts, dur FROM gc WHERE kind = 'not watched'\"",
			text_count(n).bytes, n == 1 ? "" : "s", cut->options->input);
}

/* The file is open, and so is the piece, if there is only one. */
static int cut_run(struct cut *cut)
{
	int rc = find_scope(cut);

	if (!rc && cut->options->split_bytes)
		rc = cut_measure(cut);
	if (!rc)
		rc = make_pieces(cut);
	if (rc)
		output_discard(&cut->piece);
	else
		warn(cut);
	if (!rc && !cut->options->quiet)
		cut_report(cut);
	end_pass(cut);
	cut_scope_free(&cut->scope);
	return rc ? rc : trace_file_status(&cut->file);
}

static int cut_work(void *ctx, struct channel *files, struct error *err)
{
	struct cut cut = {.options = ctx, .files = files, .err = err};
	int rc;

	signals_install();
	output_init(&cut.piece);
	rc = trace_file_open(&cut.file, cut.options->input, NULL, err);
	if (!rc && !cut.options->split_bytes)
		rc = confined_open(files, 1, &cut.piece, err);
	if (!rc)
		rc = sandbox_confine(err);
	if (!rc)
		rc = trace_file_begin(&cut.file, err);
	if (rc)
		output_discard(&cut.piece);
	else
		rc = cut_run(&cut);
	trace_file_close(&cut.file);
	return rc;
}

int cut_into(const struct cut_command_options *options, const struct trace_file *file,
	     enum wire_format newest, const struct output *piece, struct error *err)
{
	struct cut cut = {.options = options, .file = *file, .newest = newest, .piece = *piece, .err = err};

	return cut_run(&cut);
}

int command_cut(int argc, char **argv)
{
	struct cut_command_options options;
	struct confined_job job = {.work = cut_work, .ctx = &options};
	struct error err = {""};
	int status = options_cut(argc, argv, &options, &err);

	if (status)
		return options_end(status, "gotrace cut", &err);
	job.output = options.output;
	job.numbered = options.split_bytes > 0;
	return confined_run(&job);
}
