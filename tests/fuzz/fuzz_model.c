/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Whatever the records say, the trace is valid: bytes become records, losses, boundaries and snapshots; the
 * model's ops go through an encoder, and the strict reader must accept the file, even if a flight recorder
 * has dropped the first generations and inserted log events anywhere.
 */
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/annotate.h"
#include "trace/wire/wire.h"

struct file {
	struct wire *wire;
	uint8_t *bytes;
	size_t n;
	enum wire_format format;
	bool full;
	uint32_t dropped; /* number of generations dropped from the beginning */
	struct model *model;
};

static int keep(void *ctx, const void *bytes, size_t n)
{
	struct file *file = ctx;

	file->bytes = realloc(file->bytes, file->n + n);
	if (!file->bytes)
		abort();
	memcpy(file->bytes + file->n, bytes, n);
	file->n += n;
	return 0;
}

static int encode(void *ctx, const struct generation *gen)
{
	struct file *file = ctx;
	bool out = file->full || gen->number <= file->dropped;
	struct error err = {""};
	int rc = out ? 0 : wire_generation(file->wire, gen, &err);

	/* The oldest formats hold ten minutes, and clocks jump. */
	if (rc == -EFBIG && file->format <= WIRE_GO15)
		file->full = true;
	if (rc && !file->full)
		fprintf(stderr, "%s\n", err.text);
	return file->full ? 0 : rc;
}

static void watch(void *ctx, const struct op *ops, size_t n, uint64_t now)
{
	struct file *file = ctx;

	for (size_t i = 0; i < n; i++) {
		if ((ops[i].time ^ now ^ ops[i].kind) % 5 == 0)
			annotate_log(file->model, (long)i, ops[i].stack, "fuzz");
	}
	annotate_log(file->model, LOG_AT_END, 0, "end");
}

static void feed(struct model *model, uint32_t type, const void *data, size_t size)
{
	struct log_record record = {.type = type, .size = (uint32_t)size, .data = data};

	if (model_feed(model, &record, NULL))
		abort();
}

/* Returns values that no runtime counter reaches, and that have special meanings for readers. */
static uint64_t extreme(uint64_t number)
{
	return number % 4 < 2 ? UINT64_MAX - number % 4 : (uint64_t)1 << (50 + number % 14);
}

static uint64_t small_or_extreme(uint8_t byte, uint64_t number)
{
	return byte % 32 == 31 ? extreme(byte / 32 + number) : number;
}

/* Few distinct keys, so that records refer to each other; occasionally 0 or an unknown key. */
static uint64_t pointer(uint8_t byte, uint64_t base)
{
	return byte % 16 == 0 ? 0 : base + byte % 12 * 0x1000;
}

static void feed_record(struct model *model, const uint8_t b[8], uint64_t *now)
{
	struct raw_record rec = {.tid = 100 + b[1] % 6, .site = b[0], .status = b[5] % 12};

	*now += b[7] * 16;
	rec.time = b[7] == 255 ? 0 : *now;
	rec.g = pointer(b[2], 0xc000001000);
	rec.goid = small_or_extreme(b[6], b[2] % 5 ? b[2] % 12 + 1u : b[6] % 14u);
	rec.p = pointer(b[3], 0xc000051000);
	rec.arg = b[0] & 0x80 ? b[4] : pointer(b[4], 0xc000001000);
	rec.arg2 = small_or_extreme(b[6], b[5] % 7);
	feed(model, LOG_RECORDS, &rec, sizeof(rec));
}

