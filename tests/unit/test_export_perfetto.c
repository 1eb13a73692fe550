/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Traces for Perfetto, decoded again: every reference must be defined, and totals are those of the ops. */
#include "unit.h"
#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/perfetto.pb-c.h"
#include "export_job.h"
#include "util/map64.h"

/* Slices of threads, in order of their ends. */
struct thread_slices {
	struct {
		char name[32];
		uint64_t since, until;
		uint32_t tid, category, depth;
	} all[16], open[16];
	size_t n, nopen;
};

struct cpu_slice {
	uint32_t cpu;
	uint64_t tid, goid, since, until;
};

struct cpu_slices {
	struct cpu_slice all[32];
	size_t n;
};

struct decoded {
	char about[1024];     /* "key=value;" of each attribute, and what is known of the machine */
	struct map64 threads; /* uuid -> tid */
	char event_names[64][32];
	struct thread_slices slices;
	struct map64 cpus; /* uuid of a track -> 1 + the number of its CPU */
	struct cpu_slices cpu_slices;
	struct map64 names, stacks, frames, functions; /* ids that are defined */
	struct map64 tracks;                           /* uuid -> 1 */
	struct map64 depth;                            /* uuid -> open slices + 1 */
	struct map64 states;                           /* uuid -> an open state + 1 */
	struct map64 flows;                            /* id -> 1 begun, 2 ended */
	uint64_t last, begins, ends, runs, flow_ends, wakes, samples, packets;
	uint64_t run_ns; /* slices of go.run: sum of the ends minus the beginnings */
	bool first;
};

static uint32_t get(const struct map64 *map, uint64_t key)
{
	const uint32_t *value = map64_get(map, key);

	return value ? *value : 0;
}

static void take_interned(struct decoded *d, const Perfetto__InternedData *data)
{
	for (size_t i = 0; i < data->n_event_names; i++) {
		map64_set(&d->names, data->event_names[i]->iid, 1);
		if (data->event_names[i]->iid < COUNT(d->event_names))
			snprintf(d->event_names[data->event_names[i]->iid], sizeof(d->event_names[0]), "%s",
				 data->event_names[i]->name);
	}
	for (size_t i = 0; i < data->n_function_names; i++)
		map64_set(&d->functions, data->function_names[i]->iid, 1);
	for (size_t i = 0; i < data->n_frames; i++) {
		if (data->frames[i]->has_function_name_id)
			assert_int_equal(get(&d->functions, data->frames[i]->function_name_id), 1);
		map64_set(&d->frames, data->frames[i]->iid, 1);
	}
	for (size_t i = 0; i < data->n_callstacks; i++) {
		assert_true(data->callstacks[i]->n_frame_ids > 0);
		for (size_t j = 0; j < data->callstacks[i]->n_frame_ids; j++)
			assert_int_equal(get(&d->frames, data->callstacks[i]->frame_ids[j]), 1);
		map64_set(&d->stacks, data->callstacks[i]->iid, 1);
	}
}

static void take_thread_slice(struct decoded *d, const Perfetto__TrackEvent *ev, uint64_t time)
{
	struct thread_slices *slices = &d->slices;
	uint32_t tid = get(&d->threads, ev->track_uuid);

	if (!tid || slices->n == COUNT(slices->all))
		return;
	if (ev->type == 1) {
		assert_true(slices->nopen < COUNT(slices->open));
		slices->open[slices->nopen].tid = tid;
		slices->open[slices->nopen].since = time;
		slices->open[slices->nopen].category = (uint32_t)ev->category_iids[0];
		slices->open[slices->nopen].depth = (uint32_t)slices->nopen;
		if (ev->name_iid < COUNT(d->event_names))
			strcpy(slices->open[slices->nopen].name, d->event_names[ev->name_iid]);
		slices->nopen++;
		return;
	}
	assert_true(slices->nopen > 0);
	slices->all[slices->n] = slices->open[--slices->nopen];
	slices->all[slices->n++].until = time;
}

