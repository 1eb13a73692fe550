/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "rawlog/relay.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	CHUNK_BYTES = 1 << 20,
	MAX_WAITING = 16 << 20, /* bytes not taken yet */
	HURRY = 2 << 20,        /* from so many on the thread does not step back */
	NICE = 19,
};

struct chunk {
	struct chunk *next;
	size_t used, size;
	uint64_t bytes[]; /* entries, each a struct entry and its payload, 8-byte aligned */
};

struct entry {
	uint32_t type, size;
};

struct relay {
	log_sink sink;
	void *ctx;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more, done; /* there is something to take; something was taken */
	struct chunk *first, *last;
	struct chunk *spare;
	size_t waiting; /* bytes put and not taken yet */
	bool busy, ending, hurried;
	bool awaited; /* somebody waits in relay_flush */
	int error;
	pid_t tid; /* 0: its pace cannot be set */
};

static size_t padded(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

/* Threads have a niceness of their own on Linux. Who may not go forward again (that takes CAP_SYS_NICE) does
 * not step back. */
static void step_back(struct relay *relay)
{
	relay->tid = (pid_t)syscall(SYS_gettid);
	relay->hurried = true;
	if (setpriority(PRIO_PROCESS, (id_t)relay->tid, -1))
		relay->tid = 0;
}

static void set_pace(struct relay *relay)
{
	bool hurry = relay->waiting > HURRY || relay->awaited;

	if (hurry != relay->hurried && relay->tid &&
	    !setpriority(PRIO_PROCESS, (id_t)relay->tid, hurry ? 0 : NICE))
		relay->hurried = hurry;
}

static int take_chunk(struct relay *relay, const struct chunk *chunk)
{
	int rc = 0;

	for (size_t at = 0; at < chunk->used;) {
		const struct entry *entry = (const void *)((const char *)chunk->bytes + at);
		struct log_record record = {.type = entry->type, .size = entry->size, .data = entry + 1};
		int failed = relay->sink(relay->ctx, &record);

		rc = rc ? rc : failed;
		at += sizeof(*entry) + padded(entry->size);
	}
	return rc;
}

static void put_back(struct relay *relay, struct chunk *chunk)
{
	relay->waiting -= chunk->used;
	if (chunk->size == CHUNK_BYTES && !relay->spare) {
		relay->spare = chunk;
		chunk->next = NULL;
	} else {
		free(chunk);
	}
}

static void *work(void *ctx)
{
	struct relay *relay = ctx;

	pthread_mutex_lock(&relay->lock);
	step_back(relay);
	set_pace(relay);
	for (;;) {
		struct chunk *chunk = relay->first;
		int rc;

		if (!chunk && relay->ending)
			break;
		if (!chunk) {
			pthread_cond_wait(&relay->more, &relay->lock);
			continue;
		}
		relay->first = chunk->next;
		relay->last = relay->first ? relay->last : NULL;
		relay->busy = true;
		pthread_mutex_unlock(&relay->lock);
		rc = take_chunk(relay, chunk);
		pthread_mutex_lock(&relay->lock);
		relay->busy = false;
		relay->error = relay->error ? relay->error : rc;
		put_back(relay, chunk);
		set_pace(relay);
		pthread_cond_signal(&relay->done);
	}
	pthread_mutex_unlock(&relay->lock);
	return NULL;
}

/* Signals are for the thread that waits for them. */
static int start_thread(struct relay *relay)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&relay->thread, NULL, work, relay);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

struct relay *relay_new(log_sink sink, void *ctx)
{
	struct relay *relay = calloc(1, sizeof(*relay));

	if (!relay)
		return NULL;
	*relay = (struct relay){.sink = sink,
				.ctx = ctx,
				.lock = PTHREAD_MUTEX_INITIALIZER,
				.more = PTHREAD_COND_INITIALIZER,
				.done = PTHREAD_COND_INITIALIZER};
	if (start_thread(relay)) {
		free(relay);
		return NULL;
	}
	return relay;
}

static struct chunk *new_chunk(struct relay *relay, size_t need)
{
	size_t size = need > CHUNK_BYTES ? need : CHUNK_BYTES;
	struct chunk *chunk = relay->spare;

	if (chunk && size == CHUNK_BYTES)
		relay->spare = NULL;
	else
		chunk = malloc(sizeof(*chunk) + size);
	if (chunk)
		*chunk = (struct chunk){.size = size};
	return chunk;
}

/* The chunk that takes so many bytes, at the end of the list. */
static struct chunk *room_for(struct relay *relay, size_t need)
{
	struct chunk *last = relay->last;

	if (last && last->size - last->used >= need)
		return last;
	last = new_chunk(relay, need);
	if (!last)
		return NULL;
	if (relay->last)
		relay->last->next = last;
	else
		relay->first = last;
	relay->last = last;
	return last;
}

static int take_error(struct relay *relay)
{
	int rc = relay->error;

	relay->error = 0;
	return rc;
}

int relay_put(void *ctx, const struct log_record *record)
{
	struct relay *relay = ctx;
	struct entry entry = {.type = record->type, .size = record->size};
	size_t need = sizeof(entry) + padded(record->size);
	struct chunk *chunk;
	int rc;

	pthread_mutex_lock(&relay->lock);
	while (relay->waiting > MAX_WAITING)
		pthread_cond_wait(&relay->done, &relay->lock);
	chunk = room_for(relay, need);
	if (chunk) {
		char *to = (char *)chunk->bytes + chunk->used;

		memcpy(to, &entry, sizeof(entry));
		if (record->size)
			memcpy(to + sizeof(entry), record->data, record->size);
		chunk->used += need;
		relay->waiting += need;
	}
	rc = chunk ? take_error(relay) : -ENOMEM;
	set_pace(relay);
	pthread_cond_signal(&relay->more);
	pthread_mutex_unlock(&relay->lock);
	return rc;
}

int relay_flush(struct relay *relay)
{
	int rc;

	pthread_mutex_lock(&relay->lock);
	relay->awaited = true;
	set_pace(relay);
	while (relay->first || relay->busy)
		pthread_cond_wait(&relay->done, &relay->lock);
	relay->awaited = false;
	set_pace(relay);
	rc = take_error(relay);
	pthread_mutex_unlock(&relay->lock);
	return rc;
}

void relay_free(struct relay *relay)
{
	if (!relay)
		return;
	pthread_mutex_lock(&relay->lock);
	relay->ending = true;
	pthread_cond_signal(&relay->more);
	pthread_mutex_unlock(&relay->lock);
	pthread_join(relay->thread, NULL);
	free(relay->spare);
	free(relay);
}