/* Few names and tasks, so that begins and ends match. */
static void feed_text(struct model *model, const uint8_t b[8], uint64_t *now)
{
	static const uint8_t sites[] = {SITE_TASK_BEGIN, SITE_REGION_BEGIN, SITE_REGION_END, SITE_LOG,
					SITE_REGION_START};
	_Alignas(8) char bytes[sizeof(struct raw_text) + 8];
	struct raw_text *text = (struct raw_text *)bytes;

	*now += b[7] * 16;
	memset(bytes, b[6] / 16, sizeof(bytes));
	*text = (struct raw_text){.len = b[6] % 3, .len2 = b[6] / 3 % 5};
	text->record = (struct raw_record){.tid = 100 + b[1] % 6, .site = sites[b[5] % 5], .time = *now};
	text->record.flags = b[4] & 7;
	text->record.g = pointer(b[2], 0xc000001000);
	text->record.goid = small_or_extreme(b[3], b[2] % 12 + 1u);
	text->record.arg = small_or_extreme(b[3], b[4] % 5);
	text->record.arg2 = b[5] % 7;
	feed(model, LOG_TEXT, text, sizeof(*text) + text->len + text->len2);
}

static void feed_function(struct model *model, const uint8_t b[8])
{
	_Alignas(8) char bytes[16] = {0};
	struct log_function function = {.number = b[1] % 4, .kind = 1 + b[2] % 2, .len = 1};
	struct log_values values = {
		.number = b[3] % 4, .n = 1, .site = b[4] % 2 ? SITE_FUNCTION_BEGIN : SITE_FUNCTION_END};

	memcpy(bytes, &function, sizeof(function));
	bytes[sizeof(function)] = 'f';
	feed(model, LOG_FUNCTION, bytes, sizeof(function) + 1);
	memcpy(bytes, &values, sizeof(values));
	memcpy(bytes + sizeof(values), "\1x", 2);
	feed(model, LOG_VALUES, bytes, sizeof(values) + 2);
}

/* A call with values, well-formed enough for the log's check. */
static void feed_values(struct model *model, const uint8_t b[8], uint64_t *now)
{
	_Alignas(8) char bytes[sizeof(struct raw_text) + sizeof(struct raw_value) + 8];
	struct raw_value value = {
		.kind = b[4] % 10, .size = 1u << b[6] % 4, .flags = b[5] % 8, .len = b[6] % 5, .bits = b[7]};
	struct raw_text *text = (struct raw_text *)bytes;
	struct log_record record = {.type = LOG_TEXT, .data = bytes};

	*now += b[7] * 16;
	memset(bytes, b[6], sizeof(bytes));
	*text = (struct raw_text){.len = sizeof(value), .len2 = value.len};
	text->record = (struct raw_record){.tid = 100 + b[1] % 6,
					   .site = b[2] % 4 ? SITE_FUNCTION_BEGIN : SITE_FUNCTION_END,
					   .time = *now,
					   .flags = RAW_VALUES};
	text->record.g = pointer(b[2], 0xc000001000);
	text->record.goid = small_or_extreme(b[3], b[2] % 12 + 1u);
	text->record.arg = b[3] % 4;
	text->record.arg2 = b[5] % 7 * 16;
	memcpy(text->text, &value, sizeof(value));
	record.size = (uint32_t)(sizeof(*text) + text->len + text->len2);
	if (rawlog_check_record(&record, NULL) == 0)
		feed(model, LOG_TEXT, bytes, record.size);
}

/* Probes of requests: two values each, a key and a name, a key and a status. */
static const struct {
	const char *preset, *role;
	uint8_t site;
} request_probes[] = {
	{"http.server", "path", SITE_REQUEST_BEGIN},
	{"http.server", "route", SITE_REQUEST_BEGIN},
	{"http.server", "status", SITE_REQUEST_END},
	{"sql.query", "method", SITE_REQUEST_BEGIN},
	{"sql.query", "done", SITE_REQUEST_END},
	{"sql.exec", "trace", SITE_REQUEST_BEGIN},
	{"sql.exec", "error", SITE_REQUEST_END},
	{"none", "method", SITE_REQUEST_BEGIN},
	{"grpc.client", "path", SITE_REQUEST_BEGIN},
	{"grpc.client", "code", SITE_REQUEST_END},
	{"grpc.client", "type=00000000,00000001", SITE_REQUEST_END},
};