static void take_cpu_slice(struct decoded *d, const Perfetto__TrackEvent *ev, uint64_t time)
{
	struct cpu_slices *slices = &d->cpu_slices;
	uint32_t cpu = get(&d->cpus, ev->track_uuid);

	if (!cpu)
		return;
	if (ev->type == 1) {
		assert_true(slices->n < COUNT(slices->all));
		slices->all[slices->n] = (struct cpu_slice){.cpu = cpu - 1, .since = time};
		for (size_t i = 0; i < ev->n_debug_annotations; i++) {
			if (ev->debug_annotations[i]->name_iid == 1)
				slices->all[slices->n].goid = ev->debug_annotations[i]->uint_value;
			else
				slices->all[slices->n].tid = ev->debug_annotations[i]->uint_value;
		}
		slices->n++;
		return;
	}
	for (size_t i = slices->n; i--;) {
		if (slices->all[i].cpu == cpu - 1) {
			assert_int_equal(slices->all[i].until, 0);
			slices->all[i].until = time;
			return;
		}
	}
	fail();
}

static void take_slice(struct decoded *d, const Perfetto__TrackEvent *ev, uint64_t time)
{
	uint32_t depth = get(&d->depth, ev->track_uuid);
	bool runs = ev->n_category_iids && ev->category_iids[0] == 1;

	if (ev->type == 1) {
		map64_set(&d->depth, ev->track_uuid, depth + 1);
		d->begins++;
		d->runs += runs;
		d->run_ns -= runs ? time : 0;
	} else {
		assert_true(depth > 0);
		map64_set(&d->depth, ev->track_uuid, depth - 1);
		d->ends++;
		d->run_ns += runs ? time : 0;
	}
}

static void take_event(struct decoded *d, const Perfetto__TrackEvent *ev, uint64_t time)
{
	assert_int_equal(get(&d->tracks, ev->track_uuid), 1);
	if (ev->has_name_iid)
		assert_int_equal(get(&d->names, ev->name_iid), 1);
	if (ev->has_callstack_iid)
		assert_int_equal(get(&d->stacks, ev->callstack_iid), 1);
	for (size_t i = 0; i < ev->n_flow_ids; i++) {
		assert_int_equal(get(&d->flows, ev->flow_ids[i]), 0);
		map64_set(&d->flows, ev->flow_ids[i], 1);
		d->wakes++;
	}
	for (size_t i = 0; i < ev->n_terminating_flow_ids; i++) {
		assert_int_equal(get(&d->flows, ev->terminating_flow_ids[i]), 1);
		map64_set(&d->flows, ev->terminating_flow_ids[i], 2);
		d->flow_ends++;
	}
	if (ev->type == 1 || ev->type == 2) {
		take_slice(d, ev, time);
		take_thread_slice(d, ev, time);
		take_cpu_slice(d, ev, time);
	}
	if (ev->type == 5)
		map64_set(&d->states, ev->track_uuid, ev->has_name_iid);
}

static void take_packets(struct decoded *d, const uint8_t *bytes, size_t n);

static void inflate_packets(struct decoded *d, const ProtobufCBinaryData *zipped)
{
	struct libdeflate_decompressor *inflater = libdeflate_alloc_decompressor();
	size_t most = 512 << 10, n = 0;
	uint8_t *bytes = malloc(most);

	assert_true(inflater && bytes);
	assert_int_equal(libdeflate_zlib_decompress(inflater, zipped->data, zipped->len, bytes, most, &n), 0);
	take_packets(d, bytes, n);
	libdeflate_free_decompressor(inflater);
	free(bytes);
}

static void take_track(struct decoded *d, const Perfetto__TrackDescriptor *track)
{
	assert_int_equal(get(&d->tracks, track->uuid), 0);
	map64_set(&d->tracks, track->uuid, 1);
	if (track->name && strncmp(track->name, "CPU ", 4) == 0)
		map64_set(&d->cpus, track->uuid, 1 + (uint32_t)atoi(track->name + 4));
	if (track->thread)
		map64_set(&d->threads, track->uuid, (uint32_t)track->thread->tid);
}

