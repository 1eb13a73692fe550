/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Arbitrary bytes as a function: its probe points are inside it, and a second search gives the same result.
 * The first bytes replace .eh_frame, the rest is code. The text of the same bytes also serves as a user's
 * name of a function.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "target/functions/function_names.h"
#include "code/isa/probe_points.h"

#define BASE 0x401000u

struct file {
	const uint8_t *code;
	size_t size;
	uint8_t distance, range, part, table;
};

static const uint8_t *bytes(void *ctx, uint64_t address, size_t size)
{
	const struct file *file = ctx;

	if (address < BASE || size > file->size || address - BASE > file->size - size)
		return NULL;
	return file->code + (address - BASE);
}

static bool pointer(void *ctx, uint64_t address, uint64_t *to)
{
	const struct file *file = ctx;

	*to = BASE + address % (file->size + 8);
	return file->table & 1;
}

static int64_t distance(void *ctx, uint64_t address)
{
	static const int64_t kinds[] = {8, 32, DISTANCE_BY_FRAME, DISTANCE_UNKNOWN};
	const struct file *file = ctx;

	return kinds[(file->distance >> (address & 3) * 2) & 3];
}

static bool near_by(uint8_t how, uint64_t address, struct code_range *range)
{
	*range = (struct code_range){address - (how & 15), address + (how >> 4)};
	return how & 1;
}

static bool part(void *ctx, uint64_t address, struct code_range *range)
{
	return near_by(((struct file *)ctx)->part, address, range);
}

static bool range(void *ctx, uint64_t address, struct code_range *to)
{
	return near_by(((struct file *)ctx)->range, address, to);
}

static void names(const uint8_t *data, size_t size)
{
	char text[1024], readable[FUNCTION_NAME_MAX];
	struct similar_functions similar = {.n = 0};
	struct function_spec spec;
	size_t half = size / 2;

	if (size >= sizeof(text))
		return;
	memcpy(text, data, half);
	text[half] = '\0';
	if (function_spec_parse(text, &spec, NULL))
		return;
	memcpy(text, data + half, size - half);
	text[size - half] = '\0';
	function_matches(&spec, text, readable);
	similar_functions_offer(&similar, &spec, text);
	function_is_in(spec.where, text);
}

/* Two searches must agree, and all probe points must be in the file. */
static void use(const struct code_source *code, struct code_range whole, size_t size)
{
	static struct probe_points points, again;
	struct error err;
	int rc = probe_points_find(code, whole, &points, &err);

	if (rc != probe_points_find(code, whole, &again, &err))
		abort();
	if (rc)
		return;
	if (points.begin.address < whole.start || points.begin.address >= whole.end || points.n != again.n)
		abort();
	for (unsigned i = 0; i < points.n; i++) {
		if (points.ends[i].address - BASE >= size || points.ends[i].condition > 16 ||
		    points.ends[i].address == points.begin.address)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct file file;

	names(data, size);
	if (size < 5)
		return 0;
	file = (struct file){data + 5, size - 5, data[0], data[1], data[2], data[3]};
	struct code_source code = {.ctx = &file,
				   .bytes = bytes,
				   .pointer = pointer,
				   .distance = distance,
				   .part = part,
				   .range = range};
	struct code_range whole = {BASE, BASE + 1 + data[4] % (file.size ? file.size : 1)};

	use(&code, whole, file.size);
	code.arm64 = true;
	use(&code, whole, file.size);
	return 0;
}
