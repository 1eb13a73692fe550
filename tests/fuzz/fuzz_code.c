/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Arbitrary bytes as a function: the decoder and all searches must stay in bounds and terminate. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "isa/jumps.h"
#include "isa/scan_x86.h"
#include "target/go14_tids.h"
#include "isa/regions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_for_regions(const struct code *code)
{
	struct start_region start = {.noop = 0x500000};
	size_t at = 0, before = 0, use, jump;
	enum region_use kind;

	if (region_start_code(code, &start) == 0 && start.jump >= code->size)
		abort();
	while ((kind = region_next_use(code, start.noop, &at, &use, &jump)) != REGION_USE_NONE) {
		if (at <= before || at > code->size || use >= at)
			abort();
		if (kind == REGION_USE_END && (jump < at || jump >= code->size))
			abort();
		before = at;
	}
}

/* The bytes also serve as a line of /proc. */
static void read_line(const uint8_t *data, size_t size)
{
	char line[256];
	uint64_t sp;
	size_t n = size < sizeof(line) - 1 ? size : sizeof(line) - 1;

	memcpy(line, data, n);
	line[n] = '\0';
	go14_tids_parse(line, &sp);
}

/* True for push %rbp and jbe. */
static bool may_be_probed(const uint8_t *bytes, size_t size)
{
	return bytes[0] == 0x55 || bytes[0] == 0x76 || (size > 1 && bytes[0] == 0x0f && bytes[1] == 0x86);
}

/* A jump that is found must be in the code. */
static void look_for_jumps(const struct code *code)
{
	const struct call_results results = {.callee = code->address + (code->size / 2 & ~(size_t)3),
					     .first = true,
					     .words = code->size & 0xff};
	size_t offset;

	if (code_jump_after_call(code, &results, &offset) == 0 && offset >= code->size)
		abort();
}

/* Analyzes the same bytes as code of the other architecture. */
static void look_at_arm64(const uint8_t *data, size_t size)
{
	struct code code = {.bytes = data, .size = size, .address = 0x400000, .arm64 = true};
	struct reference references[16];
	struct probe_insn probed;
	struct call_site sites[16];
	struct value_place base, added;
	size_t offsets[16], offset;
	uint64_t flag;
	int n;

	if (code_prologue(&code, &offset) == 0 && code_probe_insn(&code, offset, &probed))
		abort();
	n = code_calls(&code, 0x400000 + (size / 2 & ~(size_t)3), sites, 16);
	for (int i = 0; i < n && i < 16; i++) {
		if (code_probe_insn(&code, sites[i].offset, &probed) || strcmp(probed.kind, "bl") != 0)
			abort();
	}
	if (code_flag(&code, &flag) == 0) {
		n = code_flag_checks(&code, flag, offsets, 16);
		for (int i = 0; i < n && i < 16; i++) {
			if (code_probe_insn(&code, offsets[i], &probed))
				abort();
		}
	}
	code_references(&code, references, 16);
	code_receiver(&code, 0x400000, &flag);
	look_for_regions(&code);
	look_for_jumps(&code);
	if (size && code_slice_result(&code, data[0] & ~3u, &base, &added) == 0 && base.on_stack > 1)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct code code = {.bytes = data, .size = size, .address = 0x400000};
	struct reference references[16];
	struct call_site sites[16];
	struct x86_insn insn;
	size_t offsets[16], offset = 0, frame, at = 0;
	struct value_place base, added;
	uint64_t flag, got;
	int64_t tls;
	int n;

	read_line(data, size);
	look_at_arm64(data, size);
	look_for_jumps(&code);
	while (x86_next(&code, &at, &insn) > 0) {
		if (insn.length == 0 || insn.length > 15 || at > size)
			abort();
	}
	if (code_prologue(&code, &offset) == 0 &&
	    (offset >= size || !may_be_probed(data + offset, size - offset)))
		abort();
	code_frame(&code, &frame);
	n = code_calls(&code, 0x400000 + size / 2, sites, 16);
	for (int i = 0; i < n && i < 16; i++) {
		if (data[sites[i].offset] != 0xe8)
			abort();
	}
	if (code_flag(&code, &flag) == 0)
		code_flag_checks(&code, flag, offsets, 16);
	code_references(&code, references, 16);
	code_tls(&code, &tls, &got);
	look_for_regions(&code);
	if (size && code_slice_result(&code, data[0], &base, &added) == 0 && base.on_stack > 1)
		abort();
	code_receiver(&code, 0x400000 + size / 2, &got);
	return 0;
}