static void take_about(struct decoded *d, const Perfetto__TracePacket *packet)
{
	size_t at = strlen(d->about), left = sizeof(d->about) - at;

	if (packet->data_case == PERFETTO__TRACE_PACKET__DATA_TRACE_UUID)
		snprintf(d->about + at, left, "uuid=%llx%llx;", (unsigned long long)packet->trace_uuid->msb,
			 (unsigned long long)packet->trace_uuid->lsb);
	if (packet->data_case == PERFETTO__TRACE_PACKET__DATA_SYSTEM_INFO)
		snprintf(d->about + at, left, "release=%s;cpus=%u;", packet->system_info->utsname->release,
			 packet->system_info->num_cpus);
	if (packet->data_case != PERFETTO__TRACE_PACKET__DATA_TRACE_ATTRIBUTES)
		return;
	for (size_t i = 0; i < packet->trace_attributes->n_attribute; i++) {
		const Perfetto__Attribute *one = packet->trace_attributes->attribute[i];

		at = strlen(d->about);
		snprintf(d->about + at, sizeof(d->about) - at, one->string_value ? "%s=%s;" : "%s=%s%lld;",
			 one->key, one->string_value ? one->string_value : "", (long long)one->long_value);
	}
}

/*
 * Perfetto cannot place a trace whose clocks do not map to CLOCK_BOOTTIME (6). Returns the time of clock 64.
 */
static uint64_t take_clocks(const Perfetto__ClockSnapshot *snapshot)
{
	uint64_t monotonic = 0, since_boot = 0, ours = 0;

	for (size_t i = 0; i < snapshot->n_clocks; i++) {
		const Perfetto__Clock *clock = snapshot->clocks[i];

		monotonic = clock->clock_id == 3 ? clock->timestamp : monotonic;
		since_boot = clock->clock_id == 6 ? clock->timestamp : since_boot;
		ours = clock->clock_id == 64 ? clock->timestamp : ours;
	}
	assert_true(since_boot && since_boot >= monotonic);
	assert_int_equal(ours, monotonic);
	return ours;
}

static void take_packet(struct decoded *d, const Perfetto__TracePacket *packet)
{
	uint64_t time = packet->timestamp;

	if (packet->data_case == PERFETTO__TRACE_PACKET__DATA_COMPRESSED_PACKETS) {
		inflate_packets(d, &packet->compressed_packets);
		return;
	}
	d->packets++;
	assert_true(packet->trusted_packet_sequence_id > 0);
	assert_int_equal(packet->sequence_flags, d->first ? 2 : 3);
	if (!d->first)
		assert_int_equal(packet->data_case, PERFETTO__TRACE_PACKET__DATA_CLOCK_SNAPSHOT);
	d->first = true;
	if (packet->has_timestamp && !packet->has_timestamp_clock_id)
		time = d->last += packet->timestamp;
	if (packet->interned_data)
		take_interned(d, packet->interned_data);
	if (packet->data_case == PERFETTO__TRACE_PACKET__DATA_CLOCK_SNAPSHOT)
		d->last = take_clocks(packet->clock_snapshot);
	else if (packet->data_case == PERFETTO__TRACE_PACKET__DATA_TRACK_DESCRIPTOR)
		take_track(d, packet->track_descriptor);
	else if (packet->data_case == PERFETTO__TRACE_PACKET__DATA_TRACK_EVENT)
		take_event(d, packet->track_event, time);
	take_about(d, packet);
	d->samples += packet->data_case == PERFETTO__TRACE_PACKET__DATA_STACK_SAMPLE;
}

static void take_packets(struct decoded *d, const uint8_t *bytes, size_t n)
{
	for (size_t at = 0; at < n;) {
		size_t len = 0;
		Perfetto__TracePacket *packet;

		assert_int_equal(bytes[at++], 0x0a);
		for (unsigned shift = 0;; shift += 7) {
			assert_true(at < n && shift < 28);
			len |= (size_t)(bytes[at] & 0x7f) << shift;
			if (!(bytes[at++] & 0x80))
				break;
		}
		assert_true(len <= n - at);
		packet = perfetto__trace_packet__unpack(NULL, len, bytes + at);
		assert_non_null(packet);
		assert_int_equal(packet->base.n_unknown_fields, 0);
		take_packet(d, packet);
		perfetto__trace_packet__free_unpacked(packet, NULL);
		at += len;
	}
}

static void free_decoded(struct decoded *d)
{
	struct map64 *maps[] = {&d->threads, &d->names, &d->stacks, &d->frames, &d->functions,
				&d->tracks,  &d->depth, &d->states, &d->flows,  &d->cpus};

	for (size_t i = 0; i < COUNT(maps); i++)
		map64_free(maps[i]);
}

