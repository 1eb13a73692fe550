/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Arbitrary bytes as a function: the decoder and all searches must stay in bounds and terminate. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "code/isa/call_argument.h"
#include "code/isa/field_access.h"
#include "code/isa/jumps.h"
#include "code/isa/memory_jumps.h"
#include "code/isa/scan_x86.h"
#include "target/go14_tids.h"
#include "code/isa/regions.h"

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

/* Each access is in an instruction of its own, before the place at which the search goes on. */
static void look_for_fields(const struct code *code)
{
	struct field_access access;
	size_t at = 0, before = 0;

	for (; code_next_field(code, &at, &access) > 0; before = at) {
		if (access.offset < before || access.offset >= at || at > code->size || !access.use ||
		    access.words < 1 || access.words > 2)
			abort();
		if (!field_access_is(&access, access.displacement, access.size, access.use))
			abort();
	}
}

static bool is_jcc_at(const struct code *code, size_t offset)
{
	struct probe_insn probed;

	return offset < code->size && code_probe_insn(code, offset, &probed) == 0 &&
	       strcmp(probed.kind, "jcc") == 0;
}

/* A jump after an atomic instruction, or after a comparison, is one that can be probed. */
static void look_for_memory_jumps(const struct code *code)
{
	struct exchange exchanges[16];
	struct comparison comparisons[16];
	struct atomic_add adds[16];
	/* Often the displacement of some instruction: the bytes choose it. */
	int32_t displacement = code->size ? (int8_t)code->bytes[code->size - 1] : 0;
	int n = code_exchanges(code, displacement, exchanges, 16);

	for (int i = 0; i < n && i < 16; i++) {
		if (exchanges[i].offset >= code->size || exchanges[i].base > 15 ||
		    (exchanges[i].jump && !is_jcc_at(code, exchanges[i].jump)))
			abort();
	}
	n = code_atomic_adds(code, adds, 16);
	for (int i = 0; i < n && i < 16; i++) {
		if (adds[i].offset >= code->size || (adds[i].jump && !is_jcc_at(code, adds[i].jump)))
			abort();
	}
	n = code_comparisons(code, displacement, comparisons, 16);
	for (int i = 0; i < n && i < 16; i++) {
		if (!is_jcc_at(code, comparisons[i].jump) || comparisons[i].base > 15)
			abort();
	}
}

static void look_for_argument(const struct code *code)
{
	struct value_origin origin;
	uint8_t reg = code->size ? code->bytes[code->size - 1] & 15 : 0;

	/* Jumps may be anywhere, also behind the end. */
	for (size_t jump = 0; jump <= code->size; jump += 1 + code->size / 16) {
		if (code_call_argument(code, jump, code->address + code->size / 2, reg, &origin) == 0 &&
		    (origin.kind == ORIGIN_UNKNOWN || (origin.kind == ORIGIN_REGISTER && origin.number > 15)))
			abort();
	}
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
	look_for_fields(&code);
	look_for_memory_jumps(&code);
	look_for_argument(&code);
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
	look_for_fields(&code);
	look_for_memory_jumps(&code);
	look_for_argument(&code);
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
