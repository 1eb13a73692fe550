/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Log events of gotrace that carry data: what a goroutine is about to wait for, and the CPU that a thread
 * runs on. They are untrusted input: any program can write such a text. Events about gaps are in
 * trace/ops/gap_log.h.
 */
#ifndef GOTRACE_TRACE_OPS_OWN_LOGS_H
#define GOTRACE_TRACE_OPS_OWN_LOGS_H

#include <stdbool.h>
#include <stdint.h>

#include "util/resource.h"

enum lock_form {
	FORM_MUTEX,
	FORM_RWMUTEX,
	FORM_SEMAPHORE,
	FORM_FUTEX, /* the last form that can have a holder */
	FORM_WAITGROUP,
	FORM_COND,
	FORM_POSTED,  /* a thread's semaphore: who posts it did not hold it */
	FORM_AWAITED, /* a thread's futex, at which it waits for others to be done */
	FORM_CHAN,
};

struct lock_log {
	uint64_t address; /* not 0 */
	enum lock_form form;
	bool reads; /* the goroutine waits for an RWMutex as a reader */
};

/* The word that a message begins with: "rwmutex". */
const char *lock_form_name(enum lock_form form);

/* "rwmutex 0xc000012340 (read)". Returns false if the log has another category or another form. */
bool lock_log_parse(const char *category, const char *message, struct lock_log *log);

/*
 * Of a generation, in the category of notes: the number of its events that were not seen, and were made up so
 * that the events that were seen follow from others.
 */
#define REPAIR_LOG_FORMAT "repaired %llu events: they were not seen, but later ones imply them"

/*
 * Records that were lost up to here, since the last such log: in all, because a ring was full, because memory
 * could not be read, and because the kernel skipped a hit.
 */
#define LOSS_LOG_FORMAT "lost %llu records (ring full %llu, unreadable %llu, missed %llu)"

/* Returns the number of records in all. Returns false if the log has another category or another form. */
bool loss_log_parse(const char *category, const char *message, uint64_t *records);

/* Returns false if the log has another category or another form. */
bool repair_log_parse(const char *category, const char *message, uint64_t *events);

/* What the trace has from here on. */
#define EVERYTHING_LOG      "everything is recorded"
#define STARTS_PROBED_LOG   "starts of goroutines are probed"
#define STARTS_INFERRED_LOG "starts of goroutines are inferred"
/* What it has no more, because of the limit on the cost, or because records are not read in time. Each leaves
 * out more. */
#define STARTS_ONLY_LOG    "only starts of goroutines are probed: wakers are not recorded"
#define FEW_FRAMES_LOG     "stacks are cut short"
#define CALLS_LEFT_OUT_LOG "system calls are left out"

/* Details of a trace, as bits. */
enum detail { DETAIL_WAKERS = 1, DETAIL_FRAMES = 2, DETAIL_CALLS = 4 };

/* Sets which details are missing after this log. Returns false if it says nothing of them. */
bool left_out_log_parse(const char *category, const char *message, unsigned *missing);

/* The machine, and its use from the beginning of the trace to its end, in the category of notes. */
struct host_log {
	uint32_t cpus;                /* that the program may use */
	uint64_t quota_us, period_us; /* of its cgroup; 0 = none */
	uint64_t throttled;           /* periods in which the quota was used up */
	uint64_t throttled_ns;        /* of all threads together */
	uint64_t used_ns, length_ns;  /* CPU time of the program; of that time */
	/* of the time of all CPUs of the machine; stolen: used by the hypervisor for other machines */
	uint32_t busy_percent, stolen_percent;
	/* In all, its threads waited this long for a CPU, by the kernel's count; 0 = not known. Optional in
	 * the text. */
	uint64_t waited_ns;
};

/* Another process that used CPUs in that time; of this name, the program's own children that have ended. */
#define ENDED_CHILDREN "ended children"

struct beside_log {
	char name[16];
	uint32_t pid;
	uint64_t used_ns;
};

/* The program's descendants, those that have ended and the others. */
struct descendants_log {
	uint64_t used_ns; /* CPU time, in the time of the trace */
	uint32_t live;    /* at its end */
	uint32_t pid;     /* of the live one that used most; 0 = none used any */
	char name[16];    /* its name */
};

enum { HOST_LOG_TEXT = 240, MAX_BESIDE = 4 };

void host_log_print(const struct host_log *log, char text[HOST_LOG_TEXT]);
bool host_log_parse(const char *category, const char *message, struct host_log *log);
/* The share of the log's figures, which are of the whole recording, that a piece of it with watched_ns has.
 */
double host_log_part(const struct host_log *log, uint64_t watched_ns);
/* What the kernel did for the program meanwhile: "page faults 12, kernel 34 us". */
struct kernel_log {
	uint64_t faults, kernel_ns; /* kernel_ns: of its CPU time */
};

void kernel_log_print(const struct kernel_log *log, char text[HOST_LOG_TEXT]);
bool kernel_log_parse(const char *category, const char *message, struct kernel_log *log);
/* Bytes of the name that are not printable ASCII are shown as '?'. */
void beside_log_print(const struct beside_log *log, char text[HOST_LOG_TEXT]);
bool beside_log_parse(const char *category, const char *message, struct beside_log *log);
/* "descendants used 120 us, 2 live: nginx (PID 712)". Names as above. */
void descendants_log_print(const struct descendants_log *log, char text[HOST_LOG_TEXT]);
bool descendants_log_parse(const char *category, const char *message, struct descendants_log *log);

/* For how long the process was stopped by a signal or a debugger, as far as that was looked at: "stopped 120
 * us", "stopped 120 us, still". */
struct stopped_log {
	uint64_t ns;
	bool still; /* at the end of the trace */
};

void stopped_log_print(const struct stopped_log *log, char text[HOST_LOG_TEXT]);
bool stopped_log_parse(const char *category, const char *message, struct stopped_log *log);

/* What a note begins with that says where the trace is from; then a text of util/resource.h. */
#define RESOURCE_LOG "resource "

/* Takes the attributes of such a log. Returns false if it is another one. */
bool resource_log_take(const char *category, const char *message, struct otel_resource *resource);

/* "3". Returns false if the log has another category, or its message is not the number of a CPU. */
bool cpu_log_parse(const char *category, const char *message, uint32_t *cpu);

#endif
