/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "export/parquet/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/ops/labels.h"
#include "util/array.h"

enum { BUCKETS = 8 /* per power of two */ };

void sums_init(struct lake_sums *sums, struct lake_rows *rows, struct lake_lives *lives)
{
	*sums = (struct lake_sums){.rows = rows, .lives = lives};
}

void sums_free(struct lake_sums *sums)
{
	free(sums->waits);
	free(sums->latencies);
	free(sums->labels);
	free(sums->off_cpu);
	map64_free(&sums->wait_of);
	map64_free(&sums->latency_of);
	map64_free(&sums->label_of);
	map64_free(&sums->off_cpu_of);
	map64_free(&sums->pair_of);
}

/* Sets *index to that of the key, which is *n, one more than the last one, if it is new. */
static int sums_index_of(struct map64 *map, uint64_t key, size_t n, uint32_t *index)
{
	*index = map64_find(map, key);
	if (*index != MAP64_NONE)
		return 0;
	*index = (uint32_t)n;
	return map64_set(map, key, *index);
}

/* --- intervals --- */

static int add_wait(struct lake_sums *sums, const struct long_wait *interval, bool whole)
{
	uint64_t ns = interval->until - interval->since;
	struct wait_sum *sum;
	uint32_t index;

	if (sums_index_of(&sums->wait_of,
			  (uint64_t)interval->stack << 32 | interval->reason << 3 | interval->state,
			  sums->nwaits, &index) ||
	    array_grow(&sums->waits, &sums->wait_capacity, index + (size_t)1, sizeof(*sums->waits)))
		return -ENOMEM;
	sum = &sums->waits[index];
	if (index == sums->nwaits) {
		*sum = (struct wait_sum){
			.state = interval->state, .reason = interval->reason, .stack = interval->stack};
		sums->nwaits++;
	}
	if (!whole) {
		sum->cut_n++;
		sum->cut += ns;
		return 0;
	}
	if (!sum->n++ || ns > sum->max) {
		sum->max = ns;
		sum->max_at = interval->since;
	}
	sum->sum += ns;
	return 0;
}

/* Below 8 ns each number is a bucket of its own. */
static uint32_t sums_bucket_of(uint64_t ns)
{
	unsigned octave = ns < BUCKETS ? 0 : 61 - (unsigned)__builtin_clzll(ns);

	return octave ? octave * BUCKETS + (uint32_t)(ns >> (octave - 1)) % BUCKETS : (uint32_t)ns;
}

static uint64_t bucket_begin(uint32_t bucket)
{
	unsigned octave = bucket / BUCKETS;

	return octave ? (uint64_t)(BUCKETS + bucket % BUCKETS) << (octave - 1) : bucket;
}

static int sums_add_latency(struct lake_sums *sums, const struct long_wait *interval)
{
	uint64_t ns = interval->until - interval->since;
	uint32_t bucket = sums_bucket_of(ns), index;
	struct latency_sum *sum;

	if (sums_index_of(&sums->latency_of,
			  (uint64_t)interval->reason << 16 | (uint64_t)interval->state << 12 | bucket,
			  sums->nlatencies, &index) ||
	    array_grow(&sums->latencies, &sums->latency_capacity, index + (size_t)1,
		       sizeof(*sums->latencies)))
		return -ENOMEM;
	sum = &sums->latencies[index];
	if (index == sums->nlatencies) {
		*sum = (struct latency_sum){
			.state = interval->state, .reason = interval->reason, .bucket = bucket};
		sums->nlatencies++;
	}
	sum->n++;
	sum->sum += ns;
	return 0;
}

int sums_interval(struct lake_sums *sums, const struct long_wait *interval, bool whole)
{
	if (is_wait(interval->state) && add_wait(sums, interval, whole))
		return -ENOMEM;
	return whole && interval->state != LEDGER_UNWATCHED ? sums_add_latency(sums, interval) : 0;
}

/* --- labels --- */

static int take_pair(struct lake_sums *sums, const struct pprof_label *label, uint32_t *pair)
{
	struct stacktab *st = &sums->rows->stacks.st;
	struct label_sum sum = {0};

	if (stacktab_text(st, label->key, label->key_len, &sum.key) ||
	    stacktab_text(st, label->value, label->value_len, &sum.value) ||
	    sums_index_of(&sums->label_of, (uint64_t)sum.key << 32 | sum.value, sums->nlabels, pair) ||
	    array_grow(&sums->labels, &sums->label_capacity, *pair + (size_t)1, sizeof(*sums->labels)))
		return -ENOMEM;
	if (*pair == sums->nlabels)
		sums->labels[sums->nlabels++] = sum;
	return 0;
}

static int sums_keep_or_open(struct lake_life *life, uint32_t pair, uint64_t time)
{
	for (size_t i = 0; i < life->npairs; i++) {
		if (life->pairs[i].pair == pair) {
			life->pairs[i].kept = true;
			return 0;
		}
	}
	if (array_grow(&life->pairs, &life->pair_capacity, life->npairs + 1, sizeof(*life->pairs)))
		return -ENOMEM;
	life->pairs[life->npairs++] = (struct open_pair){
		.pair = pair, .kept = true, .since = time, .before = lives_spent(life, time)};
	return 0;
}

