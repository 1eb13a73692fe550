/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Values of a call's arguments, read by rules that user space has made (struct value_rule in bpf/record.h).
 * Unreadable values are marked as such; the record is sent in any case.
 */
#ifndef GOTRACE_VALUES_BPF_H
#define GOTRACE_VALUES_BPF_H

#include "bpf/scratch.bpf.h"

/* Set by capture before loading: some probe reads values. Otherwise the programs have no code for it. */
const volatile bool reads_values;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* capture sets the number */
	__type(key, uint32_t);
	__type(value, struct value_rules);
} value_rules SEC(".maps");

#define REG_WORDS 64u /* a power of two: a mask bounds the index */

/*
 * Layout of a scratch's chunk. The state is in memory and volatile for the verifier's sake, as in struct
 * scratch. Head, values and texts are sent together as a struct raw_text.
 */
struct value_reader {
	uint64_t head[sizeof(struct raw_text) / 8];
	struct raw_value values[TEXT_MAX / 4 / sizeof(struct raw_value)]; /* followed by the texts */
	uint64_t texts[(2 * TEXT_MAX - TEXT_MAX / 4) / 8 + 2];
	uint64_t regs[REG_WORDS]; /* a copy of struct pt_regs */
	uint64_t pair[2];         /* of a string: its address and length */
	volatile uint64_t at;
	volatile uint64_t flags; /* of all values */
	uint64_t sp;
};

_Static_assert(sizeof(struct value_reader) <= CHUNK, "fits the chunk");
_Static_assert(sizeof(struct pt_regs) <= REG_WORDS * 8, "fits regs");

static __always_inline uint64_t word_at(const struct value_reader *in, uint8_t place)
{
	return place == VALUE_STACK ? in->sp : in->regs[place & (REG_WORDS - 1)];
}

static __always_inline void set_unreadable(struct raw_value *to)
{
	to->flags = VALUE_UNREADABLE;
}

/* A pointer that leads to the value is 0. */
static __always_inline void set_null(struct raw_value *to)
{
	to->flags = VALUE_UNREADABLE | VALUE_NULL;
}

/*
 * Follows the rule's pointers to the value; with no steps, *end is the value itself. Returns false if they
 * cannot be followed.
 */
static __always_inline bool find_value(const struct value_reader *in, const struct value_rule *rule,
				       struct raw_value *to, uint64_t *end)
{
	uint64_t v = word_at(in, rule->place);

	for (uint32_t i = 0; i < VALUE_STEPS; i++) {
		if (i >= rule->nsteps)
			break;
		if (!v) {
			set_null(to);
			return false;
		}
		v += (uint64_t)(__s64)rule->offsets[i];
		if (i + 1 == rule->nsteps)
			break;
		if (bpf_probe_read_user(&v, sizeof(v), (const void *)v)) {
			set_unreadable(to);
			return false;
		}
	}
	*end = v;
	return true;
}

/* The place for the next text. Reduces *len to the space that is left. */
static __always_inline char *space_for(struct value_reader *in, uint64_t *len)
{
	uint64_t at = in->at & (TEXT_MAX - 1), most = TEXT_MAX - 1 - at;

	if (*len > most)
		*len = most;
	barrier_var(at);
	return (char *)in->values + (at & (TEXT_MAX - 1));
}

static __always_inline void set_away(struct raw_value *to, uint64_t address)
{
	to->flags |= VALUE_AWAY;
	to->bits = address;
}

/* Reads a text of `whole` bytes, but at most rule->max of them. */
static __always_inline void read_text(struct value_reader *in, const struct value_rule *rule,
				      struct raw_value *to, uint64_t address, uint64_t whole)
{
	uint64_t len = whole > rule->max ? rule->max : whole;
	char *place = space_for(in, &len);

	to->bits = whole;
	to->len = len;
	if (len < whole)
		to->flags |= VALUE_CUT;
	barrier_var(len);
	len &= TEXT_MAX - 1;
	if (!len)
		return;
	if (bpf_probe_read_user(place, len, (const void *)address))
		set_away(to, address);
	else
		in->at += len;
}

/*
 * Reads a text that ends with a NUL, or at the end of its array. Its whole length is not known: reading one
 * byte more than is wanted shows whether it is cut.
 */
static __always_inline void read_chars(struct value_reader *in, const struct value_rule *rule,
				       struct raw_value *to, uint64_t address)
{
	uint64_t most = rule->max, size;
	char *place = space_for(in, &most);
	long got;

