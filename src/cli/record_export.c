/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/record_export.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/attended.h"
#include "cli/cli.h"
#include "cli/export_process.h"
#include "cli/titles.h"
#include "pipeline/output.h"
#include "pipeline/pipeline.h"
#include "sandbox/descriptors.h"
#include "sandbox/privilege.h"
#include "util/array.h"
#include "util/limits.h"
#include "util/message.h"
#include "util/text.h"

/* The trace of a process, in an unnamed file. */
struct part {
	int fd;
	pid_t pid;      /* 0 = the only process, whose PID is in titles */
	uint32_t times; /* number of earlier parts with this PID */
	uint64_t bytes;
};

struct live_export {
	const struct record_options *options;
	int (*record)(const struct record_options *options);
	struct output out;
	int titles;    /* a file in memory */
	int socket[2]; /* with --children: traces are received from [0] and sent to [1] */
	struct attendant attendant;
	struct attended tracer;
	struct export_process exporter; /* reads the traces */
	struct part *parts;
	size_t n, capacity, lost;
};

bool record_exports(const char *output)
{
	static const char *const endings[] = {".perfetto-trace", ".pftrace"};
	size_t len = output ? strlen(output) : 0;

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t ending = strlen(endings[i]);

		if (len > ending && strcmp(output + len - ending, endings[i]) == 0)
			return true;
	}
	return false;
}

static int add_part(struct live_export *live, int fd, pid_t pid)
{
	if (array_grow(&live->parts, &live->capacity, live->n + 1, sizeof(*live->parts)))
		return -ENOMEM;
	live->parts[live->n++] = (struct part){.fd = fd, .pid = pid};
	return 0;
}

/* Opens the file for the trace or, with --children, the socket for the files of all processes. */
static int record_export_prepare(struct live_export *live, struct error *err)
{
	int fd;

	if (output_open(&live->out, live->options->output, err))
		return -EIO;
	live->titles = memfd_create("titles", MFD_CLOEXEC);
	if (live->titles < 0 ||
	    (live->options->children && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, live->socket)))
		return error_set(err, errno, "cannot prepare tracing: %s", strerror(errno));
	if (live->options->children)
		return 0;
	fd = output_open_scratch(&live->out);
	if (fd < 0)
		return error_set(err, -fd, "cannot create a file beside %s: %s", live->options->output,
				 strerror(-fd));
	return add_part(live, fd, 0) ? error_set(err, ENOMEM, "out of memory") : 0;
}

/* --- the process that traces --- */

/* Runs in the child. */
static int record_export_trace(struct live_export *live)
{
	struct record_options options = *live->options;
	struct titles titles = {0};
	const struct record_parts parts = {
		.titles = &titles,
		.trace = live->n ? live->parts[0].fd : -1,
		.beside = live->options->children ? &live->out : NULL,
		.socket = live->socket[1],
	};
	int status;

	export_process_forget(&live->exporter);
	options.parts = &parts;
	if (!options.os.off && options.trace_options.off_cpu_ns != OFF_CPU_NO_REGIONS)
		options.os.cpus = true; /* Perfetto shows them */
	status = live->record(&options);
	titles_save(&titles, live->titles);
	titles_free(&titles);
	fflush(NULL);
	return status;
}

/* Returns false if nothing has arrived. */
static bool take_part(struct live_export *live)
{
	int fds[DESCRIPTORS];
	pid_t pid;
	ssize_t n = live->socket[0] < 0
			    ? -1
			    : descriptors_receive(live->socket[0], &pid, sizeof(pid), fds, MSG_DONTWAIT);

	if (n <= 0)
		return false;
	/* Beyond the limit on open files, the kernel discards the descriptor. */
	if (n != sizeof(pid) || fds[0] < 0 || add_part(live, fds[0], pid))
		live->lost++;
	else
		fds[0] = -1;
	descriptors_close(fds);
	return true;
}

/* It is started while this process can still give it the traces' files and no privileges. */
static int start_exporter(struct live_export *live, struct error *err)
{
	const struct export_process_options options = {
		.out = &live->out, .titles = live->titles, .unused = {live->socket[0], live->socket[1]}};
	int rc = attendant_begin(&live->attendant, err);

	return rc ? rc : export_process_start(&live->exporter, &live->attendant, &options, err);
}

static bool take_one(void *ctx)
{
	take_part(ctx);
	return true;
}

/*
 * From here on this process only waits, takes files, and names them. If the child is killed, the traces
 * contain what it had written. Returns an exit status or a negative errno.
 */
static int trace_apart(struct live_export *live, struct error *err)
{
	struct error ignored;
	int status;

	if (attended_fork(&live->tracer, &live->attendant, err) == 0)
		_exit(record_export_trace(live));
	limits_raise_files(&ignored); /* if this fails, fewer processes are exported, which is reported */
	if (!live->tracer.pid || privilege_keep(output_capabilities(&live->out), err))
		return -EPERM;
	status = attended_wait(&live->tracer, &live->attendant, live->socket[0], take_one, live);
	while (take_part(live))
		continue;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	message("the process that traced was killed");
	return STATUS_CUT;
}

/* --- export --- */

static int record_export_by_pid(const void *a, const void *b)
{
	const struct part *one = a, *other = b;

	if (one->pid != other->pid)
		return one->pid < other->pid ? -1 : 1;
	return one->fd < other->fd ? -1 : one->fd > other->fd; /* in order of arrival */
}

