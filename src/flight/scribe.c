/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "flight/scribe.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "flight/snapshot_bytes.h"
#include "util/utf8.h"

enum {
	NICE = 10, /* behind the target, but a snapshot is waited for */
	ASK_WRITE = 1,
	ASK_FORGET,
};

struct asked {
	uint64_t max_bytes;
	uint32_t format, reserved; /* enum wire_format */
};

struct written {
	int32_t code;
	int32_t file_error; /* an errno of the file's own; 0 = none */
	uint32_t nothing;   /* there was no snapshot */
	char text[sizeof(((struct error *)NULL)->text)];
};

struct scribe {
	struct channel channel;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool full, ending;
	struct kept *kept; /* when full; NULL: there is none, and: */
	struct error why;
};

/* --- the thread --- */

static struct kept *wait_for_snapshot(struct scribe *scribe, struct error *why)
{
	struct kept *kept;

	pthread_mutex_lock(&scribe->lock);
	while (!scribe->full && !scribe->ending)
		pthread_cond_wait(&scribe->changed, &scribe->lock);
	kept = scribe->kept;
	*why = scribe->why;
	scribe->kept = NULL;
	scribe->full = false;
	pthread_mutex_unlock(&scribe->lock);
	return kept;
}

static void write_file(struct kept *kept, const struct asked *asked, int fd, struct written *written)
{
	struct error why = {""};
	struct output out;

	written->code = output_adopt(&out, fd, "", true, true);
	if (written->code == 0)
		written->code = snapshot_bytes_write(kept, (enum wire_format)asked->format, asked->max_bytes,
						     &out, &why);
	written->file_error = written->code ? out.error : 0;
	memcpy(written->text, why.text, sizeof(written->text));
	output_close(&out);
}

static int answer(struct scribe *scribe, const struct asked *asked, int fd)
{
	struct message message = {.kind = ASK_WRITE, .size = sizeof(struct written)};
	struct written written = {.code = 0};
	struct error why;
	struct kept *kept = wait_for_snapshot(scribe, &why);
	int rc;

	if (!kept) {
		written.nothing = 1;
		written.code = -ENODATA;
		memcpy(written.text, why.text, sizeof(written.text));
	} else if (fd >= 0) {
		write_file(kept, asked, fd, &written);
	}
	kept_free(kept);
	rc = channel_put(&scribe->channel, &message, &written);
	return rc ? rc : channel_flush(&scribe->channel);
}

static int take(struct scribe *scribe)
{
	int fds[CHANNEL_FDS];
	struct message message;
	struct asked asked;
	int rc = channel_take(&scribe->channel, &message, fds);

	if (rc == 0)
		rc = message.size == sizeof(asked) ? channel_read(&scribe->channel, &asked, sizeof(asked))
						   : -EBADMSG;
	if (rc == 0)
		rc = answer(scribe, &asked, fds[0]);
	if (fds[0] >= 0)
		close(fds[0]);
	return rc;
}

static void *work(void *ctx)
{
	setpriority(PRIO_PROCESS, 0, NICE); /* of this thread */
	while (take(ctx) == 0)
		continue;
	return NULL;
}

/* Signals are for the thread that waits for them. */
static int start_thread(struct scribe *scribe)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&scribe->thread, NULL, work, scribe);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

struct scribe *scribe_new(int fd)
{
	struct scribe *scribe = calloc(1, sizeof(*scribe));

	if (!scribe) {
		close(fd);
		return NULL;
	}
	pthread_mutex_init(&scribe->lock, NULL);
	pthread_cond_init(&scribe->changed, NULL);
	if (channel_open(&scribe->channel, fd) || start_thread(scribe)) {
		channel_close(&scribe->channel);
		free(scribe);
		return NULL;
	}
	return scribe;
}

void scribe_free(struct scribe *scribe)
{
	if (!scribe)
		return;
	shutdown(scribe->channel.fd, SHUT_RD);
	pthread_mutex_lock(&scribe->lock);
	scribe->ending = true;
	pthread_cond_broadcast(&scribe->changed);
	pthread_mutex_unlock(&scribe->lock);
	pthread_join(scribe->thread, NULL);
	kept_free(scribe->kept);
	channel_close(&scribe->channel);
	free(scribe);
}

void scribe_put(struct scribe *scribe, struct kept *kept, const struct error *why)
{
	pthread_mutex_lock(&scribe->lock);
	kept_free(scribe->kept);
	scribe->kept = kept;
	scribe->why = kept ? (struct error){""} : *why;
	scribe->full = true;
	pthread_cond_broadcast(&scribe->changed);
	pthread_mutex_unlock(&scribe->lock);
}

/* --- who asks --- */

static int explain(struct written *written, const char *place, struct error *err)
{
	int code = written->file_error;

	written->text[sizeof(written->text) - 1] = '\0';
	text_make_printable(written->text);
	if (written->nothing)
		return error_set(err, ENODATA, "%s", written->text);
	if (code > 0 && code < 4096)
		return error_set(err, code, "cannot write to %s: %s", place, strerror(code));
	code = written->code < 0 && written->code > -4096 ? -written->code : EIO;
	return error_set(err, code, "cannot make the snapshot: %s",
			 written->text[0] ? written->text : strerror(code));
}

int scribe_ask(struct channel *channel, enum wire_format format, size_t max_bytes, int fd, const char *place,
	       struct error *err)
{
	const struct asked asked = {.max_bytes = max_bytes, .format = (uint32_t)format};
	const struct message message = {.kind = fd >= 0 ? ASK_WRITE : ASK_FORGET, .size = sizeof(asked)};
	struct written written;
	struct message reply;
	int rc;

	if (fd >= 0) {
		rc = channel_put_fd(channel, &message, &asked, fd);
	} else {
		rc = channel_put(channel, &message, &asked);
		rc = rc ? rc : channel_flush(channel);
	}
	if (rc == 0)
		rc = channel_take(channel, &reply, NULL);
	if (rc == 0)
		rc = reply.size == sizeof(written) ? channel_read(channel, &written, sizeof(written))
						   : -EBADMSG;
	if (rc)
		return error_set(err, -rc, "cannot make the snapshot: the process that writes it has gone");
	return written.code || written.nothing ? explain(&written, place, err) : 0;
}
