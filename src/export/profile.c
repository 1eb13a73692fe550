/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "export/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "trace/wire/buffer.h"

struct profile_annotation {
	uint32_t range; /* id of the region */
	uint32_t name;
	uint64_t task;
	uint32_t below; /* the enclosing one; if unused: the next unused one */
};

enum { PARTS = 64 };

/* Time that a goroutine spent with other labels in its current interval. */
struct profile_part {
	uint32_t set;
	uint64_t ns;
};

struct profile_life {
	uint32_t set;   /* now */
	uint64_t since; /* ns: start of these labels, if there are parts */
	struct profile_part *parts;
	size_t n, capacity;
};

/* --- labels --- */

/* Returns one id for two; 0 when out of memory. A parameter of 0 stands for none. */
static uint32_t pair(struct profiles *ps, uint32_t a, uint32_t b)
{
	uint64_t key = (uint64_t)a << 32 | b;
	uint32_t id = map64_find(&ps->pairs, key);

	if (id != MAP64_NONE)
		return id;
	id = ++ps->npairs;
	return map64_set(&ps->pairs, key, id) ? 0 : id;
}

/* Returns the index of the labels, and adds them if new; 0 when out of memory. */
static uint32_t labels_id(struct profiles *ps, const struct profile_labels *labels)
{
	uint32_t key =
		pair(ps, pair(ps, labels->function, labels->task), pair(ps, labels->region, labels->state));
	uint32_t id;

	if (labels->set)
		key = pair(ps, key, labels->set);
	id = key ? map64_find(&ps->label_of_pair, key) : 0;
	if (id != MAP64_NONE)
		return id;
	if (array_grow(&ps->labels, &ps->label_capacity, ps->nlabels + 1, sizeof(*ps->labels)) ||
	    map64_set(&ps->label_of_pair, key, (uint32_t)ps->nlabels))
		return 0;
	ps->labels[ps->nlabels] = *labels;
	return (uint32_t)ps->nlabels++;
}

static int function_name(struct profiles *ps, uint32_t serial, uint32_t *name)
{
	const char *text;
	size_t len;

	if (array_grow(&ps->names, &ps->name_capacity, (size_t)serial + 1, sizeof(*ps->names)))
		return -ENOMEM;
	if (!ps->names[serial]) {
		text = census_name(ps->census, serial, &len);
		if (stacktab_text(&ps->st, text, len, name))
			return -ENOMEM;
		ps->names[serial] = *name + 1;
	}
	*name = ps->names[serial] - 1;
	return 0;
}

static uint32_t innermost(const struct profiles *ps, uint32_t serial)
{
	return serial < ps->innermost_capacity ? ps->innermost[serial] : 0;
}

static int profile_labels_of(struct profiles *ps, uint32_t serial, struct profile_labels *labels)
{
	uint32_t at = innermost(ps, serial), task;

	*labels = (struct profile_labels){.region = ps->annotations[at].name};
	while (at && !ps->annotations[at].task)
		at = ps->annotations[at].below;
	task = at ? map64_find(&ps->task_names, ps->annotations[at].task) : MAP64_NONE;
	if (task != MAP64_NONE)
		labels->task = task;
	return function_name(ps, serial, &labels->function);
}

static uint32_t set_of(const struct profiles *ps, uint32_t serial)
{
	return serial < ps->life_capacity ? ps->lives[serial].set : 0;
}

/* Adds the time in [from, until) to the part of the set that ends. */
static int keep_part(struct profile_life *life, uint64_t from, uint64_t until)
{
	size_t i = 0;

	while (i < life->n && life->parts[i].set != life->set)
		i++;
	if (i == life->n && life->n < PARTS) {
		if (array_grow(&life->parts, &life->capacity, life->n + 1, sizeof(*life->parts)))
			return -ENOMEM;
		life->parts[life->n++] = (struct profile_part){.set = life->set};
	}
	life->parts[i < life->n ? i : life->n - 1].ns += until > from ? until - from : 0;
	return 0;
}

static int profile_on_labels(void *ctx, const struct tl_goroutine *g, const struct tl_labels *labels)
{
	struct profiles *ps = ctx;
	struct profile_life *life;
	uint32_t set = 0;

	if (!ps->wants_sets)
		return 0;
	if (array_grow(&ps->lives, &ps->life_capacity, (size_t)g->serial + 1, sizeof(*ps->lives)) ||
	    (g->labels && stacktab_text(&ps->st, labels->text, labels->len, &set)))
		return -ENOMEM;
	life = &ps->lives[g->serial];
	if (g->now.state != LEDGER_NONE && g->now.state != LEDGER_UNWATCHED && set != life->set &&
	    keep_part(life, life->n ? life->since : g->now.since, labels->time))
		return -ENOMEM;
	life->set = set;
	life->since = labels->time;
	return 0;
}

/* --- regions and tasks --- */

