/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "writer/clerk.h"

#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/privilege.h"

enum { MOST_FILES = 1 << 17 };

enum clerk_kind {
	ASK_OPEN = 1, /* struct asked -> struct opened and the descriptor */
	ASK_PUBLISH,  /* arg: number -> struct error */
	ASK_DISCARD,  /* arg: number -> struct error, empty */
};

struct asked {
	uint32_t which, pid, times;
};

struct opened {
	struct error err;
	uint64_t number; /* of the file, for what is asked later */
	uint8_t regular;
	char path[PATH_MAX];
};

/* A file that was handed out: what it takes to name or remove it. */
struct kept {
	char *path, *draft; /* owned; as in struct output */
	bool regular;
};

struct clerk {
	struct clerk_options options;
	struct channel channel;
	pthread_t thread;
	struct kept *files;
	size_t n;
};

/* --- the clerk --- */

/* "trace.PID"; "trace.PID-2" when the pid comes a second time. */
static int open_named(struct output *out, const char *base, const struct asked *asked, struct error *err)
{
	char path[PATH_MAX], suffix[16] = "";

	if (asked->times > 1)
		snprintf(suffix, sizeof(suffix), "-%u", asked->times);
	if (snprintf(path, sizeof(path), "%s.%d%s", base, (int)asked->pid, suffix) >= (int)sizeof(path))
		return error_set(err, ENAMETOOLONG, "%s: the name is too long", base);
	return output_open(out, path, err);
}

static int open_file(const struct clerk *clerk, const struct asked *asked, struct output *out,
		     struct error *err)
{
	const struct clerk_options *options = &clerk->options;

	output_init(out);
	if (asked->pid == 0 || asked->pid > INT_MAX || clerk->n >= MOST_FILES)
		return error_set(err, EINVAL, "too many files, or no process");
	if (asked->which == CLERK_RAW)
		return options->raw ? open_named(out, options->raw, asked, err)
				    : error_set(err, EINVAL, "no raw logs are kept");
	return options->output ? open_named(out, options->output, asked, err)
			       : output_open_default(out, (pid_t)asked->pid, options->now, err);
}

static int keep(struct clerk *clerk, const struct output *out)
{
	struct kept *bigger = realloc(clerk->files, (clerk->n + 1) * sizeof(*bigger));
	struct kept kept = {.regular = out->regular};

	if (!bigger)
		return -ENOMEM;
	clerk->files = bigger;
	kept.path = strdup(out->path);
	kept.draft = strdup(out->draft);
	if (!kept.path || !kept.draft) {
		free(kept.path);
		free(kept.draft);
		return -ENOMEM;
	}
	bigger[clerk->n++] = kept;
	return 0;
}

static int answer_open(struct clerk *clerk, const struct asked *asked)
{
	struct message message = {.kind = ASK_OPEN, .size = sizeof(struct opened)};
	struct opened opened = {.number = clerk->n};
	struct output out;
	int rc;

	message.code = open_file(clerk, asked, &out, &opened.err);
	if (message.code == 0 && keep(clerk, &out)) {
		message.code = error_set(&opened.err, ENOMEM, "out of memory");
		output_discard(&out);
	}
	opened.regular = out.regular;
	memcpy(opened.path, out.path, sizeof(opened.path));
	if (message.code == 0)
		return channel_put_fd(&clerk->channel, &message, &opened, out.fd) | output_close(&out);
	rc = channel_put(&clerk->channel, &message, &opened);
	return rc ? rc : channel_flush(&clerk->channel);
}

static int answer_other(struct clerk *clerk, uint32_t kind, uint64_t number)
{
	struct message message = {.kind = kind, .size = sizeof(struct error)};
	struct error err = {""};
	struct kept *kept = number < clerk->n ? &clerk->files[number] : NULL;
	int rc;

	if (!kept)
		message.code = error_set(&err, EINVAL, "there is no such file");
	else if (kind == ASK_DISCARD && kept->regular)
		unlink(kept->draft[0] ? kept->draft : kept->path);
	else if (kind == ASK_PUBLISH && kept->draft[0] && rename(kept->draft, kept->path))
		message.code = error_set(&err, errno, "cannot create %s: %s", kept->path, strerror(errno));
	else if (kind == ASK_PUBLISH)
		kept->draft[0] = '\0';
	rc = channel_put(&clerk->channel, &message, &err);
	return rc ? rc : channel_flush(&clerk->channel);
}

