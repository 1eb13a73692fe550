/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Checks that a record's payload has the size that its type and counts require, and that its times are
 * plausible: sums that the model computes from them must fit into 63 bits.
 */
#include "rawlog/rawlog.h"

#include <errno.h>
#include <string.h>

#include "rawlog/values.h"

/* All of these are stored in files. If a size changes, the version must change. */
_Static_assert(sizeof(struct raw_record) == 64, "stored");
_Static_assert(sizeof(struct raw_stack) == 16, "stored");
_Static_assert(sizeof(struct raw_text) == 72, "stored");
_Static_assert(sizeof(struct log_target) == 344, "stored");
_Static_assert(sizeof(struct log_functab) == 40, "stored");
_Static_assert(sizeof(struct log_mapping) == 32, "stored");
_Static_assert(sizeof(struct log_snapshot) == 32, "stored");
_Static_assert(sizeof(struct log_heap) == 16, "stored");
_Static_assert(sizeof(struct log_g) == 56, "stored");
_Static_assert(sizeof(struct log_g_details) == 48, "stored");
_Static_assert(sizeof(struct log_labels) == 8, "stored");
_Static_assert(sizeof(struct log_label) == 4, "stored");
_Static_assert(sizeof(struct raw_label) == 4, "stored");
_Static_assert(sizeof(struct log_g_labels) == 24, "stored");
_Static_assert(sizeof(struct log_p) == 32, "stored");
_Static_assert(sizeof(struct log_m) == 48, "stored");
_Static_assert(sizeof(struct log_area) == 24, "stored");
_Static_assert(sizeof(struct log_boundary) == 48, "stored");
_Static_assert(sizeof(struct log_loss) == 32, "stored");
_Static_assert(LOG_END_LEAST == 80 && sizeof(struct log_end) == 88, "stored");
_Static_assert(sizeof(struct log_note) == 16, "stored");
_Static_assert(sizeof(struct log_thread) == 64, "stored");
_Static_assert(sizeof(struct log_symbol) == 16, "stored");
_Static_assert(sizeof(struct log_symbol_frame) == 8, "stored");
_Static_assert(sizeof(struct log_file) == 16, "stored");
_Static_assert(sizeof(struct log_function) == 8, "stored");
_Static_assert(sizeof(struct log_values) == 8, "stored");
_Static_assert(sizeof(struct raw_value) == 16, "stored");
_Static_assert(sizeof(struct log_thread_times) == 16, "stored");
_Static_assert(sizeof(struct log_thread_time) == 24, "stored");
_Static_assert(sizeof(struct log_quota) == 56, "stored");

#define LATEST_NS  ((uint64_t)1 << 60) /* since boot: 36 years */
#define LATEST_SEC ((uint64_t)1 << 34) /* since 1970: in ns, it fits into 64 bits */

static bool is_time(uint64_t ns)
{
	return ns < LATEST_NS;
}

static bool is_clock(const struct log_clock *clock)
{
	return is_time(clock->mono_ns) && clock->wall_sec < LATEST_SEC && clock->wall_nsec < 1000000000;
}

