/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/drain.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "rawlog/values_settle.h"
#include "target/memory.h"
#include "util/clock.h"

enum {
	/* Tries of drain_until(). After that a writer is stuck; the records behind it come later. */
	UNTIL_TRIES = 400,
	UNTIL_NS = 500000, /* interval between tries */
	RATE_NS = 1000000, /* shortest interval in which a rate is measured */
};

int drain_put(struct drain *drain, uint32_t type, const void *data, size_t size)
{
	struct log_record record = {.type = type, .size = (uint32_t)size, .data = data};
	int rc = drain->outlet.put(drain->outlet.ctx, &record);

	if (rc && !drain->sink_error)
		drain->sink_error = rc;
	return rc;
}

static int drain_flush(struct drain *drain)
{
	unsigned n = drain->n;

	drain->n = 0;
	drain->is_held = !drain->is_last && drain->outlet.fill(drain->outlet.ctx) >= 1;
	return n ? drain_put(drain, LOG_RECORDS, drain->batch, n * sizeof(drain->batch[0])) : 0;
}

static int drain_take_stack(struct drain *drain, const void *data, size_t size)
{
	struct raw_stack *stack = (struct raw_stack *)drain->stack;
	int rc = drain_flush(drain);

	if (rc || size > sizeof(drain->stack) || size < sizeof(struct raw_stack))
		return rc;
	drain->stacks++;
	memcpy(drain->stack, data, size);
	if (drain->kernel && size == sizeof(*stack) + stack->n * sizeof(stack->pcs[0])) {
		rc = kernel_symbols_name(drain->kernel, stack, drain->outlet.put, drain->outlet.ctx);
		size = sizeof(*stack) + stack->n * sizeof(stack->pcs[0]);
	}
	if (rc && !drain->sink_error)
		drain->sink_error = rc;
	return rc ? rc : drain_put(drain, LOG_STACK, stack, size);
}

/* Reads a text that the BPF program could not read. Returns false if it still cannot be read. */
static bool fetch(const struct drain *drain, uint64_t address, void *to, uint16_t len)
{
	return drain->pid && memory_read(drain->pid, address, to, len) == 0;
}

/* Appends a text received through the ring. Returns its length. */
static uint16_t settle_text(const struct drain *drain, struct raw_text *text, size_t at, const char *bytes,
			    uint16_t len, uint16_t away_len)
{
	uint64_t address;

	if (!away_len) {
		memcpy(text->text + at, bytes, len);
		return len;
	}
	memcpy(&address, bytes, sizeof(address));
	if (fetch(drain, address, text->text + at, away_len))
		return away_len;
	text->record.flags |= RAW_UNREADABLE;
	return 0;
}

static bool drain_text_fits(const struct raw_text *text, size_t size)
{
	return size >= sizeof(*text) && text->len <= TEXT_MAX && text->len2 <= TEXT_MAX &&
	       text->away_len <= TEXT_MAX && text->away_len2 <= TEXT_MAX &&
	       (!text->away_len || text->len == 8) && (!text->away_len2 || text->len2 == 8) &&
	       size >= sizeof(*text) + (size_t)text->len + text->len2;
}

static size_t label_bytes(uint16_t len)
{
	return len & RAW_LABEL_AWAY ? sizeof(uint64_t) : len;
}

static uint16_t label_len(uint16_t len)
{
	return len & (uint16_t)~RAW_LABEL_AWAY;
}

/* Returns whether the label is complete and its texts fit. */
static bool is_label(const struct raw_label *label, size_t left)
{
	return left >= label_bytes(label->key_len) + label_bytes(label->value_len) &&
	       label_len(label->key_len) <= RAW_LABEL_TEXT && label_len(label->value_len) <= RAW_LABEL_TEXT;
}

/* Appends one text of a label. Returns false if it cannot be read. */
static bool settle_label(const struct drain *drain, struct raw_text *text, const char *bytes, uint16_t len)
{
	uint64_t address;
	uint16_t n = label_len(len);

	if (len & RAW_LABEL_AWAY) {
		memcpy(&address, bytes, sizeof(address));
		if (!fetch(drain, address, text->text + text->len, n))
			return false;
	} else {
		memcpy(text->text + text->len, bytes, n);
	}
	text->len += n;
	return true;
}

