/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * wire_check and dump on arbitrary bytes, of all formats. The part that is reported valid must be valid by
 * itself, which is how a trace is repaired. The dump must agree with wire_check.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/dump/dump.h"
#include "trace/wire/wire.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct dump dump;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	dump.out = fopen("/dev/null", "w");
	return dump.out ? 0 : -1;
}

/* Generations are found one by one, whatever has been read of the file. */
static void find_generations(const uint8_t *data, size_t size, const struct wire_report *report)
{
	size_t pos = WIRE_HEADER_BYTES, from = pos, cut = size / 2, n = 0;

	while (size > WIRE_HEADER_BYTES && wire_generation_end(data, cut > from ? cut : size, &pos)) {
		if (pos <= from || pos > size)
			abort();
		from = pos;
		n++;
	}
	while (size > WIRE_HEADER_BYTES && wire_generation_end(data, size, &pos))
		n++;
	if (report->version == WIRE_GO126 && !report->error.text[0] && n != report->generations)
		abort();
}

static void check(const uint8_t *data, size_t size)
{
	struct wire_report report, repaired;

	wire_check(data, size, &report);
	find_generations(data, size, &report);
	if (!report.error.text[0]) {
		if (report.valid_bytes != size)
			abort();
		return;
	}
	if (!report.error.text[0] || report.valid_bytes > size || report.error_offset > size)
		abort();
	if (report.valid_bytes == 0)
		return;
	if (wire_check(data, report.valid_bytes, &repaired) != 0 ||
	    repaired.generations != report.generations)
		abort();
}

static void print(const uint8_t *data, size_t size)
{
	struct wire_report report, checked;
	int ret, verdict = wire_check(data, size, &checked);

	dump.json = size & 1;
	dump.stacks = size & 2;
	dump.absolute = size & 4;
	ret = dump_trace(&dump, data, size, &report);
	if (ret != verdict || report.error_offset != checked.error_offset)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check(data, size);
	print(data, size);
	return 0;
}
