/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Most of the time of a handler of HTTP or gRPC is one wait, or code, at one place: of requests that are no
 * tasks, by their stacks. A healthy server waits for its back ends, too, so it is no more than information.
 */
#include <stdlib.h>

#include "analysis/cpu.h"
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/handlers.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"
#include "analysis/tables.h"
#include "analysis/top.h"

#define LONG_POLL_NS 1000000000ull

enum { MIN_N = 20, MOST_PLACES = 16, MOST = 3, LEAST_REQUESTS = 5, LEAST_EACH = 3 };

struct wait_place {
	const struct row *most; /* of those at this place */
	uint64_t n, ns;
};

struct handler {
	uint32_t func; /* string */
	uint64_t ns;   /* of all its waits, calls and samples */
	struct wait_place places[MOST_PLACES];
	unsigned nplaces;
	uint32_t runs;    /* stack id: where it runs most */
	uint64_t samples; /* there */
};

struct handlers {
	struct handler all[MAX_HANDLERS];
	unsigned n;
};

/* Returns the handler that a stack is in; NULL if there is none, or too many. */
static struct handler *handler_of(struct analysis *a, struct handlers *handlers, uint32_t stack)
{
	uint32_t func = handler_look_up(a, stack);

	if (!func)
		return NULL;
	for (unsigned i = 0; i < handlers->n; i++) {
		if (handlers->all[i].func == func)
			return &handlers->all[i];
	}
	if (handlers->n == MAX_HANDLERS)
		return NULL;
	handlers->all[handlers->n].func = func;
	return &handlers->all[handlers->n++];
}

static bool is_same_place(const struct analysis *a, const struct row *one, const struct row *other)
{
	return one->activity == other->activity && stacks_share_site(a, one->stack, other->stack) &&
	       stack_leaf(a, one->stack)->func == stack_leaf(a, other->stack)->func;
}

static void handler_add_wait(const struct analysis *a, struct handler *handler, const struct row *row)
{
	unsigned i = 0;

	handler->ns += row->hist.sum;
	while (i < handler->nplaces && !is_same_place(a, handler->places[i].most, row))
		i++;
	if (i == MOST_PLACES)
		return;
	if (i == handler->nplaces)
		handler->places[handler->nplaces++] = (struct wait_place){.most = row};
	handler->places[i].n += row->hist.n;
	handler->places[i].ns += row->hist.sum;
	if (row->hist.sum > handler->places[i].most->hist.sum)
		handler->places[i].most = row;
}

static uint64_t samples_ns(const struct analysis *a, uint64_t n)
{
	return (uint64_t)((double)n * cpu_sample_ns(a));
}

/* Samples of one function with one stack. */
static void handler_add_samples(const struct analysis *a, struct handler *handler, const struct top *stack)
{
	handler->ns += samples_ns(a, stack->weight);
	if (stack->weight <= handler->samples)
		return;
	handler->samples = stack->weight;
	handler->runs = (uint32_t)stack->key;
}

/* A handler that keeps its connection as a WebSocket waits for what the client has to say. */
static bool waits_for_message(const struct analysis *a, const struct row *row)
{
	return !io_call_writes(a->stacks[row->stack].io_call) &&
	       stack_mentions(a, row->stack, "websocket.(*Conn).");
}

static void request_place_gather(struct analysis *a, struct handlers *handlers)
{
	struct handler *handler;

	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];

		if (!activity_is_blocked(row->activity) || !row->hist.n)
			continue;
		handler = handler_of(a, handlers, row->stack);
		if (handler && !waits_for_message(a, row))
			handler_add_wait(a, handler, row);
	}
	for (uint32_t i = 1; i < a->cpu.nrows; i++) {
		const struct top *stacks = a->cpu.rows[i].stacks;

		for (unsigned j = 0; j < TOPS; j++) {
			handler = stacks[j].n ? handler_of(a, handlers, (uint32_t)stacks[j].key) : NULL;
			if (handler)
				handler_add_samples(a, handler, &stacks[j]);
		}
	}
}

/* In percent, of all the time of the handler's requests, also that in which they run or want to. */
static double percent_of(const struct analysis *a, const struct handler *handler, uint64_t ns)
{
	const struct handler_requests *requests = handler_requests_of(a, handler->func);
	uint64_t all = requests ? activities_ns(requests->spent) + requests->before_ns : 0;

	return 100 * (double)ns / (double)(all > handler->ns ? all : handler->ns);
}

