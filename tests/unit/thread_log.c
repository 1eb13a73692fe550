/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "thread_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "op_rules.h"

__attribute__((format(printf, 2, 3))) static void append(struct thread_log *log, const char *format, ...)
{
	va_list args;
	int n;

	if (log->capacity - log->len < 8192) {
		log->capacity = log->capacity * 2 + 16384;
		log->text = realloc(log->text, log->capacity);
		assert_non_null(log->text);
	}
	va_start(args, format);
	n = vsnprintf(log->text + log->len, log->capacity - log->len, format, args);
	va_end(args);
	assert_true(n >= 0 && (size_t)n < log->capacity - log->len);
	log->len += (size_t)n;
}

static const char *string(const struct thread_log *log, uint64_t id)
{
	size_t len;

	return strtab_get(log->strings, (uint32_t)id, &len);
}

static void say_stack(struct thread_log *log, const struct tables *tables, const char *what, uint32_t id)
{
	const struct stack *stack = &tables->stacks[id];

	if (!id)
		return;
	assert_true(id < tables->nstacks);
	append(log, " %s{%s", what, string(log, stack->leaf));
	for (uint32_t i = 0; i < stack->n && stack->literal; i++)
		append(log, "|%s", string(log, stack->pcs[i]));
	for (uint32_t i = 0; i < stack->n && !stack->literal; i++)
		append(log, "|%llx", (unsigned long long)stack->pcs[i]);
	append(log, "|%s%s}", string(log, stack->cut), string(log, stack->root));
}

static void say_number(struct thread_log *log, const char *name, uint64_t value)
{
	if (value)
		append(log, " %s%llu", name, (unsigned long long)value);
}

static void say_op(struct thread_log *log, const struct tables *tables, const struct op *op)
{
	static const char *const g_statuses[] = {"", "runnable", "running", "syscall", "waiting"};
	static const char *const p_statuses[] = {"", "running", "idle", "syscall", "abandoned"};
	bool task = op->kind == OP_TASK_BEGIN || op->kind == OP_TASK_END || op->kind == OP_REGION_BEGIN ||
		    op->kind == OP_REGION_END;

	if (op->kind == OP_NONE)
		return;
	append(log, "%s", op_name(op->kind));
	say_number(log, "m", op->m);
	if (op->p != NO_P)
		append(log, " p%d", op->p);
	say_number(log, "g", tables->goids[op->g]);
	say_number(log, "g2=", tables->goids[op->g2]);
	if (op->status)
		append(log, " %s",
		       op->kind == OP_PROC_STATUS ? p_statuses[op->status] : g_statuses[op->status]);
	say_number(log, task ? "task" : "arg=", op->arg);
	if (op->string)
		append(log, " '%s'", string(log, op->string));
	say_stack(log, tables, "", op->stack);
	say_stack(log, tables, "entry", op->stack2);
	append(log, "%s\n", op->inferred ? " ~" : "");
}

static int keep(void *ctx, const void *bytes, size_t n)
{
	struct thread_log *log = ctx;

	log->bytes = realloc(log->bytes, log->nbytes + n + 1);
	assert_non_null(log->bytes);
	memcpy(log->bytes + log->nbytes, bytes, n);
	log->nbytes += n;
	return 0;
}

static int take_generation(void *ctx, const struct generation *gen)
{
	struct thread_log *log = ctx;
	struct error err = {""};

	if (op_rules_generation(log->rules, gen, &err))
		fail_msg("%s\n%s", err.text, log->text ? log->text : "");
	log->generations++;
	append(log, "-- %u\n", gen->number);
	for (size_t i = 0; i < gen->nops; i++)
		say_op(log, gen->tables, &gen->ops[i]);
	if (log->wire && wire_generation(log->wire, gen, &err))
		fail_msg("%s", err.text);
	return 0;
}

static void begin(struct thread_log *log, uint32_t flags, const enum wire_format *format, bool any_first)
{
	struct log_target target = {.pid = LOG_PID, .flags = LOG_TARGET_THREADS | flags, .comm = "app"};
	struct model_options options = {.sink = take_generation, .ctx = log, .any_first = any_first};
	struct wire_options wire = {.out = {.write = keep, .ctx = log}};

	*log = (struct thread_log){.now = LOG_START};
	log->strings = options.strings = strtab_new();
	log->rules = op_rules_new();
	log->model = annotate_model_new(&options, NULL);
	if (format) {
		wire.format = *format;
		wire.symbol = log->symbol = symbol_new(NULL, log->strings);
		log->wire = wire_new(&wire, NULL);
	}
	target.clock = (struct log_clock){.mono_ns = LOG_START, .wall_sec = 1700000000};
	thread_log_put(log, LOG_TARGET, &target, sizeof(target));
}

void thread_log_begin(struct thread_log *log, uint32_t flags, const enum wire_format *format)
{
	begin(log, flags, format, false);
}

void thread_log_begin_days(struct thread_log *log)
{
	begin(log, 0, NULL, true);
}

void thread_log_end(struct thread_log *log)
{
	assert_int_equal(model_finish(log->model, NULL), 0);
	append(log, "%s", "");
}

