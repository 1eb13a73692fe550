/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "dump/dump.h"

#include <errno.h>
#include <string.h>

#include "wire/read_v1.h"

int dump_line(struct dump *dump, struct line *line)
{
	if (dump->json)
		line_print_json(line, dump->out);
	else
		line_print(line, dump->out);
	if (!ferror(dump->out))
		return 0;
	return errno ? -errno : -EIO;
}

int dump_trace(struct dump *dump, const uint8_t *bytes, size_t n, struct wire_report *report)
{
	*report = (struct wire_report){.total_bytes = n};
	if (v1_format(bytes, n) != WIRE_NONE)
		return dump_v1(dump, bytes, n, report);
	return dump_v2(dump, bytes, n, report);
}
