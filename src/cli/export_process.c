/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/export_process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/export.h"
#include "cli/signals.h"
#include "cli/this_machine.h"
#include "cli/titles.h"
#include "sandbox/descriptors.h"
#include "sandbox/sandbox.h"
#include "util/array.h"
#include "util/limits.h"
#include "util/message.h"

/* A packet. It has the descriptor of a trace, except the last one. */
struct part_message {
	pid_t pid;
	bool last;
};

/* The state of the process. */
struct export_work {
	const struct export_process_options *options;
	int socket;
	struct this_machine machine;
	struct export_input *inputs;
	size_t n, capacity;
};

/* --- the process --- */

/* Signals that reach all of the terminal's processes are meant for the recording. */
static void ignore_signals(void)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGHUP};

	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		signal(ending[i], SIG_IGN);
}

static int export_process_add_input(struct export_work *work, int fd, pid_t pid)
{
	if (array_grow(&work->inputs, &work->capacity, work->n + 1, sizeof(*work->inputs)))
		return -ENOMEM;
	work->inputs[work->n++] =
		(struct export_input){.path = work->options->out->path, .fd = fd, .pid = pid};
	return 0;
}

/* Returns 0 when all have arrived. */
static int take_inputs(struct export_work *work)
{
	struct part_message part;
	int fds[DESCRIPTORS];
	ssize_t n;

	for (;;) {
		n = descriptors_receive(work->socket, &part, sizeof(part), fds, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n == sizeof(part) && part.last)
			return 0;
		if (n != sizeof(part) || fds[0] < 0)
			return -EPIPE;
		if (export_process_add_input(work, fds[0], part.pid))
			return -ENOMEM;
	}
}

static int export_inputs(struct export_work *work, struct output *out, struct error *err)
{
	const struct export_job job = {.format = EXPORT_PERFETTO,
				       .inputs = work->inputs,
				       .ninputs = work->n,
				       .machine = &work->machine.facts};
	struct titles titles;
	int status;

	if (titles_load(&titles, work->options->titles))
		titles = (struct titles){0};
	for (size_t i = 0; i < work->n; i++) {
		struct export_input *input = &work->inputs[i];

		if (!input->pid && titles.n)
			input->pid = titles.all[0].pid;
		input->title = titles_find(&titles, input->pid);
	}
	status = export_into(&job, out, err);
	titles_free(&titles);
	return status;
}

/* The other process names the output, so it is an open file here. */
static int export_process_export_all(struct export_work *work, struct error *err)
{
	const struct output *named = work->options->out;
	struct output out;
	int rc;

	ignore_signals();
	limits_raise_files(err);
	this_machine_read(&work->machine);
	rc = sandbox_confine(err);
	if (rc)
		return rc;
	err->text[0] = '\0';
	if (take_inputs(work))
		return -EPIPE;
	signals_install();
	if (output_adopt(&out, named->fd, named->path, named->regular, named->borrowed))
		return error_set(err, ENOMEM, "out of memory");
	rc = export_inputs(work, &out, err);
	if (rc < 0)
		output_close(&out);
	return rc;
}

static int cli_export_process_run(int socket, const struct export_process_options *options)
{
	struct export_work work = {.options = options, .socket = socket};
	struct error err = {""};
	int status = export_process_export_all(&work, &err);

	if (status < 0 && err.text[0])
		message_error(&err);
	fflush(NULL);
	return status < 0 ? STATUS_NONE : status;
}

/* --- the process that has started it --- */

int export_process_start(struct export_process *export, const struct attendant *attendant,
			 const struct export_process_options *options, struct error *err)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return error_set(err, errno, "cannot start a process: %s", strerror(errno));
	export->socket = ends[0];
	if (attended_fork(&export->child, attendant, err) == 0) {
		close(ends[0]);
		for (unsigned i = 0; i < 2; i++) {
			if (options->unused[i] >= 0)
				close(options->unused[i]);
		}
		_exit(cli_export_process_run(ends[1], options));
	}
	close(ends[1]);
	return export->child.pid ? 0 : -EPERM;
}

void export_process_forget(struct export_process *export)
{
	close(export->socket);
	lifeline_cut(&export->child.line);
}

static int cli_export_process_put(struct export_process *export, const struct part_message *part,
				  const int *fd)
{
	ssize_t n;

	do
		n = descriptors_send(export->socket, part, sizeof(*part), fd, fd ? 1 : 0, 0);
	while (n < 0 && errno == EINTR);
	return n == sizeof(*part) ? 0 : n < 0 ? -errno : -EIO;
}

int export_process_put(struct export_process *export, int fd, pid_t pid)
{
	struct part_message part;

	memset(&part, 0, sizeof(part));
	part.pid = pid;
	return cli_export_process_put(export, &part, &fd);
}

int export_process_run(struct export_process *export, const struct attendant *attendant)
{
	struct part_message part;
	int status;

	memset(&part, 0, sizeof(part));
	part.last = true;
	cli_export_process_put(export, &part, NULL); /* if it has ended, so does the wait */
	status = attended_wait(&export->child, attendant, -1, NULL, NULL);
	export->child.pid = 0;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	message("the process that exports was killed by signal %d (%s)", WTERMSIG(status),
		strsignal(WTERMSIG(status)));
	return STATUS_NONE;
}

void export_process_end(struct export_process *export)
{
	if (export->socket >= 0)
		close(export->socket);
	lifeline_cut(&export->child.line);
	if (export->child.pid > 0)
		waitpid(export->child.pid, NULL, 0);
}