static void assert_all_zero(const struct map64 *map)
{
	for (size_t i = 0; i < map->capacity; i++)
		assert_true(!map->keys[i] || map->values[i] == 0);
}

static void test_perfetto(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(export_fixtures); i++) {
		struct bytes trace = export_read_fixture(export_fixtures[i]);
		struct bytes out =
			export_of(&trace, (struct export_options){.format = EXPORT_PERFETTO, .pid = 7});
		struct export_totals totals = export_totals_of(&trace);
		struct decoded d = {0};

		take_packets(&d, out.data, out.len);
		assert_true(d.packets > 1000);
		assert_all_zero(&d.depth); /* every slice and every state ends */
		assert_all_zero(&d.states);
		assert_int_equal(d.begins, d.ends);
		assert_int_equal(d.wakes, totals.wakeups);
		assert_true(d.flow_ends > 0 && d.flow_ends <= d.wakes);
		assert_int_equal(d.samples, totals.samples);
		assert_int_equal(d.run_ns, totals.ns[G_RUNNING] + totals.open_ns[G_RUNNING]);
		free_decoded(&d);
		free(out.data);
		free(trace.data);
	}
}

/*
 * Goroutine 1 runs on a thread until 51 us, and has no CPU from 20 to 30 us and from 40 to 50 us. Then 2 runs
 * there, from 60 to 70 us in a system call.
 */
static struct bytes without_cpu(void)
{
	struct wire_trace *t = wire_trace_new();
	uint32_t g1 = wire_trace_goroutine(t, 1), g2 = wire_trace_goroutine(t, 2);
	uint32_t here = wire_trace_stack(t, "main.wait", "main.main", NULL);
	uint32_t preempted = wire_trace_string(t, "[off CPU: preempted]"),
		 receive = wire_trace_string(t, "chan receive");
	const uint64_t t0 = 10000000001000000ull, us = UNIT;
	const struct op ops[] = {
		P_IS(0, P_RUNNING, M1),
		G_IS(g1, G_RUNNING, M1),
		G_IS(g2, G_RUNNABLE, NO_M),
		AT(t0 + 20 * us, OP_REGION_BEGIN, g1, .string = preempted, .stack = here),
		AT(t0 + 30 * us, OP_REGION_END, g1, .string = preempted, .stack = here),
		AT(t0 + 40 * us, OP_REGION_BEGIN, g1, .string = preempted, .stack = here),
		AT(t0 + 50 * us, OP_REGION_END, g1, .string = preempted, .stack = here),
		AT(t0 + 51 * us, OP_GO_BLOCK, g1, .string = receive, .stack = here),
		AT(t0 + 52 * us, OP_GO_START, g2),
		AT(t0 + 60 * us, OP_SYSCALL_BEGIN, g2, .stack = here),
		AT(t0 + 70 * us, OP_SYSCALL_END, g2),
		AT(t0 + 80 * us, OP_GO_STOP, g2, .string = receive, .stack = here),
		AT(t0 + 90 * us, OP_PROC_STOP, NO_G),
	};
	struct bytes bytes;

	wire_trace_generation(t, ops, COUNT(ops));
	wire_trace_last(t);
	bytes = wire_trace_encode(t, WIRE_GO126);
	wire_trace_free(t);
	return bytes;
}

static void assert_thread_slice(const struct thread_slices *slices, size_t i, const char *name,
				uint32_t depth, uint64_t since, uint64_t until)
{
	const uint64_t t0 = slices->all[0].since - 20 * UNIT;

	assert_true(i < slices->n);
	assert_int_equal(slices->all[i].tid, M1);
	assert_string_equal(slices->all[i].name, name);
	assert_int_equal(slices->all[i].depth, depth);
	if (since)
		assert_int_equal(slices->all[i].since, t0 + since * UNIT);
	assert_int_equal(slices->all[i].until, t0 + until * UNIT);
}