static int profile_begin_region(struct profiles *ps, const struct tl_range *range)
{
	uint32_t at = ps->unused_annotation, name;

	if (stacktab_string(&ps->st, ps->tables, range->name, &name) ||
	    array_grow(&ps->innermost, &ps->innermost_capacity, (size_t)range->g + 1, sizeof(*ps->innermost)))
		return -ENOMEM;
	if (at) {
		ps->unused_annotation = ps->annotations[at].below;
	} else {
		if (array_grow(&ps->annotations, &ps->annotation_capacity, ps->nannotations + 1,
			       sizeof(*ps->annotations)))
			return -ENOMEM;
		at = (uint32_t)ps->nannotations++;
	}
	ps->annotations[at] =
		(struct profile_annotation){range->id, name, range->task, innermost(ps, range->g)};
	ps->innermost[range->g] = at;
	return 0;
}

static void profile_end_region(struct profiles *ps, const struct tl_range *range)
{
	uint32_t at = innermost(ps, range->g);

	if (!at || ps->annotations[at].range != range->id)
		return;
	ps->innermost[range->g] = ps->annotations[at].below;
	ps->annotations[at].below = ps->unused_annotation;
	ps->unused_annotation = at;
}

static int profile_on_begin(void *ctx, const struct tl_range *range)
{
	struct profiles *ps = ctx;
	uint32_t name;

	if (range->kind == TL_REGION && range->g)
		return profile_begin_region(ps, range);
	if (range->kind != TL_TASK)
		return 0;
	if (stacktab_string(&ps->st, ps->tables, range->name, &name) ||
	    map64_set(&ps->task_names, range->task, name))
		return -ENOMEM;
	return 0;
}

static int profile_on_end(void *ctx, const struct tl_range *range)
{
	if (range->kind == TL_REGION && range->g)
		profile_end_region(ctx, range);
	return 0;
}

/* --- samples --- */

static int profile_add(struct profile *profile, uint32_t stack, uint32_t labels, uint64_t ns)
{
	uint64_t key = (uint64_t)labels << 32 | stack;
	uint32_t at = map64_find(&profile->by_key, key);

	if (at == MAP64_NONE) {
		at = (uint32_t)profile->n;
		if (array_grow(&profile->samples, &profile->capacity, profile->n + 1,
			       sizeof(*profile->samples)) ||
		    map64_set(&profile->by_key, key, at))
			return -ENOMEM;
		profile->samples[profile->n++] = (struct profile_sample){.stack = stack, .labels = labels};
	}
	profile->samples[at].count++;
	profile->samples[at].ns += ns;
	return 0;
}

static bool holds(const char *text, size_t len, const char *part)
{
	return memmem(text, len, part, strlen(part)) != NULL;
}

/* Selects the intervals of a profile: as go tool trace (Go 1.26, cmd/trace/pprof.go), and one for locks. */
static bool profile_is_wanted(const struct profiles *ps, enum profile_kind kind,
			      const struct ledger_interval *now)
{
	size_t len = 0;
	uint32_t id = now->reason < ps->st.copied_string_capacity ? ps->st.copied_strings[now->reason] : 0;
	const char *reason = strtab_get(ps->st.strings, id, &len);

	switch (kind) {
	case PROFILE_WALL:
		return now->state != LEDGER_UNWATCHED;
	case PROFILE_SCHED:
		return now->state == G_RUNNABLE;
	case PROFILE_SYSCALL:
		return now->state == G_SYSCALL;
	case PROFILE_BLOCK:
		return now->state == G_WAITING && (holds(reason, len, "chan") || holds(reason, len, "sync") ||
						   holds(reason, len, "select"));
	case PROFILE_MUTEX:
		return now->state == G_WAITING &&
		       (strcmp(reason, "sync") == 0 || strncmp(reason, "sync (mutex", 11) == 0);
	case PROFILE_NET:
		return now->state == G_WAITING && strcmp(reason, "network") == 0;
	default:
		return false;
	}
}

/* What a goroutine does, as a label. */
static int state_label(struct profiles *ps, const struct ledger_interval *now, uint32_t *label)
{
	static const char *const names[LEDGER_STATE_COUNT] = {
		[G_RUNNABLE] = "runnable",
		[G_RUNNING] = "running",
		[G_SYSCALL] = "system call",
		[G_WAITING] = "waiting",
	};

	*label = 0;
	if (now->state == G_WAITING && stacktab_string(&ps->st, ps->tables, now->reason, label))
		return -ENOMEM;
	if (*label || !names[now->state])
		return 0;
	return stacktab_text(&ps->st, names[now->state], strlen(names[now->state]), label);
}

/* Each set of labels that the goroutine had in the interval gets its part of it. */
static int add_parts(struct profiles *ps, struct profile *profile, uint32_t stack,
		     struct profile_labels *labels, uint32_t serial, uint64_t ns)
{
	const struct profile_life *life = serial < ps->life_capacity ? &ps->lives[serial] : NULL;
	uint32_t id;