static int answer(struct clerk *clerk)
{
	struct message message;
	struct asked asked;
	int rc = channel_take(&clerk->channel, &message, NULL);

	if (rc)
		return rc;
	if (message.kind != ASK_OPEN)
		return message.size ? -EBADMSG : answer_other(clerk, message.kind, message.arg);
	if (message.size != sizeof(asked))
		return -EBADMSG;
	rc = channel_read(&clerk->channel, &asked, sizeof(asked));
	return rc ? rc : answer_open(clerk, &asked);
}

/* Files go into whatever directory, for the user behind sudo: that is all that this thread can do. */
static void *work(void *ctx)
{
	struct clerk *clerk = ctx;
	struct error err;

	if (privilege_keep(PRIVILEGE(CAP_DAC_OVERRIDE) | PRIVILEGE(CAP_CHOWN) | PRIVILEGE(CAP_FOWNER), &err))
		return NULL;
	while (answer(clerk) == 0)
		;
	return NULL;
}

static int start_thread(struct clerk *clerk)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&clerk->thread, NULL, work, clerk);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

struct clerk *clerk_new(const struct clerk_options *options, int *fd, struct error *err)
{
	struct clerk *clerk = calloc(1, sizeof(*clerk));
	int ends[2] = {-1, -1}, rc = clerk ? 0 : ENOMEM;

	if (rc == 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		rc = errno;
	if (rc == 0) {
		clerk->options = *options;
		rc = -channel_open(&clerk->channel, ends[0]);
	}
	if (rc == 0)
		rc = start_thread(clerk);
	if (rc == 0) {
		*fd = ends[1];
		return clerk;
	}
	if (clerk)
		channel_close(&clerk->channel);
	if (ends[1] >= 0)
		close(ends[1]);
	free(clerk);
	error_set(err, rc, "cannot set up the sandbox: %s", strerror(rc));
	return NULL;
}

void clerk_free(struct clerk *clerk)
{
	if (!clerk)
		return;
	shutdown(clerk->channel.fd, SHUT_RDWR);
	pthread_join(clerk->thread, NULL);
	channel_close(&clerk->channel);
	for (size_t i = 0; i < clerk->n; i++) {
		free(clerk->files[i].path);
		free(clerk->files[i].draft);
	}
	free(clerk->files);
	free(clerk);
}

/* --- who asks --- */

static int ask(struct channel *clerk, const struct message *message, const void *bytes, struct message *reply,
	       int *fds)
{
	int rc = channel_put(clerk, message, bytes);

	if (rc == 0)
		rc = channel_flush(clerk);
	return rc ? rc : channel_take(clerk, reply, fds);
}

static int ask_about(const struct output *out, uint32_t kind, struct error *err)
{
	const struct message message = {.kind = kind, .arg = out->number};
	struct message reply;
	struct error told = {""};
	int rc = ask(out->keeper, &message, NULL, &reply, NULL);

	if (rc == 0)
		rc = reply.size == sizeof(told) ? channel_read(out->keeper, &told, sizeof(told)) : -EBADMSG;
	if (rc)
		return error_set(err, -rc, "%s: gotrace has gone", out->path);
	return reply.code ? error_set(err, -reply.code, "%s", told.text) : 0;
}

static int publish(struct output *out, struct error *err)
{
	return ask_about(out, ASK_PUBLISH, err);
}

static void discard(struct output *out)
{
	ask_about(out, ASK_DISCARD, NULL);
}

static const struct output_keeping keeping = {.publish = publish, .discard = discard};

int clerk_open(struct channel *clerk, enum clerk_file which, pid_t pid, uint32_t times, struct output *out,
	       struct error *err)
{
	const struct asked asked = {.which = which, .pid = (uint32_t)pid, .times = times};
	const struct message message = {.kind = ASK_OPEN, .size = sizeof(asked)};
	int fds[CHANNEL_FDS], rc;
	struct opened opened;
	struct message reply;

	output_init(out);
	rc = ask(clerk, &message, &asked, &reply, fds);
	if (rc == 0)
		rc = reply.size == sizeof(opened) ? channel_read(clerk, &opened, sizeof(opened)) : -EBADMSG;
	if (rc)
		return error_set(err, -rc, "gotrace has gone");
	if (reply.code)
		return error_set(err, -reply.code, "%s", opened.err.text);
	rc = output_adopt(out, fds[0], opened.path, opened.regular, false);
	out->keeping = &keeping;
	out->keeper = clerk;
	out->number = opened.number;
	return rc;
}
