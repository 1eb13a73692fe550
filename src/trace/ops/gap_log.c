/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "trace/ops/gap_log.h"

#include <string.h>

#include "trace/ops/own_names.h"

static bool gap_log_begins_with(const char *text, size_t len, const char *beginning)
{
	size_t n = strlen(beginning);

	return len >= n && memcmp(text, beginning, n) == 0;
}

enum gap_log gap_log_kind(const char *category, size_t category_len, const char *text, size_t len)
{
	if (category_len != strlen(OWN_LOG_CATEGORY) ||
	    !gap_log_begins_with(category, category_len, OWN_LOG_CATEGORY))
		return GAP_LOG_NONE;
	if (gap_log_begins_with(text, len, GAP_LOG_BEGIN))
		return GAP_LOG_BEGINS;
	return gap_log_begins_with(text, len, GAP_LOG_END) ? GAP_LOG_ENDS : GAP_LOG_NONE;
}

bool gap_log_is_by_limit(const char *text, size_t len)
{
	return gap_log_begins_with(text, len, GAP_LOG_BEGIN GAP_LOG_LIMIT);
}
