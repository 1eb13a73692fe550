/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * All bytes are in one blob, so short strings need no allocation of their own. A hash table of ids finds
 * strings.
 */
#include "util/strtab.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/hash.h"

struct string_entry {
	size_t offset; /* in the blob; the bytes are followed by a NUL */
	uint32_t len;
	uint32_t hash; /* of a free id: the next free id, 0 = none */
	enum { FOR_GOOD, LOOSE, KEPT, FREE } state;
};

struct strtab {
	char *blob;
	size_t blob_len, blob_capacity;
	struct string_entry *entries; /* by id */
	uint32_t count, entry_capacity;
	uint32_t *slots; /* ids; 0 = free slot, because id 0 is never looked up */
	uint32_t nslots; /* a power of two, more than 4/3 of count */
	uint32_t nloose, free;
	uint64_t seed; /* of the hash */
};

#define FIRST_BLOB    4096u
#define FIRST_ENTRIES 64u
#define FIRST_SLOTS   128u
#define MAX_ENTRIES   (1u << 30)

static uint32_t hash_of(const struct strtab *tab, const char *text, size_t len)
{
	return (uint32_t)hash_bytes(tab->seed, text, len);
}

struct strtab *strtab_new(void)
{
	struct strtab *tab = calloc(1, sizeof(*tab));

	if (!tab)
		return NULL;
	tab->blob = malloc(FIRST_BLOB);
	tab->entries = malloc(FIRST_ENTRIES * sizeof(*tab->entries));
	tab->slots = calloc(FIRST_SLOTS, sizeof(*tab->slots));
	if (!tab->blob || !tab->entries || !tab->slots) {
		strtab_free(tab);
		return NULL;
	}
	tab->seed = hash_seed(tab);
	tab->blob_capacity = FIRST_BLOB;
	tab->entry_capacity = FIRST_ENTRIES;
	tab->nslots = FIRST_SLOTS;
	tab->blob[0] = '\0';
	tab->blob_len = 1;
	tab->entries[0] = (struct string_entry){0};
	tab->count = 1;
	return tab;
}

void strtab_free(struct strtab *tab)
{
	if (!tab)
		return;
	free(tab->blob);
	free(tab->entries);
	free(tab->slots);
	free(tab);
}

static bool is_equal(const struct strtab *tab, uint32_t id, uint32_t hash, const char *text, size_t len)
{
	const struct string_entry *entry = &tab->entries[id];

	return entry->hash == hash && entry->len == len && memcmp(tab->blob + entry->offset, text, len) == 0;
}

/* The slot of the string, or the free slot for it. */
static uint32_t find_slot(const struct strtab *tab, uint32_t hash, const char *text, size_t len)
{
	uint32_t slot = hash & (tab->nslots - 1);

	while (tab->slots[slot] && !is_equal(tab, tab->slots[slot], hash, text, len))
		slot = (slot + 1) & (tab->nslots - 1);
	return slot;
}

static bool reserve_blob(struct strtab *tab, size_t more)
{
	size_t capacity = tab->blob_capacity;
	char *blob;

	if (more > SIZE_MAX / 4 - tab->blob_len)
		return false;
	while (capacity < tab->blob_len + more)
		capacity *= 2;
	if (capacity == tab->blob_capacity)
		return true;
	blob = realloc(tab->blob, capacity);
	if (!blob)
		return false;
	tab->blob = blob;
	tab->blob_capacity = capacity;
	return true;
}

static bool reserve_entry(struct strtab *tab)
{
	struct string_entry *entries;

	if (tab->count < tab->entry_capacity)
		return true;
	if (tab->count >= MAX_ENTRIES)
		return false;
	entries = realloc(tab->entries, (size_t)tab->entry_capacity * 2 * sizeof(*entries));
	if (!entries)
		return false;
	tab->entries = entries;
	tab->entry_capacity *= 2;
	return true;
}

/* Inserts all strings. All slots must be free. */
static void fill_slots(struct strtab *tab)
{
	for (uint32_t id = 1; id < tab->count; id++) {
		uint32_t slot = tab->entries[id].hash & (tab->nslots - 1);

		if (tab->entries[id].state == FREE)
			continue;
		while (tab->slots[slot])
			slot = (slot + 1) & (tab->nslots - 1);
		tab->slots[slot] = id;
	}
}