/* Ends the labels that are not marked as kept. */
static void end_pairs(struct lake_sums *sums, struct lake_life *life, uint64_t time)
{
	struct spent_times now = lives_spent(life, time);
	size_t kept = 0;

	for (size_t i = 0; i < life->npairs; i++) {
		struct open_pair *pair = &life->pairs[i];
		struct label_sum *sum = &sums->labels[pair->pair];

		if (pair->kept) {
			pair->kept = false;
			life->pairs[kept++] = *pair;
			continue;
		}
		sum->n++;
		sum->sum += time > pair->since ? time - pair->since : 0;
		for (unsigned j = 0; j < SPENT_KINDS; j++)
			sum->spent.ns[j] += now.ns[j] - pair->before.ns[j];
	}
	life->npairs = kept;
}

int sums_labels(struct lake_sums *sums, struct lake_life *life, const struct tl_labels *labels)
{
	struct labels_read set;

	if (labels_parse(labels->text, labels->len, &set) < 0)
		return 0;
	for (unsigned i = 0; i < set.n; i++) {
		uint32_t pair;

		if (take_pair(sums, &set.labels[i], &pair) || sums_keep_or_open(life, pair, labels->time))
			return -ENOMEM;
	}
	end_pairs(sums, life, labels->time);
	return 0;
}

int sums_end_labels(struct lake_sums *sums, struct lake_life *life, uint64_t time)
{
	end_pairs(sums, life, time);
	return 0;
}

/* --- off CPU --- */

static int goroutine_name(struct lake_sums *sums, uint32_t serial, uint32_t *string)
{
	size_t len;
	const char *name = census_name(sums->rows->census, serial, &len);

	return stacktab_text(&sums->rows->stacks.st, name, len, string);
}

/* The function: where the region has its stack, else where the last CPU sample was, else as it began. */
static int off_cpu_function(struct lake_sums *sums, const struct tl_range *range, uint32_t goroutine,
			    uint32_t *func)
{
	const struct lake_life *life = lives_find(sums->lives, range->g);
	uint32_t stack;

	if (rows_take_stack(sums->rows, range->stack, &stack))
		return -ENOMEM;
	*func = stack ? sums->rows->stacks.all[stack].op : life && life->sampled ? life->sampled : goroutine;
	return 0;
}

/* cause: not in the strings, which may move. */
static int add_off_cpu(struct lake_sums *sums, const struct tl_range *range, const char *cause, size_t len)
{
	uint64_t ns = range->until - range->since;
	struct off_cpu_sum new = {0}, *sum;
	uint32_t pair, index;

	if (stacktab_text(&sums->rows->stacks.st, cause, len, &new.cause) ||
	    goroutine_name(sums, range->g, &new.goroutine) ||
	    off_cpu_function(sums, range, new.goroutine, &new.func) ||
	    sums_index_of(&sums->pair_of, (uint64_t) new.func << 32 | new.goroutine, sums->pair_of.count,
			  &pair) ||
	    sums_index_of(&sums->off_cpu_of, (uint64_t)pair << 32 | new.cause, sums->noff_cpu, &index) ||
	    array_grow(&sums->off_cpu, &sums->off_cpu_capacity, index + (size_t)1, sizeof(*sums->off_cpu)))
		return -ENOMEM;
	if (index == sums->noff_cpu)
		sums->off_cpu[sums->noff_cpu++] = new;
	sum = &sums->off_cpu[index];
	sum->n++;
	sum->sum += ns;
	sum->max = ns > sum->max ? ns : sum->max;
	if (strcmp(cause, "throttled") == 0)
		sums->throttled_ns += ns;
	return 0;
}

int sums_off_cpu(struct lake_sums *sums, const struct tl_range *range, const char *reason)
{
	size_t len = strlen(reason);
	char *cause;
	int rc;

	if (len && reason[len - 1] == ']')
		len--;
	cause = strndup(reason, len);
	rc = cause ? add_off_cpu(sums, range, cause, strlen(cause)) : -ENOMEM;
	free(cause);
	return rc;
}

/* --- rows --- */

#define COMPARE(a, b) ((a) != (b) ? ((a) > (b) ? 1 : -1) : 0)

static int wait_order(const void *a, const void *b)
{
	const struct wait_sum *one = a, *other = b;
	int order = COMPARE(one->state, other->state);

	order = order ? order : COMPARE(one->reason, other->reason);
	order = order ? order : COMPARE(other->sum, one->sum);
	return order ? order : COMPARE(one->stack, other->stack);
}

