/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "spread.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "capture/merge.h"
#include "rawlog/rawlog.h"
#include "util/map64.h"
#include "util/strtab.h"

enum {
	ROUND_NS = 1000000, /* between two rounds; shorter than capture's, to make races more likely */
	LOOK_NS = 30000,    /* time to check all rings in a round */
	WRITE_NS = 60,      /* from clock reading to written record, if there is no delay */
	CAUSE_NS = 500,     /* minimum from a cause's record to its effect's clock reading */
	PUT_OFF_NS = 20000000,
	STAY = 300,    /* records of a thread on one CPU, on average */
	ONLINE = 2000, /* records until other CPUs are offline */
	MAX_CPUS = 1024,
};

/* A record or a stack on its way through a ring. */
struct item {
	uint64_t number;            /* place in the log */
	uint64_t reserved, written; /* by a correct clock */
	uint64_t causes_ns;         /* time at which all its possible causes had been written */
	uint64_t read;              /* time at which the target's memory was last read */
	unsigned ring;
	bool is_stack;
	union {
		struct raw_record record;
		struct raw_stack *stack;
	};
};

/* A record of another kind: passed on after everything written before it. */
struct barrier {
	size_t number; /* number of items before it */
	uint64_t time; /* time at which the newest of them was written */
	uint32_t type, size;
	uint64_t *data;
};

struct queue {
	struct item **items;
	size_t n, at, whole;
};

struct lives {
	struct map64 index; /* goid -> place in hashes */
	uint64_t *hashes;
	uint32_t n, capacity;
};

struct spread {
	struct spread_options options;
	struct spread_result *result;
	struct model *model;
	struct strtab *strings;
	struct error *err;
	uint64_t random;
	int64_t clocks[MAX_CPUS];
	struct map64 cpus; /* tid -> CPU */
	struct map64 last; /* tid, or g -> place in `times` */
	uint64_t *times;   /* time at which its last record was written */
	uint64_t *places;  /* and its place in the log when it came out */
	size_t ntimes;
	struct map64 sent;  /* hashes of stacks that came out */
	struct item *items; /* the whole log */
	size_t n, capacity;
	struct barrier *barriers;
	size_t nbarriers, barrier_capacity, barriers_passed;
	struct rings_plan plan;
	struct queue queues[MAX_RINGS];
	struct ring_merge merge;
	uint64_t now;
	uint64_t newest; /* time at which the newest record so far was written */
	uint64_t read;   /* value of newest at the last marker or record of another kind */
};

static uint64_t draw(struct spread *spread, uint64_t below)
{
	spread->random ^= spread->random << 13;
	spread->random ^= spread->random >> 7;
	spread->random ^= spread->random << 17;
	return below ? (spread->random >> 11) % below : 0;
}

/* --- the goroutines' steps --- */

static int add_step(struct lives *lives, uint64_t goid, uint64_t step)
{
	uint32_t *known = map64_get(&lives->index, goid);
	uint32_t at = known ? *known : lives->n;

	if (!known) {
		if (lives->n == lives->capacity) {
			size_t more = lives->capacity ? lives->capacity * 2u : 1024u;
			uint64_t *hashes = realloc(lives->hashes, more * sizeof(*hashes));

			if (!hashes)
				return -ENOMEM;
			lives->hashes = hashes;
			lives->capacity = (uint32_t)more;
		}
		lives->hashes[lives->n++] = 1;
		if (map64_set(&lives->index, goid, at))
			return -ENOMEM;
	}
	lives->hashes[at] = (lives->hashes[at] ^ step) * 0x9e3779b97f4a7c15ull;
	return 0;
}

/* The hash of a string's text, because ids depend on the order of insertion. */
static uint64_t text_hash(const struct spread *spread, uint32_t id)
{
	size_t len;
	const char *text = strtab_get(spread->strings, id, &len);
	uint64_t hash = 0;

	while (len--)
		hash = hash * 31 + (uint8_t)*text++;
	return hash;
}

static uint64_t stack_hash_of(const struct tables *tables, uint32_t id)
{
	const struct stack *stack = &tables->stacks[id];
	uint64_t hash = id;

	if (!id || stack->literal)
		return id != 0;
	hash = stack->skip;
	for (uint32_t i = 0; i < stack->n; i++)
		hash = hash * 31 + stack->pcs[i];
	return hash;
}

