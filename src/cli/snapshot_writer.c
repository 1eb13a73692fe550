/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/snapshot_writer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NICE = 10 }; /* behind the target, but a snapshot is waited for */

enum phase { IDLE, PUT, WRITTEN };

struct snapshot_writer {
	struct store *store;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum phase phase;
	bool ending;
	struct kept *kept;
	enum wire_format format;
	pid_t pid;
	struct snapshot_result result;
};

static void write_it(struct snapshot_writer *writer)
{
	struct snapshot_result *result = &writer->result;

	if (writer->kept)
		result->code = store_write(writer->store, writer->kept, writer->format, writer->pid,
					   time(NULL), &result->entry, &result->error);
	kept_free(writer->kept);
	writer->kept = NULL;
}

static void *work(void *ctx)
{
	struct snapshot_writer *writer = ctx;

	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
	pthread_mutex_lock(&writer->lock);
	for (;;) {
		while (writer->phase != PUT && !writer->ending)
			pthread_cond_wait(&writer->changed, &writer->lock);
		if (writer->phase != PUT)
			break;
		pthread_mutex_unlock(&writer->lock);
		write_it(writer);
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

struct snapshot_writer *snapshot_writer_new(struct store *store)
{
	struct snapshot_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return NULL;
	writer->store = store;
	pthread_mutex_init(&writer->lock, NULL);
	pthread_cond_init(&writer->changed, NULL);
	if (start_thread(writer)) {
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
	free(writer);
}

void snapshot_writer_put(struct snapshot_writer *writer, struct kept *kept, enum wire_format format,
			 pid_t pid, const struct error *why)
{
	pthread_mutex_lock(&writer->lock);
	writer->kept = kept;
	writer->format = format;
	writer->pid = pid;
	writer->result = (struct snapshot_result){.code = 0};
	if (!kept) {
		writer->result.code = -ENODATA;
		writer->result.error = *why;
	}
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