enum { FIRST_REQUEST_PROBE = 8, REQUEST_PROBE_COUNT = sizeof(request_probes) / sizeof(request_probes[0]) };

static void feed_request_probe(struct model *model, const uint8_t b[8])
{
	unsigned which = b[1] % REQUEST_PROBE_COUNT;
	_Alignas(8) char bytes[64] = {0};
	struct log_function function = {.number = FIRST_REQUEST_PROBE + which,
					.kind = FUNCTION_REQUEST,
					.len = (uint16_t)strlen(request_probes[which].preset)};
	struct log_values values = {
		.number = FIRST_REQUEST_PROBE + which, .n = 2, .site = request_probes[which].site};
	size_t len = strlen(request_probes[which].role);

	memcpy(bytes, &function, sizeof(function));
	memcpy(bytes + sizeof(function), request_probes[which].preset, function.len);
	feed(model, LOG_FUNCTION, bytes, sizeof(function) + function.len);
	memcpy(bytes, &values, sizeof(values));
	memcpy(bytes + sizeof(values), b[2] % 2 ? "\3key" : "\4keys", 5);
	bytes[sizeof(values) + 4 + !(b[2] % 2)] = (char)len;
	memcpy(bytes + sizeof(values) + 5 + !(b[2] % 2), request_probes[which].role, len);
	feed(model, LOG_VALUES, bytes, sizeof(values) + 5 + !(b[2] % 2) + len);
}

/* Feeds the text if the log's check accepts it. */
static void feed_if_good(struct model *model, const struct raw_text *text)
{
	struct log_record record = {
		.type = LOG_TEXT, .size = (uint32_t)(sizeof(*text) + text->len + text->len2), .data = text};

	if (rawlog_check_record(&record, NULL) == 0)
		feed(model, LOG_TEXT, text, record.size);
}

static void feed_request(struct model *model, const uint8_t b[8], uint64_t *now)
{
	unsigned which = b[5] % REQUEST_PROBE_COUNT;
	_Alignas(8) char bytes[sizeof(struct raw_text) + 2 * sizeof(struct raw_value) + 8];
	struct raw_text *text = (struct raw_text *)bytes;
	struct raw_value key = {.kind = VALUE_UNSIGNED, .size = 8, .bits = b[4] % 3};
	struct raw_value name = {.kind = b[4] & 8 ? VALUE_GO_STRING : VALUE_UNSIGNED,
				 .flags = b[4] >> 4 & VALUE_CUT,
				 .size = 8,
				 .len = b[4] & 8 ? b[6] % 4 : 0,
				 .bits = b[6] % 2};

	*now += b[7] * 16;
	memset(bytes, b[6], sizeof(bytes));
	*text = (struct raw_text){.len = sizeof(key) + sizeof(name), .len2 = name.len};
	text->record = (struct raw_record){.tid = 100 + b[1] % 6,
					   .site = request_probes[which].site,
					   .time = *now,
					   .flags = b[3] % 16 ? RAW_VALUES : 0};
	text->record.g = pointer(b[2], 0xc000001000);
	text->record.goid = small_or_extreme(b[3], b[2] % 12 + 1u);
	text->record.arg = FIRST_REQUEST_PROBE + which;
	memcpy(text->text, &key, sizeof(key));
	memcpy(text->text + sizeof(key), &name, sizeof(name));
	if (text->record.flags)
		feed_if_good(model, text);
	else
		feed(model, LOG_RECORDS, &text->record, sizeof(text->record));
}