void thread_log_free(struct thread_log *log)
{
	model_free(log->model);
	op_rules_free(log->rules);
	if (log->wire)
		wire_free(log->wire);
	if (log->symbol)
		symbol_free(log->symbol);
	strtab_free(log->strings);
	free(log->bytes);
	free(log->text);
}

void thread_log_put(struct thread_log *log, uint32_t type, const void *data, size_t size)
{
	struct log_record record = {.type = type, .size = (uint32_t)size, .data = data};
	struct error err = {""};

	if (model_feed(log->model, &record, &err))
		fail_msg("%s", err.text);
}

void thread_log_record(struct thread_log *log, struct raw_record rec)
{
	log->now += 1000;
	if (!rec.time)
		rec.time = log->now;
	log->now = rec.time;
	if (!rec.goid)
		rec.goid = LOG_PID;
	thread_log_put(log, LOG_RECORDS, &rec, sizeof(rec));
}

void thread_log_marker(struct thread_log *log, uint32_t number)
{
	thread_log_record(log, (struct raw_record){.site = SITE_MARKER, .arg = number});
}

void thread_log_comm(struct thread_log *log, uint32_t tid, const char *comm)
{
	_Alignas(8) char bytes[sizeof(struct raw_text) + 64] = {0};
	struct raw_text *text = (struct raw_text *)bytes;

	text->record = (struct raw_record){.site = SITE_COMM, .tid = tid, .time = log->now};
	text->len = (uint16_t)strlen(comm);
	memcpy(bytes + sizeof(*text), comm, text->len);
	thread_log_put(log, LOG_TEXT, bytes, sizeof(*text) + text->len);
}

void thread_log_symbol(struct thread_log *log, uint64_t pc, const char *function, uint8_t hint)
{
	_Alignas(8) char bytes[256] = {0};
	struct log_symbol symbol = {.pc = pc, .nframes = 1, .hint = hint};
	struct log_symbol_frame frame = {.line = 7, .function_len = (uint16_t)strlen(function)};

	memcpy(bytes, &symbol, sizeof(symbol));
	memcpy(bytes + sizeof(symbol), &frame, sizeof(frame));
	memcpy(bytes + sizeof(symbol) + sizeof(frame), function, frame.function_len);
	thread_log_put(log, LOG_SYMBOL, bytes, sizeof(symbol) + sizeof(frame) + frame.function_len);
}

void thread_log_stack(struct thread_log *log, uint64_t hash, uint16_t flags, const uint64_t *pcs, uint32_t n)
{
	_Alignas(8) char bytes[sizeof(struct raw_stack) + 64 * 8];
	struct raw_stack stack = {
		.n = n, .site = SITE_STACK, .flags = RAW_STACK_NATIVE | flags, .hash = hash};

	memcpy(bytes, &stack, sizeof(stack));
	memcpy(bytes + sizeof(stack), pcs, n * sizeof(*pcs));
	thread_log_put(log, LOG_STACK, bytes, sizeof(stack) + n * sizeof(*pcs));
}

void thread_log_file(struct thread_log *log, uint64_t key, const char *text)
{
	_Alignas(8) char bytes[256];
	struct log_file file = {.key = key, .len = (uint32_t)strlen(text)};

	memcpy(bytes, &file, sizeof(file));
	memcpy(bytes + sizeof(file), text, file.len);
	thread_log_put(log, LOG_FILE, bytes, sizeof(file) + file.len);
}

void thread_log_function(struct thread_log *log, uint32_t number, uint16_t kind, const char *name)
{
	_Alignas(8) char bytes[256];
	struct log_function function = {.number = number, .kind = kind, .len = (uint16_t)strlen(name)};

	memcpy(bytes, &function, sizeof(function));
	memcpy(bytes + sizeof(function), name, function.len);
	thread_log_put(log, LOG_FUNCTION, bytes, sizeof(function) + function.len);
}

void thread_log_snapshot(struct thread_log *log, uint32_t ncpus, const struct log_thread *threads, size_t n)
{
	struct log_snapshot head = {.marker_before = 1, .marker_after = 2, .gomaxprocs = ncpus};

	thread_log_marker(log, 1);
	thread_log_marker(log, 2);
	head.time_before = log->now - 1500;
	head.time_after = log->now;
	thread_log_put(log, LOG_SNAPSHOT, &head, sizeof(head));
	thread_log_put(log, LOG_THREADS, threads, n * sizeof(*threads));
	thread_log_put(log, LOG_SNAPSHOT_END, NULL, 0);
}

void thread_log_boundary(struct thread_log *log)
{
	struct log_boundary boundary = {.time_before = log->now, .time_after = log->now};

	boundary.clock.mono_ns = log->now;
	boundary.clock.wall_sec = 1700000000 + log->now / 1000000000;
	thread_log_put(log, LOG_BOUNDARY, &boundary, sizeof(boundary));
}

void thread_log_loss(struct thread_log *log)
{
	struct log_loss loss = {.ring_full = 3};

	thread_log_put(log, LOG_LOSS, &loss, sizeof(loss));
}
