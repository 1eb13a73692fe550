/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "isa/scan_x86.h"

#include <errno.h>

/*
 * Up to Go 1.7 the linker fills the gap before the next function with zeros. An odd number of them does not
 * decode.
 */
static bool is_gap(const struct code *code, size_t at)
{
	while (at < code->size && !code->bytes[at])
		at++;
	return at == code->size;
}

int x86_next(const struct code *code, size_t *at, struct x86_insn *insn)
{
	if (*at >= code->size)
		return 0;
	if (!x86_decode(code->bytes + *at, code->size - *at, insn))
		return is_gap(code, *at) ? 0 : -EBADMSG;
	*at += insn->length;
	return 1;
}

uint64_t x86_named(const struct code *code, size_t after, int64_t relative)
{
	return code->address + after + (uint64_t)relative;
}
