/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "trace/ops/own_logs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/machine.h"
#include "trace/ops/own_names.h"

static const char *const forms[] = {
	[FORM_MUTEX] = "mutex", [FORM_RWMUTEX] = "rwmutex",     [FORM_SEMAPHORE] = "semaphore",
	[FORM_FUTEX] = "futex", [FORM_WAITGROUP] = "waitgroup", [FORM_COND] = "cond",
	[FORM_CHAN] = "chan",   [FORM_POSTED] = "semaphore",    [FORM_AWAITED] = "futex",
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

bool loss_log_parse(const char *category, const char *message, uint64_t *records)
{
	unsigned long long all, full, unreadable, missed;
	char again[160];

	if (strcmp(category, OWN_LOG_CATEGORY) != 0 ||
	    sscanf(message, LOSS_LOG_FORMAT, &all, &full, &unreadable, &missed) != 4)
		return false;
	snprintf(again, sizeof(again), LOSS_LOG_FORMAT, all, full, unreadable, missed);
	*records = all;
	return strcmp(message, again) == 0;
}

bool left_out_log_parse(const char *category, const char *message, unsigned *missing)
{
	static const struct {
		const char *message;
		unsigned missing;
	} logs[] = {
		{EVERYTHING_LOG, 0},
		{STARTS_PROBED_LOG, 0},
		{STARTS_INFERRED_LOG, 0},
		{STARTS_ONLY_LOG, DETAIL_WAKERS},
		{FEW_FRAMES_LOG, DETAIL_WAKERS | DETAIL_FRAMES},
		{CALLS_LEFT_OUT_LOG, DETAIL_WAKERS | DETAIL_FRAMES | DETAIL_CALLS},
	};

	for (size_t i = 0; strcmp(category, OWN_LOG_CATEGORY) == 0 && i < sizeof(logs) / sizeof(logs[0]);
	     i++) {
		if (strcmp(message, logs[i].message))
			continue;
		*missing = logs[i].missing;
		return true;
	}
	return false;
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

/* --- the machine --- */

/* Longer times are nonsense, and their sums could wrap around. */
#define MAX_US (1ull << 52)

static const char host_format[] =
	"%u CPUs, quota %llu of %llu us, throttled %llu times, %llu us; used %llu of %llu "
	"us; machine %u %% busy, %u %% stolen";
static const char waited_format[] = "; waited %llu us for CPUs";

void host_log_print(const struct host_log *log, char text[HOST_LOG_TEXT])
{
	size_t n;

	snprintf(text, HOST_LOG_TEXT, host_format, log->cpus, (unsigned long long)log->quota_us,
		 (unsigned long long)log->period_us, (unsigned long long)log->throttled,
		 (unsigned long long)log->throttled_ns / 1000, (unsigned long long)log->used_ns / 1000,
		 (unsigned long long)log->length_ns / 1000, log->busy_percent, log->stolen_percent);
	n = strlen(text);
	if (log->waited_ns)
		snprintf(text + n, HOST_LOG_TEXT - n, waited_format,
			 (unsigned long long)log->waited_ns / 1000);
}

double host_log_part(const struct host_log *log, uint64_t watched_ns)
{
	return log->length_ns > watched_ns ? (double)watched_ns / (double)log->length_ns : 1;
}

bool host_log_parse(const char *category, const char *message, struct host_log *log)
{
	unsigned long long quota, period, throttled, throttled_us, used, length, waited = 0;
	unsigned cpus, busy, stolen;
	char again[HOST_LOG_TEXT];
	const char *more = strrchr(message, ';');

	if (strcmp(category, OWN_LOG_CATEGORY) != 0 || *message < '0' || *message > '9' ||
	    sscanf(message, host_format, &cpus, &quota, &period, &throttled, &throttled_us, &used, &length,
		   &busy, &stolen) != 9 ||
	    quota > MAX_US || period > MAX_US || throttled_us > MAX_US || used > MAX_US || length > MAX_US ||
	    !cpus || busy > 100 || stolen > 100)
		return false;
	if (sscanf(more, waited_format, &waited) == 1 && waited > MAX_US)
		return false;
	*log = (struct host_log){cpus,        quota,         period, throttled, throttled_us * 1000,
				 used * 1000, length * 1000, busy,   stolen,    waited * 1000};
	host_log_print(log, again);
	return strcmp(message, again) == 0;
}

static const char kernel_format[] = "page faults %llu, kernel %llu us";

void kernel_log_print(const struct kernel_log *log, char text[HOST_LOG_TEXT])
{
	snprintf(text, HOST_LOG_TEXT, kernel_format, (unsigned long long)log->faults,
		 (unsigned long long)log->kernel_ns / 1000);
}

bool kernel_log_parse(const char *category, const char *message, struct kernel_log *log)
{
	unsigned long long faults, us;
	char again[HOST_LOG_TEXT];

	if (strcmp(category, OWN_LOG_CATEGORY) != 0 || sscanf(message, kernel_format, &faults, &us) != 2 ||
	    faults > MAX_US || us > MAX_US)
		return false;
	*log = (struct kernel_log){faults, us * 1000};
	kernel_log_print(log, again);
	return strcmp(message, again) == 0;
}

static const char log_pid[] = " (PID ";

/* Prints a process's name of 16 bytes, then its PID. */
static void print_named_process(const char name[16], uint32_t pid, char text[HOST_LOG_TEXT])
{
	char clean[16] = "";

	for (unsigned i = 0; i + 1 < sizeof(clean) && name[i]; i++)
		clean[i] = name[i] >= ' ' && name[i] <= '~' ? name[i] : '?';
	snprintf(text, HOST_LOG_TEXT, "%s%s%u)", clean, log_pid, pid);
}

/* Takes the name and the PID that text begins with; a name may have any form. Returns what follows them, or
 * NULL. */
static const char *take_named_process(const char *text, char name[16], uint32_t *pid)
{
	const char *last = NULL;
	char *end;

	for (const char *at = text; (at = strstr(at, log_pid)); at++)
		last = at;
	if (!last || last - text >= 16)
		return NULL;
	memset(name, 0, 16);
	memcpy(name, text, (size_t)(last - text));
	*pid = (uint32_t)strtoul(last + sizeof(log_pid) - 1, &end, 10);
	return *end == ')' ? end + 1 : NULL;
}

static const char beside_begin[] = "beside it, ";

void beside_log_print(const struct beside_log *log, char text[HOST_LOG_TEXT])
{
	char process[HOST_LOG_TEXT];

	print_named_process(log->name, log->pid, process);
	snprintf(text, HOST_LOG_TEXT, "%s%.40s used %llu us", beside_begin, process,
		 (unsigned long long)log->used_ns / 1000);
}

bool beside_log_parse(const char *category, const char *message, struct beside_log *log)
{
	size_t begin = sizeof(beside_begin) - 1;
	char again[HOST_LOG_TEXT];
	unsigned long long us;
	const char *after;

	if (strcmp(category, OWN_LOG_CATEGORY) != 0 || strncmp(message, beside_begin, begin) != 0)
		return false;
	*log = (struct beside_log){.pid = 0};
	after = take_named_process(message + begin, log->name, &log->pid);
	if (!after || sscanf(after, " used %llu us", &us) != 1 || us > MAX_US)
		return false;
	log->used_ns = us * 1000;
	beside_log_print(log, again);
	return strcmp(message, again) == 0;
}

static const char descendants_format[] = "descendants used %llu us, %u live";

void descendants_log_print(const struct descendants_log *log, char text[HOST_LOG_TEXT])
{
	char process[HOST_LOG_TEXT];
	size_t n;

	snprintf(text, HOST_LOG_TEXT, descendants_format, (unsigned long long)log->used_ns / 1000, log->live);
	n = strlen(text);
	if (!log->pid)
		return;
	print_named_process(log->name, log->pid, process);
	snprintf(text + n, HOST_LOG_TEXT - n, ": %.40s", process);
}

bool descendants_log_parse(const char *category, const char *message, struct descendants_log *log)
{
	const char *colon = strchr(message, ':');
	char again[HOST_LOG_TEXT];
	unsigned long long us;
	unsigned live;

	if (strcmp(category, OWN_LOG_CATEGORY) != 0 || sscanf(message, descendants_format, &us, &live) != 2 ||
	    us > MAX_US)
		return false;
	*log = (struct descendants_log){.used_ns = us * 1000, .live = live};
	if (colon && colon[1] == ' ' && !take_named_process(colon + 2, log->name, &log->pid))
		return false;
	descendants_log_print(log, again);
	return strcmp(message, again) == 0;
}

void stopped_log_print(const struct stopped_log *log, char text[HOST_LOG_TEXT])
{
	snprintf(text, HOST_LOG_TEXT, "stopped %llu us%s", (unsigned long long)log->ns / 1000,
		 log->still ? ", still" : "");
}

bool stopped_log_parse(const char *category, const char *message, struct stopped_log *log)
{
	char again[HOST_LOG_TEXT];
	unsigned long long us;

	if (strcmp(category, OWN_LOG_CATEGORY) != 0 || sscanf(message, "stopped %llu us", &us) != 1 ||
	    us > MAX_US)
		return false;
	*log = (struct stopped_log){.ns = us * 1000, .still = strchr(message, ',') != NULL};
	stopped_log_print(log, again);
	return strcmp(message, again) == 0;
}

bool resource_log_take(const char *category, const char *message, struct otel_resource *resource)
{
	size_t begin = strlen(RESOURCE_LOG);

	if (strcmp(category, OWN_LOG_CATEGORY) != 0 || strncmp(message, RESOURCE_LOG, begin) != 0)
		return false;
	resource_take(resource, message + begin, strlen(message + begin));
	return true;
}
