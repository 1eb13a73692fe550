/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Whether a record's payload is as long as its type and the counts in it say. */
#include "rawlog/rawlog.h"

#include <errno.h>
#include <string.h>

/* All of these are stored in files: a change of size is a change of version. */
_Static_assert(sizeof(struct raw_record) == 64, "stored");
_Static_assert(sizeof(struct raw_stack) == 16, "stored");
_Static_assert(sizeof(struct raw_text) == 72, "stored");
_Static_assert(sizeof(struct log_target) == 344, "stored");
_Static_assert(sizeof(struct log_functab) == 40, "stored");
_Static_assert(sizeof(struct log_mapping) == 32, "stored");
_Static_assert(sizeof(struct log_snapshot) == 32, "stored");
_Static_assert(sizeof(struct log_heap) == 16, "stored");
_Static_assert(sizeof(struct log_g) == 56, "stored");
_Static_assert(sizeof(struct log_p) == 32, "stored");
_Static_assert(sizeof(struct log_m) == 48, "stored");
_Static_assert(sizeof(struct log_area) == 24, "stored");
_Static_assert(sizeof(struct log_boundary) == 48, "stored");
_Static_assert(sizeof(struct log_loss) == 32, "stored");
_Static_assert(sizeof(struct log_end) == 80, "stored");
_Static_assert(sizeof(struct log_note) == 16, "stored");
_Static_assert(sizeof(struct log_thread) == 64, "stored");
_Static_assert(sizeof(struct log_symbol) == 16, "stored");
_Static_assert(sizeof(struct log_symbol_frame) == 8, "stored");
_Static_assert(sizeof(struct log_file) == 16, "stored");
_Static_assert(sizeof(struct log_function) == 8, "stored");

static bool is_text(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

static bool check_target(const struct log_record *record)
{
	const struct log_target *target = record->data;

	return record->size >= sizeof(*target) && is_text(target->go_version, sizeof(target->go_version)) &&
	       is_text(target->comm, sizeof(target->comm)) && is_text(target->exe, sizeof(target->exe));
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

	return record->size >= sizeof(*boundary) &&
	       record->size - sizeof(*boundary) == (uint64_t)boundary->nm * sizeof(struct log_m);
}

static bool check_note(const struct log_record *record)
{
	const struct log_note *note = record->data;

	return record->size >= sizeof(*note) && record->size - sizeof(*note) == note->len;
}

static bool check_text(const struct log_record *record)
{
	const struct raw_text *text = record->data;

	return record->size >= sizeof(*text) && text->len <= TEXT_MAX && text->len2 <= TEXT_MAX &&
	       !text->away && !text->away2 &&
	       record->size - sizeof(*text) == (uint32_t)text->len + text->len2;
}

static bool check_threads(const struct log_record *record)
{
	const struct log_thread *threads = record->data;

	if (record->size % sizeof(*threads))
		return false;
	for (size_t i = 0; i < record->size / sizeof(*threads); i++) {
		if (!is_text(threads[i].comm, sizeof(threads[i].comm)))
			return false;
	}
	return true;
}

/* The frames with their texts fill the record. */
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

static bool is_legal(const struct log_record *record)
{
	switch ((enum log_type)record->type) {
	case LOG_TARGET:
		return check_target(record);
	case LOG_REASON:
		return check_reason(record);
	case LOG_FUNCTAB:
		return check_functab(record);
	case LOG_MAPPING:
		return check_mapping(record);
	case LOG_RECORDS:
		return record->size % sizeof(struct raw_record) == 0;
	case LOG_STACK:
		return check_stack(record);
	case LOG_SNAPSHOT:
		return record->size >= sizeof(struct log_snapshot);
	case LOG_HEAP:
		return record->size >= sizeof(struct log_heap);
	case LOG_HEAP_LIVE:
		return record->size >= sizeof(struct log_heap_live);
	case LOG_GS:
		return record->size % sizeof(struct log_g) == 0;
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
	case LOG_SNAPSHOT_END:
		return true;
	case LOG_BOUNDARY:
		return check_boundary(record);
	case LOG_LOSS:
		return record->size >= sizeof(struct log_loss);
	case LOG_END:
		return record->size >= sizeof(struct log_end);
	case LOG_NOTE:
		return check_note(record);
	}
	return true; /* of a later gotrace: skipped, not judged */
}

int rawlog_check_record(const struct log_record *record, struct error *err)
{
	if (is_legal(record))
		return 0;
	return error_set(err, EBADMSG, "raw log: a record of type %u cannot be %u bytes with this content",
			 record->type, record->size);
}
