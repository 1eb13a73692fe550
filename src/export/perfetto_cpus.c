/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "export/perfetto_cpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/own_names.h"

enum { MAX_CPUS = 1 << 13 }; /* as in src/model/off_cpu.c */

bool pf_cpu_of_log(const char *category, const char *message, uint32_t *cpu)
{
	unsigned long number;
	char *end;

	if (strcmp(category, CPU_LOG_CATEGORY) != 0 || *message < '0' || *message > '9')
		return false;
	number = strtoul(message, &end, 10);
	*cpu = (uint32_t)number + 1;
	return !*end && number < MAX_CPUS;
}

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

/* The slice ends. */
static int leave(struct perfetto *px, struct pf_cpu *cpu, uint64_t time)
{
	struct pf_event ev = {.time = time, .track = cpu->track, .type = PF_END, .category = PF_CPU};
	int rc;
	struct pf_thread *thread = pf_thread(&px->tracks, cpu->tid, NULL, &rc);

	if (thread)
		thread->shown = 0;
	cpu->tid = 0;
	return rc ? rc : pf_put_event(px, &ev);
}

/* Another thread that is still shown there has lost the CPU for less than --os-regions, which the trace
 * leaves out. */
static int enter(struct perfetto *px, uint32_t number, uint32_t tid, uint32_t serial, uint64_t time)
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

	if (g && cpu->tid)
		rc = leave(px, cpu, time);
	if (!g || rc)
		return rc;
	cpu->tid = tid;
	ev.name = g->name;
	ev.track = cpu->track;
	return pf_put_event(px, &ev);
}

int pf_cpus_update(struct perfetto *px, uint32_t tid, uint64_t time)
{
	int rc;
	struct pf_thread *thread = pf_thread(&px->tracks, tid, NULL, &rc);
	uint32_t wanted, serial;

	if (!thread)
		return rc;
	wanted = thread->depth == PF_DEPTH_GOROUTINE ? thread->cpu : 0;
	serial = thread->serial;
	if (thread->shown == wanted && (!wanted || thread->shown_serial == serial))
		return 0;
	if (thread->shown)
		rc = leave(px, &px->tracks.cpus[thread->shown], time);
	if (rc || !wanted)
		return rc;
	thread->shown = wanted;
	thread->shown_serial = serial;
	return enter(px, wanted, tid, serial, time);
}
