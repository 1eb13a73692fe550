/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Functions of libraries that wait for what a setting limits. A trace does not have the setting, but its name
 * helps. */
#include <string.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"

enum { MIN_N = 10 };

static const struct {
	const char *func; /* what the name begins with, behind the directories of its package */
	const char *what;
} known_waits[] = {
	{"transport.(*http2Client).NewStream",
	 "a free stream of the connection: the server's MaxConcurrentStreams"},
	{"http2.(*ClientConn).awaitOpenSlot",
	 "a free stream of the connection: the server's MaxConcurrentStreams"},
	{"http.(*http2ClientConn).awaitOpenSlot",
	 "a free stream of the connection: the server's MaxConcurrentStreams"},
	{"http.(*Transport).getConn",
	 "a connection, which is being dialled, or one of Transport.MaxConnsPerHost"},
	{"sql.(*DB).conn", "one of the pool's connections: DB.SetMaxOpenConns"},
	{"pgxpool.(*Pool).Acquire", "one of the pool's connections: MaxConns of pgxpool"},
	{"pool.(*ConnPool).waitTurn", "one of the client's connections: PoolSize of go-redis"},
	{"rate.(*Limiter).wait", "the limit of rate.Limiter"},
	{"semaphore.(*Weighted).Acquire", "a semaphore: its size is an argument of semaphore.NewWeighted"},
	{"errgroup.(*Group).Go", "one of the group's goroutines: SetLimit"},
	{"v2.(*Pool).retrieveWorker", "a worker of the pool: the size given to ants.NewPool"},
	{"netutil.(*limitListener).acquire", "one of the connections that netutil.LimitListener allows"},
};

/* NULL if what the stack waits for is not known. */
static const char *known_wait(const struct analysis *a, uint32_t stack)
{
	const struct stack_info *info = &a->stacks[stack];

	for (uint32_t i = 0; i < info->n && i <= info->site; i++) {
		const char *func = short_function(name_text(a, a->frames[info->first + i].func));

		for (size_t k = 0; k < sizeof(known_waits) / sizeof(known_waits[0]); k++) {
			if (strncmp(func, known_waits[k].func, strlen(known_waits[k].func)) == 0)
				return known_waits[k].what;
		}
	}
	return NULL;
}

void known_wait_evidence(const struct analysis *a, struct finding *finding, unsigned activity)
{
	const char *what = activity_is_for_others(activity) ? known_wait(a, finding->stack) : NULL;

	if (what)
		finding_evidence(finding, "the wait is for %s", what);
}

static bool place_has_finding(const struct analysis *a, uint32_t stack)
{
	for (unsigned i = 0; i < a->nfindings; i++) {
		if (a->findings[i].stack && stacks_share_site(a, a->findings[i].stack, stack))
			return true;
	}
	return false;
}

/* Limits may be meant, so these waits are no more than information, where nothing else is said of them. */
void rule_limit_place(struct analysis *a)
{
	const struct row *most = NULL;
	struct finding *finding;

	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];

		if (row->hist.n >= MIN_N && (!most || row->hist.sum > most->hist.sum) &&
		    activity_is_for_others(row->activity) && known_wait(a, row->stack) &&
		    !place_has_finding(a, row->stack))
			most = row;
	}
	if (!most || share_of_tasks(a, (double)most->hist.sum) < 0.05)
		return;
	finding = finding_add(a, "limit-place", share_of_tasks(a, (double)most->hist.sum));
	finding_at_most(finding, LEVEL_INFO);
	finding_text(finding, "%s waited %s for %s.", label_stack(a, most->stack).text,
		     label_time(most->hist.sum).text, known_wait(a, most->stack));
	row_evidence(a, finding, most);
}
