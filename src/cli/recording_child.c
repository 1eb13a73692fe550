/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/recording_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/capture.h"
#include "cli/cli.h"
#include "cli/record.h"
#include "pipeline/hidden.h"
#include "sandbox/lifeline.h"
#include "util/rights.h"
#include "util/utf8.h"

/* Of the pipe to the process that reads. It holds what the child writes while a round is analysed. */
#define STREAM_BYTES (1 << 20)

/* Shared with the child: what it has measured. A state stays as it is until the next but one. */
struct measured {
	struct recording_state first, states[2];
	_Atomic unsigned n; /* of all states so far; the last one is states[(n - 1) % 2] */
};

struct recording_child {
	pid_t pid;
	struct measured *measured;
	struct lifeline line;
	struct sigaction on_interrupt; /* of this process, until the child has ended */
};

/* On a file system without O_TMPFILE, the file has a name for a moment. */
static int recording_child_open_nameless(const char *directory)
{
	struct rights before = rights_as_user();
	int dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;
	char part[PART_BYTES];

	fd = dir < 0 ? -errno : hidden_create(dir, O_RDWR, part);
	if (fd >= 0)
		hidden_remove(fd, dir, part);
	if (dir >= 0)
		close(dir);
	rights_restore(&before);
	return fd;
}

/* The trace may be large, so it goes to disk. Returns its descriptor. */
static int open_trace(struct error *err)
{
	const char *tmp = getenv("TMPDIR");
	int fd;

	tmp = tmp && *tmp == '/' ? tmp : "/tmp";
	fd = recording_child_open_nameless(tmp);
	if (fd < 0)
		return error_set(err, -fd,
				 "cannot create a file for the trace in %.*s: %s; TMPDIR can name another "
				 "directory",
				 text_fit(tmp, 200), tmp, strerror(-fd));
	return fd;
}

static int recording_child_prepare(struct recording_child *child, struct error *err)
{
	void *measured = mmap(NULL, sizeof(*child->measured), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int rc;

	if (measured == MAP_FAILED)
		return error_set(err, ENOMEM, "out of memory");
	child->measured = measured;
	rc = lifeline_open(&child->line);
	return rc ? error_set(err, -rc, "cannot start recording: %s", strerror(-rc)) : 0;
}

/* --- in the child --- */

struct measuring {
	struct measured *measured;
	struct cpu_meter meter;
};

/* Once the process has ended, its last limits and CPU time stay. */
static void recording_child_measure(void *ctx, const struct capture_stats *stats)
{
	struct measuring *measuring = ctx;
	struct measured *measured = measuring->measured;
	unsigned n = measured->n;
	struct recording_state now = {.cost_ns = stats->cost_ns};

	cpu_meter_read(&measuring->meter, &now.limit);
	if (!now.limit.known && n)
		now.limit = measured->states[(n - 1) % 2].limit;
	if (!n)
		measured->first = now;
	measured->states[n % 2] = now;
	measured->n = n + 1;
}

static int record_into(struct recording_child *child, int trace, const struct record_options *record)
{
	struct measuring measuring = {.measured = child->measured};
	struct record_options options = *record;
	int status;

	if (lifeline_obey(&child->line, SIGTERM))
		return STATUS_NONE;
	options.trace_fd = trace;
	options.meter = recording_child_measure;
	options.meter_ctx = &measuring;
	cpu_meter_open(&measuring.meter, record->pid);
	status = record_process(&options);
	cpu_meter_close(&measuring.meter);
	return status;
}

/* --- in the parent --- */

/*
 * Starts a child that writes to `trace` and does not need `other`. Ctrl-C reaches all of the terminal's
 * processes: it ends the trace, after which the parent reports.
 */
static int cli_recording_child_start(struct recording_child *child, int trace, int other,
				     const struct record_options *record, struct error *err)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	int status;

	fflush(NULL);
	child->pid = fork();
	if (child->pid == 0) {
		if (other >= 0)
			close(other);
		status = record_into(child, trace, record);
		fflush(NULL);
		_exit(status);
	}
	lifeline_hold(&child->line);
	if (child->pid < 0)
		return error_set(err, errno, "cannot start recording: %s", strerror(errno));
	sigaction(SIGINT, &ignore, &child->on_interrupt);
	return 0;
}

