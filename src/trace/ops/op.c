/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "op.h"

static const char *const op_names[OP_KIND_COUNT] = {
	[OP_NONE] = "None",
	[OP_PROC_STATUS] = "ProcStatus",
	[OP_GO_STATUS] = "GoStatus",
	[OP_PROCS_CHANGE] = "ProcsChange",
	[OP_PROC_START] = "ProcStart",
	[OP_PROC_STOP] = "ProcStop",
	[OP_PROC_STEAL] = "ProcSteal",
	[OP_GO_CREATE] = "GoCreate",
	[OP_GO_CREATE_BLOCKED] = "GoCreateBlocked",
	[OP_GO_CREATE_SYSCALL] = "GoCreateSyscall",
	[OP_GO_START] = "GoStart",
	[OP_GO_DESTROY] = "GoDestroy",
	[OP_GO_DESTROY_SYSCALL] = "GoDestroySyscall",
	[OP_GO_STOP] = "GoStop",
	[OP_GO_BLOCK] = "GoBlock",
	[OP_GO_UNBLOCK] = "GoUnblock",
	[OP_GO_SWITCH] = "GoSwitch",
	[OP_GO_SWITCH_DESTROY] = "GoSwitchDestroy",
	[OP_SYSCALL_BEGIN] = "GoSyscallBegin",
	[OP_SYSCALL_END] = "GoSyscallEnd",
	[OP_SYSCALL_END_BLOCKED] = "GoSyscallEndBlocked",
	[OP_STW_BEGIN] = "STWBegin",
	[OP_STW_END] = "STWEnd",
	[OP_GC_ACTIVE] = "GCActive",
	[OP_GC_BEGIN] = "GCBegin",
	[OP_GC_END] = "GCEnd",
	[OP_GC_SWEEP_ACTIVE] = "GCSweepActive",
	[OP_GC_SWEEP_BEGIN] = "GCSweepBegin",
	[OP_GC_SWEEP_END] = "GCSweepEnd",
	[OP_GC_ASSIST_ACTIVE] = "GCMarkAssistActive",
	[OP_GC_ASSIST_BEGIN] = "GCMarkAssistBegin",
	[OP_GC_ASSIST_END] = "GCMarkAssistEnd",
	[OP_HEAP_ALLOC] = "HeapAlloc",
	[OP_HEAP_GOAL] = "HeapGoal",
	[OP_GO_LABEL] = "GoLabel",
	[OP_TASK_BEGIN] = "UserTaskBegin",
	[OP_TASK_END] = "UserTaskEnd",
	[OP_REGION_BEGIN] = "UserRegionBegin",
	[OP_REGION_END] = "UserRegionEnd",
	[OP_LOG] = "UserLog",
	[OP_CPU_SAMPLE] = "CPUSample",
	[OP_MSPAN] = "Span",
	[OP_MSPAN_ALLOC] = "SpanAlloc",
	[OP_MSPAN_FREE] = "SpanFree",
	[OP_GO_STACK] = "GoroutineStack",
	[OP_GO_STACK_ALLOC] = "GoroutineStackAlloc",
	[OP_GO_STACK_FREE] = "GoroutineStackFree",
};

const char *op_name(enum op_kind kind)
{
	return (unsigned)kind < OP_KIND_COUNT ? op_names[kind] : "?";
}

const char *tables_string(const struct tables *tables, uint32_t id, size_t *len)
{
	const struct strtab *from = id & TEXT_ID ? tables->texts : tables->strings;

	*len = 0;
	return from ? strtab_get(from, id & ~TEXT_ID, len) : "";
}
