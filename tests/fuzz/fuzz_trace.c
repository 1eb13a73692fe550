/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * wire_check and the dump on any bytes, of all formats. What is called valid
 * must be valid again when it is cut there, which is what a repair does, and
 * be printed whole; what is not must not.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "dump/dump.h"
#include "wire/wire.h"

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

static void check(const uint8_t *data, size_t size)
{
	struct wire_report report, repaired;

	if (wire_check(data, size, &report) == 0) {
		if (report.error.text[0] || report.valid_bytes != size)
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
