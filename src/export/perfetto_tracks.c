/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "export/perfetto_tracks.h"

#include "util/array.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Values of TrackDescriptor in Perfetto's track_descriptor.proto. */
enum { ORDER_EXPLICIT = 3, MERGE_BY_NAME = 1, MERGE_NONE = 2 };
enum { UNIT_COUNT = 2, UNIT_BYTES = 3 };

static Perfetto__TrackDescriptor descriptor_of(struct pf_tracks *tracks, uint64_t parent, const char *name,
					       int32_t rank)
{
	Perfetto__TrackDescriptor d = PERFETTO__TRACK_DESCRIPTOR__INIT;

	d.has_uuid = true;
	d.uuid = ++tracks->uuids;
	d.has_parent_uuid = parent;
	d.parent_uuid = parent;
	d.name = (char *)name;
	d.has_sibling_order_rank = true;
	d.sibling_order_rank = rank;
	d.has_sibling_merge_behavior = true;
	d.sibling_merge_behavior = MERGE_NONE;
	return d;
}

/* Writes a track whose children are ordered by rank. */
static int group(struct pf_tracks *tracks, uint64_t parent, const char *name, int32_t rank, uint64_t *uuid)
{
	Perfetto__TrackDescriptor d = descriptor_of(tracks, parent, name, rank);

	d.has_child_ordering = true;
	d.child_ordering = ORDER_EXPLICIT;
	*uuid = d.uuid;
	return pf_descriptor(tracks->pf, &d);
}

int pf_plain_track(struct pf_tracks *tracks, uint64_t parent, const char *name, int32_t rank, bool merges,
		   uint64_t *uuid)
{
	Perfetto__TrackDescriptor d = descriptor_of(tracks, parent, name, rank);

	if (merges)
		d.sibling_merge_behavior = MERGE_BY_NAME;
	*uuid = d.uuid;
	return pf_descriptor(tracks->pf, &d);
}

int pf_counter_track(struct pf_tracks *tracks, const char *name, bool bytes, const char *axis, int32_t rank,
		     uint64_t *uuid)
{
	Perfetto__TrackDescriptor d = descriptor_of(tracks, tracks->go, name, rank);
	Perfetto__CounterDescriptor counter = PERFETTO__COUNTER_DESCRIPTOR__INIT;

	counter.has_unit = true;
	counter.unit = bytes ? UNIT_BYTES : UNIT_COUNT;
	counter.y_axis_share_key = (char *)axis;
	d.counter = &counter;
	*uuid = d.uuid;
	return pf_descriptor(tracks->pf, &d);
}

static int process_track(struct pf_tracks *tracks, const char *title)
{
	Perfetto__TrackDescriptor d = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ProcessDescriptor process = PERFETTO__PROCESS_DESCRIPTOR__INIT;

	d.has_uuid = true;
	d.uuid = tracks->process = ++tracks->uuids;
	process.has_pid = true;
	process.pid = tracks->pid;
	process.process_name = (char *)title;
	d.process = &process;
	return pf_descriptor(tracks->pf, &d);
}

/* --- which goroutines get a track --- */

static int more_first(const void *a, const void *b)
{
	uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;

	return one < other ? 1 : one > other ? -1 : 0;
}

static int choose(struct pf_tracks *tracks)
{
	const struct census *census = tracks->census;
	size_t n = census->n - 1;
	uint32_t *changes;

	tracks->spare_tracks = PF_MAX_TRACKS;
	if (n <= PF_MAX_TRACKS)
		return 0;
	changes = malloc(n * sizeof(*changes));
	if (!changes)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		changes[i] = census->goroutines[i + 1].changes;
	qsort(changes, n, sizeof(*changes), more_first);
	tracks->least_changes = changes[PF_MAX_TRACKS - 1];
	for (size_t i = 0; i < PF_MAX_TRACKS; i++)
		tracks->spare_tracks -= changes[i] > tracks->least_changes;
	free(changes);
	return 0;
}

static enum pf_shape shape_of(struct pf_tracks *tracks, uint32_t serial)
{
	uint32_t changes = tracks->census->goroutines[serial].changes;

	if (changes > tracks->least_changes)
		return PF_TRACK;
	if (changes == tracks->least_changes && tracks->spare_tracks) {
		tracks->spare_tracks--;
		return PF_TRACK;
	}
	return changes ? PF_ROW : PF_STILL;
}

