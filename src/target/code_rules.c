/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/code_rules.h"

#include <stddef.h>

#include "code/isa/code.h"
#include "target/layout.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LATEST       UINT8_MAX

#define RULE(part, name, bytes, how, since, until, where)                                                    \
	{                                                                                                    \
		offsetof(struct layout, part.name), bytes, how, since, until, "runtime." where               \
	}
#define STORES(name, bytes, since, where) RULE(go, name, bytes, USE_STORE, since, LATEST, where)
#define LOADS(name, bytes, since, where)  RULE(go, name, bytes, USE_LOAD, since, LATEST, where)

/*
 * Go 1.9 to 1.27 runtime/proc.go, stack.go, preempt.go, traceback.go, os_linux.go, coro.go, mgcmark.go, and
 * asm_amd64.s, asm_arm64.s: mcall and systemstack.
 */
const struct code_rule code_rules[] = {
	LOADS(g_stack_lo, 8, 9, "gfput"),
	LOADS(g_stack_hi, 8, 9, "gfput"),
	LOADS(g_m, 8, 9, "mcall"),
	LOADS(g_m, 8, 19, "dropg"),
	STORES(g_sched_sp, 8, 9, "mcall"),
	STORES(g_sched_pc, 8, 9, "mcall"),
	STORES(g_sched_bp, 8, 9, "mcall"),
	STORES(g_syscallsp, 8, 9, "reentersyscall"),
	STORES(g_syscallsp, 8, 9, "entersyscallblock"),
	STORES(g_syscallpc, 8, 9, "reentersyscall"),
	STORES(g_syscallbp, 8, 23, "reentersyscall"),
	STORES(g_status, 4, 9, "casgstatus"),
	STORES(g_goid, 8, 9, "newproc1"),
	LOADS(g_goid, 8, 21, "newproc1"), /* of the parent */
	STORES(g_waitreason, 1, 11, "gopark"),
	STORES(g_preempt, 1, 9, "preemptone"),
	STORES(g_preempt, 1, 9, "execute"),
	STORES(g_startpc, 8, 9, "newproc1"),
	LOADS(g_startpc, 8, 9, "isSystemGoroutine"),
	STORES(g_gopc, 8, 9, "newproc1"),
	LOADS(g_gopc, 8, 9, "saveAncestors"),
	STORES(g_parent_goid, 8, 21, "newproc1"),
	STORES(g_coroarg, 8, 23, "corostart"),
	STORES(g_coroexit, 1, 23, "coroexit"),
	STORES(g_sync_safe_point, 1, 26, "execute"),
	STORES(g_in_mark_assist, 1, 22, "gcAssistAlloc"),
	LOADS(g_bubble, 8, 25, "casgstatus"),
	LOADS(m_g0, 8, 9, "mcall"),
	LOADS(m_gsignal, 8, 9, "systemstack"),
	STORES(m_gsignal, 8, 9, "mpreinit"),
	LOADS(m_curg, 8, 9, "systemstack"),
	STORES(m_curg, 8, 9, "execute"),
	STORES(m_p, 8, 9, "wirep"),
	STORES(m_oldp, 8, 9, "reentersyscall"),
	LOADS(m_oldp, 8, 9, "exitsyscall"),
	STORES(m_procid, 8, 9, "minit"),
	STORES(m_syscalltick, 4, 9, "reentersyscall"),
	STORES(m_block_reason, 1, 9, "gopark"),
	STORES(m_trace_skip, 8, 9, "gopark"),
	STORES(m_alllink, 8, 9, "mcommoninit"),
	LOADS(m_alllink, 8, 9, "schedtrace"),
	STORES(p_id, 4, 9, "(*p).init"),
	STORES(p_status, 4, 9, "(*p).init"),
	STORES(p_m, 8, 9, "wirep"),
	STORES(p_syscalltick, 4, 9, "exitsyscall"),
	STORES(p_goidcache, 8, 9, "newproc1"),
	STORES(p_goidcacheend, 8, 9, "newproc1"),
	STORES(p_gc_mark_worker_mode, 8, 16, "gcBgMarkWorker"),
	STORES(p_gc_mark_worker_mode, 8, 19, "findRunnable"),
	RULE(go, p_gc_mark_worker_mode, 8, USE_STORE, 9, 18, "findrunnable"),
	RULE(runtime, g_waitsince, 8, USE_STORE, 9, LATEST, "execute"),
	RULE(runtime, g_tracking_seq, 1, USE_STORE, 9, LATEST, "newproc1"),
	RULE(runtime, g_labels, 8, USE_STORE, 9, LATEST, "newproc1"),
	RULE(runtime, g_labels, 8, USE_STORE, 9, 21, "goexit0"),
	RULE(runtime, g_labels, 8, USE_STORE, 22, LATEST, "gdestroy"),
};

/* Go 1.23 to 1.27 runtime/mheap.go. */
const struct code_rule heap_rules[] = {
	RULE(runtime, heap_allspans, 8, USE_LOAD, 23, LATEST, "recordspan"),
	RULE(runtime, span_base, 8, USE_STORE, 23, LATEST, "(*mspan).init"),
	RULE(runtime, span_npages, 8, USE_STORE, 23, LATEST, "(*mspan).init"),
	RULE(runtime, span_class, 1, USE_STORE, 23, LATEST, "(*mspan).init"),
	RULE(runtime, span_state, 1, USE_STORE, 23, LATEST, "(*mspan).init"),
};

const unsigned code_rule_count = COUNT(code_rules), heap_rule_count = COUNT(heap_rules);
