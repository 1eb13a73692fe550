/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "pipeline/pipeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/symbol/functab_record.h"
#include "code/symbol/library.h"
#include "code/symbol/lock_kind.h"
#include "code/symbol/natives.h"
#include "code/symbol/symbol.h"
#include "util/strtab.h"
#include "trace/wire/frames.h"

/* Initial estimate of the trace bytes per raw record. */
#define GUESS_BYTES_A_RECORD 10

/* The parsed function table, and the symbols of native code. */
struct pipeline_names {
	struct functab *functab; /* the executable's, with the plugins' */
	/* The plugins' tables, and copies of their records. */
	struct functab *waiting; /* until there is the executable's; NULL = none */
	void *plugins[MAX_PLUGINS];
	unsigned nplugins;
	struct natives *natives; /* from the first LOG_SYMBOL on */
	struct symbol *symbol;
};

struct pipeline {
	struct pipeline_options options;
	struct pipeline_keep keep;
	struct strtab *strings;
	struct pipeline_names names;
	struct model *model;
	struct wire *wire;            /* from the first generation on */
	struct rawlog_writer *writer; /* from the first record on */
	enum wire_format format;
	struct log_end end;
	bool ended, finished;
	struct error trace_error, raw_error, wire_error;
	bool trace_failed, raw_failed;
	uint64_t records, records_written;  /* number of raw records: fed, and in written generations */
	_Atomic uint64_t written, expected; /* bytes, as of the last record */
};

/* If the file cannot be written, its own error says more than that of the callers. */
static void pipeline_explain(struct pipeline *pipe, int code, const struct error *why)
{
	const struct output *out = pipe->options.trace;

	if (out && out->error)
		error_set(&pipe->trace_error, out->error, "cannot write %s: %s%s", output_name(out),
			  strerror(out->error), output_advice(-out->error));
	else if (why->text[0])
		pipe->trace_error = *why;
	else
		error_set(&pipe->trace_error, -code, "cannot make the trace: %s", strerror(-code));
}

/* Truncates the file to its valid part. */
static void fail_trace(struct pipeline *pipe, int code, const struct error *why)
{
	struct output *out = pipe->options.trace;

	pipe->trace_failed = true;
	pipeline_explain(pipe, code, pipe->wire_error.text[0] ? &pipe->wire_error : why);
	if (out && output_cut(out))
		error_set(&pipe->trace_error, -code,
			  "cannot write %s: %s; its end is damaged (gotrace check --repair truncates it)",
			  output_name(out), strerror(-code));
}

/* The trace goes on without the raw log, unless the reader of a pipe has ended both. */
static int fail_raw(struct pipeline *pipe, int code)
{
	pipe->raw_failed = true;
	error_set(&pipe->raw_error, -code, "the raw log is not complete: cannot write %s: %s%s",
		  output_name(pipe->options.raw), strerror(-code), output_advice(code));
	return code == -EPIPE ? code : 0;
}

/* The output keeps its write errors, which say more than the module above could. */
static int pipeline_write_trace(void *ctx, const void *bytes, size_t n)
{
	return output_write(ctx, bytes, n);
}

static int make_symbol(struct pipeline *pipe)
{
	if (!pipe->names.symbol)
		pipe->names.symbol = symbol_new(pipe->names.functab, pipe->strings);
	if (!pipe->names.symbol)
		return -ENOMEM;
	if (pipe->names.natives)
		symbol_use_natives(pipe->names.symbol, pipe->names.natives);
	return 0;
}

static int pipeline_open_wire(struct pipeline *pipe)
{
	bool keeps = pipe->options.keep;
	struct byte_sink file = {.write = pipeline_write_trace, .ctx = pipe->options.trace};
	struct wire_options options = {
		.format = pipe->format,
		.out = keeps ? pipe->keep.out : file,
		.symbol_flags = pipe->options.trace_options.runtime_frames ? SYMBOL_RUNTIME_FRAMES : 0,
	};

	if (pipe->wire)
		return 0;
	if (make_symbol(pipe))
		return -ENOMEM;
	options.symbol = pipe->names.symbol;
	options.functab = pipe->names.functab;
	pipe->wire = wire_new(&options, &pipe->wire_error);
	if (!pipe->wire)
		return -EIO;
	return keeps ? pipe->keep.header(pipe->keep.ctx) : 0;
}

