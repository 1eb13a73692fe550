/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Traces a process for a moment, by gotrace record in a process of its own, into a file that has no name
 * left. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/analyse.h"
#include "cli/cli.h"
#include "cli/cpu_limit.h"

struct place {
	char directory[PATH_MAX], trace[PATH_MAX + 16], summary[PATH_MAX + 16];
};

static int make_place(struct place *place, struct error *err)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(place->directory, sizeof(place->directory) - 1, "%s/gotrace-XXXXXX",
		 tmp && *tmp == '/' ? tmp : "/tmp");
	if (!mkdtemp(place->directory))
		return error_set(err, errno, "cannot create a directory for the trace (%s): %s",
				 place->directory, strerror(errno));
	snprintf(place->trace, sizeof(place->trace), "%s/trace", place->directory);
	snprintf(place->summary, sizeof(place->summary), "%s/summary", place->directory);
	return 0;
}

static void remove_place(const struct place *place)
{
	unlink(place->trace);
	unlink(place->summary);
	rmdir(place->directory);
}

/* In the new process: the command itself, with its summary in a file. */
static int run_record(const struct place *place, pid_t pid, uint64_t duration_ns)
{
	char name[] = "gotrace record", opt_p[] = "-p", opt_d[] = "-d", opt_o[] = "-o", json[] = "--json",
	     locks[] = "--locks";
	char number[16], duration[32], trace[sizeof(place->trace)];
	char *argv[] = {name, opt_p, number, opt_d, duration, opt_o, trace, json, locks, NULL};
	int fd = open(place->summary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
		return STATUS_NONE;
	snprintf(number, sizeof(number), "%d", (int)pid);
	snprintf(duration, sizeof(duration), "%llums", (unsigned long long)(duration_ns / 1000000));
	memcpy(trace, place->trace, sizeof(trace));
	return command_record(9, argv);
}

/* Ctrl-C goes to all of the terminal's processes: it ends the trace, and then comes the report. */
static int wait_for(pid_t child)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	int status = 0;

	sigaction(SIGINT, &ignore, &before);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGINT, &before, NULL);
	return WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_NONE;
}

static uint64_t number_in(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* The summary is ours, and short; only its figures are used. */
static void take_summary(const struct place *place, struct analysis_host *host)
{
	char text[1 << 16];
	FILE *file = fopen(place->summary, "re");
	size_t n;

	if (!file)
		return;
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = '\0';
	fclose(file);
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

static int map_trace(struct trace_input *input, const struct place *place, struct error *err)
{
	struct trace_input file;
	int ret = trace_input_open(&file, place->trace, err);

	if (ret)
		return ret;
	input->bytes = file.bytes;
	input->size = file.size;
	return 0;
}

int trace_input_record(struct trace_input *input, pid_t pid, uint64_t duration_ns, bool quiet,
		       struct error *err)
{
	static char name[32];
	struct cpu_limit before, after;
	struct place place;
	pid_t child;
	int ret, status;

	(void)quiet;
	snprintf(name, sizeof(name), "-p %d", (int)pid);
	*input = (struct trace_input){.name = name, .file = "FILE"};
	ret = make_place(&place, err);
	if (ret)
		return ret;
	cpu_limit_read(pid, &before);
	child = fork();
	if (child == 0) {
		status = run_record(&place, pid, duration_ns);
		fflush(NULL);
		_exit(status);
	}
	status = child < 0 ? STATUS_NONE : wait_for(child);
	cpu_limit_read(pid, &after);
	if (status == STATUS_WHOLE || status == STATUS_CUT) {
		take_summary(&place, &input->host);
		take_limits(&before, &after, &input->host);
		ret = map_trace(input, &place, err);
	} else {
		ret = error_set(err, ECHILD, "process %d could not be traced", (int)pid);
	}
	remove_place(&place);
	return ret;
}
