/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/confined.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/attended.h"
#include "cli/cli.h"
#include "sandbox/privilege.h"
#include "util/message.h"
#include "workers/writer/file_server.h"

struct confined {
	const struct confined_job *job;
	struct file_server *server; /* NULL = no output */
	int socket;                 /* the child's end of the server's socket */
	struct attendant attendant;
	struct attended child;
};

int confined_open(struct channel *files, unsigned number, struct output *out, struct error *err)
{
	return file_server_open(files, FILE_ROLE_TRACE, (pid_t)number, 1, out, err);
}

int confined_open_below(struct channel *files, const char *path, struct output *out, struct error *err)
{
	return file_server_open_below(files, path, out, err);
}

/* Runs in the child. */
static int confined_work(struct confined *confined)
{
	struct error err = {""};
	struct channel files;
	int status;

	if (confined->server) {
		close(file_server_fd(confined->server));
		if (channel_open(&files, confined->socket))
			return STATUS_NONE;
	}
	status = confined->job->work(confined->job->ctx, confined->server ? &files : NULL, &err);
	if (status < 0 && err.text[0])
		message_error(&err);
	return status < 0 ? STATUS_NONE : status;
}

/* Returns false when the child is gone, or has sent something invalid. */
static bool serve(void *ctx)
{
	struct file_server *server = ctx;

	return file_server_serve(server) == 0 && privilege_keep(file_server_capabilities(server), NULL) == 0;
}

/* Returns the child's status as waitpid(2) does, or a negative errno. */
static int attend(struct confined *confined, struct error *err)
{
	int status;

	if (attendant_begin(&confined->attendant, err))
		return -EPERM;
	if (attended_fork(&confined->child, &confined->attendant, err) == 0) {
		status = confined_work(confined);
		fflush(NULL);
		_exit(status);
	}
	if (confined->socket >= 0)
		close(confined->socket);
	confined->socket = -1;
	if (!confined->child.pid)
		return -EPERM;
	if (privilege_keep(confined->server ? file_server_capabilities(confined->server) : 0, err))
		lifeline_cut(&confined->child.line);
	return attended_wait(&confined->child, &confined->attendant,
			     confined->server ? file_server_fd(confined->server) : -1, serve,
			     confined->server);
}

/* Ends as the child did. The child's core has been dumped, if at all. */
static int die_of(int number)
{
	const struct rlimit none = {0, 0};

	if (number == SIGSYS)
		message("the process that reads the file was killed by its seccomp filter: it made a "
			"forbidden system call (a malicious or damaged file?)");
	setrlimit(RLIMIT_CORE, &none);
	signal(number, SIG_DFL);
	raise(number);
	return STATUS_NONE;
}

int confined_run(const struct confined_job *job)
{
	const struct file_server_options options = {
		.output = job->output, .alone = !job->numbered && !job->tree, .tree = job->tree};
	struct confined confined = {.job = job, .socket = -1, .attendant = {.signals = -1}};
	struct error err = {""};
	int status = -EPERM;

	if (job->output)
		confined.server = file_server_new(&options, &confined.socket, &err);
	if (confined.server || !job->output)
		status = attend(&confined, &err);
	file_server_free(confined.server);
	attendant_end(&confined.attendant);
	if (err.text[0])
		message_error(&err);
	if (status < 0)
		return STATUS_NONE;
	return WIFSIGNALED(status) ? die_of(WTERMSIG(status)) : WEXITSTATUS(status);
}
