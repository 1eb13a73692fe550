/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Converts arbitrary bytes to a format that the bytes select. The output must be a valid trace of that
 * format.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/convert/convert.h"
#include "trace/wire/buffer.h"
#include "trace/wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const enum wire_format formats[] = {
	WIRE_V0,    WIRE_GO15,  WIRE_GO17,  WIRE_GO18,  WIRE_GO19,  WIRE_GO110, WIRE_GO111,
	WIRE_GO119, WIRE_GO121, WIRE_GO122, WIRE_GO123, WIRE_GO125, WIRE_GO126,
};

struct file {
	struct buffer bytes;
	struct wire *wire;
	struct error error;
};

static int write_bytes(void *ctx, const void *bytes, size_t n)
{
	return buffer_append(&((struct file *)ctx)->bytes, bytes, n);
}

static int take_generation(void *ctx, const struct generation *gen)
{
	struct file *file = ctx;

	return wire_generation(file->wire, gen, &file->error);
}

static enum wire_format choose(const uint8_t *data, size_t size)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ data[i]) * 16777619u;
	return formats[hash % (sizeof(formats) / sizeof(formats[0]))];
}

static void judge(const struct file *file, enum wire_format format)
{
	struct wire_report report;

	if (wire_check(file->bytes.bytes, file->bytes.len, &report) == 0)
		return;
	fprintf(stderr, "format %s, byte %llu: %s\n", wire_format_name(format),
		(unsigned long long)report.error_offset, report.error.text);
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum wire_format format = choose(data, size);
	struct file file = {0};
	struct wire_options options = {.format = format, .out = {.write = write_bytes, .ctx = &file}};
	const struct convert_sink sink = {.generation = take_generation, .ctx = &file};
	struct convert_result result;
	struct error err;
	int ret;

	file.wire = wire_new(&options, &err);
	if (!file.wire)
		abort();
	ret = convert_trace(data, size, NULL, &sink, &result, &err);
	if (ret == -EBADMSG ? !result.fault.text[0] : ret && !err.text[0] && !file.error.text[0])
		abort();
	wire_free(file.wire);
	/* A format that cannot hold the trace reports an error; its partial output is not a complete file. */
	if (result.generations && !file.error.text[0])
		judge(&file, format);
	buffer_free(&file.bytes);
	return 0;
}