static int pipeline_take_generation(void *ctx, const struct generation *gen)
{
	struct pipeline *pipe = ctx;
	int rc = pipeline_open_wire(pipe);

	if (rc == 0)
		rc = wire_generation(pipe->wire, gen, &pipe->wire_error);
	if (rc == 0)
		rc = pipe->options.keep ? pipe->keep.generation(pipe->keep.ctx, gen)
					: output_commit(pipe->options.trace);
	if (rc == 0)
		pipe->records_written = pipe->records;
	return rc;
}

/* For the model: runtime frames are those that the stack skips anyway. */
static enum lock_kind find_lock_kind(void *ctx, const struct stack *stack)
{
	struct pipeline *pipe = ctx;
	struct frame_names names = {.functab = pipe->names.functab};
	struct frame frames[MAX_FRAMES];
	int n;

	if (!pipe->names.functab || make_symbol(pipe))
		return LOCK_SEMAPHORE;
	names.symbol = pipe->names.symbol;
	n = frames_of(&names, stack, 0, frames);
	return lock_kind_of(pipe->strings, frames, n > 0 ? n : 0);
}

static bool is_system_row(void *ctx, const struct goroutine_stats *row)
{
	struct pipeline *pipe = ctx;
	const struct log_target *target = model_target(pipe->model);
	size_t len;

	return target && !(target->flags & LOG_TARGET_THREADS) &&
	       library_is_system(pipeline_function_name(pipe, row, &len));
}

struct pipeline *pipeline_new(const struct pipeline_options *options)
{
	struct pipeline *pipe = calloc(1, sizeof(*pipe));
	struct model_options model = {
		.sink = pipeline_take_generation,
		.is_system = is_system_row,
		.ctx = pipe,
		.any_first = options->trace_options.any_first,
	};
	struct annotate_options annotate = {
		.off_cpu_ns = options->trace_options.off_cpu_ns,
		.locks = options->trace_options.locks,
		.lock_kind = find_lock_kind,
		.lock_ctx = pipe,
	};

	if (!pipe)
		return NULL;
	pipe->options = *options;
	pipe->format = options->trace_options.format;
	if (options->keep) {
		pipe->keep = *options->keep;
		model.any_first = true;
		annotate.watch = pipe->keep.watch;
		annotate.watch_ctx = pipe->keep.ctx;
		model.generation_ops = pipe->keep.generation_ops;
	}
	pipe->strings = strtab_new();
	model.strings = pipe->strings;
	if (pipe->strings)
		pipe->model = annotate_model_new(&model, &annotate);
	if (!pipe->model) {
		pipeline_free(pipe);
		return NULL;
	}
	return pipe;
}

void pipeline_free(struct pipeline *pipe)
{
	if (!pipe)
		return;
	if (pipe->wire)
		wire_free(pipe->wire);
	if (pipe->model)
		model_free(pipe->model);
	if (pipe->names.symbol)
		symbol_free(pipe->names.symbol);
	natives_free(pipe->names.natives);
	functab_free(pipe->names.functab);
	functab_free(pipe->names.waiting);
	for (unsigned i = 0; i < pipe->names.nplugins; i++)
		free(pipe->names.plugins[i]);
	if (pipe->writer)
		rawlog_writer_free(pipe->writer);
	strtab_free(pipe->strings);
	free(pipe);
}

int pipeline_functab(struct pipeline *pipe, const struct log_record *record)
{
	struct pipeline_names *names = &pipe->names;

	if (names->functab)
		return 0;
	names->functab = functab_of_record(record);
	if (!names->functab)
		return -EBADMSG;
	if (names->waiting)
		functab_add(names->functab, names->waiting);
	names->waiting = NULL;
	return 0;
}

