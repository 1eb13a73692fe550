/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "export/perfetto_counters.h"

enum { MIN_NS = 1000000 };

int pf_counters_init(struct pf_counters *counters, struct pf_tracks *tracks)
{
	static const struct {
		const char *go, *threads;
		const char *axis;
	} names[PF_COUNTERS] = {
		[PF_COUNT_RUNNING] = {"Goroutines running", "Threads running", "states"},
		[PF_COUNT_RUNNABLE] = {"Goroutines runnable", "Threads runnable", "states"},
		[PF_COUNT_SYSCALL] = {"Goroutines in system calls", "Threads in system calls", "states"},
		[PF_COUNT_WAITING] = {"Goroutines waiting", "Threads waiting", NULL},
		[PF_HEAP] = {"Heap", NULL, "heap"},
		[PF_HEAP_GOAL] = {"Heap goal", NULL, "heap"},
		[PF_PROCS] = {"GOMAXPROCS", "CPUs", NULL},
	};

	*counters = (struct pf_counters){.tracks = tracks};
	for (int i = 0; i < PF_COUNTERS; i++) {
		const char *name = tracks->census->threads ? names[i].threads : names[i].go;
		int rc = name ? pf_counter_track(tracks, name, i == PF_HEAP || i == PF_HEAP_GOAL,
						 names[i].axis, 10 + i, &counters->all[i].track)
			      : 0;

		if (rc)
			return rc;
	}
	return 0;
}

static int perfetto_counters_put(struct pf_counters *counters, int i, uint64_t time)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;

	event.has_type = event.has_track_uuid = event.has_counter_value = true;
	event.type = PF_COUNTER;
	event.track_uuid = counters->all[i].track;
	event.counter_value = counters->all[i].value;
	packet.data_case = PERFETTO__TRACE_PACKET__DATA_TRACK_EVENT;
	packet.track_event = &event;
	return pf_put_at(counters->tracks->pf, time, &packet);
}

int pf_counters_flush(struct pf_counters *counters, uint64_t time)
{
	counters->next_ns = time + MIN_NS;
	for (int i = 0; i < PF_COUNTERS; i++) {
		bool same = counters->all[i].was_shown && counters->all[i].value == counters->all[i].shown;
		int rc;

		if (!counters->all[i].known || !counters->all[i].track || same)
			continue;
		rc = perfetto_counters_put(counters, i, time);
		if (rc)
			return rc;
		counters->all[i].shown = counters->all[i].value;
		counters->all[i].was_shown = true;
	}
	return 0;
}

static int flush_if_due(struct pf_counters *counters, uint64_t time)
{
	return time < counters->next_ns ? 0 : pf_counters_flush(counters, time);
}

static void perfetto_counters_count(struct pf_counters *counters, unsigned state, int by)
{
	static const int8_t which[LEDGER_STATE_COUNT] = {
		[LEDGER_NONE] = -1,
		[G_RUNNABLE] = PF_COUNT_RUNNABLE,
		[G_RUNNING] = PF_COUNT_RUNNING,
		[G_SYSCALL] = PF_COUNT_SYSCALL,
		[G_WAITING] = PF_COUNT_WAITING,
		[LEDGER_UNWATCHED] = -1,
	};

	if (which[state] < 0)
		return;
	counters->all[which[state]].value += by;
	counters->all[which[state]].known = true;
}

int pf_counters_change(struct pf_counters *counters, const struct tl_change *change)
{
	if (change->final)
		return 0;
	perfetto_counters_count(counters, change->g->now.state, -1);
	perfetto_counters_count(counters, change->to->state, 1);
	return flush_if_due(counters, change->time);
}

int pf_counters_op(struct pf_counters *counters, const struct op *op)
{
	int i = op->kind == OP_HEAP_ALLOC ? PF_HEAP : op->kind == OP_HEAP_GOAL ? PF_HEAP_GOAL : PF_PROCS;

	if (op->kind != OP_HEAP_ALLOC && op->kind != OP_HEAP_GOAL && op->kind != OP_PROCS_CHANGE)
		return 0;
	counters->all[i].value = (int64_t)op->arg;
	counters->all[i].known = true;
	return flush_if_due(counters, op->time);
}