/* Appends the labels of a list. Leaves out a label if one of its texts cannot be read. */
static void settle_labels(const struct drain *drain, struct raw_text *text, const char *bytes, size_t size)
{
	for (size_t at = 0; size - at >= sizeof(struct raw_label);) {
		struct raw_label label, whole;
		uint16_t before = text->len;

		memcpy(&label, bytes + at, sizeof(label));
		at += sizeof(label);
		if (!is_label(&label, size - at))
			return;
		whole.key_len = label_len(label.key_len);
		whole.value_len = label_len(label.value_len);
		if (before + sizeof(label) + whole.key_len + whole.value_len > TEXT_MAX) {
			text->record.flags |= RAW_LABELS_CUT;
			return;
		}
		memcpy(text->text + before, &whole, sizeof(whole));
		text->len = (uint16_t)(before + sizeof(whole));
		if (!settle_label(drain, text, bytes + at, label.key_len) ||
		    !settle_label(drain, text, bytes + at + label_bytes(label.key_len), label.value_len)) {
			text->len = before;
			text->record.flags |= RAW_LABELS_CUT;
		}
		at += label_bytes(label.key_len) + label_bytes(label.value_len);
	}
}

static int drain_take_labels(struct drain *drain, const struct raw_text *sent, struct raw_text *text)
{
	text->len = text->len2 = 0;
	settle_labels(drain, text, sent->text, sent->len);
	return drain_put(drain, LOG_TEXT, text, sizeof(*text) + text->len);
}

static int drain_take_text(struct drain *drain, const void *data, size_t size)
{
	const struct raw_text *sent = data;
	struct raw_text *text = (struct raw_text *)drain->text;
	int rc = drain_flush(drain);

	if (rc || !drain_text_fits(sent, size))
		return rc;
	drain->records++;
	text->record = sent->record;
	text->away_len = text->away_len2 = 0;
	if (sent->record.site == SITE_LABELS)
		return drain_take_labels(drain, sent, text);
	text->len = settle_text(drain, text, 0, sent->text, sent->len, sent->away_len);
	text->len2 = settle_text(drain, text, text->len, sent->text + sent->len, sent->len2, sent->away_len2);
	return drain_put(drain, LOG_TEXT, text, sizeof(*text) + text->len + text->len2);
}

static bool drain_read_value(void *ctx, uint64_t address, void *to, size_t len)
{
	const pid_t *pid = ctx;

	return *pid && memory_read(*pid, address, to, len) == 0;
}

/* With several processes, a thread's record names its process. */
static int drain_take_values(struct drain *drain, const void *data, size_t size)
{
	const struct raw_text *sent = data;
	pid_t pid = drain->processes ? (pid_t)sent->record.goid : drain->pid;
	const struct value_source source = {&pid, drain_read_value};
	struct raw_text *text = (struct raw_text *)drain->text;
	int rc = drain_flush(drain);

	if (rc)
		return rc;
	size = values_settle(sent, size, text, &source);
	if (!size)
		return 0;
	drain->records++;
	drain->functions++;
	return drain_put(drain, LOG_TEXT, text, size);
}

int drain_describe_file(struct drain *drain, uint64_t key, uint64_t pid)
{
	int rc;

	if (!files_is_unknown(&drain->files, key))
		return 0;
	if (pid)
		drain->files.pid = (pid_t)pid;
	rc = drain_flush(drain);
	if (rc == 0)
		rc = files_describe(&drain->files, key, drain->outlet.put, drain->outlet.ctx);
	if (rc && !drain->sink_error)
		drain->sink_error = rc;
	return rc;
}

static bool is_stop(uint8_t site)
{
	return site == SITE_PARK || site == SITE_DESTROY || site == SITE_RESUME ||
	       (site >= SITE_GOSCHED && site <= SITE_PREEMPTPARK);
}

static bool is_stack(const struct ring_record *next)
{
	return next->size < sizeof(struct raw_record) ||
	       ((const struct raw_record *)next->data)->site == SITE_STACK;
}