/* Adds the function table of a plugin. One that is invalid is left out: its code then has no names. */
static int add_plugin(struct pipeline *pipe, const struct log_record *record)
{
	struct pipeline_names *names = &pipe->names;
	struct log_record copy = *record;
	struct functab *tab;
	void *bytes;

	if (names->nplugins == MAX_PLUGINS)
		return 0;
	bytes = malloc(record->size);
	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, record->data, record->size);
	copy.data = bytes;
	tab = functab_of_record(&copy);
	if (!tab) {
		free(bytes);
		return 0;
	}
	names->plugins[names->nplugins++] = bytes;
	if (names->functab)
		functab_add(names->functab, tab);
	else if (names->waiting)
		functab_add(names->waiting, tab);
	else
		names->waiting = tab;
	if (names->symbol)
		symbol_forget(names->symbol);
	return 0;
}

bool pipeline_has_names(const struct pipeline *pipe)
{
	return pipe->names.functab || pipe->names.natives;
}

bool pipeline_has_functab(const struct pipeline *pipe)
{
	return pipe->names.functab;
}

static void note_target(struct pipeline *pipe, const struct log_target *target)
{
	if (pipe->format != WIRE_NONE)
		return;
	pipe->format = target->go_minor ? wire_format_of_release(target->go_minor) : WIRE_GO126;
}

/* Records what the pipeline itself needs from a checked record. */
static void pipeline_note_record(struct pipeline *pipe, const struct log_record *record)
{
	switch (record->type) {
	case LOG_TARGET:
		note_target(pipe, record->data);
		break;
	case LOG_RECORDS:
		pipe->records += record->size / sizeof(struct raw_record);
		break;
	case LOG_END:
		pipe->end = log_end_of(record);
		pipe->ended = true;
		break;
	default:
		break;
	}
}

/* Adds symbols before the model sees the stacks that need them. */
static int feed_names(struct pipeline *pipe, const struct log_record *record)
{
	struct pipeline_names *names = &pipe->names;

	if (record->type == LOG_PLUGIN_FUNCTAB)
		return add_plugin(pipe, record);
	if (record->type != LOG_SYMBOL)
		return 0;
	if (!names->natives) {
		names->natives = natives_new(pipe->strings);
		if (!names->natives)
			return -ENOMEM;
		if (names->symbol)
			symbol_use_natives(names->symbol, names->natives);
	}
	return natives_put(names->natives, record->data, record->size);
}

static int feed_raw(struct pipeline *pipe, const struct log_record *record)
{
	int rc;

	if (!pipe->options.raw || pipe->raw_failed)
		return 0;
	if (!pipe->writer)
		pipe->writer = rawlog_writer_new(pipe->options.raw->fd, &pipe->raw_error);
	if (!pipe->writer)
		return fail_raw(pipe, -errno);
	rc = rawlog_writer_put(pipe->writer, record, &pipe->raw_error);
	/* If gotrace dies, each of the files loses at most one generation. */
	if (rc == 0 && record->type == LOG_BOUNDARY)
		rc = rawlog_writer_flush(pipe->writer, &pipe->raw_error);
	return rc ? fail_raw(pipe, rc) : 0;
}

static int feed_trace(struct pipeline *pipe, const struct log_record *record)
{
	struct error why = {""};
	int rc;

	if (pipe->trace_failed)
		return 0;
	rc = feed_names(pipe, record);
	if (rc == 0)
		rc = model_feed(pipe->model, record, &why);
	if (rc == 0)
		return 0;
	fail_trace(pipe, rc, &why);
	return rc;
}

int pipeline_put(void *ctx, const struct log_record *record)
{
	struct pipeline *pipe = ctx;
	int raw, trace;

	if (rawlog_check_record(record, &pipe->trace_error))
		return -EBADMSG;
	pipeline_note_record(pipe, record);
	raw = feed_raw(pipe, record);
	trace = feed_trace(pipe, record);
	pipe->written = pipeline_trace_bytes(pipe);
	pipe->expected = pipeline_expected_bytes(pipe);
	return trace ? trace : raw;
}

