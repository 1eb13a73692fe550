/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * wire_check on any bytes. What it calls valid must be valid again when it is
 * cut there, which is what a repair does.
 */
#include <stdint.h>
#include <stdlib.h>

#include "wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wire_report report, repaired;

	if (wire_check(data, size, &report) == 0) {
		if (report.error.text[0] || report.valid_bytes != size)
			abort();
		return 0;
	}
	if (!report.error.text[0] || report.valid_bytes > size || report.error_offset > size)
		abort();
	if (report.valid_bytes == 0)
		return 0;
	if (wire_check(data, report.valid_bytes, &repaired) != 0 ||
	    repaired.generations != report.generations)
		abort();
	return 0;
}
