/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "workers/writer/file_server.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/descriptors.h"
#include "sandbox/privilege.h"
#include "sandbox/rpc.h"
#include "util/array.h"
#include "util/directory.h"
#include "util/rights.h"
#include "util/thread.h"

enum {
	MAX_FILES = 1 << 17,
	MAX_HIDDEN = 64, /* files not published yet; each uses two descriptors here */
};

#define FILE_SERVER_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._="

enum file_request {
	FILE_REQUEST_OPEN = 1, /* struct open_request -> struct open_answer and the descriptor */
	/* arg: number -> the path, which may have changed; "" if the file cannot be removed later */
	FILE_REQUEST_PUBLISH,
	FILE_REQUEST_DISCARD, /* arg: number -> empty answer */
	/* a path below the directory OUTPUT -> struct open_answer and the descriptor */
	FILE_REQUEST_OPEN_BELOW,
};

struct open_request {
	uint32_t which, pid, times;
};

struct open_answer {
	uint64_t number; /* number of the file, for later requests */
	uint8_t regular, borrowed;
	char path[PATH_MAX];
};

/* An opened file, and the state needed to name or remove it. hidden and path are owned; both may be NULL. */
struct served_file {
	struct output *hidden; /* until the file is published */
	char *path;            /* after that, if the file can be removed */
	pid_t handed_as;       /* the trace of this process, which gets no name; 0 = the file gets a name */
	dev_t dev;
	ino_t ino;
};

struct file_server {
	struct file_server_options options;
	struct channel channel;
	pthread_t thread;
	bool has_thread;
	uint64_t needed; /* capabilities, once the only file is open */
	struct served_file *files;
	size_t n, capacity, hidden;
};

/* --- the server side --- */

/* Opens "trace.PID", or "trace.PID-2" if the pid occurs a second time. */
static int file_server_open_named(struct output *out, const char *base, const struct open_request *asked,
				  struct error *err)
{
	char path[PATH_MAX], suffix[16] = "";

	if (asked->times > 1)
		snprintf(suffix, sizeof(suffix), "-%u", asked->times);
	if (snprintf(path, sizeof(path), "%s.%d%s", base, (int)asked->pid, suffix) >= (int)sizeof(path))
		return error_set(err, ENAMETOOLONG, "%s: the name is too long", base);
	return output_open(out, path, err);
}

static int file_server_open_nameless(struct output *out, const struct output *beside, struct error *err)
{
	int fd = output_open_scratch(beside);

	if (fd < 0)
		return error_set(err, -fd, "cannot create a file beside %s: %s", beside->path, strerror(-fd));
	return output_adopt(out, fd, beside->path, true, false) ? error_set(err, ENOMEM, "out of memory") : 0;
}

static int file_server_open_file(const struct file_server *server, const struct open_request *asked,
				 struct output *out, struct error *err)
{
	const struct file_server_options *options = &server->options;

	output_init(out);
	if (asked->pid == 0 || asked->pid > INT_MAX || server->n >= MAX_FILES || server->hidden >= MAX_HIDDEN)
		return error_set(err, EINVAL, "too many files, or no process");
	if (asked->which == FILE_ROLE_RAW)
		return options->raw ? file_server_open_named(out, options->raw, asked, err)
				    : error_set(err, EINVAL, "no raw logs are kept");
	if (options->alone)
		return server->n ? error_set(err, EINVAL, "there is only one file")
				 : output_open(out, options->output, err);
	if (options->beside)
		return file_server_open_nameless(out, options->beside, err);
	return options->output ? file_server_open_named(out, options->output, asked, err)
			       : output_open_new(out, NULL, (pid_t)asked->pid, options->now, err);
}

static int file_server_keep(struct file_server *server, const struct open_request *asked,
			    const struct output *out)
{
	struct output *hidden = malloc(sizeof(*hidden));

	if (!hidden || array_grow(&server->files, &server->capacity, server->n + 1, sizeof(*server->files))) {
		free(hidden);
		return -ENOMEM;
	}
	*hidden = *out;
	server->files[server->n++] = (struct served_file){.hidden = hidden};
	if (server->options.beside && asked->which == FILE_ROLE_TRACE)
		server->files[server->n - 1].handed_as = (pid_t)asked->pid;
	server->hidden++;
	return 0;
}

static void forget_hidden(struct file_server *server, struct served_file *file)
{
	output_close(file->hidden);
	free(file->hidden);
	file->hidden = NULL;
	server->hidden--;
}

/*
 * Whether the path has names of letters, digits and -._= that begin with a letter or digit: it stays below
 * the directory that it is added to.
 */
static bool is_below(const char *path)
{
	size_t len = strlen(path), at = 0;

	while (at < len) {
		size_t n = strspn(path + at, FILE_SERVER_LETTERS);

		if (!n || n > NAME_MAX || strchr("-._=", path[at]) || (path[at + n] && path[at + n] != '/'))
			return false;
		at += n + (path[at + n] == '/');
	}
	return len && path[len - 1] != '/';
}