/* How often a request waits here, one time after the other; and what of its time it has no CPU. */
static void requests_evidence(const struct analysis *a, struct finding *finding,
			      const struct handler *handler, uint64_t waits)
{
	const struct handler_requests *requests = handler_requests_of(a, handler->func);
	double ready = requests ? (double)requests->spent[ACT_RUNNABLE] /
					  (double)(activities_ns(requests->spent) + 1)
				: 0;

	if (requests && requests->n >= LEAST_REQUESTS && waits >= LEAST_EACH * requests->n)
		finding_evidence(
			finding,
			"%llu requests, each of which does so %.0f times (mean), one after the other",
			(unsigned long long)requests->n, (double)waits / (double)requests->n);
	if (ready >= 0.2)
		finding_evidence(finding, "%.0f %% of the time of these requests is %s", 100 * ready,
				 activity_name(ACT_RUNNABLE));
}

static void describe_run(struct analysis *a, const struct handler *handler)
{
	uint64_t ns = samples_ns(a, handler->samples);
	struct finding *finding = finding_add(a, "request-place", share_of_tasks(a, (double)ns));

	finding_at_most(finding, LEVEL_INFO);
	finding_text(finding, "Requests in %s spend %.0f %% of their time running %s: %s.",
		     label_function(a, handler->func).text, percent_of(a, handler, ns),
		     label_stack(a, handler->runs).text, label_time(ns).text);
	finding->total_ns = ns;
	finding->stack = handler->runs;
	finding_evidence(finding, "%llu CPU samples", (unsigned long long)handler->samples);
	finding_next(finding, "gotrace flame %s -o cpu.html", a->options.file);
}

/*
 * Those that share something wake each other in a chain. Who begins the chain has kept them all waiting.
 * Returns false if it is the one that ends most waits.
 */
static bool name_first_waker(struct analysis *a, struct finding *finding, const struct row *row,
			     const struct pair *pair)
{
	uint32_t index = a->stacks[row->stack].resource;
	const struct resource *res = index ? resource_root(a, index) : NULL;
	const struct top *first = res ? top_first(res->released) : NULL;

	if (!first || !first->n || top_sure(first) * 2 < res->charged_ns ||
	    (!res->lock && res->by_waiters * 2 < res->releases) ||
	    stacks_share_site(a, (uint32_t)first->key, pair->stack))
		return false;
	finding->waker_stack = (uint32_t)first->key;
	finding_evidence(finding, "%.0f %% of that until %s let the first of them go on",
			 100 * (double)top_sure(first) / (double)res->charged_ns,
			 label_stack(a, (uint32_t)first->key).text);
	return true;
}

/* Others have ended most of these waits: names them, and what they did meanwhile. */
static void name_waker(struct analysis *a, struct finding *finding, const struct row *row)
{
	const struct pair *pair = pair_heaviest(a, (uint32_t)(row - a->rows));

	if (!pair->n || !pair->stack || pair->ns * 2 < row->hist.sum || !top_first(pair->did)->n)
		return;
	finding->waker_stack = pair->stack;
	if (stack_is_deadline(a, pair->stack)) {
		finding_evidence(finding, "%llu of them ended at their deadline, after %s on average",
				 (unsigned long long)pair->n, label_time(pair->ns / pair->n).text);
		/* Most of what is asked for fails. Who waits for news has no answer for longer, and is well.
		 */
		if (pair->n >= MIN_N && pair->ns / pair->n < LONG_POLL_NS)
			finding_weigh(finding, finding->impact);
		return;
	}
	if (name_first_waker(a, finding, row, pair))
		return;
	finding_evidence(finding, "ended by %s, meanwhile mostly %s", label_stack(a, pair->stack).text,
			 pair_did(a, pair).text);
}

/* What a system call waits for, where its function says it: a child process (src/os/exec_unix.go). */
static const char *wait_name(const struct analysis *a, const struct row *row)
{
	bool child = row->activity == ACT_SYSCALL &&
		     (stack_calls(a, row->stack, "os.(*Process).pidfdWait") ||
		      stack_calls(a, row->stack, "os.(*Process).blockUntilWaitable") ||
		      stack_calls(a, row->stack, "os.(*Process).wait"));

	return activity_name(child ? ACT_CHILD : (enum activity)row->activity);
}

/* Which of several hosts is slow is not in the stack. */
static void hosts_evidence(const struct analysis *a, struct finding *finding, uint32_t stack)
{
	if (annotated_ns(a, INSTANCE_TASK) <= 0 && stack_calls(a, stack, "net/http.(*persistConn).roundTrip"))
		finding_evidence(finding,
				 "gotrace report -p %s --requests=auto says how long each host takes",
				 label_pid(a).text);
}

