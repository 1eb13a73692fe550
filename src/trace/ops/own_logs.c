/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "trace/ops/own_logs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/machine.h"
#include "trace/ops/own_names.h"

static const char *const forms[] = {
	[FORM_MUTEX] = "mutex", [FORM_RWMUTEX] = "rwmutex",     [FORM_SEMAPHORE] = "semaphore",
	[FORM_FUTEX] = "futex", [FORM_WAITGROUP] = "waitgroup", [FORM_COND] = "cond",
	[FORM_CHAN] = "chan",
};

const char *lock_form_name(enum lock_form form)
{
	return forms[form];
}

static bool find_form(const char *text, size_t len, enum lock_form *form)
{
	for (unsigned i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (strlen(forms[i]) == len && strncmp(forms[i], text, len) == 0) {
			*form = (enum lock_form)i;
			return true;
		}
	}
	return false;
}

bool lock_log_parse(const char *category, const char *message, struct lock_log *log)
{
	size_t len = strcspn(message, " ");
	char *end;

	if (strcmp(category, LOCK_LOG_CATEGORY) != 0 || !find_form(message, len, &log->form) ||
	    strncmp(message + len, " 0x", 3) != 0)
		return false;
	errno = 0;
	log->address = strtoull(message + len + 1, &end, 16);
	log->reads = strcmp(end, " (read)") == 0;
	if (!log->address || errno)
		return false;
	return !*end || (log->form == FORM_RWMUTEX && (log->reads || strcmp(end, " (write)") == 0));
}

bool repair_log_parse(const char *category, const char *message, uint64_t *events)
{
	static const char begin[] = "repaired ",
			  end[] = " events: they were not seen, but later ones imply them";
	const char *number = message + sizeof(begin) - 1;
	char *after;

	if (strcmp(category, OWN_LOG_CATEGORY) != 0 || strncmp(message, begin, sizeof(begin) - 1) != 0 ||
	    *number < '0' || *number > '9')
		return false;
	errno = 0;
	*events = strtoull(number, &after, 10);
	return !errno && strcmp(after, end) == 0;
}

unsigned left_out_log_parse(const char *category, const char *message)
{
	if (strcmp(category, OWN_LOG_CATEGORY) != 0)
		return 0;
	if (strcmp(message, STARTS_ONLY_LOG) == 0)
		return DETAIL_WAKERS;
	if (strcmp(message, FEW_FRAMES_LOG) == 0)
		return DETAIL_WAKERS | DETAIL_FRAMES;
	return strcmp(message, CALLS_LEFT_OUT_LOG) == 0 ? DETAIL_WAKERS | DETAIL_FRAMES | DETAIL_CALLS : 0;
}

bool cpu_log_parse(const char *category, const char *message, uint32_t *cpu)
{
	unsigned long number;
	char *end;

	if (strcmp(category, CPU_LOG_CATEGORY) != 0 || *message < '0' || *message > '9')
		return false;
	number = strtoul(message, &end, 10);
	*cpu = (uint32_t)number;
	return !*end && number < MAX_CPUS;
}
