/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/symbol/natives.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rawlog/rawlog.h"
#include "util/array.h"
#include "util/map64.h"

_Static_assert(NATIVE_DEPTH == SYMBOL_DEPTH, "as in the log");
_Static_assert(NATIVE_DEPTH < 1 << (62 - INLINED_SHIFT), "their numbers fit below the mark");

struct native_entry {
	uint32_t first; /* index in frames */
	uint32_t n;
};

struct natives {
	struct strtab *strings;
	struct map64 index; /* return address -> entry */
	struct native_entry *entries;
	size_t nentries, entry_capacity;
	struct frame *frames;
	size_t nframes, frame_capacity;
	size_t unused; /* frames no longer used, because their address was named again */
	unsigned version;
};

struct natives *natives_new(struct strtab *strings)
{
	struct natives *natives = calloc(1, sizeof(*natives));

	if (natives)
		natives->strings = strings;
	return natives;
}

void natives_free(struct natives *natives)
{
	if (!natives)
		return;
	map64_free(&natives->index);
	free(natives->entries);
	free(natives->frames);
	free(natives);
}

unsigned natives_version(const struct natives *natives)
{
	return natives->version;
}

static uint64_t frame_pc(uint64_t ret_pc, unsigned from_outermost)
{
	uint64_t pc = ret_pc - 1;

	return from_outermost ? INLINED_PC | (uint64_t)from_outermost << INLINED_SHIFT | pc : pc;
}

static struct frame unknown_frame(struct natives *natives, uint64_t ret_pc)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)(ret_pc - 1));
	return (struct frame){.pc = ret_pc - 1, .func = strtab_add_str(natives->strings, text)};
}

/* Appends the frames. Together with their texts they must fill the payload. */
static int natives_parse_symbol(struct natives *natives, const struct log_symbol *head, const uint8_t *at,
				const uint8_t *end)
{
	struct frame *frames = natives->frames + natives->nframes;

	for (unsigned i = 0; i < head->nframes; i++) {
		struct log_symbol_frame frame;

		if ((size_t)(end - at) < sizeof(frame))
			return -EBADMSG;
		memcpy(&frame, at, sizeof(frame));
		at += sizeof(frame);
		if ((size_t)(end - at) < (size_t)frame.function_len + frame.file_len)
			return -EBADMSG;
		frames[i] = (struct frame){
			.pc = frame_pc(head->pc, head->nframes - 1 - i),
			.func = strtab_add(natives->strings, (const char *)at, frame.function_len),
			.file = strtab_add(natives->strings, (const char *)at + frame.function_len,
					   frame.file_len),
			.line = frame.line,
		};
		at += (size_t)frame.function_len + frame.file_len;
	}
	if (head->nframes == 0)
		frames[0] = unknown_frame(natives, head->pc);
	return at == end ? 0 : -EBADMSG;
}

/* Index of an address in the list; adds it if it is new. */
static int natives_index_of(struct natives *natives, uint64_t ret_pc, uint32_t *place)
{
	const uint32_t *known = map64_get(&natives->index, ret_pc);

	if (known) {
		*place = *known;
		natives->version++;
		return 0;
	}
	if (array_grow(&natives->entries, &natives->entry_capacity, natives->nentries + 1,
		       sizeof(*natives->entries)))
		return -ENOMEM;
	*place = (uint32_t)natives->nentries;
	if (map64_set(&natives->index, ret_pc, *place))
		return -ENOMEM;
	natives->entries[natives->nentries++] = (struct native_entry){.n = 0};
	return 0;
}

#define MIN_UNUSED 4096

/* Removes unused frames. */
static int compact(struct natives *natives)
{
	struct frame *frames;
	size_t n = 0;

	if (natives->unused < MIN_UNUSED || natives->unused < natives->nframes / 2)
		return 0;
	frames = malloc(natives->frame_capacity * sizeof(*frames));
	if (!frames)
		return -ENOMEM;
	for (size_t i = 0; i < natives->nentries; i++) {
		struct native_entry *entry = &natives->entries[i];

		memcpy(frames + n, natives->frames + entry->first, entry->n * sizeof(*frames));
		entry->first = (uint32_t)n;
		n += entry->n;
	}
	free(natives->frames);
	natives->frames = frames;
	natives->nframes = n;
	natives->unused = 0;
	return 0;
}

int natives_put(struct natives *natives, const void *payload, size_t size)
{
	struct log_symbol head;
	uint32_t n, place;
	int rc;

	if (size < sizeof(head))
		return -EBADMSG;
	memcpy(&head, payload, sizeof(head));
	if (head.pc == 0 || head.nframes > NATIVE_DEPTH)
		return -EBADMSG;
	n = head.nframes ? head.nframes : 1;
	if (array_grow(&natives->frames, &natives->frame_capacity, natives->nframes + n,
		       sizeof(*natives->frames)))
		return -ENOMEM;
	rc = natives_parse_symbol(natives, &head, (const uint8_t *)payload + sizeof(head),
				  (const uint8_t *)payload + size);
	if (rc == 0)
		rc = natives_index_of(natives, head.pc, &place);
	if (rc)
		return rc;
	natives->unused += natives->entries[place].n;
	natives->entries[place] = (struct native_entry){.first = (uint32_t)natives->nframes, .n = n};
	natives->nframes += n;
	return compact(natives);
}

const struct frame *natives_frames(const struct natives *natives, uint64_t ret_pc, unsigned *n)
{
	const uint32_t *place = ret_pc ? map64_get(&natives->index, ret_pc) : NULL;

	if (!place)
		return NULL;
	*n = natives->entries[*place].n;
	return natives->frames + natives->entries[*place].first;
}
