/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What threads write to each TCP connection, and when the other end's next request comes: a server that waits
 * for many connections at a time shows in no wait of its own that one of them stalls.
 */
#ifndef GOTRACE_ANALYSIS_CONNECTIONS_H
#define GOTRACE_ANALYSIS_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/map64.h"

struct analysis;
struct goroutine;
struct op;

/*
 * Linux delays an acknowledgement by 40 ms (TCP_DELACK_MIN, include/net/tcp.h); without TCP_NODELAY, the
 * second of two small writes waits for that of the first.
 */
#define LEAST_ACK_NS 39000000
#define MOST_ACK_NS  48000000

struct connection {
	uint64_t written_at; /* ns: begin of the last write */
	uint32_t writes;     /* since the last request; 0 = none, or counted */
	uint32_t stack;      /* of the last write */
	bool is_read;        /* since that write */
};

/* Answers, and how long after them the next request came: as late as a delayed acknowledgement, or sooner. */
struct replies {
	uint64_t n, late;
	uint64_t soon_ns, late_ns;
};

struct connections {
	uint32_t *of_stack; /* by stack id of the tables: 1 + index in all; 0 = not seen, UINT32_MAX = none */
	size_t nof_stack;
	struct map64 index; /* by a hash of the descriptor and its peer */
	struct connection *all;
	size_t n, capacity;
	struct replies in_one; /* in one write */
};

/* A thread's system call begins, so that its previous one is over. stack: index of the op's. */
void connections_call(struct analysis *a, struct goroutine *g, const struct op *op, uint32_t stack);
/* After time that was not watched: whether the other end asked meanwhile is not known. */
void connections_resume(struct analysis *a);
void connections_free(struct connections *connections);

#endif
