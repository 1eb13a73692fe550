/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Up to Go 1.23 g.labels is a *map[string]string, later a *[]struct{key, value string} (runtime/pprof,
 * labelMap in label.go). A goroutine's set never changes, but its address may be reused after a collection:
 * sets are compared by address only within a batch, and by content across batches.
 */
#include "target/labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/label_map.h"
#include "target/memory.h"
#include "target/private.h"
#include "util/hash.h"
#include "util/map64.h"

#define LAST_WITH_MAP 23
#define PIECES        4096u
/* No Go string is longer: the address space has 47 bits. */
#define MAX_LEN (1ull << 47)

/* User space ends below this: it has at most 56 bits (amd64 with five levels of page tables). */
#define MAX_ADDRESS (1ull << 56)

#define RECORD_MAX (sizeof(struct log_labels) + LABELS_MAX * (sizeof(struct log_label) + 2 * LABEL_TEXT_MAX))

struct labels {
	pid_t pid;
	unsigned go_minor;
	log_sink sink;
	void *ctx;
	struct memory_batch batch;
	struct map64 numbers; /* by hash of a set's content */
	uint64_t seed;
	uint32_t last;      /* last number assigned */
	struct map64 known; /* in this batch: address -> index in sets */
	size_t nsets;
	struct label_set sets[LABELS_BATCH];
	struct memory_piece pieces[PIECES];
	const uint8_t *texts[PIECES];
};

bool labels_are_known(const struct target *target)
{
	return target->image->release->layout.runtime.g_labels != LAYOUT_ABSENT;
}

struct labels *labels_new(pid_t pid, unsigned go_minor, log_sink sink, void *ctx)
{
	struct labels *labels = calloc(1, sizeof(*labels));

	if (!labels)
		return NULL;
	labels->pid = pid;
	labels->go_minor = go_minor;
	labels->sink = sink;
	labels->ctx = ctx;
	labels->batch.pid = pid;
	labels->seed = hash_seed(labels);
	return labels;
}

void labels_free(struct labels *labels)
{
	if (!labels)
		return;
	memory_batch_free(&labels->batch);
	map64_free(&labels->numbers);
	map64_free(&labels->known);
	free(labels);
}

/* --- where the strings are --- */

static int labels_add_set(struct labels *labels, uint64_t address)
{
	int rc;

	if (!address || map64_get(&labels->known, address))
		return 0;
	rc = map64_set(&labels->known, address, (uint32_t)labels->nsets);
	if (rc)
		return rc;
	labels->sets[labels->nsets++] = (struct label_set){
		.at = address, .lost = true, .map = {.least = label_map_least_hash(labels->go_minor)}};
	return 0;
}

/* A read with any other address fails as a whole, including the reads of other sets. */
static bool may_be_read(uint64_t address, uint64_t size)
{
	return address && address < MAX_ADDRESS - size;
}

/*
 * Reads size() bytes at set->at of each set, unless that is 0, and passes them to take(). A set that cannot
 * be read is lost.
 */
static int each_set(struct labels *labels, uint32_t (*size)(const struct label_set *set),
		    void (*take)(struct label_set *set, const uint8_t *bytes))
{
	size_t n = 0;
	int rc;

	for (size_t i = 0; i < labels->nsets; i++) {
		uint32_t bytes = size(&labels->sets[i]);

		if (bytes && !may_be_read(labels->sets[i].at, bytes))
			labels->sets[i].lost = true;
		else if (bytes)
			labels->pieces[n++] = (struct memory_piece){
				.address = labels->sets[i].at, .size = bytes, .owner = (uint32_t)i};
	}
	rc = memory_gather(&labels->batch, labels->pieces, n);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		struct label_set *set = &labels->sets[labels->pieces[i].owner];

		if (labels->pieces[i].bytes)
			take(set, labels->pieces[i].bytes);
		else
			set->lost = true;
	}
	return rc;
}

static uint32_t size_of_slice(const struct label_set *set)
{
	(void)set;
	return 3 * sizeof(uint64_t);
}

