/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Applies the rules, and orders what they find. */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"

/* All rules but trust need at least this much watched time. */
#define MIN_NS 495000000ull /* half a second, as one is cut from a trace */

static const struct rule rules[] = {
	{"trust", rule_trust, 0, false},
	{"stopped", rule_stopped, 0, false},
	{"throttled", rule_throttled, 0, false},
	{"procs-high", rule_procs_high, 0, true},
	{"procs-low", rule_procs_low, 0, true},
	{"affinity", rule_affinity, 0, false},
	{"neighbour", rule_neighbour, 0, false},
	{"descendants", rule_descendants, 0, false},
	{"kernel-sleep", rule_kernel_sleep, 0, true},
	{"idle-p", rule_idle_p, 0, true},
	{"assist", rule_assist, 0, true},
	{"gc-often", rule_gc_often, 0, true},
	{"gc-limit", rule_gc_limit, 0, true},
	{"stw-stop", rule_stw_stop, 0, true},
	{"stw-often", rule_stw_often, 0, true},
	{"spin", rule_spin, 0, true},
	{"hog", rule_hog, 0, true},
	{"rw-writer", rule_rw_writer, 0, false},
	{"lock-io", rule_lock_io, 0, false},
	{"lock-syscall", rule_lock_syscall, DETAIL_CALLS, false},
	{"lock-long", rule_lock_long, 0, false},
	{"lock-timeout", rule_lock_timeout, 0, false},
	{"lock-convoy", rule_lock_convoy, 0, false},
	{"mmap-lock", rule_mmap_lock, 0, false},
	{"gil", rule_gil, 0, false},
	{"leak", rule_leak, 0, false},
	{"burst", rule_burst, DETAIL_WAKERS, false},
	{"slow-consumer", rule_slow_consumer, 0, false},
	{"pool-small", rule_pool_small, 0, false},
	{"pool-small", rule_few_threads, 0, false},
	{"outlier", rule_outlier, 0, false},
	{"netpoll", rule_netpoll, DETAIL_WAKERS | DETAIL_CALLS, true},
	{"timer-late", rule_timer_late, DETAIL_WAKERS, true},
	{"timer-storm", rule_timer_storm, DETAIL_WAKERS, false},
	{"herd", rule_herd, 0, false},
	{"straggler", rule_straggler, 0, false},
	{"single-flight", rule_single_flight, 0, false},
	{"stampede", rule_stampede, 0, true},
	{"page-faults", rule_page_faults, 0, false},
	{"retake", rule_retake, DETAIL_CALLS, true},
	{"locked-thread", rule_locked_thread, 0, true},
	{"dns", rule_dns, 0, false},
	{"busy-owner", rule_busy_owner, DETAIL_WAKERS, false},
	{"yield-spin", rule_yield_spin, 0, false},
	{"leak-awake", rule_leak_awake, 0, false},
	{"conn-churn", rule_conn_churn, DETAIL_CALLS, false},
	{"thread-churn", rule_thread_churn, 0, false},
	{"long-runs", rule_long_runs, 0, true},
	{"stuck", rule_stuck, 0, false},
	{"hung", rule_hung, 0, true},
	{"finalizer", rule_finalizer, 0, true},
	{"timer-bound", rule_timer_bound, DETAIL_WAKERS, false},
	{"hand-off", rule_hand_off, 0, false},
	{"slow-host", rule_slow_host, 0, true},
	{"task-place", rule_task_place, 0, false},
	{"request-place", rule_request_place, 0, true},
	{"delayed-ack", rule_delayed_ack, DETAIL_CALLS, false},
	{"serial-loop", rule_serial_loop, DETAIL_CALLS, false},
	{"long-turn", rule_long_turn, DETAIL_CALLS, false},
	{"poll-spin", rule_poll_spin, DETAIL_CALLS, false},
	{"vm-gc", rule_vm_gc, 0, false},
	{"database-lock", rule_database_lock, 0, false},
	{"executor-blocked", rule_executor, 0, false},
	{"limit-place", rule_limit_place, 0, true},
	{"call-place", rule_call_place, DETAIL_CALLS, false},
	{"cpu-place", rule_cpu_place, 0, false},
};

bool findings_need_more(const struct analysis *a)
{
	return watched_ns(a) < MIN_NS;
}

static void apply_rules(struct analysis *a)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (rules[i].of_go && is_of_threads(a))
			continue;
		if (!is_of_threads(a) && (rules[i].needs & a->ledger.ever_missing & DETAIL_WAKERS))
			finding_not_applicable(a, rules[i].id, "wakers were not recorded");
		else if (rules[i].needs & a->ledger.ever_missing & DETAIL_CALLS)
			finding_not_applicable(a, rules[i].id, "system calls were left out");
		else
			rules[i].apply(a);
	}
}

void findings_make(struct analysis *a)
{
	if (findings_need_more(a)) {
		rule_trust(a);
		finding_not_applicable(a, "all others", "less than 0.5 s was watched");
	} else {
		apply_rules(a);
	}
	findings_merge(a);
	findings_explain(a);
	findings_rank(a);
}