static int sums_put_waits(struct lake_sums *sums)
{
	struct pq_file *file = sums->rows->files[LAKE_WAIT];
	int rc = 0;

	if (sums->nwaits)
		qsort(sums->waits, sums->nwaits, sizeof(*sums->waits), wait_order);
	for (size_t i = 0; i < sums->nwaits && !rc; i++) {
		const struct wait_sum *sum = &sums->waits[i];

		rows_put_state(sums->rows, LAKE_WAIT, WAIT_STATE, sum->state);
		rows_put_string(sums->rows, LAKE_WAIT, WAIT_REASON, sum->reason);
		rows_put_stack(sums->rows, LAKE_WAIT, WAIT_STACK, sum->stack);
		if (sum->stack && sums->rows->stacks.all[sum->stack].site_line)
			pq_set_int(file, WAIT_SITE_LINE, sums->rows->stacks.all[sum->stack].site_line);
		pq_set_int(file, WAIT_N, (int64_t)sum->n);
		pq_set_int(file, WAIT_SUM, (int64_t)sum->sum);
		if (sum->n) {
			pq_set_int(file, WAIT_MAX, (int64_t)sum->max);
			pq_set_int(file, WAIT_MAX_TS, rows_wall(sums->rows, sum->max_at));
		}
		pq_set_int(file, WAIT_CUT_N, (int64_t)sum->cut_n);
		pq_set_int(file, WAIT_CUT, (int64_t)sum->cut);
		rc = pq_row_end(file);
	}
	return rc;
}

static int latency_order(const void *a, const void *b)
{
	const struct latency_sum *one = a, *other = b;
	int order = COMPARE(one->state, other->state);

	order = order ? order : COMPARE(one->reason, other->reason);
	return order ? order : COMPARE(one->bucket, other->bucket);
}

static int put_latencies(struct lake_sums *sums)
{
	struct pq_file *file = sums->rows->files[LAKE_LATENCY];
	int rc = 0;

	if (sums->nlatencies)
		qsort(sums->latencies, sums->nlatencies, sizeof(*sums->latencies), latency_order);
	for (size_t i = 0; i < sums->nlatencies && !rc; i++) {
		const struct latency_sum *sum = &sums->latencies[i];

		rows_put_state(sums->rows, LAKE_LATENCY, LATENCY_STATE, sum->state);
		rows_put_string(sums->rows, LAKE_LATENCY, LATENCY_REASON, sum->reason);
		pq_set_int(file, LATENCY_GE, (int64_t)bucket_begin(sum->bucket));
		pq_set_int(file, LATENCY_N, (int64_t)sum->n);
		pq_set_int(file, LATENCY_SUM, (int64_t)sum->sum);
		rc = pq_row_end(file);
	}
	return rc;
}

static int sums_put_labels(struct lake_sums *sums)
{
	struct pq_file *file = sums->rows->files[LAKE_LABEL];
	int rc = 0;

	for (size_t i = 0; i < sums->nlabels && !rc; i++) {
		const struct label_sum *sum = &sums->labels[i];
		const uint64_t *ns = sum->spent.ns;

		rows_put_string(sums->rows, LAKE_LABEL, LABEL_KEY, sum->key);
		rows_put_string(sums->rows, LAKE_LABEL, LABEL_VALUE, sum->value);
		/* An empty text is not an unknown one. */
		pq_set_text(file, LABEL_KEY, "", 0);
		pq_set_text(file, LABEL_VALUE, "", 0);
		pq_set_int(file, LABEL_N, (int64_t)sum->n);
		pq_set_int(file, LABEL_SUM, (int64_t)sum->sum);
		pq_set_int(file, LABEL_RUNNING, (int64_t)ns[SPENT_RUNNING]);
		pq_set_int(file, LABEL_RUNNABLE, (int64_t)ns[SPENT_RUNNABLE]);
		pq_set_int(file, LABEL_WAITING,
			   (int64_t)(ns[SPENT_LOCK] + ns[SPENT_NETWORK] + ns[SPENT_OTHER]));
		pq_set_int(file, LABEL_SYSCALL, (int64_t)ns[SPENT_SYSCALL]);
		rc = pq_row_end(file);
	}
	return rc;
}

static int put_off_cpu(struct lake_sums *sums)
{
	struct pq_file *file = sums->rows->files[LAKE_OFFCPU];
	int rc = 0;

	for (size_t i = 0; i < sums->noff_cpu && !rc; i++) {
		const struct off_cpu_sum *sum = &sums->off_cpu[i];

		rows_put_string(sums->rows, LAKE_OFFCPU, OFFCPU_CAUSE, sum->cause);
		rows_put_string(sums->rows, LAKE_OFFCPU, OFFCPU_FUNC, sum->func);
		rows_put_string(sums->rows, LAKE_OFFCPU, OFFCPU_GOROUTINE, sum->goroutine);
		pq_set_int(file, OFFCPU_N, (int64_t)sum->n);
		pq_set_int(file, OFFCPU_SUM, (int64_t)sum->sum);
		pq_set_int(file, OFFCPU_MAX, (int64_t)sum->max);
		rc = pq_row_end(file);
	}
	return rc;
}

int sums_finish(struct lake_sums *sums)
{
	int rc = sums_put_waits(sums);

	if (!rc)
		rc = put_latencies(sums);
	if (!rc)
		rc = sums_put_labels(sums);
	return rc ? rc : put_off_cpu(sums);
}
