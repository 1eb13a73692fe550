/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/details.h"

#include <string.h>

#include "target/private.h"

/* Times from here on are implausible (rawlog/check.c) and are read as 0. */
#define LATEST_NS ((uint64_t)1 << 60)

size_t details_size(const struct target *target)
{
	const struct runtime_offsets *runtime = &target->image->release->layout.runtime;
	const uint32_t offsets[] = {
		target->layout.g_goid,      target->layout.g_gopc,     target->layout.g_parent_goid,
		target->layout.g_syscallsp, target->layout.g_sched_sp, runtime->g_waitsince,
		runtime->g_tracking_seq,    runtime->g_labels,
	};

	return layout_extent(offsets, sizeof(offsets) / sizeof(offsets[0]));
}

uint64_t details_read(const struct target *target, const uint8_t *bytes, struct log_g_details *details)
{
	const struct runtime_offsets *runtime = &target->image->release->layout.runtime;
	const struct go_layout *layout = &target->layout;

	*details = (struct log_g_details){
		.goid = layout_word(bytes, layout->g_goid),
		.gopc = layout_word(bytes, layout->g_gopc),
		.parent = layout_word(bytes, layout->g_parent_goid),
		.waitsince = layout_word(bytes, runtime->g_waitsince),
		.sp = layout_word(bytes, layout->g_syscallsp),
	};
	if (!details->sp)
		details->sp = layout_word(bytes, layout->g_sched_sp);
	if (details->waitsince >= LATEST_NS)
		details->waitsince = 0;
	if (runtime->g_tracking_seq != LAYOUT_ABSENT) {
		details->seq = bytes[runtime->g_tracking_seq];
		details->flags = LOG_G_SEQ;
	}
	return layout_word(bytes, runtime->g_labels);
}