static void feed_snapshot(struct model *model, const uint8_t b[8], uint64_t now)
{
	struct log_snapshot head = {.marker_before = 1,
				    .marker_after = 2,
				    .time_before = now - b[1] * 16u,
				    .time_after = now,
				    .gomaxprocs = 3};
	struct log_g gs[6];
	struct log_p ps[3];
	struct log_m ms[6];
	struct log_area areas[2] = {
		{.address = pointer(b[4], 0xc000001000), .bytes = b[1] * 8192u, .kind = b[7] % 4},
		{.address = pointer(b[5], 0xc000001000), .bytes = 2048, .kind = 1 + b[7] % 2},
	};

	memset(ms, 0, sizeof(ms));
	for (unsigned i = 0; i < 6; i++) {
		gs[i] = (struct log_g){.g = pointer((uint8_t)(b[2] + i), 0xc000001000),
				       .goid = small_or_extreme(b[1], b[2] % 3 + i + 1),
				       .m = b[3] & 1u << i ? 0x9000 + i : 0,
				       .status = (b[4] + i) % 12};
		ms[i] = (struct log_m){.m = 0x9000 + i,
				       .curg = b[5] & 1u << i ? gs[i].g : 0,
				       .tid = 100 + i,
				       .p = pointer((uint8_t)(b[6] + i), 0xc000051000),
				       .status = b[4] % 5};
	}
	for (unsigned i = 0; i < 3; i++)
		ps[i] = (struct log_p){.p = pointer((uint8_t)(b[6] + i), 0xc000051000),
				       .id = (uint32_t)small_or_extreme(b[1], i)};
	feed(model, LOG_SNAPSHOT, &head, sizeof(head));
	feed(model, LOG_GS, gs, sizeof(gs));
	feed(model, LOG_PS, ps, sizeof(ps));
	feed(model, LOG_MS, ms, sizeof(ms));
	feed(model, LOG_AREAS, areas, sizeof(areas));
	feed(model, LOG_SNAPSHOT_END, NULL, 0);
}

static void feed_boundary(struct model *model, const uint8_t b[8], uint64_t now)
{
	struct {
		struct log_boundary head;
		struct log_m ms[2];
	} boundary = {.head = {.time_before = now, .nm = 2}};

	for (unsigned i = 0; i < 2; i++)
		boundary.ms[i] = (struct log_m){.tid = 100 + (b[1] + i) % 6,
						.curg = pointer(b[2], 0xc000001000),
						.p = pointer(b[3], 0xc000051000),
						.status = 1 + b[4] % 4};
	boundary.head.clock.mono_ns = now;
	feed(model, LOG_BOUNDARY, &boundary, sizeof(boundary));
}

static void feed_bytes(struct model *model, const uint8_t *data, size_t size)
{
	struct log_loss loss = {.ring_full = 1};
	struct log_note note = {0};
	struct raw_record record;
	uint64_t now = 1000000;

	for (; size >= 8; data += 8, size -= 8) {
		switch (data[0] % 128) {
		case 70:
			feed_snapshot(model, data, now);
			break;
		case 71:
			feed_boundary(model, data, now);
			break;
		case 72:
			feed(model, LOG_LOSS, &loss, sizeof(loss));
			break;
		case 73:
			note.flags = data[1] % 64;
			feed(model, LOG_NOTE, &note, sizeof(note));
			break;
		case 74:
		case 75:
			feed_text(model, data, &now);
			break;
		case 77:
			feed_values(model, data, &now);
			break;
		case 78:
			feed_function(model, data);
			break;
		case 79:
			feed_request_probe(model, data);
			break;
		case 80 ... 84:
			feed_request(model, data, &now);
			break;
		case 76:
			record = (struct raw_record){.tid = 100 + data[1] % 6, .site = SITE_REGION_STOP};
			record.time = now;
			record.g = pointer(data[2], 0xc000001000);
			feed(model, LOG_RECORDS, &record, sizeof(record));
			break;
		default:
			feed_record(model, data, &now);
		}
	}
}

/* --- a target seen as threads --- */