static bool reserve_slot(struct strtab *tab)
{
	uint32_t nslots = tab->nslots * 2;
	uint32_t *slots;

	if (tab->count < tab->nslots / 4 * 3)
		return true;
	slots = calloc(nslots, sizeof(*slots));
	if (!slots)
		return false;
	free(tab->slots);
	tab->slots = slots;
	tab->nslots = nslots;
	fill_slots(tab);
	return true;
}

/* text must not point into the blob, because the blob may move. */
static uint32_t strtab_append(struct strtab *tab, uint32_t hash, const char *text, size_t len)
{
	uint32_t id = tab->free ? tab->free : tab->count;

	if (!reserve_blob(tab, len + 1) || (!tab->free && !reserve_entry(tab)) || !reserve_slot(tab))
		return 0;
	if (tab->free)
		tab->free = tab->entries[id].hash;
	tab->count += id == tab->count;
	tab->entries[id] = (struct string_entry){.offset = tab->blob_len, .len = (uint32_t)len, .hash = hash};
	memcpy(tab->blob + tab->blob_len, text, len);
	tab->blob[tab->blob_len + len] = '\0';
	tab->blob_len += len + 1;
	tab->slots[find_slot(tab, hash, text, len)] = id;
	return id;
}

uint32_t strtab_add(struct strtab *tab, const char *text, size_t len)
{
	uint32_t hash, id;

	if (len == 0 || len >= UINT32_MAX)
		return 0;
	hash = hash_of(tab, text, len);
	id = tab->slots[find_slot(tab, hash, text, len)];
	if (!id)
		return strtab_append(tab, hash, text, len);
	tab->nloose -= tab->entries[id].state != FOR_GOOD;
	tab->entries[id].state = FOR_GOOD;
	return id;
}

uint32_t strtab_add_loose(struct strtab *tab, const char *text, size_t len)
{
	uint32_t id = strtab_find(tab, text, len);

	if (id)
		return id;
	id = strtab_add(tab, text, len);
	if (id) {
		tab->entries[id].state = LOOSE;
		tab->nloose++;
	}
	return id;
}

uint32_t strtab_loose(const struct strtab *tab)
{
	return tab->nloose;
}

void strtab_keep(struct strtab *tab, uint32_t id)
{
	if (id < tab->count && tab->entries[id].state == LOOSE)
		tab->entries[id].state = KEPT;
}

/* Drops the bytes of removed strings. If out of memory, leaves the blob as it is. */
static void pack_blob(struct strtab *tab)
{
	char *blob = malloc(tab->blob_capacity);
	size_t len = 1;

	if (!blob)
		return;
	blob[0] = '\0';
	for (uint32_t id = 1; id < tab->count; id++) {
		struct string_entry *entry = &tab->entries[id];

		if (entry->state == FREE)
			continue;
		memcpy(blob + len, tab->blob + entry->offset, (size_t)entry->len + 1);
		entry->offset = len;
		len += (size_t)entry->len + 1;
	}
	free(tab->blob);
	tab->blob = blob;
	tab->blob_len = len;
}

void strtab_sweep(struct strtab *tab)
{
	for (uint32_t id = 1; id < tab->count; id++) {
		struct string_entry *entry = &tab->entries[id];

		if (entry->state == KEPT) {
			entry->state = LOOSE;
		} else if (entry->state == LOOSE) {
			*entry = (struct string_entry){.state = FREE, .hash = tab->free};
			tab->free = id;
			tab->nloose--;
		}
	}
	pack_blob(tab);
	memset(tab->slots, 0, tab->nslots * sizeof(*tab->slots));
	fill_slots(tab);
}

uint32_t strtab_add_str(struct strtab *tab, const char *text)
{
	return strtab_add(tab, text, strlen(text));
}

const char *strtab_get(const struct strtab *tab, uint32_t id, size_t *len)
{
	const struct string_entry *entry = &tab->entries[id < tab->count ? id : 0];

	if (len)
		*len = entry->len;
	return tab->blob + entry->offset;
}

uint32_t strtab_find(const struct strtab *tab, const char *text, size_t len)
{
	if (len == 0 || len >= UINT32_MAX)
		return 0;
	return tab->slots[find_slot(tab, hash_of(tab, text, len), text, len)];
}

void strtab_clear(struct strtab *tab)
{
	tab->blob_len = 1;
	tab->count = 1;
	tab->nloose = tab->free = 0;
	memset(tab->slots, 0, tab->nslots * sizeof(*tab->slots));
}

uint32_t strtab_count(const struct strtab *tab)
{
	return tab->count;
}
