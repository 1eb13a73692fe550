/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "flight/snapshot_worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "flight/snapshot_bytes.h"
#include "sandbox/filter.h"
#include "sandbox/rpc.h"
#include "util/thread.h"
#include "util/utf8.h"

enum snapshot_request_kind {
	SNAPSHOT_WRITE = 1, /* struct snapshot_request, descriptor of the file -> struct snapshot_answer */
	SNAPSHOT_FORGET,    /* struct snapshot_request -> struct snapshot_answer */
};

struct snapshot_request {
	uint64_t max_bytes;
	struct time_window window;
	uint32_t format, reserved; /* enum wire_format */
};

struct snapshot_answer {
	int32_t code;
	int32_t file_error; /* errno of a file operation; 0 = none */
	uint32_t nothing;   /* there was no snapshot */
	char text[sizeof(((struct error *)NULL)->text)];
};

struct snapshot_worker {
	struct channel channel;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool full, ending;
	struct generation_refs *refs; /* the snapshot, if `full`; NULL: there is none, see `why` */
	struct error why;
};

/* --- the thread --- */

static struct generation_refs *wait_for_snapshot(struct snapshot_worker *worker, struct error *why)
{
	struct generation_refs *refs;

	pthread_mutex_lock(&worker->lock);
	while (!worker->full && !worker->ending)
		pthread_cond_wait(&worker->changed, &worker->lock);
	refs = worker->refs;
	*why = worker->why;
	worker->refs = NULL;
	worker->full = false;
	pthread_mutex_unlock(&worker->lock);
	return refs;
}

static void snapshot_write_file(struct generation_refs *refs, const struct snapshot_request *asked, int fd,
				struct snapshot_answer *written)
{
	const struct snapshot_form form = {.format = (enum wire_format)asked->format,
					   .max_bytes = asked->max_bytes,
					   .window = asked->window};
	struct error why = {""};
	struct output out;

	written->code = output_adopt(&out, fd, "", true, true);
	if (written->code == 0)
		written->code = snapshot_bytes_write(refs, &form, &out, &why);
	written->file_error = written->code ? out.error : 0;
	memcpy(written->text, why.text, sizeof(written->text));
	output_close(&out);
}

static int snapshot_worker_answer(struct snapshot_worker *worker, const struct snapshot_request *asked,
				  int fd)
{
	struct snapshot_answer written = {.code = 0};
	struct error why;
	struct generation_refs *refs = wait_for_snapshot(worker, &why);

	if (!refs) {
		written.nothing = 1;
		written.code = -ENODATA;
		memcpy(written.text, why.text, sizeof(written.text));
	} else if (fd >= 0) {
		snapshot_write_file(refs, asked, fd, &written);
	}
	generation_refs_free(refs);
	return rpc_answer(&worker->channel, 0, NULL, &written, sizeof(written));
}

static int snapshot_worker_serve(struct snapshot_worker *worker)
{
	struct rpc_request request;
	struct snapshot_request asked;
	int rc = rpc_take(&worker->channel, &request, sizeof(asked));

	if (rc == 0 && request.size != sizeof(asked))
		rc = -EBADMSG;
	if (rc == 0) {
		memcpy(&asked, request.bytes, sizeof(asked));
		rc = snapshot_worker_answer(worker, &asked, request.fds[0]);
	}
	rpc_request_free(&request);
	return rc;
}

static void *snapshot_worker_work(void *ctx)
{
	/* The thread's priority is lower than the target's, but not the lowest: a user waits for it. */
	setpriority(PRIO_PROCESS, 0, FILTER_NICE);
	while (snapshot_worker_serve(ctx) == 0)
		continue;
	return NULL;
}

struct snapshot_worker *snapshot_worker_new(int fd)
{
	struct snapshot_worker *worker = calloc(1, sizeof(*worker));

	if (!worker) {
		close(fd);
		return NULL;
	}
	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->changed, NULL);
	if (channel_open(&worker->channel, fd) ||
	    thread_start(&worker->thread, snapshot_worker_work, worker)) {
		channel_close(&worker->channel);
		free(worker);
		return NULL;
	}
	return worker;
}

void snapshot_worker_free(struct snapshot_worker *worker)
{
	if (!worker)
		return;
	shutdown(worker->channel.fd, SHUT_RD);
	pthread_mutex_lock(&worker->lock);
	worker->ending = true;
	pthread_cond_broadcast(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
	pthread_join(worker->thread, NULL);
	generation_refs_free(worker->refs);
	channel_close(&worker->channel);
	free(worker);
}

void snapshot_worker_put(struct snapshot_worker *worker, struct generation_refs *refs,
			 const struct error *why)
{
	pthread_mutex_lock(&worker->lock);
	generation_refs_free(worker->refs);
	worker->refs = refs;
	worker->why = refs ? (struct error){""} : *why;
	worker->full = true;
	pthread_cond_broadcast(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
}

/* --- the requesting side --- */

static int snapshot_explain(struct snapshot_answer *written, const char *place, struct error *err)
{
	int code = written->file_error;

	written->text[sizeof(written->text) - 1] = '\0';
	text_make_printable(written->text);
	if (written->nothing)
		return error_set(err, ENODATA, "%s", written->text);
	if (code > 0 && code < 4096)
		return error_set(err, code, "cannot write to %s: %s", place, strerror(code));
	code = written->code < 0 && written->code > -4096 ? -written->code : EIO;
	return error_set(err, code, "cannot write the snapshot: %s",
			 written->text[0] ? written->text : strerror(code));
}

int snapshot_worker_ask(struct channel *channel, const struct snapshot_form *form, int fd, const char *place,
			struct error *err)
{
	const struct snapshot_request asked = {
		.max_bytes = form->max_bytes, .window = form->window, .format = (uint32_t)form->format};
	struct rpc request = {.kind = fd >= 0 ? SNAPSHOT_WRITE : SNAPSHOT_FORGET,
			      .bytes = &asked,
			      .size = sizeof(asked),
			      .send = {fd},
			      .nsend = fd >= 0};
	struct snapshot_answer written;
	int rc = rpc_call_for(channel, &request, &written, sizeof(written));

	if (rc == 0 && request.code < 0)
		rc = request.code;
	if (rc)
		return error_set(err, -rc, "cannot write the snapshot: the process that writes it has ended");
	return written.code || written.nothing ? snapshot_explain(&written, place, err) : 0;
}
