/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/kernel_symbols.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/map64.h"
#include "util/strtab.h"
#include "util/text.h"

enum {
	MAX_SYMBOLS = 1 << 20, /* Linux 6.18 has about 200,000, including modules */
	MAX_USED = 1 << 14,    /* functions that a log names; later ones are all "[kernel]" */
	MAX_NAME = 128,
	MAX_LINE = 1024,
};

/* Where a function begins. It ends where the next one begins. */
struct kernel_function {
	uint64_t address;
	uint32_t name;   /* id in texts */
	uint32_t module; /* id in texts: "[ext4]"; 0 = the kernel itself */
};

struct kernel_symbols {
	struct kernel_function *functions; /* by address */
	size_t n, capacity;
	struct strtab *texts;
	struct map64 numbers; /* id of a name in texts -> number, from 1 on */
	uint32_t used;
};

void kernel_symbols_free(struct kernel_symbols *symbols)
{
	if (!symbols)
		return;
	free(symbols->functions);
	strtab_free(symbols->texts);
	map64_free(&symbols->numbers);
	free(symbols);
}

/* --- /proc/kallsyms --- */

static bool is_kernel_code(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

static int kernel_symbols_add(struct kernel_symbols *symbols, uint64_t address, const char *name,
			      const char *module)
{
	struct kernel_function *function;

	if (array_grow(&symbols->functions, &symbols->capacity, symbols->n + 1, sizeof(*symbols->functions)))
		return -ENOMEM;
	function = &symbols->functions[symbols->n++];
	*function = (struct kernel_function){
		.address = address,
		.name = strtab_add_str(symbols->texts, name),
		.module = *module ? strtab_add_str(symbols->texts, module) : 0,
	};
	return function->name && (function->module || !*module) ? 0 : -ENOMEM;
}

static int kernel_symbols_take_line(struct kernel_symbols *symbols, const char *line)
{
	char name[MAX_NAME], module[MAX_NAME] = "";
	unsigned long long address;
	char type;

	if (sscanf(line, "%llx %c %127s %127s", &address, &type, name, module) < 3 || !address ||
	    !is_kernel_code(type) || symbols->n >= MAX_SYMBOLS)
		return 0;
	return kernel_symbols_add(symbols, address, name, module);
}

static int kernel_symbols_by_address(const void *a, const void *b)
{
	const struct kernel_function *one = a, *two = b;

	return one->address < two->address ? -1 : one->address > two->address;
}

int kernel_symbols_parse(struct kernel_symbols **out, FILE *lines, struct error *err)
{
	struct kernel_symbols *symbols = calloc(1, sizeof(*symbols));
	char line[MAX_LINE];
	int rc = 0;

	*out = symbols;
	if (symbols)
		symbols->texts = strtab_new();
	if (!symbols || !symbols->texts)
		rc = -ENOMEM;
	while (rc == 0 && fgets(line, sizeof(line), lines))
		rc = kernel_symbols_take_line(symbols, line);
	if (rc == 0 && symbols->n) {
		qsort(symbols->functions, symbols->n, sizeof(*symbols->functions), kernel_symbols_by_address);
		return 0;
	}
	kernel_symbols_free(symbols);
	*out = NULL;
	if (rc)
		return error_set(err, ENOMEM, "out of memory");
	return error_set(err, EACCES,
			 "the kernel hides its addresses: see kernel.kptr_restrict, and run as root or with "
			 "CAP_SYSLOG");
}

int kernel_symbols_open(struct kernel_symbols **symbols, struct error *err)
{
	FILE *lines = fopen("/proc/kallsyms", "re");
	int rc;

	*symbols = NULL;
	if (!lines)
		return error_set(err, errno, "cannot read /proc/kallsyms: %s", strerror(errno));
	rc = kernel_symbols_parse(symbols, lines, err);
	fclose(lines);
	return rc;
}

static const struct kernel_function *function_at(const struct kernel_symbols *symbols, uint64_t address)
{
	size_t n = array_upto(symbols->functions, symbols->n, sizeof(*symbols->functions), address);

	return n ? &symbols->functions[n - 1] : NULL;
}

/* --- the log --- */

/* A LOG_SYMBOL of one frame. Go's strict reader refuses a frame without a file and a line. */
static int put_symbol(uint64_t pc, const char *name, const char *file, log_sink sink, void *ctx)
{
	struct {
		struct log_symbol head;
		uint8_t rest[sizeof(struct log_symbol_frame) + 2 * MAX_NAME];
	} symbol = {.head = {.pc = pc, .nframes = 1}};
	struct log_symbol_frame frame = {
		.line = 1, .function_len = (uint16_t)strlen(name), .file_len = (uint16_t)strlen(file)};
	struct log_record record = {.type = LOG_SYMBOL, .data = &symbol};

	memcpy(symbol.rest, &frame, sizeof(frame));
	memcpy(symbol.rest + sizeof(frame), name, frame.function_len);
	memcpy(symbol.rest + sizeof(frame) + frame.function_len, file, frame.file_len);
	record.size = (uint32_t)(sizeof(symbol.head) + sizeof(frame) + frame.function_len + frame.file_len);
	return sink(ctx, &record);
}

/* Functions of the same name have the same number. Id 0 is "[kernel]": a function without a name. */
static int kernel_symbols_number_of(struct kernel_symbols *symbols, uint32_t name, uint32_t module,
				    uint64_t *pc, log_sink sink, void *ctx)
{
	const uint32_t *known = map64_get(&symbols->numbers, name);
	char text[MAX_NAME] = "[kernel]", file[MAX_NAME] = "[kernel]";
	int rc;

	if (!known && symbols->used >= MAX_USED) {
		name = 0;
		known = map64_get(&symbols->numbers, name);
	}
	if (known) {
		*pc = LOG_KERNEL_PC | *known;
		return 0;
	}
	*pc = LOG_KERNEL_PC | (symbols->used + 1);
	if (name)
		snprintf(text, sizeof(text), "%s", strtab_get(symbols->texts, name, NULL));
	if (name && module)
		snprintf(file, sizeof(file), "%s", strtab_get(symbols->texts, module, NULL));
	rc = put_symbol(*pc, text, file, sink, ctx);
	if (rc == 0 && map64_set(&symbols->numbers, name, ++symbols->used))
		rc = -ENOMEM;
	return rc;
}

/* --- stacks --- */

/*
 * Returns whether a function only switches threads, or only calls one that does (kernel/sched/core.c,
 * kernel/time/sleep_timeout.c). Every wait ends in these; their caller is what waits.
 */
static bool is_schedule(const char *name)
{
	static const char *const names[] = {"schedule", "__schedule", "io_schedule", "__io_schedule",
					    "preempt_schedule"};

	return text_begins_with_one_of(name, names, sizeof(names) / sizeof(names[0]));
}

static const char *kernel_symbols_name_at(const struct kernel_symbols *symbols, uint64_t address)
{
	const struct kernel_function *function = function_at(symbols, address - 1);

	return function ? strtab_get(symbols->texts, function->name, NULL) : "";
}

/* Returns how many of the n addresses, from the first on, belong to the tracepoint and the switch. */
static unsigned leading(const struct kernel_symbols *symbols, const uint64_t *pcs, unsigned n)
{
	unsigned first = 0;

	while (first < n && !is_schedule(kernel_symbols_name_at(symbols, pcs[first])))
		first++;
	if (first == n)
		return 0;
	while (first < n && is_schedule(kernel_symbols_name_at(symbols, pcs[first])))
		first++;
	return first;
}

int kernel_symbols_name(struct kernel_symbols *symbols, struct raw_stack *stack, log_sink sink, void *ctx)
{
	unsigned n = 0, from, to = 0;

	while (n < stack->n && stack->pcs[n] & LOG_KERNEL_PC)
		n++;
	from = leading(symbols, stack->pcs, n);
	for (; from < n; from++) {
		const struct kernel_function *function = function_at(symbols, stack->pcs[from] - 1);
		int rc =
			kernel_symbols_number_of(symbols, function ? function->name : 0,
						 function ? function->module : 0, &stack->pcs[to], sink, ctx);

		if (rc)
			return rc;
		to++;
	}
	memmove(stack->pcs + to, stack->pcs + n, (stack->n - n) * sizeof(stack->pcs[0]));
	stack->n -= n - to;
	return 0;
}

int kernel_symbols_of_lines(struct kernel_symbols *symbols, FILE *lines, uint64_t *pcs, unsigned most,
			    log_sink sink, void *ctx)
{
	char line[MAX_LINE], name[MAX_NAME], module[MAX_NAME];
	unsigned n = 0;

	while (n < most && fgets(line, sizeof(line), lines)) {
		int rc, parts = sscanf(line, "[<%*x>] %127[^+]+%*x/%*x %127s", name, module);
		uint32_t id = parts > 0 ? strtab_find(symbols->texts, name, strlen(name)) : 0;

		if (parts <= 0 || (n == 0 && is_schedule(name)))
			continue;
		rc = kernel_symbols_number_of(
			symbols, id, parts > 1 ? strtab_find(symbols->texts, module, strlen(module)) : 0,
			&pcs[n], sink, ctx);
		if (rc)
			return rc;
		n++;
	}
	return (int)n;
}