static void feed_thread_record(struct model *model, const uint8_t b[8], uint64_t *now)
{
	struct raw_record rec = {.tid = b[1] % 8 ? 99 + b[1] % 8 : 0, .site = (uint8_t)(110 + b[0] % 12)};

	*now += b[7] * 16;
	rec.time = b[7] == 255 ? 0 : *now;
	rec.g = b[2] % 8 ? 99 + b[2] % 8 : 0;
	rec.goid = b[6] == 255 ? 7 : 100;
	rec.p = b[3] == 255 ? UINT64_MAX : b[3] % 3;
	rec.status = b[4] % 6;
	rec.stack = b[5] % 5;
	rec.arg = rec.site == SITE_FORK ? 100 : b[6] % 32 ? b[6] % 4 : b[6] * 7u;
	rec.arg2 = rec.site >= SITE_FUNCTION_BEGIN ? b[5] % 6 : WAIT_MAKE(b[5] % 9, b[2] % 3, 1);
	if (rec.site == 121)
		rec.site = SITE_CPU_SAMPLE;
	feed(model, LOG_RECORDS, &rec, sizeof(rec));
}

static void feed_thread_snapshot(struct model *model, const uint8_t b[8], uint64_t now)
{
	struct log_snapshot head = {.marker_before = 1,
				    .marker_after = 2,
				    .time_before = now - b[1] * 16u,
				    .time_after = now,
				    .gomaxprocs = b[3] % 4};
	struct log_thread threads[6];

	memset(threads, 0, sizeof(threads));
	for (unsigned i = 0; i < 6; i++) {
		threads[i].tid = b[2] & 1u << i ? 100 + i : 0;
		threads[i].cpu = (int)(b[4] + i) % 4 - 1;
		threads[i].start_ns = b[5] & 1u << i ? 5 : i;
		threads[i].status = (b[6] >> i) % 4 & 0xff;
		threads[i].arg = b[6] % 5;
		threads[i].stack = i;
		threads[i].comm[0] = b[7] & 1 ? 'x' : '\0';
	}
	feed(model, LOG_SNAPSHOT, &head, sizeof(head));
	feed(model, LOG_THREADS, threads, sizeof(threads));
	feed(model, LOG_SNAPSHOT_END, NULL, 0);
}

/* Feeds a marker, a name, or the description of an address, a stack, a file or a function. */
static void feed_thread_name(struct model *model, const uint8_t b[8], uint64_t now)
{
	_Alignas(8) char bytes[128] = {0};
	struct raw_record marker = {.site = SITE_MARKER, .arg = 1 + b[1] % 2, .time = now};
	struct raw_text comm = {.record = {.site = SITE_COMM, .tid = 99 + b[2] % 9u}, .len = b[3] % 4};
	struct log_symbol symbol = {.pc = 1 + b[2] % 6, .nframes = 1, .hint = b[3] % 10};
	struct log_symbol_frame frame = {.function_len = b[4] % 4};
	struct raw_stack stack = {.n = b[2] % 4, .site = SITE_STACK, .flags = b[3], .hash = 1 + b[4] % 4};
	struct log_file file = {.key = WAIT_MAKE(b[2] % 8, b[3] % 3, 1), .len = b[4] % 4};
	struct log_function function = {.number = b[2] % 5, .kind = b[3] % 4, .len = b[4] % 4};

	memset(bytes + sizeof(bytes) / 2, 'a' + b[5] % 4, sizeof(bytes) / 4);
	switch (b[1] % 6) {
	case 0:
		feed(model, LOG_RECORDS, &marker, sizeof(marker));
		break;
	case 1:
		memcpy(bytes, &comm, sizeof(comm));
		memset(bytes + sizeof(comm), 'a' + b[5] % 4, 4);
		feed(model, LOG_TEXT, bytes, sizeof(comm) + comm.len);
		break;
	case 2:
		memcpy(bytes, &symbol, sizeof(symbol));
		memcpy(bytes + sizeof(symbol), &frame, sizeof(frame));
		memset(bytes + sizeof(symbol) + sizeof(frame), 'a' + b[5] % 4, 4);
		feed(model, LOG_SYMBOL, bytes, sizeof(symbol) + sizeof(frame) + frame.function_len);
		break;
	case 3:
		stack.flags &= ~(RAW_STACK_SCAN | RAW_STACK_SAMPLE);
		memcpy(bytes, &stack, sizeof(stack));
		for (unsigned i = 0; i < stack.n; i++)
			bytes[sizeof(stack) + 8 * i] = (char)(b[5] >> i & 3);
		feed(model, LOG_STACK, bytes, sizeof(stack) + 8 * stack.n);
		break;
	case 4:
		memcpy(bytes, &file, sizeof(file));
		feed(model, LOG_FILE, bytes, sizeof(file) + file.len);
		break;
	default:
		memcpy(bytes, &function, sizeof(function));
		feed(model, LOG_FUNCTION, bytes, sizeof(function) + function.len);
	}
}

