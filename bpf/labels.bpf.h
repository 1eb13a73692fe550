/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * pprof labels of goroutines (runtime/pprof.Do, SetGoroutineLabels). A published set never changes, so it is
 * complete at the hit; later its memory may be reused. Its contents are untrusted input: any program can
 * store anything there by linkname.
 */
#ifndef GOTRACE_LABELS_BPF_H
#define GOTRACE_LABELS_BPF_H

#include "bpf/abi0.bpf.h"

/*
 * A label in the program's memory: two strings. From Go 1.24 on, a set is a list of these
 * (runtime/pprof/label.go).
 */
struct go_label {
	uint64_t key, key_len, value, value_len;
};

#define LABEL_WORDS    4u
#define LAST_LABEL_MAP 23 /* up to this release a set is a map[string]string */

/*
 * A bucket of such a map, and the part of the map's header that is read (Go 1.9 to 1.23 runtime/map.go;
 * hashmap.go up to 1.10).
 */
struct label_bucket {
	uint8_t hashes[8];
	uint64_t keys[16], values[16];
	uint64_t overflow;
};

struct label_map_head {
	uint64_t count;
	uint8_t flags, b; /* 1 << b buckets */
	uint16_t noverflow;
	uint32_t seed;
	uint64_t buckets, old;
};

/* A map of RAW_LABELS labels has at most four buckets. Each step reads one of them, or an overflow bucket. */
#define MOST_B       3u
#define BUCKET_STEPS 12

/* The lowest hash of a slot that is in use. */
static __always_inline uint8_t least_hash(void)
{
	return go_minor <= 11 ? 4 : 5;
}

/* Use of the scratch: pcs = the n labels found so far; chunk = the record, followed by a bucket. */
#define BUCKET_PLACE (CHUNK_WORDS / 2)

static __always_inline void cut_labels(struct scratch *s)
{
	s->flags |= RAW_LABELS_CUT;
}

static __always_inline void fail_labels(struct scratch *s)
{
	s->flags |= RAW_UNREADABLE;
}

static __always_inline void find_in_list(struct scratch *s, uint64_t set)
{
	uint64_t slice[3], n;

	if (bpf_probe_read_user(slice, sizeof(slice), (const void *)set) || slice[1] > slice[2]) {
		fail_labels(s);
		return;
	}
	n = slice[1];
	if (n > RAW_LABELS) {
		n = RAW_LABELS;
		cut_labels(s);
	}
	barrier_var(n);
	if (!n || n > RAW_LABELS)
		return;
	if (bpf_probe_read_user(s->pcs, n * sizeof(struct go_label), (const void *)slice[0]))
		fail_labels(s);
	else
		s->n = n;
}

static __always_inline void take_slot(struct scratch *s, const struct label_bucket *bucket, uint32_t slot)
{
	uint32_t n = s->n;
	uint64_t *to = &s->pcs[(n & (RAW_LABELS - 1)) * LABEL_WORDS];

	if (bucket->hashes[slot] < least_hash())
		return;
	if (n >= RAW_LABELS) {
		cut_labels(s);
		return;
	}
	to[0] = bucket->keys[2 * slot];
	to[1] = bucket->keys[2 * slot + 1];
	to[2] = bucket->values[2 * slot];
	to[3] = bucket->values[2 * slot + 1];
	s->n = n + 1;
}

/*
 * Returns the next bucket to read, 0 at the end: the pending overflow bucket (base), or the next of the map's
 * buckets (last_bp), of which n_scanned are left.
 */
static __always_inline uint64_t next_bucket(struct scratch *s)
{
	uint64_t address = s->base;

	if (address || !s->n_scanned)
		return address;
	address = s->last_bp;
	s->last_bp = address + sizeof(struct label_bucket);
	s->n_scanned--;
	return address;
}

static __always_inline bool take_bucket(struct scratch *s)
{
	struct label_bucket *bucket = (struct label_bucket *)(s->chunk + BUCKET_PLACE);
	uint64_t address = next_bucket(s);

	if (!address)
		return false;
	if (bpf_probe_read_user(bucket, sizeof(*bucket), (const void *)address)) {
		fail_labels(s);
		return false;
	}
	for (uint32_t slot = 0; slot < 8; slot++)
		take_slot(s, bucket, slot);
	s->base = bucket->overflow;
	return true;
}