/* What a thread runs, in which system call, and when it has no CPU. */
static void test_perfetto_threads(void **state)
{
	struct bytes trace = without_cpu(), plain = export_by_hand();
	struct bytes out = export_of(&trace, (struct export_options){.format = EXPORT_PERFETTO, .pid = 7});
	struct bytes without = export_of(&plain, (struct export_options){.format = EXPORT_PERFETTO});
	struct decoded d = {0}, other = {0};

	(void)state;
	take_packets(&d, out.data, out.len);
	assert_int_equal(d.slices.n, 5);
	assert_thread_slice(&d.slices, 0, "[off CPU: preempted]", 1, 20, 30);
	assert_thread_slice(&d.slices, 1, "[off CPU: preempted]", 1, 40, 50);
	assert_thread_slice(&d.slices, 2, "main.main", 0, 0, 51);
	assert_thread_slice(&d.slices, 3, "main.wait", 1, 60, 70);
	assert_thread_slice(&d.slices, 4, "main.main", 0, 52, 80);
	assert_all_zero(&d.depth);
	assert_int_equal(d.begins, d.ends);
	take_packets(&other, without.data, without.len);
	assert_int_equal(other.slices.n, 0); /* without CPU data, threads would only repeat what Ps do */
	free_decoded(&d);
	free_decoded(&other);
	free(out.data);
	free(without.data);
	free(trace.data);
	free(plain.data);
}

/*
 * M1's thread runs goroutine 1 on CPU 3 until 50 us, without a CPU from 20 to 30 us, and on CPU 1 from 40 us
 * on. Then it runs 2, from 60 to 70 us in a system call. At 75 us another thread gets CPU 1, although nothing
 * shows that the first has left it. It stops at 78 us, and the first has the CPU again.
 */
static struct bytes on_cpus(void)
{
	struct wire_trace *t = wire_trace_new();
	uint32_t g1 = wire_trace_goroutine(t, 1), g2 = wire_trace_goroutine(t, 2),
		 g3 = wire_trace_goroutine(t, 3);
	uint32_t here = wire_trace_stack(t, "main.wait", "main.main", NULL);
	uint32_t preempted = wire_trace_string(t, "[off CPU: preempted]"),
		 cpu = wire_trace_string(t, "[CPU]"), one = wire_trace_string(t, "1"),
		 three = wire_trace_string(t, "3"), wrong = wire_trace_string(t, "3x"),
		 receive = wire_trace_string(t, "chan receive");
	const uint64_t t0 = 10000000001000000ull, us = UNIT;
	const struct op ops[] = {
		P_IS(0, P_RUNNING, M1),
		P_IS(1, P_RUNNING, M2),
		G_IS(g1, G_RUNNING, M1),
		G_IS(g2, G_RUNNABLE, NO_M),
		G_IS(g3, G_RUNNING, M2),
		AT(t0 + 10 * us, OP_LOG, g1, .string = cpu, .string2 = three, .stack = here),
		AT(t0 + 15 * us, OP_LOG, g1, .string = cpu, .string2 = wrong, .stack = here),
		AT(t0 + 20 * us, OP_REGION_BEGIN, g1, .string = preempted, .stack = here),
		AT(t0 + 30 * us, OP_REGION_END, g1, .string = preempted, .stack = here),
		AT(t0 + 40 * us, OP_LOG, g1, .string = cpu, .string2 = one, .stack = here),
		AT(t0 + 50 * us, OP_GO_BLOCK, g1, .string = receive, .stack = here),
		AT(t0 + 55 * us, OP_GO_START, g2),
		AT(t0 + 60 * us, OP_SYSCALL_BEGIN, g2, .stack = here),
		AT(t0 + 70 * us, OP_SYSCALL_END, g2),
		{.time = t0 + 75 * us,
		 .kind = OP_LOG,
		 .m = M2,
		 .p = 1,
		 .g = g3,
		 .string = cpu,
		 .string2 = one,
		 .stack = here},
		{.time = t0 + 78 * us,
		 .kind = OP_GO_STOP,
		 .m = M2,
		 .p = 1,
		 .g = g3,
		 .string = receive,
		 .stack = here},
		AT(t0 + 80 * us, OP_GO_STOP, g2, .string = receive, .stack = here),
		AT(t0 + 90 * us, OP_PROC_STOP, NO_G),
	};
	struct bytes bytes;

	wire_trace_generation(t, ops, COUNT(ops));
	wire_trace_last(t);
	bytes = wire_trace_encode(t, WIRE_GO126);
	wire_trace_free(t);
	return bytes;
}

