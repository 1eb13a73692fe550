/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Passes the log to the process that makes the trace, through shared memory. The producer copies each record
 * once, and the consumer reads it in place. The producer never waits: unread records accumulate, and the
 * producer checks their amount (queue_fill) before it adds more.
 *
 * One thread of one process puts, and one thread of another process takes. The memory is allocated before the
 * fork. The producer reads only the consumer's position from it, and validates that.
 */
#ifndef GOTRACE_RAWLOG_QUEUE_H
#define GOTRACE_RAWLOG_QUEUE_H

#include "rawlog/rawlog.h"
#include "util/error.h"

struct queue;

/* budget: bytes; queue_fill() is relative to it. Returns NULL and sets *err if out of memory. */
struct queue *queue_new(size_t budget, struct error *err);
/* Each process frees its own side. NULL is allowed. */
void queue_free(struct queue *queue);

/* A log_sink: appends the record. Returns 0, or -ENOBUFS if the unread records far exceed the budget. */
int queue_put(void *queue, const struct log_record *record);
/* Wakes the consumer if it sleeps. Until then, it may not notice new records. */
void queue_wake(struct queue *queue);
/* The same, if anything has been put since the last time. */
void queue_flush(struct queue *queue);
/* Returns the unread bytes as a fraction of the budget; may exceed 1. */
double queue_fill(const struct queue *queue);

/* For the consumer: gets the next record, valid until the next call. Returns false if there is none now. */
bool queue_take(struct queue *queue, struct log_record *record);
/* Call it before checking for other reasons to wake up. Any later queue_wake() ends queue_wait(). */
void queue_arm(struct queue *queue);
/* Sleeps until there is a record, queue_wake is called, or timeout_ms have passed. */
void queue_wait(struct queue *queue, unsigned timeout_ms);

#endif