/* A growing map with so few labels has moved them all by the time it is published. */
static __always_inline void find_in_map(struct scratch *s, uint64_t set)
{
	struct label_map_head head;
	uint64_t map;

	if (bpf_probe_read_user(&map, sizeof(map), (const void *)set)) {
		fail_labels(s);
		return;
	}
	if (!map)
		return;
	if (bpf_probe_read_user(&head, sizeof(head), (const void *)map)) {
		fail_labels(s);
		return;
	}
	if (!head.count)
		return;
	if (head.b > MOST_B || head.old)
		cut_labels(s);
	s->last_bp = head.buckets;
	s->n_scanned = 1ull << (head.b > MOST_B ? MOST_B : head.b);
	for (int i = 0; i < BUCKET_STEPS; i++) {
		if (!take_bucket(s))
			return;
	}
	if (s->base || s->n_scanned)
		cut_labels(s);
}

/* Copies a string, or its address if its page is not present. Returns the number of bytes written. */
static __always_inline uint32_t copy_label(char *to, uint64_t address, uint64_t len, uint16_t *sent)
{
	if (len > RAW_LABEL_TEXT)
		len = RAW_LABEL_TEXT;
	barrier_var(len);
	*sent = (uint16_t)len;
	if (!len || len > RAW_LABEL_TEXT)
		return 0;
	if (!bpf_probe_read_user(to, len, (const void *)address))
		return len;
	__builtin_memcpy(to, &address, sizeof(address));
	*sent |= RAW_LABEL_AWAY;
	return sizeof(address);
}

/* Maximum size of a label besides its strings, each of which may be replaced by an address. */
#define LABEL_HEAD (sizeof(struct raw_label) + 2 * sizeof(uint64_t))
#define AT_MASK    (TEXT_MAX - 1)

static __always_inline uint64_t least_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* s->chunks: bytes of the record's text so far. */
static __always_inline void add_label(struct scratch *s, const struct go_label *label)
{
	struct raw_text *text = (struct raw_text *)s->chunk;
	uint32_t at = s->chunks;
	struct raw_label *head;
	uint64_t size = least_of(label->key_len, RAW_LABEL_TEXT) + least_of(label->value_len, RAW_LABEL_TEXT);

	if (label->key_len > RAW_LABEL_TEXT || label->value_len > RAW_LABEL_TEXT)
		cut_labels(s);
	if (at + LABEL_HEAD + size > TEXT_MAX) {
		cut_labels(s);
		return;
	}
	at &= AT_MASK;
	head = (struct raw_label *)(text->text + at);
	at += sizeof(*head);
	at += copy_label(text->text + at, label->key, label->key_len, &head->key_len);
	at &= AT_MASK;
	at += copy_label(text->text + at, label->value, label->value_len, &head->value_len);
	s->chunks = at;
}

/* Collects the labels of the set at this address; 0 = no labels. */
static __always_inline void find_labels(struct scratch *s, uint64_t set)
{
	s->n = 0;
	s->chunks = 0;
	s->flags = 0;
	s->base = 0;
	s->n_scanned = 0;
	if (!set)
		return;
	if (go_minor <= LAST_LABEL_MAP)
		find_in_map(s, set);
	else
		find_in_list(s, set);
	for (uint32_t i = 0; i < RAW_LABELS; i++) {
		if (i >= s->n)
			break;
		add_label(s, (const struct go_label *)&s->pcs[i * LABEL_WORDS]);
	}
}

static __always_inline void send_labels(const struct raw_record *rec, uint64_t set)
{
	struct scratch *s = take_scratch();
	struct raw_text *text;

	if (!s) {
		count_loss(LOSS_RECORD);
		return;
	}
	find_labels(s, set);
	text = (struct raw_text *)s->chunk;
	text->record = *rec;
	text->record.flags |= (uint16_t)s->flags;
	text->record.tid = own_tid();
	text->record.time = bpf_ktime_get_ns();
	text->len = (uint16_t)s->chunks;
	text->len2 = text->away_len = text->away_len2 = 0;
	put(text, (sizeof(*text) + text->len) & (CHUNK - 1)); /* the mask is for the verifier */
	give_back(s);
}

/* runtime_setProfLabel(labels) */
HIT(labels)
{
	struct raw_record rec = {.site = SITE_LABELS};
	uint64_t args[1];
	struct go_g g;

	if (will_restart_prologue(ctx) || !entry_args(ctx, args, 1) || !read_self(ctx, &rec, &g))
		return;
	send_labels(&rec, args[0]);
}

#endif