void pipeline_finish(struct pipeline *pipe)
{
	struct error why = {""};
	int rc;

	if (pipe->finished)
		return;
	pipe->finished = true;
	if (!pipe->trace_failed) {
		rc = model_finish(pipe->model, &why);
		if (rc)
			fail_trace(pipe, rc, &why);
	}
	if (!pipe->writer || pipe->raw_failed)
		return;
	/* A log without its last record stays marked incomplete. */
	rc = pipe->ended ? rawlog_writer_finish(pipe->writer, &pipe->raw_error)
			 : rawlog_writer_flush(pipe->writer, &pipe->raw_error);
	if (rc)
		fail_raw(pipe, rc);
}

const struct error *pipeline_trace_error(const struct pipeline *pipe)
{
	return &pipe->trace_error;
}

const struct error *pipeline_raw_error(const struct pipeline *pipe)
{
	return &pipe->raw_error;
}

uint64_t pipeline_trace_bytes(const struct pipeline *pipe)
{
	return pipe->options.trace ? pipe->options.trace->committed : 0;
}

uint64_t pipeline_expected_bytes(const struct pipeline *pipe)
{
	uint64_t bytes = pipeline_trace_bytes(pipe), held = pipe->records - pipe->records_written;
	double each = GUESS_BYTES_A_RECORD;

	if (pipe->records_written > 0)
		each = (double)bytes / (double)pipe->records_written;
	return bytes + (uint64_t)((double)held * each);
}

struct progress pipeline_progress(struct pipeline *pipe)
{
	return (struct progress){.written = pipe->written, .expected = pipe->expected};
}

uint64_t pipeline_raw_bytes(const struct pipeline *pipe)
{
	return pipe->writer ? rawlog_writer_bytes(pipe->writer) : 0;
}

enum wire_format pipeline_format(const struct pipeline *pipe)
{
	return pipe->format;
}

struct model *pipeline_model(const struct pipeline *pipe)
{
	return pipe->model;
}

const struct log_end *pipeline_end(const struct pipeline *pipe)
{
	return pipe->ended ? &pipe->end : NULL;
}

const char *pipeline_function_name(struct pipeline *pipe, const struct goroutine_stats *row, size_t *len)
{
	struct frame frames[MAX_FRAMES];
	uint64_t pc;

	*len = 0;
	if (row->name)
		return strtab_get(pipe->strings, row->name, len);
	if (row->startpc == 0 || !pipe->names.functab || make_symbol(pipe))
		return "";
	/* symbol takes return addresses, which are the PC plus 1. */
	pc = functab_start_pc(pipe->names.functab, row->startpc) + 1;
	if (symbol_frames(pipe->names.symbol, &pc, 1, 0, SYMBOL_RUNTIME_FRAMES | SYMBOL_ENTRY, frames) < 1)
		return "";
	return strtab_get(pipe->strings, frames[0].func, len);
}

struct text pipeline_function(struct pipeline *pipe, const struct goroutine_stats *row, unsigned width)
{
	size_t len;
	const char *name = pipeline_function_name(pipe, row, &len);
	struct text text;

	if (len > 0)
		return text_name(name, len, width);
	if (row->startpc == 0)
		snprintf(text.bytes, sizeof(text.bytes), "(not known)");
	else
		snprintf(text.bytes, sizeof(text.bytes), "0x%llx", (unsigned long long)row->startpc);
	return text;
}

bool pipeline_waits_for_mutex(struct pipeline *pipe, uint32_t stack)
{
	const struct tables *tables = model_tables(pipe->model);
	enum lock_kind kind = stack && stack < tables->nstacks ? find_lock_kind(pipe, &tables->stacks[stack])
							       : LOCK_SEMAPHORE;

	return kind != LOCK_SEMAPHORE && kind != LOCK_WAIT_GROUP;
}

struct place_text pipeline_place(struct pipeline *pipe, uint32_t stack)
{
	const struct tables *tables = model_tables(pipe->model);
	struct frame_names names = {.functab = pipe->names.functab};
	struct frame frames[MAX_FRAMES];
	int n = 0;

	if (stack && stack < tables->nstacks && make_symbol(pipe) == 0) {
		names.symbol = pipe->names.symbol;
		n = frames_of(&names, &tables->stacks[stack], 0, frames);
	}
	return place_of(pipe->strings, frames, n > 0 ? n : 0);
}
