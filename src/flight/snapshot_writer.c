/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "flight/snapshot_writer.h"

#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "flight/scribe.h"
#include "sandbox/privilege.h"

enum phase { IDLE, PUT, WRITTEN };

struct snapshot_writer {
	struct store *store;
	struct channel channel; /* to the scribe */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum phase phase;
	bool ending;
	enum wire_format format;
	pid_t pid;
	struct snapshot_result result;
};

static int fill(void *ctx, int fd, size_t max_bytes, struct error *err)
{
	struct snapshot_writer *writer = ctx;

	return scribe_ask(&writer->channel, writer->format, max_bytes, fd, writer->store->dir, err);
}

static void write_it(struct snapshot_writer *writer)
{
	const struct store_source source = {.write = fill, .ctx = writer};
	struct snapshot_result *result = &writer->result;

	result->code =
		store_write(writer->store, &source, writer->pid, time(NULL), &result->entry, &result->error);
}

/* Files go into whatever directory, for the user behind sudo: that is all that this thread can do. */
static int keep_files_alone(struct error *err)
{
	return privilege_keep(PRIVILEGE(CAP_DAC_OVERRIDE) | PRIVILEGE(CAP_CHOWN) | PRIVILEGE(CAP_FOWNER),
			      err);
}

static void *work(void *ctx)
{
	struct snapshot_writer *writer = ctx;
	struct error none;
	bool reduced = keep_files_alone(&none) == 0;

	pthread_mutex_lock(&writer->lock);
	for (;;) {
		while (writer->phase != PUT && !writer->ending)
			pthread_cond_wait(&writer->changed, &writer->lock);
		if (writer->phase != PUT)
			break;
		pthread_mutex_unlock(&writer->lock);
		if (reduced)
			write_it(writer);
		else
			writer->result.code = error_set(&writer->result.error, EPERM, "%s", none.text);
		pthread_mutex_lock(&writer->lock);
		writer->phase = WRITTEN;
		pthread_cond_broadcast(&writer->changed);
	}
	pthread_mutex_unlock(&writer->lock);
	return NULL;
}

/* Signals are for the thread that waits for them. */
static int start_thread(struct snapshot_writer *writer)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&writer->thread, NULL, work, writer);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

struct snapshot_writer *snapshot_writer_new(struct store *store, int fd)
{
	struct snapshot_writer *writer = calloc(1, sizeof(*writer));

	if (!writer) {
		close(fd);
		return NULL;
	}
	writer->store = store;
	pthread_mutex_init(&writer->lock, NULL);
	pthread_cond_init(&writer->changed, NULL);
	if (channel_open(&writer->channel, fd) || start_thread(writer)) {
		channel_close(&writer->channel);
		free(writer);
		return NULL;
	}
	return writer;
}

void snapshot_writer_free(struct snapshot_writer *writer)
{
	if (!writer)
		return;
	pthread_mutex_lock(&writer->lock);
	writer->ending = true;
	pthread_cond_broadcast(&writer->changed);
	pthread_mutex_unlock(&writer->lock);
	pthread_join(writer->thread, NULL);
	channel_close(&writer->channel);
	free(writer);
}

void snapshot_writer_put(struct snapshot_writer *writer, enum wire_format format, pid_t pid)
{
	pthread_mutex_lock(&writer->lock);
	writer->format = format;
	writer->pid = pid;
	writer->result = (struct snapshot_result){.code = 0};
	writer->phase = PUT;
	pthread_cond_broadcast(&writer->changed);
	pthread_mutex_unlock(&writer->lock);
}

bool snapshot_writer_result(struct snapshot_writer *writer, bool wait, struct snapshot_result *result)
{
	bool written;

	pthread_mutex_lock(&writer->lock);
	while (wait && writer->phase == PUT)
		pthread_cond_wait(&writer->changed, &writer->lock);
	written = writer->phase == WRITTEN;
	if (written) {
		*result = writer->result;
		writer->phase = IDLE;
	}
	pthread_mutex_unlock(&writer->lock);
	return written;
}
