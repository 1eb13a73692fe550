/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Go 1.26 src/internal/trace/tracev2/events.go and Go 1.21 src/internal/trace/parser.go. */
#include "wire/event_args.h"

#include <stddef.h>

#include "wire/event.h"
#include "wire/event_v1.h"
#include "wire/wire.h"

enum { MOST_ARGS = 5 }; /* with the NULL behind them */

const char *const *event_args(unsigned type)
{
	static const char *const none[] = {NULL};
	static const char *const names[EV_COUNT][MOST_ARGS] = {
		[EV_PROCS_CHANGE] = {"procs", "stack"},
		[EV_PROC_START] = {"p", "seq"},
		[EV_PROC_STEAL] = {"p", "seq", "m"},
		[EV_PROC_STATUS] = {"p", "status"},
		[EV_GO_CREATE] = {"new_g", "new_stack", "stack"},
		[EV_GO_CREATE_SYSCALL] = {"new_g"},
		[EV_GO_START] = {"g", "seq"},
		[EV_GO_STOP] = {"reason", "stack"},
		[EV_GO_BLOCK] = {"reason", "stack"},
		[EV_GO_UNBLOCK] = {"g", "seq", "stack"},
		[EV_GO_SYSCALL_BEGIN] = {"p_seq", "stack"},
		[EV_GO_STATUS] = {"g", "m", "status"},
		[EV_STW_BEGIN] = {"kind", "stack"},
		[EV_GC_ACTIVE] = {"seq"},
		[EV_GC_BEGIN] = {"seq", "stack"},
		[EV_GC_END] = {"seq"},
		[EV_GC_SWEEP_ACTIVE] = {"p"},
		[EV_GC_SWEEP_BEGIN] = {"stack"},
		[EV_GC_SWEEP_END] = {"swept", "reclaimed"},
		[EV_GC_MARK_ASSIST_ACTIVE] = {"g"},
		[EV_GC_MARK_ASSIST_BEGIN] = {"stack"},
		[EV_HEAP_ALLOC] = {"bytes"},
		[EV_HEAP_GOAL] = {"bytes"},
		[EV_GO_LABEL] = {"label"},
		[EV_USER_TASK_BEGIN] = {"task", "parent", "name", "stack"},
		[EV_USER_TASK_END] = {"task", "stack"},
		[EV_USER_REGION_BEGIN] = {"task", "name", "stack"},
		[EV_USER_REGION_END] = {"task", "name", "stack"},
		[EV_USER_LOG] = {"task", "key", "message", "stack"},
		[EV_GO_SWITCH] = {"g", "seq"},
		[EV_GO_SWITCH_DESTROY] = {"g", "seq"},
		[EV_GO_CREATE_BLOCKED] = {"new_g", "new_stack", "stack"},
		[EV_GO_STATUS_STACK] = {"g", "m", "status", "stack"},
		[EV_CLOCK_SNAPSHOT] = {"mono", "sec", "nsec"},
		[EV_SPAN] = {"id", "pages", "kind"},
		[EV_SPAN_ALLOC] = {"id", "pages", "kind"},
		[EV_SPAN_FREE] = {"id"},
		[EV_SPAN_FREE + 1] = {"id", "type"},
		[EV_SPAN_FREE + 2] = {"id", "type"},
		[EV_SPAN_FREE + 3] = {"id"},
		[EV_GO_STACK] = {"id", "order"},
		[EV_GO_STACK_ALLOC] = {"id", "order"},
		[EV_STACK_FREE] = {"id"},
	};

	return type < EV_COUNT ? names[type] : none;
}

const char *const *event_v1_arg_names(unsigned type)
{
	static const char *const none[] = {NULL};
	static const char *const names[V1_EVENT_COUNT][MOST_ARGS] = {
		[V1_GOMAXPROCS] = {"procs"},
		[V1_PROC_START] = {"thread"},
		[V1_GC_START] = {"seq"},
		[V1_STW_START] = {"kind"},
		[V1_GC_SWEEP_DONE] = {"swept", "reclaimed"},
		[V1_GO_CREATE] = {"new_g", "new_stack"},
		[V1_GO_START] = {"g", "seq"},
		[V1_GO_UNBLOCK] = {"g", "seq"},
		[V1_GO_SYS_EXIT] = {"g", "seq", "ticks"},
		[V1_GO_WAITING] = {"g"},
		[V1_GO_IN_SYSCALL] = {"g"},
		[V1_HEAP_ALLOC] = {"bytes"},
		[V1_HEAP_GOAL] = {"bytes"},
		[V1_GO_START_LABEL] = {"g", "seq", "label"},
		[V1_USER_TASK_CREATE] = {"task", "parent", "name"},
		[V1_USER_TASK_END] = {"task"},
		[V1_USER_REGION] = {"task", "mode", "name"},
		[V1_USER_LOG] = {"task", "key"},
		[V1_CPU_SAMPLE] = {"ticks", "p", "g"},
	};

	return type < V1_EVENT_COUNT ? names[type] : none;
}

const char *event_v1_stw_kind(unsigned format, unsigned long long kind)
{
	static const char *const two[] = {"mark termination", "sweep termination"};

	if (format < WIRE_GO110)
		return NULL;
	if (format < WIRE_GO121)
		return kind < sizeof(two) / sizeof(two[0]) ? two[kind] : NULL;
	return event_v1_stw(kind < V1_STW_KINDS ? kind : 0);
}