/* Sorts the parts, and drops those to which nothing was written. */
static void sort_parts(struct live_export *live)
{
	size_t kept = 0;
	struct stat st;

	if (live->n)
		qsort(live->parts, live->n, sizeof(*live->parts), record_export_by_pid);
	for (size_t i = 0; i < live->n; i++) {
		struct part *part = &live->parts[i];

		part->bytes = fstat(part->fd, &st) ? 0 : (uint64_t)st.st_size;
		if (!part->bytes) {
			close(part->fd);
			continue;
		}
		if (kept && live->parts[kept - 1].pid == part->pid)
			part->times = live->parts[kept - 1].times + 1;
		live->parts[kept++] = *part;
	}
	live->n = kept;
}

/* Signals that arrived while the tracing process was ending were meant to end it. Returns an exit status. */
static int export_parts(struct live_export *live, struct error *err)
{
	int rc = 0;

	attendant_discard(&live->attendant);
	for (size_t i = 0; i < live->n && !rc; i++)
		rc = export_process_put(&live->exporter, live->parts[i].fd, live->parts[i].pid);
	return rc ? error_set(err, -rc, "the process that exports has ended")
		  : export_process_run(&live->exporter, &live->attendant);
}

static void record_export_report(const struct live_export *live)
{
	const char *output = live->options->output;
	struct stat st;

	if (live->options->quiet || stat(output, &st))
		return;
	fprintf(stderr, "gotrace: wrote %s: %s of %zu process%s\n\nOpen it at https://ui.perfetto.dev\n",
		text_path(output).bytes, text_bytes((uint64_t)st.st_size).bytes, live->n,
		live->n == 1 ? "" : "es");
}

static int record_export_export_all(struct live_export *live, struct error *err)
{
	int status = export_parts(live, err), rc;

	if (status != STATUS_WHOLE && status != STATUS_CUT)
		return -EIO;
	if (output_publish(&live->out, err))
		return -EIO;
	rc = output_close(&live->out);
	if (rc)
		return error_set(err, -rc, "cannot write %s: %s", output_name(&live->out), strerror(-rc));
	record_export_report(live);
	return status;
}

/* Names a part FILE.trace, FILE.PID.trace or FILE.PID-2.trace. */
static int name_part(const struct live_export *live, const struct part *part, char path[PATH_MAX])
{
	char suffix[48] = "trace";

	if (part->pid && part->times)
		snprintf(suffix, sizeof(suffix), "%d-%u.trace", (int)part->pid, part->times + 1);
	else if (part->pid)
		snprintf(suffix, sizeof(suffix), "%d.trace", (int)part->pid);
	return output_name_scratch(&live->out, part->fd, suffix, path);
}

/* Keeps traces that could not be exported, by giving them names. */
static void name_parts(const struct live_export *live)
{
	char path[PATH_MAX] = "";
	size_t named = 0;
	int rc = 0;

	for (size_t i = 0; i < live->n && !rc; i++) {
		rc = name_part(live, &live->parts[i], path);
		named += !rc;
	}
	if (named)
		message("%s: %s",
			named == 1 ? "kept the unexported trace" : "kept the unexported traces, up to",
			text_path(path).bytes);
	if (rc)
		message("%zu trace%s lost: cannot create %s: %s", live->n - named,
			live->n - named == 1 ? " is" : "s are", text_path(path).bytes, strerror(-rc));
}

static void clean_up(struct live_export *live)
{
	int descriptors[] = {live->titles, live->socket[0], live->socket[1]};

	export_process_end(&live->exporter);
	attendant_end(&live->attendant);
	for (size_t i = 0; i < live->n; i++)
		close(live->parts[i].fd);
	free(live->parts);
	for (size_t i = 0; i < sizeof(descriptors) / sizeof(descriptors[0]); i++) {
		if (descriptors[i] >= 0)
			close(descriptors[i]);
	}
	output_discard(&live->out); /* no effect if it was written */
}

/* A command's own status says nothing about the trace. */
static bool is_traced(const struct live_export *live, int status)
{
	return live->n && (status == STATUS_WHOLE || status == STATUS_CUT || live->options->command);
}

static int record_export_end(struct live_export *live, int traced, struct error *err)
{
	int status;

	sort_parts(live);
	if (live->lost)
		message("left out %zu processes: too many open files (ulimit -n)", live->lost);
	if (!is_traced(live, traced))
		return traced == STATUS_WHOLE ? STATUS_NONE : traced;
	status = record_export_export_all(live, err);
	if (status < 0)
		name_parts(live);
	return status < 0 || traced == STATUS_WHOLE ? status : traced;
}

int record_export(const struct record_options *options, int (*record)(const struct record_options *options))
{
	struct live_export live = {.options = options,
				   .record = record,
				   .titles = -1,
				   .socket = {-1, -1},
				   .attendant = {.signals = -1},
				   .exporter = {.socket = -1}};
	struct error err = {""};
	int status;

	output_init(&live.out);
	status = record_export_prepare(&live, &err);
	if (status == 0)
		status = start_exporter(&live, &err);
	if (status == 0)
		status = trace_apart(&live, &err);
	if (status >= 0)
		status = record_export_end(&live, status, &err);
	clean_up(&live);
	if (status < 0 && err.text[0])
		message_error(&err);
	return status < 0 ? STATUS_NONE : status;
}
