/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Runs the groups of unit tests that are linked in (unit.h), each in a process of its own: what crashes does
 *not hide the others, and what gives up rights or sets limits does so for itself alone.
 *
 *	PROGRAM [-j N] [-v] [GROUP...] [-t TEST] [-- FILE...]
 *
 * GROUP is the name of a test file without test_ and .c, or its begin: rawlog, rawlog_check, code/isa. TEST
 *is the name of a test, and may have * and ?. A line for each file, with all that it printed if it failed, or
 *with -v. Is just one group named, whole, it runs in this process, for a debugger. The status is 0 if all
 *passed and some ran. */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A group that takes longer hangs. In the emulator of another machine the slowest takes two minutes. */
#define LIMIT_S    600
#define MAX_GROUPS 1024

extern const struct unit_group *const __start_unit_groups[], *const __stop_unit_groups[];

const char **unit_files;
int unit_nfiles;

struct run {
	const struct unit_group *group;
	char name[96];
	pid_t pid;
	int output; /* a file in memory with what it prints */
	double began;
	int passed, failed, skipped;
};

static struct run runs[MAX_GROUPS];
static size_t nruns;
static bool verbose, filtered;

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* tests/unit/test_rawlog_check.c is rawlog_check. */
static void group_name(const char *file, char *name, size_t size)
{
	const char *slash = strrchr(file, '/');
	const char *base = slash ? slash + 1 : file;

	snprintf(name, size, "%s", strncmp(base, "test_", 5) == 0 ? base + 5 : base);
	name[strcspn(name, ".")] = '\0';
}

/* Is name the group that is wanted, or one of that module? */
static bool name_matches(const char *name, const char *wanted)
{
	size_t i;

	if (strncmp(wanted, "test_", 5) == 0)
		wanted += 5;
	for (i = 0; wanted[i]; i++)
		if (name[i] != (wanted[i] == '/' ? '_' : wanted[i]))
			return false;
	return name[i] == '\0' || name[i] == '_';
}

static int group_run(const struct unit_group *group, const char *name)
{
	return _cmocka_run_group_tests(name, group->tests, group->ntests, group->set_up, group->tear_down);
}

static void run_start(struct run *run)
{
	run->output = memfd_create(run->name, MFD_CLOEXEC);
	if (run->output < 0) {
		perror("memfd_create");
		exit(1);
	}
	run->began = now_s();
	fflush(NULL);
	run->pid = fork();
	if (run->pid < 0) {
		perror("fork");
		exit(1);
	}
	if (run->pid == 0) {
		dup2(run->output, STDOUT_FILENO);
		dup2(run->output, STDERR_FILENO);
		close(run->output);
		/* A test must find no descriptors but these. */
		for (size_t i = 0; i < nruns; i++)
			if (runs[i].pid > 0)
				close(runs[i].output);
		setvbuf(stdout, NULL, _IOLBF, 0);
		alarm(LIMIT_S);
		exit(group_run(run->group, run->name) != 0);
	}
}

/* Counts what cmocka reported of each test. A failure is reported twice: when it happens, and in a list at
 * the end. */
static void count_tests(struct run *run, char *text)
{
	bool listed = false;
	char *line, *rest = NULL;

	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		listed = listed || (strncmp(line, "[==========] ", 13) == 0 && strstr(line, " test(s) run."));
		if (strncmp(line, "[       OK ] ", 13) == 0)
			run->passed++;
		else if (!listed && strncmp(line, "[  SKIPPED ] ", 13) == 0)
			run->skipped++;
		else if (!listed && strncmp(line, "[  FAILED  ] ", 13) == 0)
			run->failed++;
	}
}

