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

#include "cli/cli.h"
#include "capture/cpu_limit.h"
#include "cli/record.h"
#include "pipeline/hidden.h"
#include "sandbox/lifeline.h"
#include "util/rights.h"
#include "util/utf8.h"

/* What the child finds out besides the trace. Shared with it. */
struct measured {
	struct cpu_limit before, after;
};

struct recording_child {
	pid_t pid;
	int summary; /* a file in memory; the child's standard output */
	struct measured *measured;
	struct lifeline line;
	struct sigaction on_interrupt; /* of this process, until the child has ended */
};

/* On a file system without O_TMPFILE, the file has a name for a moment. */
static int open_nameless(const char *directory)
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
	fd = open_nameless(tmp);
	if (fd < 0)
		return error_set(err, -fd,
				 "cannot create a file for the trace in %.*s: %s; TMPDIR can name another "
				 "directory",
				 text_fit(tmp, 200), tmp, strerror(-fd));
	return fd;
}

static int prepare(struct recording_child *child, struct error *err)
{
	void *measured = mmap(NULL, sizeof(*child->measured), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int rc;

	if (measured == MAP_FAILED)
		return error_set(err, ENOMEM, "out of memory");
	child->measured = measured;
	child->summary = memfd_create("summary", MFD_CLOEXEC);
	if (child->summary < 0)
		return error_set(err, errno, "cannot create a file in memory: %s", strerror(errno));
	rc = lifeline_open(&child->line);
	return rc ? error_set(err, -rc, "cannot start recording: %s", strerror(-rc)) : 0;
}

static int record_into(struct recording_child *child, int trace, const struct record_options *record)
{
	struct record_options options = *record;
	struct cpu_meter meter;
	int status;

	if (lifeline_obey(&child->line, SIGTERM) || dup2(child->summary, STDOUT_FILENO) < 0)
		return STATUS_NONE;
	options.trace_fd = trace;
	options.json = true;
	cpu_meter_open(&meter, record->pid);
	cpu_meter_read(&meter, &child->measured->before);
	status = record_process(&options);
	cpu_meter_read(&meter, &child->measured->after);
	cpu_meter_close(&meter);
	return status;
}

/* Ctrl-C reaches all of the terminal's processes: it ends the trace, after which the parent reports. */
static int start(struct recording_child *child, int trace, const struct record_options *record,
		 struct error *err)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	int status;

	fflush(NULL);
	child->pid = fork();
	if (child->pid == 0) {
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

int recording_child_start(struct recording_child **child, const struct record_options *record,
			  struct error *err)
{
	struct recording_child *new = malloc(sizeof(*new));
	int trace, rc;

	*child = new;
	if (!new)
		return error_set(err, ENOMEM, "out of memory");
	*new = (struct recording_child){.summary = -1, .line = {-1, -1}};
	trace = open_trace(err);
	if (trace < 0)
		return trace;
	rc = prepare(new, err);
	if (rc == 0)
		rc = start(new, trace, record, err);
	if (rc)
		close(trace);
	return rc ? rc : trace;
}

static uint64_t number_in(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* The summary is gotrace's own output, and short. Only its figures are used. */
static void take_summary(int fd, struct analysis_host *host)
{
	char text[1 << 16];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n < 0)
		return;
	text[n] = '\0';
	host->pid = (uint32_t)number_in(text, "\"pid\":");
	host->tracing_ns = number_in(text, "\"hits\":") * number_in(text, "\"hit_ns\":");
	host->lost = number_in(text, "\"ring_full\":") + number_in(text, "\"missed\":");
}

static void take_limits(const struct cpu_limit *before, const struct cpu_limit *after,
			struct analysis_host *host)
{
	const struct cpu_limit *limit = after->known ? after : before;

	host->known = before->known;
	host->cpus = limit->cpus;
	host->quota_cpus = limit->quota_cpus;
	host->quota_period = limit->period_ns;
	if (after->known && after->cpu_ns > before->cpu_ns)
		host->cpu_ns = after->cpu_ns - before->cpu_ns;
	if (after->all > before->all)
		host->machine_busy =
			(double)(after->busy - before->busy) / (double)(after->all - before->all);
	if (after->known && after->throttled >= before->throttled)
		host->throttled = after->throttled - before->throttled;
	if (after->known && after->throttled_ns >= before->throttled_ns)
		host->throttled_ns = after->throttled_ns - before->throttled_ns;
}

/* Returns the child's exit status. */
static int wait_for(struct recording_child *child, struct error *err)
{
	int status = 0;

	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGINT, &child->on_interrupt, NULL);
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	error_set(err, ECHILD, "the process that records was killed");
	return STATUS_NONE;
}

int recording_child_wait(struct recording_child *child, struct analysis_host *host, struct error *err)
{
	int status = wait_for(child, err);

	if (status != STATUS_WHOLE && status != STATUS_CUT)
		return -ECHILD; /* the child has printed the reason, if it could */
	take_summary(child->summary, host);
	take_limits(&child->measured->before, &child->measured->after, host);
	return 0;
}

void recording_child_free(struct recording_child *child)
{
	if (!child)
		return;
	lifeline_hold(&child->line);
	lifeline_cut(&child->line);
	if (child->summary >= 0)
		close(child->summary);
	if (child->measured)
		munmap(child->measured, sizeof(*child->measured));
	free(child);
}
