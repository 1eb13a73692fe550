/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "trace/dump/dump.h"

#include "trace/wire/read_v1.h"

int dump_trace(struct dump *dump, const uint8_t *bytes, size_t n, struct wire_report *report)
{
	*report = (struct wire_report){.total_bytes = n};
	if (v1_format(bytes, n) != WIRE_NONE)
		return dump_v1(dump, bytes, n, report);
	return dump_v2(dump, bytes, n, report);
}