static void run_report(struct run *run, int status)
{
	off_t size = lseek(run->output, 0, SEEK_END);
	char *text = calloc(1, (size_t)size + 1), *shown;
	bool good;

	if (!text || pread(run->output, text, (size_t)size, 0) != size) {
		perror(run->name);
		exit(1);
	}
	close(run->output);
	shown = strdup(text);
	count_tests(run, text);
	good = WIFEXITED(status) && WEXITSTATUS(status) == 0 && run->failed == 0;
	if (!good && run->failed == 0)
		run->failed = 1;
	if (good && filtered && run->passed == 0)
		goto out;
	if ((!good || verbose) && shown)
		fputs(shown, stdout);
	printf("%s %-36s %3d passed", good ? "ok  " : "FAIL", run->name, run->passed);
	if (run->failed)
		printf(", %d failed", run->failed);
	if (run->skipped)
		printf(", %d skipped", run->skipped);
	printf(", %.2f s", now_s() - run->began);
	if (WIFSIGNALED(status))
		printf(", ended by %s",
		       WTERMSIG(status) == SIGALRM ? "the limit of time" : strsignal(WTERMSIG(status)));
	putchar('\n');
	fflush(stdout);
out:
	free(shown);
	free(text);
}

/* Waits for one of the groups that run, and reports it. */
static void run_wait(void)
{
	int status;
	pid_t pid = wait(&status);
	size_t i;

	if (pid < 0) {
		perror("wait");
		exit(1);
	}
	for (i = 0; i < nruns; i++)
		if (runs[i].pid == pid) {
			runs[i].pid = 0;
			run_report(&runs[i], status);
			return;
		}
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct run *)a)->name, ((const struct run *)b)->name);
}

/* Collects the groups that are wanted, in the order of their names. Returns the name of one that matched
 * nothing. */
static const char *runs_select(char **wanted, int nwanted)
{
	const struct unit_group *const *group;
	bool found[MAX_GROUPS] = {false};
	int i;

	for (group = __start_unit_groups; group < __stop_unit_groups && nruns < MAX_GROUPS; group++) {
		struct run *run = &runs[nruns];
		bool selected = nwanted == 0;

		group_name((*group)->file, run->name, sizeof(run->name));
		for (i = 0; i < nwanted; i++)
			if (name_matches(run->name, wanted[i]))
				selected = found[i] = true;
		if (selected) {
			run->group = *group;
			nruns++;
		}
	}
	qsort(runs, nruns, sizeof(runs[0]), by_name);
	for (i = 0; i < nwanted; i++)
		if (!found[i])
			return wanted[i];
	return NULL;
}

static int run_all(size_t njobs)
{
	size_t i, running = 0;
	int passed = 0, failed = 0, skipped = 0;
	double began = now_s();

	for (i = 0; i < nruns; i++) {
		if (running == njobs) {
			run_wait();
			running--;
		}
		run_start(&runs[i]);
		running++;
	}
	for (; running > 0; running--)
		run_wait();
	for (i = 0; i < nruns; i++) {
		passed += runs[i].passed;
		failed += runs[i].failed;
		skipped += runs[i].skipped;
	}
	printf("%zu files, %d skipped, %.1f s\n%d passed, %d failed\n", nruns, skipped, now_s() - began,
	       passed, failed);
	return passed == 0 || failed > 0;
}

static int usage(const char *program)
{
	fprintf(stderr, "usage: %s [-j N] [-v] [-t TEST] [GROUP...] [-- FILE...]\n", program);
	return 2;
}

int main(int argc, char **argv)
{
	long njobs = sysconf(_SC_NPROCESSORS_ONLN);
	const char *missing;
	int c, last;

	for (last = 1; last < argc && strcmp(argv[last], "--") != 0;)
		last++;
	if (last < argc) {
		unit_files = (const char **)argv + last + 1;
		unit_nfiles = argc - last - 1;
	}
	while ((c = getopt(last, argv, "+j:t:v")) != -1) {
		if (c == 'j')
			njobs = strtol(optarg, NULL, 10);
		else if (c == 't')
			cmocka_set_test_filter(optarg), filtered = true;
		else if (c == 'v')
			verbose = true;
		else
			return usage(argv[0]);
	}
	missing = runs_select(argv + optind, last - optind);
	if (missing) {
		fprintf(stderr, "%s: no group of tests is called %s\n", argv[0], missing);
		return 2;
	}
	if (last - optind == 1 && nruns == 1)
		return group_run(runs[0].group, runs[0].name) != 0;
	return run_all(njobs > 0 ? (size_t)njobs : 1);
}
