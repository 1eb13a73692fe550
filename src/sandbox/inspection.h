/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: a request to the inspector (protocol.h), and its answer. */
#ifndef GOTRACE_SANDBOX_INSPECTION_H
#define GOTRACE_SANDBOX_INSPECTION_H

#include "rawlog/rawlog.h"
#include "sandbox/protocol.h"
#include "sandbox/rpc.h"
#include "sandbox/sandbox.h"

struct inspection {
	struct rpc rpc;
	log_sink sink; /* receives the answer's records; NULL: there must be none */
	void *ctx;
	/* The answer, in addition to rpc.code and rpc.left: */
	int fd;           /* received with it, the caller's if the request succeeded; -1: none */
	unsigned records; /* number of records before the result */
	uint64_t record_bytes;
	int sink_failure; /* the sink's first negative errno */
};

/*
 * Sends the request, and passes records to the sink until the result arrives. Returns 0 if the result has a
 * code >= 0. Otherwise returns the negative code with its line of text, the sink's error, or -EPIPE if the
 * inspector has been given up.
 */
int inspect(struct sandbox *sandbox, struct inspection *inspection, struct error *err);
int inspection_read(struct sandbox *sandbox, struct inspection *inspection, void *to, size_t size,
		    struct error *err);
/* For a result of exactly this size. Any other size is malformed. */
int inspect_for(struct sandbox *sandbox, struct inspection *inspection, void *to, size_t size,
		struct error *err);
/* Closes the received descriptor, if there is one. */
void inspection_close_fd(struct inspection *inspection);
/* True if the record is well formed, and of a type that the inspector may send. */
bool inspection_record_is_good(const struct log_record *record);

#endif
