/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the room: one question to a sandbox, and what comes back. */
#ifndef GOTRACE_SANDBOX_CALL_H
#define GOTRACE_SANDBOX_CALL_H

#include "rawlog/rawlog.h"
#include "sandbox/protocol.h"
#include "sandbox/sandbox.h"

struct call {
	uint32_t ask;
	uint64_t arg;
	const void *bytes;
	size_t size;
	int send_fd;   /* goes along; -1 = none */
	log_sink sink; /* takes the answer's records; NULL: there must be none */
	void *ctx;
	/* The answer: */
	int code;      /* what the function returned */
	uint64_t left; /* bytes that follow: to be read with call_read, all of them */
	int fd;        /* that came along, the caller's; -1 = none */
};

/*
 * Asks, and hands records on until the result comes. Returns 0 when there is a result with code >= 0; else
 * the negative code, with the line that came, what the sink gave, or -EPIPE when the sandbox can be talked to
 * no more.
 */
int call_ask(struct sandbox *sandbox, struct call *call, struct error *err);
int call_read(struct sandbox *sandbox, struct call *call, void *to, size_t size, struct error *err);
/* An answer of exactly this size. Anything else makes no sense. */
int call_for(struct sandbox *sandbox, struct call *call, void *to, size_t size, struct error *err);
/* Whether a record is one that a look at a target gives, and well formed. */
bool call_record_is_good(const struct log_record *record);

#endif