	for (size_t i = 0; life && i < life->n; i++) {
		uint64_t part = life->parts[i].ns < ns ? life->parts[i].ns : ns;

		labels->set = life->parts[i].set;
		id = labels_id(ps, labels);
		if (!id || (part && profile_add(profile, stack, id, part)))
			return -ENOMEM;
		ns -= part;
	}
	labels->set = set_of(ps, serial);
	id = labels_id(ps, labels);
	return id ? profile_add(profile, stack, id, ns) : -ENOMEM;
}

static int add_interval(struct profiles *ps, struct profile *profile, const struct tl_change *change)
{
	const struct ledger_interval *now = &change->g->now;
	/* As go tool trace: a state from before the trace counts from where the file first records it. */
	uint64_t since = profile->kind == PROFILE_WALL ? now->since : now->named;
	uint32_t from = now->stack, stack;
	struct profile_labels labels;

	if (change->time <= since)
		return 0;

	/* The stack of a run is the one at which it stopped. */
	if (now->state == G_RUNNING)
		from = change->final || change->wakes ? 0 : change->to->stack;
	if (stacktab_stack(&ps->st, ps->tables, from, &stack) ||
	    profile_labels_of(ps, change->g->serial, &labels))
		return -ENOMEM;
	if (profile->kind == PROFILE_WALL && state_label(ps, now, &labels.state))
		return -ENOMEM;
	return add_parts(ps, profile, stack, &labels, change->g->serial, change->time - since);
}

static int profile_on_change(void *ctx, const struct tl_change *change)
{
	struct profiles *ps = ctx;
	const struct ledger_interval *now = &change->g->now;
	uint32_t taken;

	/* What ends with the trace may come when the tables are gone: copy it now. */
	if (stacktab_stack(&ps->st, ps->tables, change->to->stack, &taken) ||
	    stacktab_string(&ps->st, ps->tables, change->to->reason, &taken))
		return -ENOMEM;
	if (now->state == LEDGER_NONE || change->time <= now->since)
		return 0;
	for (size_t i = 0; i < ps->n; i++) {
		/* As go tool trace: no interval without an end, and none before the goroutine first runs. */
		bool counts = (!change->final && change->g->ran) || ps->all[i].kind == PROFILE_WALL;

		if (counts && profile_is_wanted(ps, ps->all[i].kind, now) &&
		    add_interval(ps, &ps->all[i], change))
			return -ENOMEM;
	}
	if (change->g->serial < ps->life_capacity)
		ps->lives[change->g->serial].n = 0;
	return 0;
}

static int profile_on_event(void *ctx, const struct op *op, const struct tl_goroutine *g)
{
	struct profiles *ps = ctx;
	struct profile_labels labels = {0};
	uint32_t stack, id;

	if (op->kind != OP_CPU_SAMPLE)
		return 0;
	if (stacktab_stack(&ps->st, ps->tables, op->stack, &stack) ||
	    (g && profile_labels_of(ps, g->serial, &labels)))
		return -ENOMEM;
	labels.set = g ? set_of(ps, g->serial) : 0;
	id = labels_id(ps, &labels);
	for (size_t i = 0; i < ps->n; i++) {
		if (ps->all[i].kind == PROFILE_CPU &&
		    (!id || profile_add(&ps->all[i], stack, id, census_sample_ns(ps->census))))
			return -ENOMEM;
	}
	return 0;
}

static int profile_on_tables(void *ctx, const struct generation *gen)
{
	struct profiles *ps = ctx;

	ps->tables = gen ? gen->tables : NULL;
	return 0;
}

int profiles_init(struct profiles *ps, const struct census *census, const enum profile_kind *kinds, size_t n,
		  struct tl_visitor *visitor)
{
	*ps = (struct profiles){.census = census, .n = n, .nlabels = 1, .nannotations = 1};
	ps->all = calloc(n, sizeof(*ps->all));
	if (!ps->all || stacktab_init(&ps->st) ||
	    array_grow(&ps->labels, &ps->label_capacity, 1, sizeof(*ps->labels)) ||
	    array_grow(&ps->annotations, &ps->annotation_capacity, 1, sizeof(*ps->annotations)))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		ps->all[i].kind = kinds[i];
	*visitor = (struct tl_visitor){
		.change = profile_on_change,
		.begin = profile_on_begin,
		.end = profile_on_end,
		.event = profile_on_event,
		.labels = profile_on_labels,
		.tables = profile_on_tables,
	};
	return 0;
}

void profiles_free(struct profiles *ps)
{
	for (size_t i = 0; i < ps->n && ps->all; i++) {
		free(ps->all[i].samples);
		map64_free(&ps->all[i].by_key);
	}
	free(ps->all);
	stacktab_free(&ps->st);
	free(ps->labels);
	map64_free(&ps->pairs);
	map64_free(&ps->label_of_pair);
	free(ps->names);
	free(ps->annotations);
	free(ps->innermost);
	for (size_t i = 0; i < ps->life_capacity; i++)
		free(ps->lives[i].parts);
	free(ps->lives);
	map64_free(&ps->task_names);
}
