/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "export/perfetto_stream.h"

#include "util/array.h"
#include <errno.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#include "export/protobuf.h"
#include "code/symbol/symbol.h"

/* What one compressed packet unpacks to must stay below 512 KB. */
enum { BLOCK_BYTES = 400 << 10 };

/* Clock ids in Perfetto's builtin_clock.proto. OUR_CLOCK belongs to the sequence. */
enum { CLOCK_OF_WALL = 1, CLOCK_OF_MONOTONIC = 3, CLOCK_SINCE_BOOT = 6, OUR_CLOCK = 64 };

enum { FLAG_CLEARED = 1, FLAG_NEEDS = 2 };

int pf_stream_init(struct pf_stream *pf, const struct byte_sink *out, struct stacktab *st, uint32_t sequence)
{
	*pf = (struct pf_stream){.out = *out, .st = st, .sequence = sequence};
	pf->compressor = libdeflate_alloc_compressor(6);
	return pf->compressor ? 0 : -ENOMEM;
}

void pf_stream_free(struct pf_stream *pf)
{
	struct pf_marks *marks[] = {&pf->names,  &pf->functions, &pf->paths,
				    &pf->frames, &pf->stacks,    &pf->contexts};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		free(marks[i]->seen);
	if (pf->compressor)
		libdeflate_free_compressor(pf->compressor);
	buffer_free(&pf->block);
	buffer_free(&pf->zipped);
}

/* --- packets --- */

static int write_block(struct pf_stream *pf, size_t n)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	struct buffer out = {0};
	int rc;

	packet.data_case = PERFETTO__TRACE_PACKET__DATA_COMPRESSED_PACKETS;
	packet.compressed_packets.data = pf->zipped.bytes;
	packet.compressed_packets.len = n;
	rc = protobuf_append_field(&out, 1, &packet.base) ? -ENOMEM
							  : pf->out.write(pf->out.ctx, out.bytes, out.len);
	buffer_free(&out);
	return rc;
}

int pf_flush(struct pf_stream *pf)
{
	size_t bound, n;

	if (!pf->block.len)
		return 0;
	bound = libdeflate_zlib_compress_bound(pf->compressor, pf->block.len);
	if (buffer_reserve(&pf->zipped, bound))
		return -ENOMEM;
	n = libdeflate_zlib_compress(pf->compressor, pf->block.bytes, pf->block.len, pf->zipped.bytes, bound);
	pf->block.len = 0;
	return n ? write_block(pf, n) : -ENOMEM;
}

int pf_put(struct pf_stream *pf, Perfetto__TracePacket *packet)
{
	packet->has_trusted_packet_sequence_id = true;
	packet->trusted_packet_sequence_id = pf->sequence;
	packet->has_sequence_flags = true;
	if (!packet->sequence_flags)
		packet->sequence_flags = FLAG_NEEDS;
	if (protobuf_append_field(&pf->block, 1, &packet->base))
		return -ENOMEM;
	return pf->block.len < BLOCK_BYTES ? 0 : pf_flush(pf);
}

int pf_put_at(struct pf_stream *pf, uint64_t time_ns, Perfetto__TracePacket *packet)
{
	packet->has_timestamp = true;
	packet->timestamp = time_ns > pf->last_ns ? time_ns - pf->last_ns : 0;
	pf->last_ns += packet->timestamp;
	return pf_put(pf, packet);
}

/* A packet with a clock of its own does not change the base of the deltas. */
int pf_put_aside(struct pf_stream *pf, uint64_t time_ns, Perfetto__TracePacket *packet)
{
	packet->has_timestamp = packet->has_timestamp_clock_id = true;
	packet->timestamp = time_ns;
	packet->timestamp_clock_id = CLOCK_OF_MONOTONIC;
	return pf_put(pf, packet);
}

int pf_descriptor(struct pf_stream *pf, Perfetto__TrackDescriptor *descriptor)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	packet.data_case = PERFETTO__TRACE_PACKET__DATA_TRACK_DESCRIPTOR;
	packet.track_descriptor = descriptor;
	return pf_put(pf, &packet);
}

/* --- the beginning --- */

static void set_clock(Perfetto__Clock *clock, uint32_t id, uint64_t time_ns)
{
	*clock = (Perfetto__Clock)PERFETTO__CLOCK__INIT;
	clock->has_clock_id = clock->has_timestamp = true;
	clock->clock_id = id;
	clock->timestamp = time_ns;
}

