/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Constants of the Go runtime that appear in records and snapshots. */
#ifndef GOTRACE_MODEL_GO_RUNTIME_H
#define GOTRACE_MODEL_GO_RUNTIME_H

/* g.atomicstatus without _Gscan: the same in every release (Go 1.4 to 1.26 runtime/runtime2.go). */
enum go_g_status {
	GO_G_RUNNABLE = 1,
	GO_G_RUNNING = 2,
	GO_G_SYSCALL = 3,
	GO_G_WAITING = 4,
	GO_G_DEAD = 6,
	GO_G_COPYSTACK = 8,
	GO_G_PREEMPTED = 9,
	GO_G_LEAKED = 10, /* from 1.26 on */
};

/* p.status */
enum go_p_status {
	GO_P_SYSCALL = 2, /* up to 1.25 */
	GO_P_DEAD = 4,
};

/* traceGoStopReason: indices in REASON_STOP (Go 1.22 to 1.26 runtime/traceruntime.go). */
enum go_stop_reason { GO_STOP_SCHED = 1, GO_STOP_PREEMPTED = 2 };

#endif
