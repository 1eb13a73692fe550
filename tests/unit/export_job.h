/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* For tests of exports: traces, an export of them, and the totals that it must have. */
#ifndef GOTRACE_TEST_EXPORT_JOB_H
#define GOTRACE_TEST_EXPORT_JOB_H

#include "export/export.h"
#include "export/timeline.h"
#include "wire_trace.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Traces of real programs, of three releases. */
extern const char *const export_fixtures[3];

/* The caller frees the bytes. */
struct bytes export_read_fixture(const char *path);
/* Returns the exported bytes, which the caller frees, or no bytes if options name a database. */
struct bytes export_of(const struct bytes *trace, struct export_options options);

struct export_totals {
	struct op_timeline *timeline;
	uint64_t count[LEDGER_STATE_COUNT], ns[LEDGER_STATE_COUNT]; /* intervals that end in the trace */
	uint64_t open_ns[LEDGER_STATE_COUNT];                       /* intervals still open at its end */
	uint64_t wakeups, samples, logs, ranges;
};

struct export_totals export_totals_of(const struct bytes *trace);

enum { M1 = 5001, M2 = 5002, UNIT = 16 * OP_UNIT_NS /* about a microsecond, so that nothing is rounded */ };

#define P_IS(p_, status_, m_)                                                                                \
	{                                                                                                    \
		.kind = OP_PROC_STATUS, .p = p_, .status = status_, .m = m_                                  \
	}
#define G_IS(g_, status_, m_)                                                                                \
	{                                                                                                    \
		.kind = OP_GO_STATUS, .g = g_, .status = status_, .m = m_, .p = NO_P                         \
	}
#define AT(time_, kind_, g_, ...)                                                                            \
	{                                                                                                    \
		.time = time_, .kind = kind_, .m = M1, .p = 0, .g = g_, __VA_ARGS__                          \
	}

/*
 * Goroutine 1 creates 7 at 20 us, which waits 30 us for the P. 7 runs for 10 us, 5 of them in a system call,
 * wakes 2, and ends. 2 runs 40 us in two regions.
 */
struct bytes export_by_hand(void);

#endif