/* Returns whether the record is later than the time at which recording stopped for other threads. Stacks are
 * kept because the kernel considers them sent, and markers because gotrace makes them. */
static bool is_too_late(const struct drain *drain, const struct raw_record *record)
{
	return drain->until_ns && record->time > drain->until_ns && record->site != SITE_MARKER;
}

/* A tracepoint of system calls, or of switches, in a Go program. */
static bool site_is_of_kernel(uint8_t site)
{
	return site == SITE_SYS_ENTER || site == SITE_SYS_EXIT || site == SITE_OFF_CPU;
}

static int drain_take(struct drain *drain, const struct ring_record *next)
{
	const struct raw_record *sent = next->data;
	struct raw_record *record;
	int rc = 0;

	if (is_stack(next))
		return drain_take_stack(drain, next->data, next->size);
	if (is_too_late(drain, sent))
		return 0;
	if (sent->flags & RAW_VALUES)
		return drain_take_values(drain, next->data, next->size);
	if (next->size != sizeof(*record))
		return drain_take_text(drain, next->data, next->size);
	if (sent->site == SITE_SWITCH || sent->site == SITE_SYSCALL)
		rc = drain_describe_file(drain, sent->arg2, sent->goid);
	if (rc)
		return rc;
	record = &drain->batch[drain->n];
	memcpy(record, next->data, sizeof(*record));
	drain->records++;
	drain->syscalls += site_is_of_kernel(record->site);
	if (!site_is_of_kernel(record->site) && record->time > drain->last_ns)
		drain->last_ns = record->time;
	drain->functions += record->site == SITE_FUNCTION_BEGIN || record->site == SITE_FUNCTION_END;
	drain->samples += record->site == SITE_CPU_SAMPLE;
	drain->execs += record->site == SITE_EXEC;
	drain->mapped += record->site == SITE_MAPPED || record->site == SITE_EXEC;
	if (drain->processes)
		processes_on_record(drain->processes, record);
	drain->stops += is_stop(record->site);
	drain->heap += is_heap_site(record->site);
	if (record->site == SITE_MARKER)
		drain->last_marker = record->arg;
	return ++drain->n == DRAIN_BATCH ? drain_flush(drain) : 0;
}

/* Rings are always readable while they hold something. With EPOLLET, only a wakeup by their programs counts.
 */
static int watch_rings(struct drain *drain, const int *fds, struct error *err)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};

	drain->wakeups = epoll_create1(EPOLL_CLOEXEC);
	for (unsigned i = 0; drain->wakeups >= 0 && i < drain->nrings; i++) {
		if (epoll_ctl(drain->wakeups, EPOLL_CTL_ADD, fds[i], &event))
			return error_set(err, errno, "cannot wait for a ring: %s", strerror(errno));
	}
	return drain->wakeups < 0 ? error_set(err, errno, "cannot wait for a ring: %s", strerror(errno)) : 0;
}

int drain_open(struct drain *drain, const int *fds, const struct rings_plan *plan,
	       const struct log_outlet *outlet, struct error *err)
{
	drain->outlet = *outlet;
	merge_init(&drain->merge, plan->count, now_ns());
	while (drain->nrings < plan->count) {
		int rc = ring_map(&drain->rings[drain->nrings], fds[drain->nrings], plan->bytes, err);

		if (rc)
			return rc;
		drain->nrings++;
	}
	return watch_rings(drain, fds, err);
}

void drain_woken(struct drain *drain)
{
	struct epoll_event events[MAX_RINGS];

	epoll_wait(drain->wakeups, events, MAX_RINGS, 0);
}

/*
 * The order of a single ring is the order of the log. Producers may be faster than this loop, so a round
 * stops at the position where the ring ended when the round began.
 */
static int take_ring(struct drain *drain)
{
	struct ring *ring = &drain->rings[0];
	uint64_t end = ring_end(ring);
	struct ring_record next;
	int rc = 0;

	while (rc == 0 && !drain->is_held && ring_peek(ring, end, &next)) {
		rc = drain_take(drain, &next);
		ring_pass(ring, &next);
	}
	return rc;
}

