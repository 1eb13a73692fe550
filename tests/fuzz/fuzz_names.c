/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names addresses in arbitrary bytes as a file of native code: sections, symbols, .gnu_debugdata and DWARF
 * through libelf and libdw, and names to demangle. The first two bytes select the addresses. The output goes
 * through the log's check and the reader of symbols.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rawlog/rawlog.h"
#include "code/symbol/natives.h"
#include "code/elf/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ADDRESSES = 64 };

static void report(void *ctx, const char *line)
{
	(void)ctx;
	if (!line[0])
		abort();
}

static void take(struct natives *natives, const struct symbol_draft *draft)
{
	struct log_record record = {.type = LOG_SYMBOL, .size = draft->size, .data = &draft->head};
	unsigned n;

	if (rawlog_check_record(&record, NULL) || natives_put(natives, record.data, record.size))
		abort();
	if (!natives_frames(natives, draft->head.pc, &n) || n == 0)
		abort();
}

static void name_all(struct native_file *file, struct budget *budget, uint64_t from, uint64_t step)
{
	static struct symbol_draft draft;
	struct native_search search = {.roots = {-1, -1}, .report = report, .budget = budget};
	struct strtab *strings = strtab_new();
	struct natives *natives = strings ? natives_new(strings) : NULL;

	for (uint64_t i = 0; natives && i < ADDRESSES; i++) {
		uint64_t offset = from + i * step;

		draft_begin(&draft, offset + 1);
		native_file_frames(file, &search, offset, &draft);
		take(natives, &draft);
	}
	natives_free(natives);
	strtab_free(strings);
}

/* Reads the bytes as the payload of a log's LOG_SYMBOL record. */
static void read_symbol(const uint8_t *data, size_t size)
{
	_Alignas(8) uint8_t aligned[4096];
	struct log_record record = {.type = LOG_SYMBOL, .data = aligned};
	struct strtab *strings = strtab_new();
	struct natives *natives = strings ? natives_new(strings) : NULL;

	record.size = (uint32_t)(size < sizeof(aligned) ? size : sizeof(aligned));
	memcpy(aligned, data, record.size);
	if (natives) {
		int rc = natives_put(natives, aligned, record.size);

		if ((rc == 0) != (rawlog_check_record(&record, NULL) == 0))
			abort();
	}
	natives_free(natives);
	strtab_free(strings);
}

static void read_name(const uint8_t *data, size_t size)
{
	char name[1024], readable[NATIVE_FUNCTION_MAX];
	size_t len = size < sizeof(name) ? size : sizeof(name) - 1;

	memcpy(name, data, len);
	name[len] = '\0';
	native_hint(readable, native_readable(name, readable), false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct native_source source = {.fd = -1, .path = "/lib/fuzzed.so"};
	struct budget budget = {.bytes = 64u << 20, .cpu_ns = 1000000000}; /* outlives the file */
	struct native_file *file;

	if (size < 2)
		return 0;
	source.bytes = data + 2;
	source.size = size - 2;
	if (size > 2 && data[2] != 0x7f) {
		read_symbol(source.bytes, source.size);
		read_name(source.bytes, source.size);
		return 0;
	}
	file = native_file_new(&source);
	if (file)
		name_all(file, &budget, data[0] * 64u, data[1] + 1u);
	native_file_free(file);
	if (budget.bytes != 64u << 20)
		abort();
	return 0;
}