static void test_perfetto_cpus(void **state)
{
	const struct cpu_slice wanted[] = {
		{3, M1, 1, 10, 20}, {3, M1, 1, 30, 40}, {1, M1, 1, 40, 50}, {1, M1, 2, 55, 60},
		{1, M1, 2, 70, 75}, {1, M2, 3, 75, 78}, {1, M1, 2, 78, 80},
	};
	struct bytes trace = on_cpus();
	struct bytes out = export_of(&trace, (struct export_options){.format = EXPORT_PERFETTO, .pid = 7});
	struct decoded d = {0};
	const struct cpu_slice *got = d.cpu_slices.all;

	(void)state;
	take_packets(&d, out.data, out.len);
	assert_int_equal(d.cpu_slices.n, COUNT(wanted));
	for (size_t i = 0; i < COUNT(wanted); i++) {
		assert_int_equal(got[i].cpu, wanted[i].cpu);
		assert_int_equal(got[i].tid, wanted[i].tid);
		assert_int_equal(got[i].goid, wanted[i].goid);
		assert_int_equal(got[i].since - got[0].since, (wanted[i].since - 10) * UNIT);
		assert_int_equal(got[i].until - got[0].since, (wanted[i].until - 10) * UNIT);
	}
	assert_all_zero(&d.depth);
	free_decoded(&d);
	free(out.data);
	free(trace.data);
}

/* A file describes its origin; what is not known is omitted. */
static void test_perfetto_about(void **state)
{
	static const struct export_machine machine = {.host = "here",
						      .system = "Linux",
						      .release = "6.18.1",
						      .version = "#1",
						      .machine = "x86_64",
						      .kernel_build_id = "",
						      .cpus = 2};
	static const char *const parts[] = {
		"gotrace.version=",      "gotrace.source=test;",   "gotrace.process=server;",
		"gotrace.pid=7;",        "gotrace.goroutines=3;",  "gotrace.not_watched_ns=0;",
		"gotrace.host=here;",    "gotrace.kernel=6.18.1;", "uuid=12;",
		"release=6.18.1;cpus=2;"};
	struct bytes trace = export_by_hand();
	struct bytes out = export_of(&trace, (struct export_options){.format = EXPORT_PERFETTO,

								     .process = "server",
								     .pid = 7,
								     .uuid = {1, 2},
								     .machine = &machine});
	struct bytes second = export_of(
		&trace, (struct export_options){.format = EXPORT_PERFETTO, .part = 1, .machine = &machine});
	struct decoded d = {0}, other = {0};

	(void)state;
	take_packets(&d, out.data, out.len);
	for (size_t i = 0; i < COUNT(parts); i++)
		assert_non_null(strstr(d.about, parts[i]));
	assert_null(strstr(d.about, "kernel_build_id"));
	take_packets(&other, second.data, second.len);
	assert_string_equal(other.about, ""); /* only once per file */
	free_decoded(&d);
	free_decoded(&other);
	free(out.data);
	free(second.data);
	free(trace.data);
}

/* Two traces in one file: each is a sequence of its own, and no track belongs to both. */
static void test_perfetto_two(void **state)
{
	struct bytes trace = export_by_hand();
	struct bytes one = export_of(&trace, (struct export_options){.format = EXPORT_PERFETTO, .pid = 7});
	struct bytes two =
		export_of(&trace, (struct export_options){.format = EXPORT_PERFETTO, .pid = 8, .part = 1});
	struct decoded first = {0}, second = {0};

	(void)state;
	take_packets(&first, one.data, one.len);
	take_packets(&second, two.data, two.len);
	for (size_t i = 0; i < first.tracks.capacity; i++)
		assert_true(!first.tracks.keys[i] || !get(&second.tracks, first.tracks.keys[i]));
	free_decoded(&first);
	free_decoded(&second);
	free(one.data);
	free(two.data);
	free(trace.data);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_perfetto),      cmocka_unit_test(test_perfetto_threads),
	cmocka_unit_test(test_perfetto_cpus), cmocka_unit_test(test_perfetto_about),
	cmocka_unit_test(test_perfetto_two),
};

UNIT_TESTS(tests, NULL, NULL);
