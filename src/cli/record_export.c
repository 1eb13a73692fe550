/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/record_export.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/export.h"
#include "cli/signals.h"
#include "cli/titles.h"
#include "util/array.h"
#include "util/message.h"
#include "util/rights.h"
#include "util/text.h"

struct part { /* a trace in the directory */
	char *path;
	pid_t pid;
};

struct live_export {
	const struct record_options *options;
	char directory[PATH_MAX];
	int titles; /* a file in memory */
	struct part *parts;
	size_t n, capacity;
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

static int make_directory(struct live_export *live, struct error *err)
{
	struct rights before = rights_as_user();
	int rc = 0;

	if (snprintf(live->directory, sizeof(live->directory), "%s.parts-XXXXXX", live->options->output) >=
	    (int)sizeof(live->directory) - NAME_MAX)
		rc = error_set(err, ENAMETOOLONG, "the name of the file is too long");
	else if (!mkdtemp(live->directory))
		rc = error_set(err, errno, "cannot create a directory beside %s: %s", live->options->output,
			       strerror(errno));
	if (rc)
		live->directory[0] = '\0';
	rights_restore(&before);
	return rc;
}

/* --- the process that traces --- */

/* In the new process. It ends with the one that started it. */
static int trace(struct live_export *live, int (*record)(const struct record_options *options))
{
	struct record_options options = *live->options;
	struct titles titles = {0};
	char output[PATH_MAX];
	int status;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	snprintf(output, sizeof(output), "%.*s/trace", (int)sizeof(output) - 8, live->directory);
	options.output = output;
	options.titles = &titles;
	status = record(&options);
	titles_save(&titles, live->titles);
	titles_free(&titles);
	fflush(NULL);
	return status;
}

/* A terminal's signal goes to all of its processes; one that was sent to this process alone is handed on. */
static int wait_for(pid_t child, const sigset_t *signals)
{
	siginfo_t info;
	int status;

	for (;;) {
		pid_t ended = waitpid(child, &status, WNOHANG);

		if (ended == child)
			return WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_NONE;
		if (ended < 0 && errno != EINTR)
			return STATUS_NONE;
		if (sigwaitinfo(signals, &info) > 0 && info.si_signo != SIGCHLD && info.si_code != SI_KERNEL)
			kill(child, info.si_signo);
	}
}

static int trace_apart(struct live_export *live, int (*record)(const struct record_options *options),
		       struct error *err)
{
	sigset_t signals, before;
	pid_t child;
	int status;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, &before);
	fflush(NULL);
	child = fork();
	if (child == 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		_exit(trace(live, record));
	}
	status = child < 0 ? error_set(err, errno, "cannot start tracing: %s", strerror(errno))
			   : wait_for(child, &signals);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return status;
}

/* --- what it has left --- */

static int add_part(struct live_export *live, const char *name)
{
	const char *number = strncmp(name, "trace.", 6) == 0 ? name + 6 : "";
	struct part *part;

	if (strncmp(name, "trace", 5) != 0)
		return 0;
	if (array_grow(&live->parts, &live->capacity, live->n + 1, sizeof(*live->parts)))
		return -ENOMEM;
	part = &live->parts[live->n];
	if (asprintf(&part->path, "%s/%s", live->directory, name) < 0)
		return -ENOMEM;
	part->pid = (pid_t)strtol(number, NULL, 10);
	live->n++;
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	const struct part *one = a, *other = b;

	return one->pid != other->pid ? (one->pid < other->pid ? -1 : 1) : strcmp(one->path, other->path);
}

static int find_parts(struct live_export *live, struct error *err)
{
	DIR *directory = opendir(live->directory);
	struct dirent *entry;
	int rc =
		directory ? 0 : error_set(err, errno, "cannot read %s: %s", live->directory, strerror(errno));

	while (!rc && (entry = readdir(directory)) != NULL) {
		if (add_part(live, entry->d_name))
			rc = error_set(err, ENOMEM, "out of memory");
	}
	if (directory)
		closedir(directory);
	if (!rc && live->n)
		qsort(live->parts, live->n, sizeof(*live->parts), by_pid);
	return rc;
}

/* The only process of a recording without --children. */
static void name_alone(struct live_export *live, const struct titles *titles)
{
	if (live->n == 1 && !live->parts[0].pid && titles->n)
		live->parts[0].pid = titles->all[0].pid;
}

static int export_parts(struct live_export *live, const struct titles *titles, struct error *err)
{
	struct export_job job = {.output = live->options->output, .format = EXPORT_PERFETTO};
	struct export_input *inputs = calloc(live->n, sizeof(*inputs));
	int status;

	if (!inputs)
		return error_set(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < live->n; i++) {
		const struct part *part = &live->parts[i];

		inputs[i] = (struct export_input){part->path, titles_find(titles, part->pid), part->pid};
	}
	job.inputs = inputs;
	job.ninputs = live->n;
	status = export_run(&job, err);
	free(inputs);
	return status;
}

static void report(const struct live_export *live)
{
	const char *output = live->options->output;
	struct stat st;

	if (live->options->quiet || stat(output, &st))
		return;
	fprintf(stderr, "gotrace: wrote %s: %s of %zu process%s\n\nOpen it at https://ui.perfetto.dev\n",
		text_path(output).bytes, text_bytes((uint64_t)st.st_size).bytes, live->n,
		live->n == 1 ? "" : "es");
}

static int export_all(struct live_export *live, struct error *err)
{
	struct titles titles;
	int status;

	if (titles_load(&titles, live->titles))
		titles = (struct titles){0};
	name_alone(live, &titles);
	signals_install();
	status = export_parts(live, &titles, err);
	titles_free(&titles);
	if (status >= 0)
		report(live);
	return status;
}

/* Traces that could not be exported stay, and are named. */
static void clean_up(struct live_export *live, bool keep)
{
	for (size_t i = 0; i < live->n; i++) {
		if (!keep)
			unlink(live->parts[i].path);
		free(live->parts[i].path);
	}
	free(live->parts);
	if (live->directory[0] && rmdir(live->directory) && keep)
		fprintf(stderr, "gotrace: the traces themselves are in %s\n",
			text_path(live->directory).bytes);
	if (live->titles >= 0)
		close(live->titles);
}

static int worse(int a, int b)
{
	return a > b ? a : b;
}

int record_export(const struct record_options *options, int (*record)(const struct record_options *options))
{
	struct live_export live = {.options = options, .titles = memfd_create("titles", MFD_CLOEXEC)};
	struct error err = {""};
	int traced = STATUS_NONE, status = make_directory(&live, &err);

	if (status == 0)
		status = traced = trace_apart(&live, record, &err);
	if (traced == STATUS_WHOLE || traced == STATUS_CUT)
		status = find_parts(&live, &err);
	if (status == 0 && live.n)
		status = export_all(&live, &err);
	clean_up(&live, status < 0);
	if (status < 0) {
		message_error(&err);
		return STATUS_NONE;
	}
	return traced == STATUS_CUT ? worse(traced, status) : status;
}
