/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Records a process briefly, in a child process, into an unnamed file. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/analyse.h"
#include "cli/cli.h"
#include "cli/cpu_limit.h"
#include "cli/record.h"
#include "pipeline/hidden.h"
#include "util/rights.h"

/* Files of one recording. */
struct recorded_files {
	int trace, summary;
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

/* The trace may be large, so it goes to disk. */
static int open_files(struct recorded_files *files, struct error *err)
{
	const char *tmp = getenv("TMPDIR");

	tmp = tmp && *tmp == '/' ? tmp : "/tmp";
	files->trace = open_nameless(tmp);
	if (files->trace < 0)
		return error_set(err, -files->trace,
				 "cannot create a file for the trace in %.200s: %s; TMPDIR can name another "
				 "directory",
				 tmp, strerror(-files->trace));
	files->summary = memfd_create("summary", MFD_CLOEXEC);
	if (files->summary >= 0)
		return 0;
	error_set(err, errno, "cannot create a file in memory: %s", strerror(errno));
	close(files->trace);
	return -EIO;
}

static void close_files(const struct recorded_files *files)
{
	close(files->trace);
	close(files->summary);
}

/* Runs in the child, which ends when its parent ends. Its standard output is the summary. */
static int record_into(const struct recorded_files *files, const struct record_options *record)
{
	struct record_options options = *record;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (dup2(files->summary, STDOUT_FILENO) < 0)
		return STATUS_NONE;
	options.trace_fd = files->trace;
	options.json = true;
	return record_process(&options);
}

/* Ctrl-C reaches all of the terminal's processes: it ends the trace, after which the parent reports. */
static int wait_for(pid_t child, struct error *err)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	int status = 0;

	sigaction(SIGINT, &ignore, &before);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGINT, &before, NULL);
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	error_set(err, ECHILD, "the process that records was killed");
	return STATUS_NONE;
}

static int record_apart(const struct recorded_files *files, const struct record_options *record,
			struct error *err)
{
	pid_t child;
	int status;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		status = record_into(files, record);
		fflush(NULL);
		_exit(status);
	}
	if (child > 0)
		return wait_for(child, err);
	error_set(err, errno, "cannot start recording: %s", strerror(errno));
	return STATUS_NONE;
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

static int map_trace(struct trace_input *input, int fd, struct error *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return error_set(err, errno, "cannot read the trace: %s", strerror(errno));
	return trace_input_map(input, fd, (uint64_t)st.st_size, err);
}

int trace_input_record(struct trace_input *input, const struct record_options *record, struct error *err)
{
	static char name[32];
	struct cpu_limit before, after;
	struct recorded_files files;
	int rc, status;

	err->text[0] = '\0';
	snprintf(name, sizeof(name), "-p %d", (int)record->pid);
	*input = (struct trace_input){.name = name, .file = "FILE"};
	rc = open_files(&files, err);
	if (rc)
		return rc;
	cpu_limit_read(record->pid, &before);
	status = record_apart(&files, record, err);
	cpu_limit_read(record->pid, &after);
	if (status == STATUS_WHOLE || status == STATUS_CUT) {
		take_summary(files.summary, &input->host);
		take_limits(&before, &after, &input->host);
		rc = map_trace(input, files.trace, err);
	} else {
		rc = -ECHILD; /* the child has printed the reason, if it could */
	}
	close_files(&files);
	return rc;
}