static void feed_thread_bytes(struct model *model, const uint8_t *data, size_t size)
{
	struct log_boundary boundary = {0};
	struct log_loss loss = {.ring_full = 1};
	struct log_note note = {0};
	uint64_t now = 1000000;

	for (; size >= 8; data += 8, size -= 8) {
		switch (data[0] % 32) {
		case 24:
			feed_thread_snapshot(model, data, now);
			break;
		case 25:
			boundary.time_before = boundary.clock.mono_ns = now;
			feed(model, LOG_BOUNDARY, &boundary, sizeof(boundary));
			break;
		case 26:
			feed(model, LOG_LOSS, &loss, sizeof(loss));
			break;
		case 27:
			note.flags = data[1] % 16;
			feed(model, LOG_NOTE, &note, sizeof(note));
			break;
		case 28:
		case 29:
		case 30:
		case 31:
			feed_thread_name(model, data, now);
			break;
		default:
			feed_thread_record(model, data, &now);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum wire_format formats[] = {WIRE_GO122, WIRE_GO123, WIRE_GO125, WIRE_GO126, WIRE_V0,
						   WIRE_GO15,  WIRE_GO17,  WIRE_GO18,  WIRE_GO19,  WIRE_GO110,
						   WIRE_GO111, WIRE_GO119, WIRE_GO121};
	struct file file = {0};
	struct strtab *strings = strtab_new();
	struct symbol *symbol = symbol_new(NULL, strings);
	struct model_options options = {.sink = encode, .ctx = &file, .strings = strings};
	struct annotate_options annotate = {.watch = NULL};
	bool flight = size > 2 && data[1] & 4 && size % 13 < 4; /* formats with generations */
	struct model *model;
	bool threads = size > 1 && data[1] & 2;
	struct log_target target = {.pid = 100,
				    .flags = (threads ? LOG_TARGET_THREADS : 0) |
					     (size && data[0] & 1 ? LOG_TARGET_SPAWNED : 0),
				    .go_minor = size > 1 && data[1] & 1 ? 25 : 26};
	struct wire_options wire_options = {.format = formats[size % (sizeof(formats) / sizeof(formats[0]))],
					    .symbol = symbol,
					    .out = {.write = keep, .ctx = &file}};
	struct wire_report report;

	file.format = wire_options.format;
	annotate.locks = size > 1 && data[1] & 4;
	if (flight) {
		options.any_first = true;
		annotate.watch = watch;
		annotate.watch_ctx = &file;
		file.dropped = data[2] % 4;
	}
	file.model = model = annotate_model_new(&options, &annotate);
	file.wire = wire_new(&wire_options, NULL);
	feed(model, LOG_TARGET, &target, sizeof(target));
	if (threads)
		feed_thread_bytes(model, data, size);
	else
		feed_bytes(model, data, size);
	if (model_finish(model, NULL))
		abort();
	if (model_stats(model)->generations > file.dropped && (file.n || !file.full) &&
	    wire_check(file.bytes, file.n, &report)) {
		fprintf(stderr, "invalid trace: %s\n", report.error.text);
		abort();
	}
	wire_free(file.wire);
	model_free(model);
	symbol_free(symbol);
	strtab_free(strings);
	free(file.bytes);
	return 0;
}