static void take_slice(struct label_set *set, const uint8_t *bytes)
{
	uint64_t slice[3];

	memcpy(slice, bytes, sizeof(slice));
	set->lost = slice[1] > slice[2] || slice[2] > MAX_LEN;
	set->cut = slice[1] > LABELS_MAX;
	set->n = set->lost ? 0 : set->cut ? LABELS_MAX : (unsigned)slice[1];
	set->at = slice[0];
}

static uint32_t size_of_list(const struct label_set *set)
{
	return set->n * (uint32_t)sizeof(set->refs[0]);
}

static void labels_take_list(struct label_set *set, const uint8_t *bytes)
{
	_Static_assert(sizeof(set->refs[0]) == 32, "as label in runtime/pprof");
	memcpy(set->refs, bytes, size_of_list(set));
}

static uint32_t size_of_pointer(const struct label_set *set)
{
	(void)set;
	return sizeof(uint64_t);
}

/* A nil map has no labels. */
static void take_pointer(struct label_set *set, const uint8_t *bytes)
{
	memcpy(&set->at, bytes, sizeof(set->at));
	set->lost = false;
}

static uint32_t size_of_map(const struct label_set *set)
{
	return !set->lost && set->at ? LABEL_MAP_HEAD : 0;
}

static int find_in_lists(struct labels *labels)
{
	int rc = each_set(labels, size_of_slice, take_slice);

	return rc ? rc : each_set(labels, size_of_list, labels_take_list);
}

static int find_in_maps(struct labels *labels)
{
	int rc = each_set(labels, size_of_pointer, take_pointer);

	if (rc == 0)
		rc = each_set(labels, size_of_map, label_map_take_head);
	if (rc == 0)
		rc = each_set(labels, label_map_size, label_map_take_buckets);
	for (size_t i = 0; rc == 0 && i < labels->nsets; i++)
		rc = label_map_read_rest(&labels->sets[i], labels->pid);
	return rc;
}

/* --- their texts --- */

static uint32_t text_size(uint64_t len)
{
	return len < LABEL_TEXT_MAX ? (uint32_t)len : LABEL_TEXT_MAX;
}

static void want_text(struct labels *labels, size_t *n, uint32_t owner, uint64_t address, uint64_t len)
{
	labels->texts[owner] = NULL;
	if (len && len <= MAX_LEN && may_be_read(address, text_size(len)))
		labels->pieces[(*n)++] =
			(struct memory_piece){.address = address, .size = text_size(len), .owner = owner};
}

/* Reads the texts of sets from `first` on while pieces last. Sets *end to the first set not read. */
static int read_texts(struct labels *labels, size_t first, size_t *end)
{
	uint32_t owner = 0;
	size_t n = 0, at;
	int rc;

	for (at = first; at < labels->nsets && owner + 2 * labels->sets[at].n <= PIECES; at++) {
		for (unsigned i = 0; i < labels->sets[at].n; i++) {
			const struct label_ref *ref = &labels->sets[at].refs[i];

			want_text(labels, &n, owner++, ref->key, ref->key_len);
			want_text(labels, &n, owner++, ref->value, ref->value_len);
		}
	}
	*end = at;
	rc = memory_gather(&labels->batch, labels->pieces, n);
	for (size_t i = 0; rc == 0 && i < n; i++)
		labels->texts[labels->pieces[i].owner] = labels->pieces[i].bytes;
	return rc;
}

/* A label whose texts have been read into this process. */
struct label_text {
	const uint8_t *key, *value;
	struct log_label sizes;
};

static int label_by_key(const void *a, const void *b)
{
	const struct label_text *one = a, *two = b;
	uint16_t n = one->sizes.key_len < two->sizes.key_len ? one->sizes.key_len : two->sizes.key_len;
	int order = n ? memcmp(one->key, two->key, n) : 0;

	return order ? order : one->sizes.key_len - two->sizes.key_len;
}