int pf_tracks_init(struct pf_tracks *tracks, struct pf_stream *pf, const struct census *census, int32_t pid,
		   const char *title, uint64_t first_uuid)
{
	int rc;

	*tracks = (struct pf_tracks){
		.pf = pf, .census = census, .pid = pid, .uuids = first_uuid, .nthreads = 1, .nfunctions = 1};
	rc = choose(tracks);
	if (!rc)
		rc = process_track(tracks, title);
	if (!rc)
		rc = group(tracks, tracks->process, census->threads ? "Threads" : "Go", 0, &tracks->go);
	if (!rc && !census->threads)
		rc = pf_plain_track(tracks, tracks->go, "GC", 1, false, &tracks->gc);
	if (!rc && !census->threads)
		rc = pf_plain_track(tracks, tracks->go, "Stop the world", 2, false, &tracks->stw);
	if (!rc)
		rc = pf_plain_track(tracks, tracks->go, "gotrace", 3, false, &tracks->gotrace);
	if (!rc)
		rc = pf_plain_track(tracks, tracks->go, "wakers", 4, false, &tracks->wakers);
	if (!rc)
		rc = group(tracks, tracks->go, census->threads ? "CPUs" : "Ps", 20, &tracks->procs_group);
	if (!rc)
		rc = group(tracks, tracks->go, "Tasks", 21, &tracks->tasks);
	if (!rc)
		rc = group(tracks, tracks->go, census->threads ? "Thread states" : "Goroutines", 22,
			   &tracks->goroutines_group);
	return rc;
}

void pf_tracks_free(struct pf_tracks *tracks)
{
	for (size_t i = 0; i < tracks->nfunctions && tracks->functions; i++)
		free(tracks->functions[i].rows);
	free(tracks->functions);
	free(tracks->procs);
	free(tracks->cpus);
	free(tracks->goroutines);
	free(tracks->threads);
	map64_free(&tracks->by_name);
	map64_free(&tracks->by_tid);
}

/* --- Ps --- */

enum { MAX_PLACES = 1 << 16 }; /* as in src/trace/convert/builder.c */

struct pf_proc *pf_proc(struct pf_tracks *tracks, int32_t p, int *rc)
{
	struct pf_proc *proc;
	char name[32];

	*rc = 0;
	if (p < 0 || p >= MAX_PLACES)
		return NULL;
	*rc = array_grow(&tracks->procs, &tracks->proc_capacity, (size_t)p + 1, sizeof(*tracks->procs));
	if (*rc)
		return NULL;
	proc = &tracks->procs[p];
	if (!proc->track) {
		snprintf(name, sizeof(name), "%s %d", tracks->census->threads ? "CPU" : "P", p);
		*rc = pf_plain_track(tracks, tracks->procs_group, name, 2 * p, false, &proc->track);
	}
	return *rc ? NULL : proc;
}

int pf_sweep_track(struct pf_tracks *tracks, int32_t p, uint64_t *uuid)
{
	int rc;
	struct pf_proc *proc = pf_proc(tracks, p, &rc);
	char name[32];

	*uuid = tracks->gc;
	if (!proc)
		return rc;
	snprintf(name, sizeof(name), "P %d sweeps", p);
	if (!proc->sweeps)
		rc = pf_plain_track(tracks, tracks->procs_group, name, 2 * p + 1, false, &proc->sweeps);
	*uuid = proc->sweeps;
	return rc;
}

int pf_cpu_track(struct pf_tracks *tracks, const char *name, int32_t rank, uint64_t *uuid)
{
	int rc = tracks->cpus_group ? 0 : group(tracks, tracks->go, "CPUs", 19, &tracks->cpus_group);

	return rc ? rc : pf_plain_track(tracks, tracks->cpus_group, name, rank, false, uuid);
}

int pf_task_track(struct pf_tracks *tracks, uint32_t name, uint64_t *uuid)
{
	const char *text = strtab_get(tracks->pf->st->strings, name, NULL);

	return pf_plain_track(tracks, tracks->tasks, text[0] ? text : "task", 0, true, uuid);
}

/* --- threads --- */

static int describe_thread(struct pf_tracks *tracks, struct pf_thread *thread, uint32_t tid, const char *comm)
{
	Perfetto__TrackDescriptor d = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ThreadDescriptor about = PERFETTO__THREAD_DESCRIPTOR__INIT;

	*thread = (struct pf_thread){.track = ++tracks->uuids};
	d.has_uuid = true;
	d.uuid = thread->track;
	about.has_pid = about.has_tid = true;
	about.pid = tracks->pid;
	about.tid = (int32_t)tid;
	about.thread_name = (char *)comm;
	d.thread = &about;
	return pf_descriptor(tracks->pf, &d);
}

struct pf_thread *pf_thread(struct pf_tracks *tracks, uint32_t tid, const char *comm, int *rc)
{
	uint32_t at = map64_find(&tracks->by_tid, tid);

	*rc = 0;
	if (at != MAP64_NONE)
		return &tracks->threads[at];
	at = (uint32_t)tracks->nthreads;
	if (array_grow(&tracks->threads, &tracks->thread_capacity, tracks->nthreads + 1,
		       sizeof(*tracks->threads)) ||
	    map64_set(&tracks->by_tid, tid, at)) {
		*rc = -ENOMEM;
		return NULL;
	}
	tracks->nthreads++;
	*rc = describe_thread(tracks, &tracks->threads[at], tid, comm);
	return *rc ? NULL : &tracks->threads[at];
}