static int take_generation(void *ctx, const struct generation *gen)
{
	struct spread *spread = ctx;
	const struct tables *tables = gen->tables;
	int rc = 0;

	for (size_t i = 0; i < gen->nops && rc == 0; i++) {
		const struct op *op = &gen->ops[i];
		uint64_t step = op->kind + 100ull * text_hash(spread, op->string);

		if (op->kind <= OP_PROC_STEAL || op->kind == OP_LOG)
			continue;
		step += 7 * stack_hash_of(tables, op->stack);
		if (op->g)
			rc = add_step(spread->result->lives, tables->goids[op->g], step);
		if (op->g2 && rc == 0)
			rc = add_step(spread->result->lives, tables->goids[op->g2], step + 1);
	}
	return rc;
}

uint64_t spread_same(const struct spread_result *a, const struct spread_result *b, uint64_t *all)
{
	uint64_t same = 0;

	*all = a->lives->n;
	for (size_t i = 0; i < a->lives->index.capacity; i++) {
		uint64_t goid = a->lives->index.keys[i];
		uint32_t *other = goid ? map64_get(&b->lives->index, goid) : NULL;

		same += other && a->lives->hashes[a->lives->index.values[i]] == b->lives->hashes[*other];
	}
	for (size_t i = 0; i < b->lives->index.capacity; i++) {
		uint64_t goid = b->lives->index.keys[i];

		*all += goid && !map64_get(&a->lives->index, goid);
	}
	return same;
}

/* --- from the rings to the model --- */

static int feed(struct spread *spread, uint32_t type, const void *data, size_t size)
{
	struct log_record record = {.type = type, .size = (uint32_t)size, .data = data};

	return model_feed(spread->model, &record, spread->err);
}

/* Returns the index in times and places of a thread (its tid) or a goroutine (its address). */
static size_t index_of(struct spread *spread, uint64_t key)
{
	uint32_t *known = map64_get(&spread->last, key);
	size_t at = spread->ntimes;

	if (known)
		return *known;
	if ((at & (at - 1)) == 0) {
		size_t more = at ? 2 * at : 1;
		uint64_t *times = realloc(spread->times, more * sizeof(*times));
		uint64_t *places = realloc(spread->places, more * sizeof(*places));

		if (!times || !places)
			abort();
		spread->times = times;
		spread->places = places;
	}
	spread->times[at] = spread->places[at] = 0;
	spread->ntimes++;
	if (map64_set(&spread->last, key, (uint32_t)at))
		abort();
	return at;
}

static void check_place(struct spread *spread, uint64_t key, uint64_t number)
{
	size_t at = index_of(spread, key);

	spread->result->swapped += spread->places[at] > number;
	spread->places[at] = number;
}

static int come_out(struct spread *spread, const struct item *item)
{
	const struct raw_record *record = &item->record;

	if (item->is_stack) {
		spread->result->stacks++;
		if (map64_set(&spread->sent, item->stack->hash, 1))
			return -ENOMEM;
		return feed(spread, LOG_STACK, item->stack, sizeof(*item->stack) + item->stack->n * 8ull);
	}
	spread->result->records++;
	spread->result->without_stack += record->stack && !map64_get(&spread->sent, record->stack);
	check_place(spread, record->tid, item->number);
	if (record->g)
		check_place(spread, record->g, item->number);
	return feed(spread, LOG_RECORDS, record, sizeof(*record));
}

static bool peek(void *ctx, unsigned source, uint64_t *time)
{
	struct queue *queue = &((struct spread *)ctx)->queues[source];

	if (queue->at >= queue->whole)
		return false;
	*time = queue->items[queue->at]->is_stack ? 0 : queue->items[queue->at]->record.time;
	return true;
}

static int take(void *ctx, unsigned source)
{
	struct spread *spread = ctx;
	struct queue *queue = &spread->queues[source];

	return come_out(spread, queue->items[queue->at++]);
}

static uint64_t real_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Makes items written by `when` visible. Returns false if one is reserved by then, but not written. */
static bool look_at(struct queue *queue, uint64_t when)
{
	while (queue->whole < queue->n && queue->items[queue->whole]->reserved <= when) {
		if (queue->items[queue->whole]->written > when)
			return false;
		queue->whole++;
	}
	return true;
}