	to->len = most;
	size = most + (rule->kind == VALUE_CHARS ? 1 : 2);
	barrier_var(size);
	if (!size || size > TEXT_MAX + 1)
		return;
	got = bpf_probe_read_user_str(place, size, (const void *)address);
	if (got <= 0) {
		set_away(to, address);
		return;
	}
	if (got - 1 > most)
		to->flags |= VALUE_CUT;
	else
		to->len = got - 1;
	in->at += to->len;
}

static __always_inline void read_string(struct value_reader *in, const struct value_rule *rule,
					struct raw_value *to, uint64_t v)
{
	if (rule->nsteps) {
		if (bpf_probe_read_user(in->pair, sizeof(in->pair), (const void *)v)) {
			set_unreadable(to);
			return;
		}
	} else {
		in->pair[0] = v;
		in->pair[1] = word_at(in, rule->place2);
	}
	read_text(in, rule, to, in->pair[0], in->pair[1]);
}

static __always_inline void read_c_string(struct value_reader *in, const struct value_rule *rule,
					  struct raw_value *to, uint64_t v)
{
	if (rule->nsteps && bpf_probe_read_user(&v, sizeof(v), (const void *)v)) {
		set_unreadable(to);
		return;
	}
	if (v)
		read_chars(in, rule, to, v);
	else
		set_null(to);
}

static __always_inline void read_number(const struct value_rule *rule, struct raw_value *to, uint64_t v)
{
	uint64_t bits = v, size = rule->size;

	if (rule->nsteps) {
		bits = 0;
		barrier_var(size);
		if (size > sizeof(bits))
			size = sizeof(bits);
		if (bpf_probe_read_user(&bits, size, (const void *)v)) {
			set_away(to, v);
			return;
		}
	}
	to->bits = bits;
}

static __always_inline void read_value(struct value_reader *in, const struct value_rule *rule,
				       struct raw_value *to)
{
	uint64_t v;

	*to = (struct raw_value){.kind = rule->kind, .size = rule->size};
	if (!find_value(in, rule, to, &v))
		return;
	switch (rule->kind) {
	case VALUE_GO_STRING:
		read_string(in, rule, to, v);
		break;
	case VALUE_C_STRING:
		read_c_string(in, rule, to, v);
		break;
	case VALUE_CHARS:
		read_chars(in, rule, to, v);
		break;
	case VALUE_BYTES:
		read_text(in, rule, to, v, rule->size);
		break;
	default:
		read_number(rule, to, v);
	}
}

/* Applies the rules. in->head is then a raw_text, complete except for its record. */
static __always_inline void read_values(const struct pt_regs *ctx, struct value_reader *in,
					const struct value_rules *rules, uint64_t sp)
{
	struct raw_text *text = (struct raw_text *)in->head;
	uint32_t n = rules->n;

	if (n > VALUES_MAX)
		n = VALUES_MAX;
	bpf_probe_read_kernel(in->regs, sizeof(*ctx), ctx);
	in->sp = sp;
	in->flags = 0;
	in->at = n * sizeof(struct raw_value);
	for (uint32_t i = 0; i < VALUES_MAX; i++) {
		if (i >= n)
			break;
		read_value(in, &rules->rules[i], &in->values[i]);
		in->flags |= in->values[i].flags;
	}
	text->len = n * sizeof(struct raw_value);
	text->len2 = in->at - text->len;
	text->away_len = text->away_len2 = 0;
}

/* ns: a program whose texts are never in memory would wake the consumer at each hit. */
#define AWAY_WAKE_NS 10000000

uint64_t away_wake_ns; /* when the consumer was last woken for a text */

/* The consumer reads a text that is not in memory. The program may free it, or end, before it would drain. */
static __always_inline void wake_for_away(const struct value_reader *in, uint64_t now)
{
	if (!(in->flags & VALUE_AWAY) || now - away_wake_ns < AWAY_WAKE_NS)
		return;
	away_wake_ns = now;
	wake_consumer();
}

/*
 * Sends a record and the values that rules `number` describe in one piece, so that neither can be lost alone.
 * The record must be complete, including thread and time. sp: the caller's stack pointer.
 */
static __always_inline void put_values(const struct pt_regs *ctx, struct raw_record *rec, uint32_t number,
				       uint64_t sp)
{
	const struct value_rules *rules = bpf_map_lookup_elem(&value_rules, &number);
	struct scratch *s = rules ? take_scratch() : NULL;
	struct value_reader *in;

	if (!s) {
		put(rec, sizeof(*rec));
		return;
	}
	in = (struct value_reader *)s->chunk;
	read_values(ctx, in, rules, sp);
	*(struct raw_record *)in->head = *rec;
	((struct raw_record *)in->head)->flags |= RAW_VALUES;
	put(in->head, sizeof(in->head) + (in->at & (2 * TEXT_MAX - 1)));
	wake_for_away(in, rec->time);
	give_back(s);
}

#endif