/* Perfetto reports an import error if it cannot convert a trace's clocks to CLOCK_BOOTTIME. */
static int put_clocks(struct pf_stream *pf, uint64_t start_ns, uint64_t suspended_ns, uint64_t wall_ns)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__ClockSnapshot snapshot = PERFETTO__CLOCK_SNAPSHOT__INIT;
	Perfetto__TracePacketDefaults defaults = PERFETTO__TRACE_PACKET_DEFAULTS__INIT;
	Perfetto__StackSampleDefaults samples = PERFETTO__STACK_SAMPLE_DEFAULTS__INIT;
	Perfetto__WeightDescriptor weight = PERFETTO__WEIGHT_DESCRIPTOR__INIT;
	Perfetto__Clock clocks[4], *pointers[] = {&clocks[0], &clocks[1], &clocks[2], &clocks[3]};

	set_clock(&clocks[0], CLOCK_OF_MONOTONIC, start_ns);
	set_clock(&clocks[1], OUR_CLOCK, start_ns);
	clocks[1].has_is_incremental = clocks[1].is_incremental = true;
	set_clock(&clocks[2], CLOCK_SINCE_BOOT, start_ns + suspended_ns);
	set_clock(&clocks[3], CLOCK_OF_WALL, wall_ns);
	snapshot.n_clocks = wall_ns ? 4 : 3;
	snapshot.clocks = pointers;
	snapshot.has_primary_trace_clock = true;
	snapshot.primary_trace_clock = CLOCK_OF_MONOTONIC;
	weight.name = (char *)"cpu";
	weight.has_unit = true;
	weight.unit = 1; /* ns */
	samples.source = (char *)"cpu";
	samples.primary_descriptor = &weight;
	defaults.has_timestamp_clock_id = true;
	defaults.timestamp_clock_id = OUR_CLOCK;
	defaults.stack_sample_defaults = &samples;
	packet.sequence_flags = FLAG_CLEARED | FLAG_NEEDS;
	packet.trace_packet_defaults = &defaults;
	packet.data_case = PERFETTO__TRACE_PACKET__DATA_CLOCK_SNAPSHOT;
	packet.clock_snapshot = &snapshot;
	return pf_put(pf, &packet);
}

static int put_fixed_names(struct pf_stream *pf)
{
	static const char *const categories[PF_CATEGORIES] = {
		[PF_RUN] = "go.run",      [PF_STATES] = "go.state",  [PF_WAKE] = "go.wake",
		[PF_GC] = "go.gc",        [PF_USER] = "go.user",     [PF_SYSCALL] = "syscall",
		[PF_GOTRACE] = "gotrace", [PF_THREAD] = "go.thread", [PF_OS] = "os",
		[PF_CPU] = "cpu",
	};
	static const char *const annotations[PF_ANNOTATIONS] = {
		[PF_GOID] = "goid",   [PF_MESSAGE] = "message", [PF_TASK] = "task",
		[PF_BYTES] = "bytes", [PF_TID] = "tid",         [PF_LABELS] = "labels"};
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__NamedText texts[PF_CATEGORIES + PF_ANNOTATIONS], *pointers[PF_CATEGORIES + PF_ANNOTATIONS];
	size_t n = 0;

	for (size_t i = 1; i < (size_t)PF_CATEGORIES + PF_ANNOTATIONS; i++) {
		bool annotation = i >= PF_CATEGORIES;

		if (i == PF_CATEGORIES)
			continue;
		texts[n] = (Perfetto__NamedText)PERFETTO__NAMED_TEXT__INIT;
		texts[n].has_iid = true;
		texts[n].iid = annotation ? i - PF_CATEGORIES : i;
		texts[n].name = (char *)(annotation ? annotations[i - PF_CATEGORIES] : categories[i]);
		pointers[n] = &texts[n];
		n++;
	}
	data.n_event_categories = PF_CATEGORIES - 1;
	data.event_categories = pointers;
	data.n_debug_annotation_names = PF_ANNOTATIONS - 1;
	data.debug_annotation_names = pointers + PF_CATEGORIES - 1;
	packet.interned_data = &data;
	return pf_put(pf, &packet);
}

int pf_stream_start(struct pf_stream *pf, uint64_t start_ns, uint64_t suspended_ns, uint64_t wall_ns)
{
	int rc = put_clocks(pf, start_ns, suspended_ns, wall_ns);

	pf->last_ns = start_ns;
	return rc ? rc : put_fixed_names(pf);
}