static bool peek_next(void *ctx, unsigned which, uint64_t *time)
{
	struct drain *drain = ctx;
	struct ring_record *next = &drain->next[which];

	if (drain->is_held || !ring_peek(&drain->rings[which], drain->rings[which].complete, next))
		return false;
	*time = is_stack(next) ? 0 : ((const struct raw_record *)next->data)->time;
	return true;
}

static int take_next(void *ctx, unsigned which)
{
	struct drain *drain = ctx;
	int rc = drain_take(drain, &drain->next[which]);

	ring_pass(&drain->rings[which], &drain->next[which]);
	return rc;
}

static int merge_rings(struct drain *drain)
{
	struct merge_input input = {.ctx = drain, .peek = peek_next, .take = take_next};
	uint64_t now = now_ns(), ends[MAX_RINGS];

	for (unsigned i = 0; i < drain->nrings; i++)
		ends[i] = ring_end(&drain->rings[i]);
	for (unsigned i = 0; i < drain->nrings; i++) {
		if (ring_is_complete(&drain->rings[i], ends[i]))
			merge_complete_at(&drain->merge, i, now);
	}
	return merge_run(&drain->merge, &input);
}

double drain_fill(const struct drain *drain)
{
	double most = 0;

	for (unsigned i = 0; i < drain->nrings; i++) {
		double fill = ring_fill(&drain->rings[i]);

		most = fill > most ? fill : most;
	}
	return most;
}

/*
 * Measures how fast the rings have been filling since the last time. Threads of the target may just not have
 * had a CPU, so a rate is forgotten only by half each time.
 */
static void update_rate(struct drain *drain)
{
	uint64_t now = now_ns(), since = now - drain->rated_ns, most = 0;
	double rate;

	if (since < RATE_NS)
		return;
	for (unsigned i = 0; i < drain->nrings; i++) {
		uint64_t end = ring_end(&drain->rings[i]), grown = end - drain->ends[i];

		most = grown > most ? grown : most;
		drain->ends[i] = end;
	}
	rate = (double)most / (double)(drain->rings[0].mask + 1) * 1e9 / (double)since;
	drain->rate = rate > drain->rate / 2 ? rate : drain->rate / 2;
	drain->rated_ns = now;
}

bool drain_is_empty(const struct drain *drain)
{
	return drain_fill(drain) == 0;
}

uint64_t drain_count(const struct drain *drain)
{
	return drain->records + drain->stacks;
}

int drain_all(struct drain *drain)
{
	uint64_t before = drain_count(drain);

	drain->fill = drain_fill(drain);
	update_rate(drain);
	drain->is_held = !drain->is_last && drain->outlet.fill(drain->outlet.ctx) >= 1;
	if (drain->nrings == 1)
		take_ring(drain);
	else
		merge_rings(drain);
	for (unsigned i = 0; i < drain->nrings; i++)
		ring_commit(&drain->rings[i]);
	if (!drain->sink_error)
		drain_flush(drain);
	drain->outlet.flush(drain->outlet.ctx);
	if (drain->sink_error)
		return drain->sink_error;
	before = drain_count(drain) - before;
	return before > 1 << 30 ? 1 << 30 : (int)before;
}

int drain_until(struct drain *drain, uint64_t time)
{
	const struct timespec pause = {.tv_nsec = UNTIL_NS};

	for (int tries = 0; tries < UNTIL_TRIES; tries++) {
		int rc = drain_all(drain);

		if (rc < 0)
			return rc;
		if (drain->nrings == 1 || drain->merge.passed >= time)
			break;
		nanosleep(&pause, NULL);
	}
	return 0;
}

uint64_t drain_hits(const struct drain *drain)
{
	return drain->records - drain->samples;
}

void drain_close(struct drain *drain)
{
	for (unsigned i = 0; i < drain->nrings; i++)
		ring_unmap(&drain->rings[i]);
	drain->nrings = 0;
	if (drain->wakeups > 0)
		close(drain->wakeups);
	drain->wakeups = 0;
	files_free(&drain->files);
}
