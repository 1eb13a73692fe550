/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "analysis/connections.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/intervals.h"
#include "analysis/kinds.h"
#include "analysis/tables.h"
#include "analysis/turns.h"
#include "code/symbol/frame.h"
#include "util/array.h"
#include "util/hash.h"

enum { MOST_CONNECTIONS = 1 << 16 };

#define QUICK_NS 5000000 /* before that, a read may have found nothing yet */
/* The acknowledgement, and what the other end does before its next request. */
#define MOST_LATE_NS 200000000

/* --- which connection --- */

/* "(6: 127.0.0.1:47306)" of "sendto(6: 127.0.0.1:47306)"; NULL if it names no connection of TCP. */
static const char *peer_of(const char *call)
{
	const char *bracket = strchr(call, '('), *colon = bracket ? strstr(bracket, ": ") : NULL;
	const char *port = colon ? strrchr(colon + 2, ':') : NULL;

	return port && port[1] >= '0' && port[1] <= '9' && !strchr(bracket, '/') ? bracket : NULL;
}

static uint32_t find_connection(struct analysis *a, uint32_t id)
{
	struct connections *connections = &a->connections;
	const struct stack *stack = &a->gen->tables->stacks[id];
	size_t len;
	const char *peer = stack->frames && stack->n
				   ? peer_of(tables_string(a->gen->tables, stack->frames[0].func, &len))
				   : NULL;
	uint64_t hash = peer ? hash_bytes(0, peer, strlen(peer)) : 0;
	const uint32_t *known = peer ? map64_get(&connections->index, hash) : NULL;

	if (known)
		return *known;
	if (!peer || connections->n == MOST_CONNECTIONS)
		return UINT32_MAX;
	if (array_grow(&connections->all, &connections->capacity, connections->n + 1,
		       sizeof(*connections->all)) ||
	    map64_set(&connections->index, hash, (uint32_t)connections->n + 1)) {
		a->oom = true;
		return UINT32_MAX;
	}
	return (uint32_t)++connections->n;
}

/* Returns 1 + the index of the connection that a call is on, 0 if there is none. */
static uint32_t connection_of(struct analysis *a, uint32_t id)
{
	struct connections *connections = &a->connections;
	uint32_t *found;

	if (!id || id >= a->gen->tables->nstacks)
		return 0;
	if (id >= connections->nof_stack && array_grow(&connections->of_stack, &connections->nof_stack,
						       id + 1, sizeof(*connections->of_stack))) {
		a->oom = true;
		return 0;
	}
	found = &connections->of_stack[id];
	if (!*found)
		*found = find_connection(a, id);
	return *found == UINT32_MAX ? 0 : *found;
}

/* --- answers --- */

static void count_reply(struct analysis *a, const struct connection *connection, uint64_t ns)
{
	bool late = ns >= LEAST_ACK_NS && ns <= MOST_LATE_NS;
	struct replies *replies = connection->writes > 1 ? &row_get(a, ACT_SYSCALL, connection->stack)->in_two
							 : &a->connections.in_one;

	replies->n++;
	replies->late += late;
	*(late ? &replies->late_ns : &replies->soon_ns) += ns;
}

static void note_write(struct analysis *a, struct connection *connection, uint32_t stack)
{
	if (connection->is_read) {
		if (connection->writes)
			count_reply(a, connection, 0);
		connection->writes = 0;
		connection->is_read = false;
	}
	connection->writes++;
	connection->written_at = a->now;
	connection->stack = stack;
}

static void note_read(struct analysis *a, struct connection *connection)
{
	uint64_t ns = a->now - connection->written_at;

	connection->is_read = true;
	if (!connection->writes || ns < QUICK_NS)
		return;
	count_reply(a, connection, ns);
	connection->writes = 0;
}

void connections_call(struct analysis *a, struct goroutine *g, const struct op *op, uint32_t stack)
{
	uint32_t connection = connection_of(a, op->stack);

	/* A read ends when something has come. */
	if (g->reads)
		note_read(a, &a->connections.all[g->reads - 1]);
	g->reads = 0;
	turn_end(a, g, stack, connection);
	if (!connection)
		return;
	if (io_call_writes(a->stacks[stack].io_call))
		note_write(a, &a->connections.all[connection - 1], stack);
	else
		g->reads = connection;
}

void connections_resume(struct analysis *a)
{
	for (size_t i = 0; i < a->connections.n; i++)
		a->connections.all[i].writes = 0;
	for (size_t i = 1; i < a->ngs; i++)
		a->gs[i].reads = 0;
}

void connections_free(struct connections *connections)
{
	free(connections->of_stack);
	free(connections->all);
	map64_free(&connections->index);
}