static int recording_child_new(struct recording_child **child, struct error *err)
{
	*child = malloc(sizeof(**child));
	if (!*child)
		return error_set(err, ENOMEM, "out of memory");
	**child = (struct recording_child){.line = {-1, -1}};
	return recording_child_prepare(*child, err);
}

int recording_child_start(struct recording_child **child, const struct record_options *record,
			  struct error *err)
{
	struct record_options options = *record;
	int rc = recording_child_new(child, err), trace;

	if (rc)
		return rc;
	trace = open_trace(err);
	if (trace < 0)
		return trace;
	options.trace_options.format = WIRE_GO126;
	rc = cli_recording_child_start(*child, trace, -1, &options, err);
	if (rc)
		close(trace);
	return rc ? rc : trace;
}

int recording_child_stream(struct recording_child **child, const struct record_options *record,
			   struct error *err)
{
	struct record_options options = *record;
	int rc = recording_child_new(child, err), ends[2];

	if (rc)
		return rc;
	if (pipe2(ends, O_CLOEXEC))
		return error_set(err, errno, "cannot start recording: %s", strerror(errno));
	fcntl(ends[0], F_SETPIPE_SZ, STREAM_BYTES); /* if this fails, the child waits more often */
	options.trace_options.any_first = true;
	options.trace_options.format = WIRE_GO126;
	rc = cli_recording_child_start(*child, ends[1], ends[0], &options, err);
	close(ends[1]);
	if (rc)
		close(ends[0]);
	return rc ? rc : ends[0];
}

void recording_child_describe(const struct recording_child *child, struct recording_state *since,
			      struct analysis_host *host)
{
	const struct measured *measured = child->measured;
	unsigned n = measured->n;
	struct recording_state now = n ? measured->states[(n - 1) % 2] : measured->first;
	const struct recording_state *before = since->limit.known ? since : &measured->first;
	const struct cpu_limit *limit = &now.limit, *then = &before->limit;
	bool same_group = limit->quota_id == then->quota_id;

	host->known = limit->known;
	host->cpus = limit->cpus;
	host->quota_cpus = limit->quota_cpus;
	host->quota_period = limit->period_ns;
	host->cpu_ns = cpu_figure_grown(then->cpu_ns, limit->cpu_ns, true);
	if (limit->all > then->all) {
		double all = (double)(limit->all - then->all);

		host->machine_busy = (double)cpu_figure_grown(then->busy, limit->busy, true) / all;
		host->machine_stolen = (double)cpu_figure_grown(then->stolen, limit->stolen, true) / all;
	}
	host->throttled = cpu_figure_grown(then->throttled, limit->throttled, same_group);
	host->throttled_ns = cpu_figure_grown(then->throttled_ns, limit->throttled_ns, same_group);
	host->tracing_ns = now.cost_ns - before->cost_ns;
	*since = now;
}

/* Returns the child's exit status. */
static int wait_for(struct recording_child *child, struct error *err)
{
	int status = 0;

	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	child->pid = 0;
	sigaction(SIGINT, &child->on_interrupt, NULL);
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	error_set(err, ECHILD, "the process that records was killed");
	return STATUS_NONE;
}

int recording_child_wait(struct recording_child *child, struct analysis_host *host, struct error *err)
{
	int status = wait_for(child, err);
	struct recording_state beginning = {0};

	if (status != STATUS_WHOLE && status != STATUS_CUT)
		return -ECHILD; /* the child has printed the reason, if it could */
	recording_child_describe(child, &beginning, host);
	return 0;
}

void recording_child_end(struct recording_child *child)
{
	struct error ignored;

	if (!child)
		return;
	lifeline_cut(&child->line);
	if (child->pid > 0)
		wait_for(child, &ignored);
	recording_child_free(child);
}

void recording_child_free(struct recording_child *child)
{
	if (!child)
		return;
	lifeline_hold(&child->line);
	lifeline_cut(&child->line);
	if (child->measured)
		munmap(child->measured, sizeof(*child->measured));
	free(child);
}