/* Stores the labels whose texts were read, sorted by key. Returns their number. */
static unsigned take_texts(struct label_set *set, const uint8_t *const *texts, struct label_text *out)
{
	unsigned n = 0;

	for (unsigned i = 0; i < set->n; i++) {
		const struct label_ref *ref = &set->refs[i];
		struct label_text text = {
			.key = texts[2 * i],
			.value = texts[2 * i + 1],
			.sizes = {(uint16_t)text_size(ref->key_len), (uint16_t)text_size(ref->value_len)},
		};

		if ((ref->key_len && !text.key) || (ref->value_len && !text.value)) {
			set->cut = true;
			continue;
		}
		set->cut = set->cut || ref->key_len > LABEL_TEXT_MAX || ref->value_len > LABEL_TEXT_MAX;
		out[n++] = text;
	}
	qsort(out, n, sizeof(*out), label_by_key);
	return n;
}

static size_t put_bytes(uint8_t *to, size_t at, const void *bytes, size_t size)
{
	if (size)
		memcpy(to + at, bytes, size);
	return at + size;
}

/* Gets the number of this content. Numbers and logs content that has not been seen before. */
static int number_content(struct labels *labels, uint8_t *record, size_t size, uint32_t *number)
{
	struct log_labels head;
	uint64_t hash;
	const uint32_t *known;
	struct log_record out = {.type = LOG_LABELS, .size = (uint32_t)size, .data = record};
	int rc;

	memcpy(&head, record, sizeof(head));
	hash = hash_bytes(labels->seed, record, size);
	known = map64_get(&labels->numbers, hash);
	if (known) {
		*number = *known;
		return 0;
	}
	if (labels->last == LABEL_SETS_MAX) {
		*number = LABELS_LOST;
		return 0;
	}
	*number = head.number = ++labels->last;
	memcpy(record, &head, sizeof(head));
	rc = map64_set(&labels->numbers, hash, *number);
	return rc ? rc : labels->sink(labels->ctx, &out);
}

static int put_set(struct labels *labels, struct label_set *set, const uint8_t *const *texts)
{
	_Alignas(8) uint8_t record[RECORD_MAX];
	struct label_text sorted[LABELS_MAX];
	unsigned n = take_texts(set, texts, sorted);
	struct log_labels head = {.n = (uint16_t)n, .flags = set->cut ? LOG_LABELS_CUT : 0};
	size_t at = put_bytes(record, 0, &head, sizeof(head));

	if (set->lost || (set->cut && !n)) {
		set->number = LABELS_LOST;
		return 0;
	}
	set->number = 0;
	if (!n)
		return 0;
	for (unsigned i = 0; i < n; i++) {
		at = put_bytes(record, at, &sorted[i].sizes, sizeof(sorted[i].sizes));
		at = put_bytes(record, at, sorted[i].key, sorted[i].sizes.key_len);
		at = put_bytes(record, at, sorted[i].value, sorted[i].sizes.value_len);
	}
	return number_content(labels, record, at, &set->number);
}

static int put_sets(struct labels *labels)
{
	size_t first = 0, end;
	int rc = 0;

	while (rc == 0 && first < labels->nsets) {
		uint32_t owner = 0;

		rc = read_texts(labels, first, &end);
		for (; rc == 0 && first < end; first++) {
			rc = put_set(labels, &labels->sets[first], labels->texts + owner);
			owner += 2 * labels->sets[first].n;
		}
	}
	return rc;
}

int labels_read(struct labels *labels, const uint64_t *addresses, size_t n, uint32_t *numbers)
{
	int rc = 0;

	labels->nsets = 0;
	map64_clear(&labels->known);
	for (size_t i = 0; rc == 0 && i < n && i < LABELS_BATCH; i++)
		rc = labels_add_set(labels, addresses[i]);
	if (rc == 0 && labels->nsets)
		rc = labels->go_minor <= LAST_WITH_MAP ? find_in_maps(labels) : find_in_lists(labels);
	if (rc == 0)
		rc = put_sets(labels);
	for (size_t i = 0; rc == 0 && i < n; i++)
		numbers[i] = addresses[i] ? labels->sets[map64_find(&labels->known, addresses[i])].number : 0;
	return rc;
}
