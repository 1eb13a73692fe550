/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "export/perfetto_event.h"

#include <errno.h>
#include <stdio.h>

#include "util/array.h"

static struct pf_cpu *cpu_at(struct perfetto *px, uint32_t number, int *rc)
{
	struct pf_tracks *tracks = &px->tracks;
	struct pf_cpu *cpu;
	char name[32];

	*rc = array_grow(&tracks->cpus, &tracks->cpu_capacity, (size_t)number + 1, sizeof(*tracks->cpus));
	if (*rc)
		return NULL;
	cpu = &tracks->cpus[number];
	if (!cpu->track) {
		snprintf(name, sizeof(name), "CPU %u", number - 1);
		*rc = pf_cpu_track(tracks, name, (int32_t)number, &cpu->track);
	}
	return *rc ? NULL : cpu;
}

/* Ends the CPU's slice. */
static int perfetto_cpus_leave(struct perfetto *px, struct pf_cpu *cpu, uint64_t time)
{
	struct pf_event ev = {.time = time, .track = cpu->track, .type = PF_END, .category = PF_CPU};
	int rc;
	struct pf_thread *thread = pf_thread(&px->tracks, cpu->tid, NULL, &rc);

	if (thread)
		thread->shown = 0;
	cpu->tid = 0;
	return rc ? rc : pf_put_event(px, &ev);
}

/* Another thread that is still shown there lost the CPU for less than --os, which the trace omits.
 * `below` remembers it, so that it is shown again when this one leaves. */
static int perfetto_cpus_enter(struct perfetto *px, uint32_t number, uint32_t tid, uint32_t serial,
			       uint64_t time)
{
	struct pf_event ev = {.time = time,
			      .type = PF_BEGIN,
			      .category = PF_CPU,
			      .number_is = PF_GOID,
			      .number = px->census->goroutines[serial].goid,
			      .tid = tid};
	int rc;
	struct pf_cpu *cpu = cpu_at(px, number, &rc);
	const struct pf_goroutine *g = cpu ? pf_goroutine(&px->tracks, serial, &rc) : NULL;
	struct pf_thread *thread = g ? pf_thread(&px->tracks, tid, NULL, &rc) : NULL;

	if (!thread)
		return rc;
	if (cpu->tid) {
		thread->below = cpu->tid;
		rc = perfetto_cpus_leave(px, cpu, time);
	}
	if (rc)
		return rc;
	thread->shown = number;
	thread->shown_serial = serial;
	cpu->tid = tid;
	ev.name = g->name;
	ev.track = cpu->track;
	return pf_put_event(px, &ev);
}

/* Returns 1 + the CPU whose track should show the thread; 0 = none. */
static uint32_t cpu_of(const struct pf_thread *thread)
{
	return thread->depth == PF_DEPTH_GOROUTINE ? thread->cpu : 0;
}

/* Shows the thread that was shown there before @left, unless it has left since. Each link is followed once,
 * so that two threads below each other do not loop. */
static int resume(struct perfetto *px, uint32_t number, struct pf_thread *left, uint64_t time)
{
	int rc = 0;
	uint32_t tid;

	while (left && (tid = left->below)) {
		left->below = 0;
		left = pf_thread(&px->tracks, tid, NULL, &rc);
		if (left && !left->shown && cpu_of(left) == number)
			return perfetto_cpus_enter(px, number, tid, left->serial, time);
	}
	return rc;
}

int pf_cpus_update(struct perfetto *px, uint32_t tid, uint64_t time)
{
	int rc;
	struct pf_thread *thread = pf_thread(&px->tracks, tid, NULL, &rc);
	uint32_t wanted, old;

	if (!thread)
		return rc;
	wanted = cpu_of(thread);
	old = thread->shown;
	if (old == wanted && (!wanted || thread->shown_serial == thread->serial))
		return 0;
	if (old)
		rc = perfetto_cpus_leave(px, &px->tracks.cpus[old], time);
	if (!rc && old && old != wanted)
		rc = resume(px, old, thread, time);
	return rc || !wanted ? rc : perfetto_cpus_enter(px, wanted, tid, thread->serial, time);
}
