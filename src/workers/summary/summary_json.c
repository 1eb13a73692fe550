/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The names here are an interface for programs: add, never rename. */
#include "workers/summary/summary.h"

#include <string.h>
#include <sys/wait.h>

#include "util/json.h"

static void put_fixed(struct json *json, const char *name, const char *text, size_t size)
{
	json_string(json, name, text, strnlen(text, size));
}

static void put_target(struct json *json, const struct summary *sum)
{
	const struct log_target *target = model_target(pipeline_model(sum->pipe));

	if (!target)
		return;
	json_open(json, "target", '{');
	json_number(json, "pid", target->pid);
	if (sum->name)
		json_text(json, "name", sum->name);
	else
		put_fixed(json, "name", target->comm, sizeof(target->comm));
	if (sum->executable)
		json_text(json, "executable", sum->executable);
	else
		put_fixed(json, "executable", target->exe, sizeof(target->exe));
	put_fixed(json, "go_version", target->go_version, sizeof(target->go_version));
	if (sum->layout)
		json_text(json, "layout", sum->layout);
	json_bool(json, "cgo", target->flags & LOG_TARGET_CGO);
	json_bool(json, "threads", target->flags & LOG_TARGET_THREADS);
	json_bool(json, "spawned", target->flags & LOG_TARGET_SPAWNED);
	json_close(json, '}');
}

static void put_command(struct json *json, const struct summary *sum)
{
	int status = sum->command_status;

	if (!sum->command)
		return;
	json_open(json, "command", '{');
	json_text(json, "path", sum->command);
	json_bool(json, "ended", sum->command_ended);
	if (sum->command_ended && WIFEXITED(status))
		json_number(json, "exit_status", (uint64_t)WEXITSTATUS(status));
	if (sum->command_ended && WIFSIGNALED(status))
		json_number(json, "signal", (uint64_t)WTERMSIG(status));
	json_close(json, '}');
}

static void put_losses(struct json *json, const struct summary *sum)
{
	struct log_loss loss = summary_losses(sum);

	json_open(json, "lost", '{');
	json_number(json, "ring_full", loss.ring_full);
	json_number(json, "stack_full", loss.stack_full);
	json_number(json, "unreadable", loss.unreadable);
	json_number(json, "missed", loss.missed);
	json_number(json, "cpu_samples", summary_lost_samples(sum));
	json_close(json, '}');
}

static void summary_put_events(struct json *json, const struct model_stats *stats)
{
	json_open(json, "events_by_kind", '{');
	for (unsigned i = 1; i < OP_KIND_COUNT; i++) {
		if (stats->by_kind[i] > 0)
			json_number(json, op_name((enum op_kind)i), stats->by_kind[i]);
	}
	json_close(json, '}');
}

static void put_counts(struct json *json, const struct summary *sum)
{
	const struct model_stats *stats = model_stats(pipeline_model(sum->pipe));
	const struct log_end *end = pipeline_end(sum->pipe);

	json_number(json, "duration_ns", stats->end_ns - stats->start_ns);
	json_number(json, "not_watched_ns", stats->unwatched_ns);
	json_number(json, "no_syscalls_ns", stats->no_calls_ns);
	json_number(json, "few_frames_ns", stats->few_frames_ns);
	json_number(json, "incomplete", stats->incomplete);
	json_number(json, "events", stats->ops);
	json_number(json, "generations", stats->generations);
	json_number(json, "goroutines", stats->goroutines);
	json_number(json, "inferred", stats->inferred);
	json_number(json, "inferred_starts", stats->inferred_starts);
	json_number(json, "repaired", stats->repaired);
	put_losses(json, sum);
	json_number(json, "late", end ? end->late : 0);
	json_number(json, "hits", end ? end->hits : 0);
	json_number(json, "hit_ns", end ? end->probe_hit_ns : 0);
	summary_put_events(json, stats);
}

static void put_collector(struct json *json, const struct summary *sum, const struct program_stats *program)
{
	json_open(json, "gc", '{');
	json_number(json, "cycles", program->gc_cycles);
	json_number(json, "cycles_ns", program->gc_ns);
	json_number(json, "workers_ns", summary_gc_workers(sum));
	json_number(json, "assists_ns", program->assists_ns);
	json_number(json, "pauses", program->stw_count);
	json_number(json, "pauses_ns", program->stw_ns);
	json_number(json, "longest_pause_ns", program->stw_max_ns);
	json_close(json, '}');
}