static int one_round(struct spread *spread)
{
	struct merge_input input = {.ctx = spread, .peek = peek, .take = take};
	uint64_t began;
	int rc;

	for (unsigned i = 0; i < spread->plan.count; i++) {
		if (look_at(&spread->queues[i], spread->now + draw(spread, LOOK_NS)))
			merge_complete_at(&spread->merge, i, spread->now);
		else
			spread->result->stuck++;
	}
	began = real_ns();
	rc = merge_run(&spread->merge, &input);
	spread->result->merge_ns += real_ns() - began;
	return rc;
}

/* --- from the log to the rings --- */

/*
 * Sets the earliest time at which the item can have been made: after all its possible causes had been
 * written. Markers and records of other kinds count as causes of all later ones, because they refer to memory
 * that was read before the record's change.
 */
static void note_causes(struct spread *spread, struct item *item)
{
	const struct raw_record *record = &item->record;
	uint64_t keys[] = {record->tid, record->g, record->p, record->arg};

	item->causes_ns = item->read;
	for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		size_t at = keys[i] ? index_of(spread, keys[i]) : 0;

		if (!keys[i])
			continue;
		if (spread->times[at] > item->causes_ns)
			item->causes_ns = spread->times[at];
		if (item->written > spread->times[at])
			spread->times[at] = item->written;
	}
}

/* With hotplug, the CPUs of every third ring are offline at a time, but never those of the first one. */
static bool is_online(const struct spread *spread, unsigned cpu, uint64_t number)
{
	unsigned ring = cpu >> spread->plan.shift;

	return !spread->options.hotplug || !ring || (ring + number / ONLINE) % 3;
}

static unsigned cpu_of(struct spread *spread, const struct item *item)
{
	uint32_t tid = item->record.tid, *known = map64_get(&spread->cpus, tid);
	unsigned cpu = known ? *known : 0;

	if (!known || !is_online(spread, cpu, item->number) || draw(spread, STAY) == 0) {
		do {
			cpu = (unsigned)draw(spread, spread->options.cpus);
		} while (!is_online(spread, cpu, item->number));
		if (map64_set(&spread->cpus, tid, cpu))
			abort();
	}
	return cpu;
}

/* A delayed thread reads the clock, and perhaps reserves, long before it writes its record. */
static void put_off(struct spread *spread, struct item *item, uint64_t time)
{
	uint64_t since = item->causes_ns + CAUSE_NS, most = time > since ? time - since : 0;
	uint64_t clock = draw(spread, (most < PUT_OFF_NS ? most : PUT_OFF_NS) + 1);

	item->record.time = time - clock;
	if (draw(spread, 2))
		item->reserved = time - draw(spread, clock + 1);
}

static void send_off(struct spread *spread, struct item *item)
{
	uint64_t time = item->record.time;
	unsigned cpu = cpu_of(spread, item);

	item->ring = cpu >> spread->plan.shift;
	item->reserved = time + WRITE_NS / 2;
	item->written = time + WRITE_NS;
	note_causes(spread, item);
	if (draw(spread, 1000000) < spread->options.put_off_pm)
		put_off(spread, item, time);
	/* A record's stacks are sent just before it, from the same CPU. */
	for (struct item *stack = item; stack > spread->items && (--stack)->is_stack && !stack->reserved;) {
		stack->ring = item->ring;
		stack->reserved = stack->written = item->record.time - 1;
	}
	item->record.time += (uint64_t)spread->clocks[cpu];
}

