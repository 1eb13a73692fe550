/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "trace/ops/transition.h"

#define ALIVE (uint8_t) ~STATUS(G_DEAD)
/* Go's reader does not check the P when a system call begins. */
#define ANY_P (uint8_t) ~STATUS(P_UNKNOWN)

/* The goroutine must exist and keeps its status. */
#define LIVING                                                                                               \
	{                                                                                                    \
		ALIVE, STATUS_KEPT                                                                           \
	}
/* A goroutine is created by a running goroutine, or by none. */
#define CREATOR                                                                                              \
	{                                                                                                    \
		STATUS(G_RUNNING) | STATUS(G_DEAD), STATUS_KEPT                                              \
	}

const struct transition transitions[OP_KIND_COUNT] = {
	[OP_PROCS_CHANGE] = {NEED_RUNNING},
	[OP_PROC_START] = {NEED_M | NEED_NO_P, P_NAMED, .p = {STATUS(P_IDLE), P_RUNNING}},
	[OP_PROC_STOP] = {NEED_M | NEED_P, .p = {STATUS(P_RUNNING) | STATUS(P_SYSCALL), P_IDLE}},
	[OP_PROC_STEAL] = {NEED_M, P_NAMED, .p = {STATUS(P_SYSCALL) | STATUS(P_ABANDONED), P_IDLE}},

	[OP_GO_CREATE] = {NEED_M | NEED_P, .self = CREATOR, .other = {STATUS(G_DEAD), G_RUNNABLE}},
	[OP_GO_CREATE_BLOCKED] = {NEED_M | NEED_P, .self = CREATOR, .other = {STATUS(G_DEAD), G_WAITING}},
	[OP_GO_CREATE_SYSCALL] = {NEED_M | NEED_NO_G, .other = {STATUS(G_DEAD), G_SYSCALL}},
	[OP_GO_START] = {NEED_M | NEED_P | NEED_NO_G | NEED_P_RUNS, .other = {STATUS(G_RUNNABLE), G_RUNNING}},
	[OP_GO_DESTROY] = {NEED_RUNNING, .self = {STATUS(G_RUNNING), G_DEAD}},
	[OP_GO_DESTROY_SYSCALL] = {NEED_M | NEED_G, .self = {STATUS(G_SYSCALL), G_DEAD},
				   .p = {STATUS(P_SYSCALL), P_ABANDONED}},
	[OP_GO_STOP] = {NEED_RUNNING, .self = {STATUS(G_RUNNING), G_RUNNABLE}},
	[OP_GO_BLOCK] = {NEED_RUNNING, .self = {STATUS(G_RUNNING), G_WAITING}},
	[OP_GO_UNBLOCK] = {.other = {STATUS(G_WAITING), G_RUNNABLE}},
	[OP_GO_SWITCH] = {NEED_RUNNING, .self = {STATUS(G_RUNNING), G_WAITING},
			  .other = {STATUS(G_WAITING), G_RUNNING}},
	[OP_GO_SWITCH_DESTROY] = {NEED_RUNNING, .self = {STATUS(G_RUNNING), G_DEAD},
				  .other = {STATUS(G_WAITING), G_RUNNING}},

	[OP_SYSCALL_BEGIN] = {NEED_RUNNING, .self = {STATUS(G_RUNNING), G_SYSCALL}, .p = {ANY_P, P_SYSCALL}},
	[OP_SYSCALL_END] = {NEED_USER, .self = {STATUS(G_SYSCALL), G_RUNNING},
			    .p = {STATUS(P_SYSCALL), P_RUNNING}},
	/*
	 * The goroutine lost its P during the call; it still has one only if an OP_PROC_STEAL is to follow.
	 */
	[OP_SYSCALL_END_BLOCKED] = {NEED_M | NEED_G, .self = {STATUS(G_SYSCALL), G_RUNNABLE},
				    .p = {ANY_P & ~STATUS(P_SYSCALL), STATUS_KEPT}},

	[OP_STW_BEGIN] = {NEED_RUNNING, .self = LIVING},
	[OP_STW_END] = {NEED_RUNNING, .self = LIVING},
	[OP_GC_BEGIN] = {NEED_RUNNING},
	[OP_GC_END] = {NEED_RUNNING},
	[OP_GC_SWEEP_BEGIN] = {NEED_M | NEED_P},
	[OP_GC_SWEEP_END] = {NEED_M | NEED_P},
	[OP_GC_ASSIST_BEGIN] = {NEED_RUNNING, .self = LIVING},
	[OP_GC_ASSIST_END] = {NEED_RUNNING, .self = LIVING},
	[OP_HEAP_ALLOC] = {NEED_M | NEED_P},
	[OP_HEAP_GOAL] = {NEED_M | NEED_P},

	[OP_GO_LABEL] = {NEED_RUNNING},
	[OP_TASK_BEGIN] = {NEED_RUNNING},
	[OP_TASK_END] = {NEED_RUNNING},
	[OP_REGION_BEGIN] = {NEED_RUNNING, .self = LIVING},
	[OP_REGION_END] = {NEED_RUNNING, .self = LIVING},
	[OP_LOG] = {NEED_RUNNING},

	[OP_MSPAN] = {NEED_M},
	[OP_MSPAN_ALLOC] = {NEED_M},
	[OP_MSPAN_FREE] = {NEED_M},
	[OP_GO_STACK] = {NEED_M},
	[OP_GO_STACK_ALLOC] = {NEED_M},
	[OP_GO_STACK_FREE] = {NEED_M},
};

const char *g_status_name(unsigned status)
{
	static const char *const names[G_STATUS_COUNT] = {"dead", "runnable", "running", "in a system call",
							  "waiting"};

	return status < G_STATUS_COUNT ? names[status] : "?";
}

const char *p_status_name(unsigned status)
{
	static const char *const names[P_STATUS_COUNT] = {"not known", "running", "idle", "in a system call",
							  "abandoned"};

	return status < P_STATUS_COUNT ? names[status] : "?";
}