/* Makes the directories of a path, from the one with `from` bytes on. */
static int make_directories(char *path, size_t from, struct error *err)
{
	char *slash = path + from;

	do {
		int dir;

		*slash = '\0';
		dir = directory_make(path, err);
		*slash = '/';
		if (dir < 0)
			return dir;
		close(dir);
		slash = strchr(slash + 1, '/');
	} while (slash);
	return 0;
}

static int open_below(const struct file_server *server, const char *below, struct output *out,
		      struct error *err)
{
	const struct file_server_options *options = &server->options;
	struct rights before;
	char path[PATH_MAX];
	int rc;

	output_init(out);
	if (!options->tree || !is_below(below) || server->n >= MAX_FILES || server->hidden >= MAX_HIDDEN)
		return error_set(err, EINVAL, "too many files, or no path");
	if (snprintf(path, sizeof(path), "%s/%s", options->output, below) >= (int)sizeof(path))
		return error_set(err, ENAMETOOLONG, "%s: the name is too long", options->output);
	before = rights_as_user();
	rc = make_directories(path, strlen(options->output), err);
	rights_restore(&before);
	return rc ? rc : output_open(out, path, err);
}

static int answer_open(struct file_server *server, const struct rpc_request *request)
{
	struct open_answer opened = {.number = server->n};
	struct open_request asked = {.which = FILE_ROLE_TRACE};
	struct error err;
	struct output out;
	int rc;

	if (request->kind == FILE_REQUEST_OPEN && request->size != sizeof(asked))
		return -EBADMSG;
	if (request->kind == FILE_REQUEST_OPEN) {
		memcpy(&asked, request->bytes, sizeof(asked));
		rc = file_server_open_file(server, &asked, &out, &err);
	} else {
		rc = open_below(server, request->bytes, &out, &err);
	}
	if (rc == 0 && file_server_keep(server, &asked, &out)) {
		rc = error_set(&err, ENOMEM, "out of memory");
		output_discard(&out);
	}
	if (rc)
		return rpc_answer(&server->channel, rc, &err, NULL, 0);
	server->needed = output_capabilities(&out);
	opened.regular = out.regular;
	opened.borrowed = out.borrowed;
	memcpy(opened.path, out.path, sizeof(opened.path));
	return rpc_answer_fds(&server->channel, &opened, sizeof(opened), &out.fd, 1);
}

static int hand_on(struct file_server *server, struct served_file *file, struct error *err)
{
	const pid_t pid = file->handed_as;

	if (descriptors_send(server->options.handed_to, &pid, sizeof(pid), &file->hidden->fd, 1, 0) !=
	    sizeof(pid))
		return error_set(err, errno, "cannot send a trace: %s", strerror(errno));
	forget_hidden(server, file);
	return 0;
}

/* Gives the file its name, and keeps only the path and inode, which are needed to remove it. */
static int publish_file(struct file_server *server, struct served_file *file, struct error *err)
{
	struct output *out = file->hidden;
	struct stat st;
	int rc;

	if (out && file->handed_as)
		return hand_on(server, file, err);
	rc = out ? output_publish(out, err) : 0;
	if (rc || !out)
		return rc;
	if (out->regular && fstat(out->fd, &st) == 0) {
		file->path = strdup(out->path);
		file->dev = st.st_dev;
		file->ino = st.st_ino;
	}
	forget_hidden(server, file);
	return 0;
}

static void remove_published(const struct served_file *file)
{
	const char *name;
	struct stat st;
	int dir = directory_open_parent(file->path, &name, NULL);

	if (dir < 0)
		return;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_dev == file->dev &&
	    st.st_ino == file->ino)
		unlinkat(dir, name, 0);
	close(dir);
}

static void discard_file(struct file_server *server, struct served_file *file)
{
	if (file->hidden) {
		output_discard(file->hidden);
		forget_hidden(server, file);
	} else if (file->path) {
		remove_published(file);
	}
}

static int answer_publish(struct file_server *server, struct served_file *file)
{
	char path[PATH_MAX] = "";
	struct error err;
	int rc = publish_file(server, file, &err);

	if (rc == 0 && file->path)
		snprintf(path, sizeof(path), "%s", file->path);
	return rpc_answer(&server->channel, rc, &err, path, sizeof(path));
}

static int answer_about(struct file_server *server, const struct rpc_request *request)
{
	struct served_file *file = request->arg < server->n ? &server->files[request->arg] : NULL;
	struct error err;

	if (!file)
		return rpc_answer(&server->channel, error_set(&err, EINVAL, "there is no such file"), &err,
				  NULL, 0);
	if (request->kind == FILE_REQUEST_PUBLISH)
		return answer_publish(server, file);
	discard_file(server, file);
	return rpc_answer(&server->channel, 0, NULL, NULL, 0);
}