static bool is_log_text(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

static bool check_target(const struct log_record *record)
{
	const struct log_target *target = record->data;

	return record->size >= sizeof(*target) && is_clock(&target->clock) &&
	       is_log_text(target->go_version, sizeof(target->go_version)) &&
	       is_log_text(target->comm, sizeof(target->comm)) &&
	       is_log_text(target->exe, sizeof(target->exe));
}

static bool check_reason(const struct log_record *record)
{
	const struct log_reason *reason = record->data;

	return record->size >= sizeof(*reason) && record->size - sizeof(*reason) == reason->len;
}

static bool check_functab(const struct log_record *record)
{
	const struct log_functab *functab = record->data;

	return record->size >= sizeof(*functab) &&
	       record->size - sizeof(*functab) == (uint64_t)functab->pclntab_size + functab->gofunc_size;
}

static bool check_mapping(const struct log_record *record)
{
	const struct log_mapping *mapping = record->data;

	return record->size >= sizeof(*mapping) && record->size - sizeof(*mapping) == mapping->len;
}

static bool check_records(const struct log_record *record)
{
	const struct raw_record *records = record->data;
	size_t n = record->size / sizeof(*records), i = 0;

	while (i < n && is_time(records[i].time))
		i++;
	return i == n && record->size % sizeof(*records) == 0;
}

static bool check_snapshot(const struct log_record *record)
{
	const struct log_snapshot *snapshot = record->data;

	return record->size >= sizeof(*snapshot) && is_time(snapshot->time_before) &&
	       is_time(snapshot->time_after);
}

struct log_end log_end_of(const struct log_record *record)
{
	struct log_end end = {.late = 0};

	memcpy(&end, record->data, record->size < sizeof(end) ? record->size : sizeof(end));
	return end;
}

static bool check_log_end(const struct log_record *record)
{
	const struct log_end *end = record->data;

	return record->size >= LOG_END_LEAST && is_clock(&end->clock);
}

static bool check_stack(const struct log_record *record)
{
	const struct raw_stack *stack = record->data;

	if (record->size < sizeof(*stack))
		return false;
	return stack->n <= (stack->flags & RAW_STACK_SCAN ? SCAN_DEPTH : STACK_DEPTH) && stack->hash != 0 &&
	       record->size - sizeof(*stack) == stack->n * sizeof(stack->pcs[0]);
}

static bool check_boundary(const struct log_record *record)
{
	const struct log_boundary *boundary = record->data;

	return record->size >= sizeof(*boundary) && is_time(boundary->time_before) &&
	       is_time(boundary->time_after) && is_clock(&boundary->clock) &&
	       record->size - sizeof(*boundary) == (uint64_t)boundary->nm * sizeof(struct log_m);
}

static bool check_note(const struct log_record *record)
{
	const struct log_note *note = record->data;

	return record->size >= sizeof(*note) && is_time(note->time) &&
	       record->size - sizeof(*note) == note->len;
}

static bool check_text(const struct log_record *record)
{
	const struct raw_text *text = record->data;
	struct value values[VALUES_MAX];

	return record->size >= sizeof(*text) && is_time(text->record.time) && text->len <= TEXT_MAX &&
	       text->len2 <= TEXT_MAX && !text->away_len && !text->away_len2 &&
	       record->size - sizeof(*text) == (uint32_t)text->len + text->len2 &&
	       (!(text->record.flags & RAW_VALUES) || values_unpack(text, values) >= 0);
}

/* The names must fill the record. */
static bool check_values(const struct log_record *record)
{
	const struct log_values *values = record->data;
	const uint8_t *names = (const uint8_t *)(values + 1);
	size_t at = 0, size = record->size - sizeof(*values);

	if (record->size < sizeof(*values) || values->n > VALUES_MAX)
		return false;
	for (unsigned i = 0; i < values->n; i++) {
		if (at == size || names[at] >= VALUE_LABEL_MAX || size - at - 1 < names[at])
			return false;
		at += 1u + names[at];
	}
	return at == size;
}

static bool check_threads(const struct log_record *record)
{
	const struct log_thread *threads = record->data;

	if (record->size % sizeof(*threads))
		return false;
	for (size_t i = 0; i < record->size / sizeof(*threads); i++) {
		if (!is_log_text(threads[i].comm, sizeof(threads[i].comm)))
			return false;
	}
	return true;
}

/* The frames with their texts must fill the record. */
static bool check_symbol(const struct log_record *record)
{
	const struct log_symbol *symbol = record->data;
	size_t at = sizeof(*symbol);

	if (record->size < at || symbol->pc == 0 || symbol->nframes > SYMBOL_DEPTH)
		return false;
	for (unsigned i = 0; i < symbol->nframes; i++) {
		struct log_symbol_frame frame;

		if (record->size - at < sizeof(frame))
			return false;
		memcpy(&frame, (const char *)record->data + at, sizeof(frame));
		at += sizeof(frame);
		if (record->size - at < (size_t)frame.function_len + frame.file_len)
			return false;
		at += (size_t)frame.function_len + frame.file_len;
	}
	return at == record->size;
}

static bool check_file(const struct log_record *record)
{
	const struct log_file *file = record->data;

	return record->size >= sizeof(*file) && record->size - sizeof(*file) == file->len;
}

static bool check_function(const struct log_record *record)
{
	const struct log_function *function = record->data;

	return record->size >= sizeof(*function) && record->size - sizeof(*function) == function->len;
}

static bool check_thread_times(const struct log_record *record)
{
	const struct log_thread_times *times = record->data;

	return record->size >= sizeof(*times) && is_time(times->time) &&
	       record->size - sizeof(*times) == (uint64_t)times->n * sizeof(struct log_thread_time);
}

static bool check_quota(const struct log_record *record)
{
	const struct log_quota *quota = record->data;

	return record->size >= sizeof(*quota) && is_time(quota->time) &&
	       record->size - sizeof(*quota) == quota->len;
}

static bool check_g_details(const struct log_record *record)
{
	const struct log_g_details *details = record->data;
	size_t n = record->size / sizeof(*details), i = 0;

	while (i < n && is_time(details[i].waitsince))
		i++;
	return i == n && record->size % sizeof(*details) == 0;
}

/* The labels with their texts must fill the record. */
static bool check_log_labels(const struct log_record *record)
{
	const struct log_labels *labels = record->data;
	size_t at = sizeof(*labels);

	if (record->size < at || labels->n > LABELS_MAX)
		return false;
	for (unsigned i = 0; i < labels->n; i++) {
		struct log_label label;

		if (record->size - at < sizeof(label))
			return false;
		memcpy(&label, (const char *)record->data + at, sizeof(label));
		at += sizeof(label);
		if (label.key_len > LABEL_TEXT_MAX || label.value_len > LABEL_TEXT_MAX ||
		    record->size - at < (size_t)label.key_len + label.value_len)
			return false;
		at += (size_t)label.key_len + label.value_len;
	}
	return at == record->size;
}

static bool is_legal(const struct log_record *record)
{
	switch ((enum log_type)record->type) {
	case LOG_TARGET:
		return check_target(record);
	case LOG_REASON:
		return check_reason(record);
	case LOG_PARK_SKIPS:
		return record->size <= PARK_SKIPS;
	case LOG_FUNCTAB:
	case LOG_PLUGIN_FUNCTAB:
		return check_functab(record);
	case LOG_MAPPING:
		return check_mapping(record);
	case LOG_RECORDS:
		return check_records(record);
	case LOG_STACK:
		return check_stack(record);
	case LOG_SNAPSHOT:
		return check_snapshot(record);
	case LOG_HEAP:
		return record->size >= sizeof(struct log_heap);
	case LOG_HEAP_LIVE:
		return record->size >= sizeof(struct log_heap_live);
	case LOG_GS:
		return record->size % sizeof(struct log_g) == 0;
	case LOG_G_DETAILS:
		return check_g_details(record);
	case LOG_LABELS:
		return check_log_labels(record);
	case LOG_G_LABELS:
		return record->size % sizeof(struct log_g_labels) == 0;
	case LOG_PS:
		return record->size % sizeof(struct log_p) == 0;
	case LOG_MS:
		return record->size % sizeof(struct log_m) == 0;
	case LOG_TEXT:
		return check_text(record);
	case LOG_AREAS:
		return record->size % sizeof(struct log_area) == 0;
	case LOG_THREADS:
		return check_threads(record);
	case LOG_SYMBOL:
		return check_symbol(record);
	case LOG_FILE:
		return check_file(record);
	case LOG_FUNCTION:
		return check_function(record);
	case LOG_VALUES:
		return check_values(record);
	case LOG_THREAD_TIMES:
		return check_thread_times(record);
	case LOG_QUOTA:
		return check_quota(record);
	case LOG_SNAPSHOT_END:
		return true;
	case LOG_BOUNDARY:
		return check_boundary(record);
	case LOG_LOSS:
		return record->size >= sizeof(struct log_loss);
	case LOG_END:
		return check_log_end(record);
	case LOG_NOTE:
		return check_note(record);
	}
	/* From a newer gotrace: skipped without a check. No type is 0: the memory or the file has lost its
	 * bytes. */
	return record->type != 0;
}

int rawlog_check_record(const struct log_record *record, struct error *err)
{
	if (is_legal(record))
		return 0;
	return error_set(err, EBADMSG, "raw log: invalid record of type %u (%u bytes)", record->type,
			 record->size);
}