static void describe_wait(struct analysis *a, const struct handler *handler, const struct wait_place *most)
{
	struct finding *finding = finding_add(a, "request-place", share_of_tasks(a, (double)most->ns));

	finding->level = LEVEL_INFO; /* unless requests fail */
	finding_text(finding, "Requests in %s spend %.0f %% of their time in %s: %s, %s in all.",
		     label_function(a, handler->func).text, percent_of(a, handler, most->ns),
		     label_stack(a, most->most->stack).text, wait_name(a, most->most),
		     label_time(most->ns).text);
	row_evidence(a, finding, most->most);
	name_waker(a, finding, most->most);
	requests_evidence(a, finding, handler, row_waits(most->most)->n);
	known_wait_evidence(a, finding, most->most->activity);
	hosts_evidence(a, finding, most->most->stack);
	finding->n = most->n;
	finding->total_ns = most->ns;
}

/* Waits of one kind in one function of a library, which the program calls at several places. */
struct library_wait {
	const struct wait_place *most;
	uint64_t n, ns;
	unsigned places;
};

/* The function of a library in which the wait is, as labels name it; 0 = none. */
static uint32_t library_function(const struct analysis *a, const struct wait_place *place)
{
	const struct stack_info *info = &a->stacks[place->most->stack];

	return info->near < info->site ? a->frames[info->first + info->near].func : 0;
}

static struct library_wait library_wait_of(const struct analysis *a, const struct handler *handler,
					   const struct wait_place *like)
{
	struct library_wait wait = {.most = like};
	uint32_t func = library_function(a, like);

	for (unsigned i = 0; func && i < handler->nplaces; i++) {
		const struct wait_place *place = &handler->places[i];

		if (place->most->activity != like->most->activity || library_function(a, place) != func)
			continue;
		wait.n += place->n;
		wait.ns += place->ns;
		wait.places++;
	}
	return wait;
}

static void describe_library_wait(struct analysis *a, const struct handler *handler,
				  const struct library_wait *wait)
{
	const struct row *row = wait->most->most;
	struct finding *finding = finding_add(a, "request-place", share_of_tasks(a, (double)wait->ns));

	finding->level = LEVEL_INFO;
	finding_text(finding,
		     "Requests in %s spend %.0f %% of their time in %s, called at %u places: %s, %s in all.",
		     label_function(a, handler->func).text, percent_of(a, handler, wait->ns),
		     label_function(a, library_function(a, wait->most)).text, wait->places,
		     activity_name((enum activity)row->activity), label_time(wait->ns).text);
	finding_evidence(finding, "mostly at %s", label_stack(a, row->stack).text);
	row_evidence(a, finding, row);
	name_waker(a, finding, row);
	requests_evidence(a, finding, handler, wait->n);
	known_wait_evidence(a, finding, row->activity);
	finding->n = wait->n;
	finding->total_ns = wait->ns;
}

/* Half of what is known of the handler's waits and samples, and so much of all the time of its requests that
 * it says something of them: other waits may have begun before the trace. */
static bool is_much_of(const struct analysis *a, const struct handler *handler, uint64_t ns)
{
	return ns * 2 >= handler->ns && percent_of(a, handler, ns) >= 25;
}

static void request_place_describe(struct analysis *a, const struct handler *handler)
{
	const struct wait_place *most = &handler->places[0];
	struct library_wait wait = {0};

	for (unsigned i = 1; i < handler->nplaces; i++)
		most = handler->places[i].ns > most->ns ? &handler->places[i] : most;
	if (handler->nplaces)
		wait = library_wait_of(a, handler, most);
	if (handler->nplaces && most->n >= MIN_N && is_much_of(a, handler, most->ns))
		describe_wait(a, handler, most);
	else if (wait.n >= MIN_N && is_much_of(a, handler, wait.ns))
		describe_library_wait(a, handler, &wait);
	else if (handler->samples >= MIN_N && is_much_of(a, handler, samples_ns(a, handler->samples)))
		describe_run(a, handler);
}

static int request_place_by_time(const void *one, const void *other)
{
	const struct handler *a = one, *b = other;

	return a->ns > b->ns ? -1 : a->ns < b->ns;
}

void rule_request_place(struct analysis *a)
{
	struct handlers *handlers = calloc(1, sizeof(*handlers));

	if (!handlers) {
		a->oom = true;
		return;
	}
	request_place_gather(a, handlers);
	qsort(handlers->all, handlers->n, sizeof(handlers->all[0]), request_place_by_time);
	for (unsigned i = 0; i < handlers->n && i < MOST; i++)
		request_place_describe(a, &handlers->all[i]);
	free(handlers);
}
