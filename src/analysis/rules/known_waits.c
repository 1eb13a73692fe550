/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Functions of libraries that wait for what a setting limits. A trace does not have the setting, but its name
 * helps. */
#include <string.h>

#include "analysis/finding.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"

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
};

void known_wait_evidence(const struct analysis *a, struct finding *finding)
{
	const struct stack_info *info = &a->stacks[finding->stack];

	for (uint32_t i = 0; i < info->n && i <= info->site; i++) {
		const char *func = short_function(name_text(a, a->frames[info->first + i].func));

		for (size_t k = 0; k < sizeof(known_waits) / sizeof(known_waits[0]); k++) {
			if (strncmp(func, known_waits[k].func, strlen(known_waits[k].func)))
				continue;
			finding_evidence(finding, "the wait is for %s", known_waits[k].what);
			return;
		}
	}
}
