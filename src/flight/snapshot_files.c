/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "flight/snapshot_files.h"

#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "flight/snapshot_worker.h"
#include "sandbox/privilege.h"
#include "util/thread.h"

enum snapshot_phase { IDLE, PUT, WRITTEN };

struct snapshot_files {
	struct snapshot_store *store;
	struct channel channel; /* to the snapshot worker */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum snapshot_phase phase;
	bool ending;
	enum wire_format format;
	struct snapshot_origin origin;
	struct snapshot_result result;
};

static int snapshot_files_fill(void *ctx, int fd, size_t max_bytes, struct error *err)
{
	struct snapshot_files *files = ctx;

	const struct snapshot_form form = {
		.format = files->format, .max_bytes = max_bytes, .window = files->origin.window};

	return snapshot_worker_ask(&files->channel, &form, fd, files->store->dir, err);
}

static void write_it(struct snapshot_files *files)
{
	const struct snapshot_source source = {.write = snapshot_files_fill, .ctx = files};
	struct snapshot_result *result = &files->result;

	result->code = snapshot_store_write(files->store, &source, &files->origin, time(NULL), &result->entry,
					    &result->error);
}

/* The thread writes files in any directory, for the user who ran sudo. It needs no other privileges. */
static int keep_files_alone(struct error *err)
{
	return privilege_keep(PRIVILEGE(CAP_DAC_OVERRIDE) | PRIVILEGE(CAP_CHOWN) | PRIVILEGE(CAP_FOWNER),
			      err);
}

static void *snapshot_files_work(void *ctx)
{
	struct snapshot_files *files = ctx;
	struct error none;
	bool reduced = keep_files_alone(&none) == 0;

	pthread_mutex_lock(&files->lock);
	for (;;) {
		while (files->phase != PUT && !files->ending)
			pthread_cond_wait(&files->changed, &files->lock);
		if (files->phase != PUT)
			break;
		pthread_mutex_unlock(&files->lock);
		if (reduced)
			write_it(files);
		else
			files->result.code = error_set(&files->result.error, EPERM, "%s", none.text);
		pthread_mutex_lock(&files->lock);
		files->phase = WRITTEN;
		pthread_cond_broadcast(&files->changed);
	}
	pthread_mutex_unlock(&files->lock);
	return NULL;
}

struct snapshot_files *snapshot_files_new(struct snapshot_store *store, int fd)
{
	struct snapshot_files *files = calloc(1, sizeof(*files));

	if (!files) {
		close(fd);
		return NULL;
	}
	files->store = store;
	pthread_mutex_init(&files->lock, NULL);
	pthread_cond_init(&files->changed, NULL);
	if (channel_open(&files->channel, fd) || thread_start(&files->thread, snapshot_files_work, files)) {
		channel_close(&files->channel);
		free(files);
		return NULL;
	}
	return files;
}

void snapshot_files_free(struct snapshot_files *files)
{
	if (!files)
		return;
	pthread_mutex_lock(&files->lock);
	files->ending = true;
	pthread_cond_broadcast(&files->changed);
	pthread_mutex_unlock(&files->lock);
	pthread_join(files->thread, NULL);
	channel_close(&files->channel);
	free(files);
}

void snapshot_files_give_up(struct snapshot_files *files)
{
	shutdown(files->channel.fd, SHUT_RDWR);
}

void snapshot_files_put(struct snapshot_files *files, enum wire_format format,
			const struct snapshot_origin *origin)
{
	pthread_mutex_lock(&files->lock);
	files->format = format;
	files->origin = *origin;
	files->result = (struct snapshot_result){.code = 0};
	files->phase = PUT;
	pthread_cond_broadcast(&files->changed);
	pthread_mutex_unlock(&files->lock);
}

bool snapshot_files_result(struct snapshot_files *files, bool wait, struct snapshot_result *result)
{
	bool written;

	pthread_mutex_lock(&files->lock);
	while (wait && files->phase == PUT)
		pthread_cond_wait(&files->changed, &files->lock);
	written = files->phase == WRITTEN;
	if (written) {
		*result = files->result;
		files->phase = IDLE;
	}
	pthread_mutex_unlock(&files->lock);
	return written;
}