static void put_whole(struct json *json, const struct summary *sum)
{
	const struct program_stats *program = model_program_stats(pipeline_model(sum->pipe));

	json_number(json, "goroutines_at_start", program->goroutines_at_start);
	json_number(json, "goroutines_peak", program->goroutines_peak);
	json_number(json, "goroutines_at_end", program->goroutines_at_end);
	json_open(json, "scheduling_latency", '{');
	json_number(json, "count", program->latency_count);
	json_number(json, "p50_ns", program->latency_p50_ns);
	json_number(json, "p99_ns", program->latency_p99_ns);
	json_number(json, "max_ns", program->latency_max_ns);
	json_close(json, '}');
	if (summary_is_threads(sum))
		return;
	json_open(json, "procs", '{');
	json_number(json, "gomaxprocs", program->gomaxprocs);
	json_number(json, "all_ns", program->procs_ns);
	json_number(json, "code_ns", summary_code(sum));
	json_number(json, "running_ns", program->p_running_ns);
	json_number(json, "syscall_ns", program->p_syscall_ns);
	json_number(json, "idle_ns", program->p_idle_ns);
	json_number(json, "not_watched_ns", program->p_not_watched_ns);
	json_close(json, '}');
	put_collector(json, sum, program);
}

static void put_reasons(struct json *json, const struct tables *tables, const struct goroutine_stats *row)
{
	json_open(json, "blocked_by", '{');
	for (unsigned i = 0; i < STAT_REASONS; i++) {
		char name[128];
		const char *text;

		if (!row->waiting[i].ns)
			continue;
		text = strtab_get(tables->strings, row->waiting[i].reason, NULL);
		snprintf(name, sizeof(name), "%.*s", text_fit(text, sizeof(name) - 1), text);
		json_number(json, name, row->waiting[i].ns);
	}
	json_close(json, '}');
}

static void put_functions(struct json *json, const struct summary *sum)
{
	struct model *model = pipeline_model(sum->pipe);
	size_t n, len;
	const struct goroutine_stats *rows = model_goroutine_stats(model, sum->style.sort, &n);

	json_open(json, "functions", '[');
	for (size_t i = 0; rows && i < n; i++) {
		const char *name = pipeline_function_name(sum->pipe, &rows[i], &len);

		json_open(json, NULL, '{');
		json_string(json, "function", name, len);
		json_number(json, "start_pc", rows[i].startpc);
		json_number(json, "count", rows[i].count);
		json_bool(json, "system", rows[i].system);
		json_number(json, "running_ns", rows[i].running_ns);
		json_number(json, "off_cpu_ns", rows[i].off_cpu_ns);
		json_number(json, "runnable_ns", rows[i].runnable_ns);
		json_number(json, "syscall_ns", rows[i].syscall_ns);
		json_number(json, "blocked_ns", rows[i].waiting_ns);
		json_number(json, "not_watched_ns", rows[i].not_watched_ns);
		put_reasons(json, model_tables(model), &rows[i]);
		json_close(json, '}');
	}
	json_close(json, ']');
}

void summary_print_json(const struct summary *sum, FILE *out)
{
	struct json json = {.out = out};

	json_open(&json, NULL, '{');
	json_text(&json, "version", GOTRACE_VERSION);
	json_number(&json, "status", (uint64_t)sum->exit_status);
	json_text(&json, "trace", sum->trace);
	json_text(&json, "format", wire_format_name(pipeline_format(sum->pipe)));
	json_number(&json, "bytes", pipeline_trace_bytes(sum->pipe));
	json_text(&json, "raw", sum->raw);
	json_bool(&json, "raw_is_partial", sum->raw_is_partial);
	json_text(&json, "end", summary_end_name(sum));
	json_text(&json, "cut", sum->cut);
	put_target(&json, sum);
	put_command(&json, sum);
	put_counts(&json, sum);
	put_whole(&json, sum);
	summary_put_cpu(sum, &json);
	put_functions(&json, sum);
	json_close(&json, '}');
	fputc('\n', out);
}