static int by_reservation(const void *a, const void *b)
{
	const struct item *x = *(struct item *const *)a, *y = *(struct item *const *)b;

	if (x->reserved != y->reserved)
		return x->reserved < y->reserved ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static int fill_queues(struct spread *spread)
{
	size_t counts[MAX_RINGS] = {0};

	for (size_t i = 0; i < spread->n; i++)
		counts[spread->items[i].ring]++;
	for (unsigned i = 0; i < spread->plan.count; i++) {
		spread->queues[i] = (struct queue){.items = calloc(counts[i] + 1, sizeof(struct item *))};
		if (!spread->queues[i].items)
			return -ENOMEM;
	}
	for (size_t i = 0; i < spread->n; i++) {
		struct queue *queue = &spread->queues[spread->items[i].ring];

		queue->items[queue->n++] = &spread->items[i];
	}
	for (unsigned i = 0; i < spread->plan.count; i++)
		qsort(spread->queues[i].items, spread->queues[i].n, sizeof(struct item *), by_reservation);
	return 0;
}

static int pass_one(struct spread *spread)
{
	const struct barrier *barrier = &spread->barriers[spread->barriers_passed++];

	return feed(spread, barrier->type, barrier->data, barrier->size);
}

static int pass_barriers(struct spread *spread, uint64_t until)
{
	int rc = 0;

	while (rc == 0 && spread->barriers_passed < spread->nbarriers &&
	       spread->barriers[spread->barriers_passed].time <= until)
		rc = pass_one(spread);
	return rc;
}

/* The next round: at the regular pace, or earlier if a barrier is due. */
static uint64_t next_look(const struct spread *spread)
{
	const struct barrier *barrier = &spread->barriers[spread->barriers_passed];
	uint64_t next = spread->now + ROUND_NS, wanted;

	if (spread->barriers_passed == spread->nbarriers)
		return next;
	wanted = barrier->time + 2 * MERGE_GUARD_NS;
	if (wanted <= spread->now)
		wanted = spread->now + 5 * MERGE_GUARD_NS;
	return wanted < next ? wanted : next;
}

static int play_rings(struct spread *spread)
{
	uint64_t end = 0;
	int rc;

	for (size_t i = 0; i < spread->n; i++) {
		if (!spread->items[i].is_stack)
			send_off(spread, &spread->items[i]);
		end = spread->items[i].written > end ? spread->items[i].written : end;
	}
	spread->now = spread->n ? spread->items[spread->n - 1].written : 0;
	for (size_t i = 0; i < spread->n; i++) {
		if (!spread->items[i].is_stack && spread->items[i].written < spread->now)
			spread->now = spread->items[i].written;
	}
	rc = fill_queues(spread);
	while (rc == 0 && spread->now < end + 2 * ROUND_NS) {
		rc = one_round(spread);
		if (rc == 0)
			rc = pass_barriers(spread, spread->merge.passed);
		spread->now = next_look(spread);
	}
	return rc ? rc : pass_barriers(spread, UINT64_MAX);
}

static struct item *add_item(struct spread *spread)
{
	if (spread->n == spread->capacity) {
		size_t more = spread->capacity ? spread->capacity * 2 : 4096;
		struct item *items = realloc(spread->items, more * sizeof(*items));

		if (!items)
			return NULL;
		spread->items = items;
		spread->capacity = more;
	}
	spread->items[spread->n] = (struct item){.number = spread->n + 1};
	return &spread->items[spread->n++];
}

static int keep_records(struct spread *spread, const struct log_record *record)
{
	const struct raw_record *records = record->data;

	for (size_t i = 0; i < record->size / sizeof(*records); i++) {
		struct item *item = add_item(spread);

		if (!item)
			return -ENOMEM;
		item->record = records[i];
		item->read = spread->read;
		if (records[i].time + WRITE_NS > spread->newest)
			spread->newest = records[i].time + WRITE_NS;
		if (records[i].site == SITE_MARKER)
			spread->read = spread->newest;
	}
	return 0;
}

static int keep_stack(struct spread *spread, const struct log_record *record)
{
	struct item *item = add_item(spread);
	struct raw_stack *stack = malloc(record->size);

	if (!item || !stack) {
		free(stack);
		spread->n -= item != NULL;
		return -ENOMEM;
	}
	memcpy(stack, record->data, record->size);
	item->is_stack = true;
	item->stack = stack;
	return 0;
}

static int keep_other(struct spread *spread, const struct log_record *record)
{
	struct barrier *barriers = spread->barriers, *last;

	if (spread->nbarriers == spread->barrier_capacity) {
		spread->barrier_capacity = spread->barrier_capacity ? 2 * spread->barrier_capacity : 64;
		barriers = realloc(barriers, spread->barrier_capacity * sizeof(*barriers));
		if (!barriers)
			return -ENOMEM;
		spread->barriers = barriers;
	}
	last = &barriers[spread->nbarriers];
	*last = (struct barrier){
		.type = record->type, .size = record->size, .data = malloc(record->size + 8)};
	if (!last->data)
		return -ENOMEM;
	if (record->size)
		memcpy(last->data, record->data, record->size);
	last->number = spread->n;
	last->time = spread->read = spread->newest;
	spread->nbarriers++;
	return 0;
}

static int play_record(struct spread *spread, const struct log_record *record)
{
	switch (record->type) {
	case LOG_RECORDS:
		return keep_records(spread, record);
	case LOG_STACK:
		return keep_stack(spread, record);
	case LOG_FUNCTAB:
		return 0; /* not used by the model */
	default:
		return keep_other(spread, record);
	}
}

/* Plays the log unchanged. */
static int play_straight(struct spread *spread)
{
	int rc = 0;

	for (size_t i = 0; i < spread->n && rc == 0; i++) {
		while (rc == 0 && spread->barriers_passed < spread->nbarriers &&
		       spread->barriers[spread->barriers_passed].number <= i)
			rc = pass_one(spread);
		if (rc == 0)
			rc = come_out(spread, &spread->items[i]);
	}
	while (rc == 0 && spread->barriers_passed < spread->nbarriers)
		rc = pass_one(spread);
	return rc;
}

static int play_log(struct spread *spread, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;
	struct rawlog_reader *reader;
	struct log_record record;

	if (fd < 0)
		return error_set(spread->err, errno, "cannot open %s: %s", path, strerror(errno));
	reader = rawlog_reader_new(fd, spread->err);
	rc = reader ? 1 : -EBADMSG;
	while (rc == 1) {
		rc = rawlog_reader_next(reader, &record, spread->err);
		if (rc == 1 && play_record(spread, &record))
			rc = -EIO;
	}
	if (reader)
		rawlog_reader_free(reader);
	close(fd);
	if (rc == 0)
		rc = spread->options.cpus ? play_rings(spread) : play_straight(spread);
	return rc ? rc : model_finish(spread->model, spread->err);
}

static void begin(struct spread *spread, const struct spread_options *options, struct spread_result *result,
		  struct error *err)
{
	struct model_options wanted = {.sink = take_generation, .ctx = spread};

	*spread = (struct spread){.options = *options, .result = result, .err = err};
	*result = (struct spread_result){.lives = calloc(1, sizeof(struct lives))};
	spread->random = options->seed * 0x9e3779b97f4a7c15ull + 1;
	spread->plan = rings_plan(options->cpus, 0, 0);
	result->rings = options->cpus ? spread->plan.count : 1;
	for (unsigned i = 0; i < options->cpus && i < MAX_CPUS; i++)
		spread->clocks[i] = (int64_t)draw(spread, 2ull * options->clock_ns + 1) - options->clock_ns;
	merge_init(&spread->merge, spread->plan.count, 0);
	wanted.strings = spread->strings = strtab_new();
	spread->model = annotate_model_new(&wanted, NULL);
}

static void end(struct spread *spread)
{
	const struct model_stats *stats = model_stats(spread->model);
	struct spread_result *result = spread->result;

	result->late = spread->merge.late;
	result->ops = stats->ops;
	result->inferred = stats->inferred;
	result->repaired = stats->repaired;
	result->goroutines = stats->goroutines;
	model_free(spread->model);
	strtab_free(spread->strings);
	for (unsigned i = 0; i < MAX_RINGS; i++)
		free(spread->queues[i].items);
	for (size_t i = 0; i < spread->n; i++) {
		if (spread->items[i].is_stack)
			free(spread->items[i].stack);
	}
	for (size_t i = 0; i < spread->nbarriers; i++)
		free(spread->barriers[i].data);
	free(spread->barriers);
	free(spread->items);
	free(spread->times);
	free(spread->places);
	map64_free(&spread->cpus);
	map64_free(&spread->last);
	map64_free(&spread->sent);
}

int spread_play(const char *path, const struct spread_options *options, struct spread_result *result,
		struct error *err)
{
	struct spread *spread = calloc(1, sizeof(*spread));
	int rc;

	if (!spread)
		return -ENOMEM;
	begin(spread, options, result, err);
	rc = spread->model && result->lives ? play_log(spread, path) : -ENOMEM;
	end(spread);
	free(spread);
	return rc;
}

void spread_free(struct spread_result *result)
{
	if (!result->lives)
		return;
	free(result->lives->hashes);
	map64_free(&result->lives->index);
	free(result->lives);
	result->lives = NULL;
}