int file_server_serve(struct file_server *server)
{
	struct rpc_request request;
	int rc = rpc_take(&server->channel, &request, FILE_SERVER_PATH_BYTES);

	if (rc == 0 && (request.kind == FILE_REQUEST_OPEN || request.kind == FILE_REQUEST_OPEN_BELOW))
		rc = answer_open(server, &request);
	else if (rc == 0 && (request.kind == FILE_REQUEST_PUBLISH || request.kind == FILE_REQUEST_DISCARD))
		rc = answer_about(server, &request);
	else if (rc == 0)
		rc = -EBADMSG;
	rpc_request_free(&request);
	return rc;
}

int file_server_fd(const struct file_server *server)
{
	return server->channel.fd;
}

/* It writes files in any directory, for the user who ran sudo. */
uint64_t file_server_capabilities(const struct file_server *server)
{
	return server->options.alone && server->n ? server->needed : PRIVILEGE_FILES;
}

static void *file_server_work(void *ctx)
{
	struct file_server *server = ctx;
	struct error err;

	if (privilege_keep(file_server_capabilities(server), &err) == 0) {
		while (file_server_serve(server) == 0)
			continue;
	}
	shutdown(server->channel.fd, SHUT_RDWR); /* so that the client does not wait for an answer */
	return NULL;
}

struct file_server *file_server_new(const struct file_server_options *options, int *fd, struct error *err)
{
	struct file_server *server = calloc(1, sizeof(*server));
	int ends[2] = {-1, -1}, rc = server ? 0 : ENOMEM;

	if (rc == 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		rc = errno;
	if (rc == 0) {
		server->options = *options;
		rc = -channel_open(&server->channel, ends[0]);
	}
	if (rc == 0) {
		*fd = ends[1];
		return server;
	}
	if (ends[0] >= 0)
		channel_close(&server->channel);
	if (ends[1] >= 0)
		close(ends[1]);
	free(server);
	error_set(err, rc, "cannot set up the sandbox: %s", strerror(rc));
	return NULL;
}

int file_server_start(struct file_server *server, struct error *err)
{
	int rc = thread_start(&server->thread, file_server_work, server);

	server->has_thread = rc == 0;
	return rc ? error_set(err, rc, "cannot set up the sandbox: %s", strerror(rc)) : 0;
}

void file_server_free(struct file_server *server)
{
	if (!server)
		return;
	shutdown(server->channel.fd, SHUT_RDWR);
	if (server->has_thread)
		pthread_join(server->thread, NULL);
	channel_close(&server->channel);
	for (size_t i = 0; i < server->n; i++) {
		if (server->files[i].hidden)
			discard_file(server, &server->files[i]);
		free(server->files[i].path);
	}
	free(server->files);
	free(server);
}

/* --- the client side --- */

static int file_server_explain(const struct rpc *request, int rc, const char *path, struct error *err)
{
	if (rc)
		return error_set(err, -rc, "%s%sgotrace has ended", path, path[0] ? ": " : "");
	return request->code < 0 ? error_set(err, -request->code, "%s", request->error.text) : 0;
}

static int file_server_publish(struct output *out, struct error *err)
{
	struct rpc request = {.kind = FILE_REQUEST_PUBLISH, .arg = out->number};
	char path[PATH_MAX];
	int rc = rpc_call_for(out->owner_ctx, &request, path, sizeof(path));

	rc = file_server_explain(&request, rc, out->path, err);
	path[sizeof(path) - 1] = '\0';
	if (rc == 0 && path[0])
		memcpy(out->path, path, sizeof(out->path));
	return rc;
}

static void file_server_discard(struct output *out)
{
	struct rpc request = {.kind = FILE_REQUEST_DISCARD, .arg = out->number};

	rpc_call_for(out->owner_ctx, &request, NULL, 0);
}

static const struct output_owner owner = {.publish = file_server_publish, .discard = file_server_discard};

static int open_by(struct channel *server, struct rpc *request, struct output *out, struct error *err)
{
	struct open_answer opened;
	int fd, rc = rpc_call(server, request);

	output_init(out);
	fd = request->fds[0];
	request->fds[0] = -1;
	descriptors_close(request->fds);
	if (rc == 0 && request->code >= 0)
		rc = request->left == sizeof(opened) ? rpc_read(server, request, &opened, sizeof(opened))
						     : -EBADMSG;
	rc = file_server_explain(request, rc, "", err);
	if (rc) {
		if (fd >= 0)
			close(fd);
		return rc;
	}
	rc = output_adopt(out, fd, opened.path, opened.regular, opened.borrowed);
	out->owner = &owner;
	out->owner_ctx = server;
	out->number = opened.number;
	return rc;
}

int file_server_open(struct channel *server, enum file_role which, pid_t pid, uint32_t times,
		     struct output *out, struct error *err)
{
	const struct open_request asked = {.which = which, .pid = (uint32_t)pid, .times = times};
	struct rpc request = {.kind = FILE_REQUEST_OPEN, .bytes = &asked, .size = sizeof(asked)};

	return open_by(server, &request, out, err);
}

int file_server_open_below(struct channel *server, const char *path, struct output *out, struct error *err)
{
	struct rpc request = {.kind = FILE_REQUEST_OPEN_BELOW, .bytes = path, .size = strlen(path)};

	return open_by(server, &request, out, err);
}