/* --- interned --- */

/* Marks the id as known. Returns 1 if it was new, 0 if not, or -ENOMEM. */
static int is_new(struct pf_marks *marks, uint32_t id)
{
	if (array_grow(&marks->seen, &marks->capacity, (size_t)id + 1, 1))
		return -ENOMEM;
	if (marks->seen[id])
		return 0;
	marks->seen[id] = 1;
	return 1;
}

static int put_interned(struct pf_stream *pf, Perfetto__InternedData *data)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	packet.interned_data = data;
	return pf_put(pf, &packet);
}

int pf_intern_name(struct pf_stream *pf, uint32_t string)
{
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__NamedText text = PERFETTO__NAMED_TEXT__INIT, *texts[] = {&text};
	int new = string ? is_new(&pf->names, string) : 0;

	if (new <= 0)
		return new;
	text.has_iid = true;
	text.iid = string;
	text.name = (char *)strtab_get(pf->st->strings, string, NULL);
	data.n_event_names = 1;
	data.event_names = texts;
	return put_interned(pf, &data);
}

int pf_intern_context(struct pf_stream *pf, uint32_t id, const char *name, const char *kind)
{
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__AsyncContextDescriptor context = PERFETTO__ASYNC_CONTEXT_DESCRIPTOR__INIT,
					 *contexts[] = {&context};
	int new = is_new(&pf->contexts, id);

	if (new <= 0)
		return new;
	context.has_iid = true;
	context.iid = id;
	context.name = (char *)name;
	context.kind = (char *)kind;
	data.n_stack_sample_async_context_descriptors = 1;
	data.stack_sample_async_context_descriptors = contexts;
	return put_interned(pf, &data);
}

static void set_text(const struct pf_stream *pf, Perfetto__Text *text, uint32_t id)
{
	size_t len;

	*text = (Perfetto__Text)PERFETTO__TEXT__INIT;
	text->has_iid = text->has_str = true;
	text->iid = id;
	text->str.data = (uint8_t *)strtab_get(pf->st->strings, id, &len);
	text->str.len = len;
}

/* Interns a frame, and its function's name and file if they are new. */
static int intern_frame(struct pf_stream *pf, uint32_t id)
{
	const struct st_frame *from = &pf->st->frames[id];
	const struct st_function *function = &pf->st->functions[from->function];
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__Frame frame = PERFETTO__FRAME__INIT, *frames[] = {&frame};
	Perfetto__Text name, path, *names[] = {&name}, *paths[] = {&path};
	int new = is_new(&pf->frames, id);
	int new_name = is_new(&pf->functions, function->name), new_path = is_new(&pf->paths, function->file);

	if (new <= 0)
		return new;
	if (new_name < 0 || new_path < 0)
		return -ENOMEM;
	set_text(pf, &name, function->name);
	set_text(pf, &path, function->file);
	/* iids begin at 1: an empty text has none. */
	data.n_function_names = new_name && function->name;
	data.function_names = names;
	data.n_source_paths = new_path && function->file;
	data.source_paths = paths;
	frame.has_iid = true;
	frame.iid = id;
	frame.has_function_name_id = function->name;
	frame.function_name_id = function->name;
	frame.has_source_path_iid = function->file;
	frame.source_path_iid = function->file;
	frame.has_line_number = from->line;
	frame.line_number = from->line;
	data.n_frames = 1;
	data.frames = frames;
	return put_interned(pf, &data);
}

/* Perfetto's stacks have the root first. */
int pf_intern_stack(struct pf_stream *pf, uint32_t stack)
{
	const struct st_stack *from = &pf->st->stacks[stack];
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__Callstack callstack = PERFETTO__CALLSTACK__INIT, *callstacks[] = {&callstack};
	uint64_t ids[MAX_FRAMES];
	int new = stack ? is_new(&pf->stacks, stack) : 0;
	uint32_t n = from->n < MAX_FRAMES ? from->n : MAX_FRAMES;

	if (new <= 0)
		return new;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t frame = pf->st->frame_ids[from->first + i];
		int rc = intern_frame(pf, frame);

		if (rc < 0)
			return rc;
		ids[n - 1 - i] = frame;
	}
	callstack.has_iid = true;
	callstack.iid = stack;
	callstack.n_frame_ids = n;
	callstack.frame_ids = ids;
	data.n_callstacks = 1;
	data.callstacks = callstacks;
	return put_interned(pf, &data);
}
