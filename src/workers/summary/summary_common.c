/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Queries that all parts of the summary use. */
#include "workers/summary/summary.h"

unsigned summary_width(const struct summary *sum)
{
	return sum->style.width ? sum->style.width : 80;
}

bool summary_is_threads(const struct summary *sum)
{
	const struct log_target *target = model_target(pipeline_model(sum->pipe));

	return target && target->flags & LOG_TARGET_THREADS;
}
