/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Hands the log over to another thread: whoever drains the ring must not wait
 * for a generation to be encoded. The other thread steps back behind the
 * target while there is time.
 */
#ifndef GOTRACE_RELAY_H
#define GOTRACE_RELAY_H

#include "rawlog/rawlog.h"

struct relay;

/* Starts the thread, in which sink will be called. NULL: out of memory, or of threads. */
struct relay *relay_new(log_sink sink, void *ctx);
/* A log_sink: copies the record. Waits only when 16 MiB have not been taken yet. Returns once what the sink
 * has failed with meanwhile. */
int relay_put(void *relay, const struct log_record *record);
/* Waits until the sink has taken all; until the next relay_put what it works on is the caller's alone.
 * Returns what relay_put would. */
int relay_flush(struct relay *relay);
void relay_free(struct relay *relay); /* flushes first; NULL is allowed */

#endif