int pf_thread_again(struct pf_tracks *tracks, uint32_t tid, const char *comm)
{
	uint32_t at = map64_find(&tracks->by_tid, tid);

	return at == MAP64_NONE ? 0 : describe_thread(tracks, &tracks->threads[at], tid, comm);
}

/* --- goroutines --- */

static int perfetto_tracks_function_of(struct pf_tracks *tracks, uint32_t serial, uint32_t *function,
				       uint32_t *name)
{
	size_t len;
	const char *text = census_name(tracks->census, serial, &len);
	struct pf_function *new;

	if (!len) {
		text = "(unknown function)";
		len = strlen(text);
	}
	if (stacktab_text(tracks->pf->st, text, len, name))
		return -ENOMEM;
	*function = map64_find(&tracks->by_name, *name);
	if (*function != MAP64_NONE)
		return 0;
	*function = (uint32_t)tracks->nfunctions;
	if (array_grow(&tracks->functions, &tracks->function_capacity, tracks->nfunctions + 1,
		       sizeof(*tracks->functions)) ||
	    map64_set(&tracks->by_name, *name, *function))
		return -ENOMEM;
	new = &tracks->functions[tracks->nfunctions++];
	new->name = *name;
	return group(tracks, tracks->goroutines_group, strtab_get(tracks->pf->st->strings, *name, NULL),
		     (int32_t)*function, &new->uuid);
}

static int state_track(struct pf_tracks *tracks, struct pf_goroutine *g, uint32_t serial)
{
	const struct census_goroutine *about = &tracks->census->goroutines[serial];
	Perfetto__StateDescriptor state = PERFETTO__STATE_DESCRIPTOR__INIT;
	Perfetto__TrackDescriptor d;
	char name[64];

	snprintf(name, sizeof(name), "%s %llu", tracks->census->threads ? "thread" : "G",
		 (unsigned long long)(tracks->census->threads && about->m ? about->m : about->goid));
	d = descriptor_of(tracks, tracks->functions[g->function].uuid, name,
			  (int32_t)(serial < INT32_MAX / 2 ? 2 * serial : INT32_MAX));
	d.state = &state;
	g->track = d.uuid;
	return pf_descriptor(tracks->pf, &d);
}

static int take_row(struct pf_tracks *tracks, struct pf_goroutine *g)
{
	struct pf_function *function = &tracks->functions[g->function];

	if (function->nrows) {
		g->track = function->rows[--function->nrows];
		return 0;
	}
	return pf_plain_track(tracks, function->uuid, "others", INT32_MAX, false, &g->track);
}

struct pf_goroutine *pf_goroutine(struct pf_tracks *tracks, uint32_t serial, int *rc)
{
	struct pf_goroutine *g;

	*rc = serial < tracks->census->n ? 0 : -EINVAL;
	if (*rc || array_grow(&tracks->goroutines, &tracks->goroutine_capacity, (size_t)serial + 1,
			      sizeof(*tracks->goroutines))) {
		*rc = *rc ? *rc : -ENOMEM;
		return NULL;
	}
	g = &tracks->goroutines[serial];
	if (g->shape != PF_UNSEEN)
		return g;
	*rc = perfetto_tracks_function_of(tracks, serial, &g->function, &g->name);
	if (*rc)
		return NULL;
	g->shape = (uint8_t)shape_of(tracks, serial);
	if (g->shape == PF_TRACK)
		*rc = state_track(tracks, g, serial);
	else if (g->shape == PF_ROW)
		*rc = take_row(tracks, g);
	else
		tracks->functions[g->function].still++;
	return *rc ? NULL : g;
}

int pf_goroutine_ended(struct pf_tracks *tracks, struct pf_goroutine *g)
{
	struct pf_function *function = &tracks->functions[g->function];

	if (g->shape != PF_ROW)
		return 0;
	if (array_grow(&function->rows, &function->row_capacity, function->nrows + 1,
		       sizeof(*function->rows)))
		return -ENOMEM;
	function->rows[function->nrows++] = g->track;
	return 0;
}

int pf_details_track(struct pf_tracks *tracks, uint32_t serial, uint64_t *uuid)
{
	int rc;
	struct pf_goroutine *g = pf_goroutine(tracks, serial, &rc);
	char name[64];

	if (!g)
		return rc;
	snprintf(name, sizeof(name), "G %llu: regions, logs",
		 (unsigned long long)tracks->census->goroutines[serial].goid);
	if (!g->details)
		rc = pf_plain_track(tracks, tracks->functions[g->function].uuid, name,
				    (int32_t)(serial < INT32_MAX / 2 ? 2 * serial + 1 : INT32_MAX), false,
				    &g->details);
	*uuid = g->details;
	return rc;
}
