/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Each process has a recorder in a child process of its own, so that what one program does to its recorder
 * harms no other. They share the files that they may keep and the bytes in memory.
 */
#include "cli/flight_node.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/node.h"
#include "cli/cli.h"
#include "cli/flight_process.h"
#include "cli/signals.h"
#include "flight/share.h"
#include "util/clock.h"
#include "util/files.h"
#include "util/message.h"
#include "util/proc_stat.h"

enum {
	MAX_RECORDERS = NODE_SLOTS,
	MAX_REFUSED = 256,
	MAX_OTHER_FILES = 4096,
	TICK_MS = 500,     /* between looks at the recorders */
	SEARCH_S = 2,      /* between searches for processes */
	LEAST_AGE_S = 2,   /* of a process: the short-lived ones are gone by then */
	RETRY_S = 60,      /* before a process that could not be recorded is retried */
	MOST_BEGIN_S = 60, /* until a recorder records */
	MOST_END_S = 30,   /* until the recorders have ended */
};

enum { STATUS_NOT_GO = 100 }; /* exit status of a recorder: not a Go program, where only those are wanted */

struct file_id {
	dev_t dev;
	ino_t ino;
};

struct node_recorder {
	pid_t pid; /* of the recorder */
	struct found_process process;
	struct file_id exe; /* of the process */
	int begin_fd;       /* it writes a byte when it records, and closes it; then -1 */
	uint64_t begin_ns;  /* when it was started */
	bool records;
	uint32_t slot; /* in the programs */
};

struct refused_process {
	struct found_process process;
	uint64_t when_ns;
};

struct node {
	struct recorder *recorder; /* what the recorders inherit */
	struct flight_options *options;
	struct flight_share_owner share;
	struct node_bpf *programs; /* at tracepoints; NULL: each recorder has its own */
	struct node_recorder recorders[MAX_RECORDERS];
	unsigned n;
	struct refused_process refused[MAX_REFUSED]; /* a ring */
	unsigned nrefused;
	struct file_id others[MAX_OTHER_FILES]; /* executables that are not Go programs; a ring */
	unsigned nothers;
	struct file_id self;
	struct error trouble; /* the last one that was reported: it may last for days */
	bool full_reported;
	bool lost; /* a recorder lost something, or died */
};

/* --- in the recorder --- */

static void report_recording(void *ctx)
{
	int fd = *(int *)ctx;

	if (write(fd, "", 1) < 0) {
		/* The node has ended, and this process is about to. */
	}
	close(fd);
}

static int run_recorder_of(struct node *node, const struct node_recorder *wanted, int fd)
{
	struct node_slot slot = {0};
	bool reported = false;
	struct error err = {""};
	int status, rc;

	if (node->programs)
		slot = node_slot_at(node->programs, wanted->slot);
	for (unsigned i = 0; i < MAX_REFUSED; i++)
		reported |= node->refused[i].process.pid == wanted->process.pid &&
			    node->refused[i].process.start == wanted->process.start;
	snapshot_store_own(&node->recorder->store);
	flight_share_give_up(&node->share);
	node->recorder->to_attach = 0; /* it follows no other process */
	if (node->programs)
		node->options->record.node = &slot;
	recorder_listen(node->recorder);
	rc = flight_record(node->recorder, &wanted->process, report_recording, &fd, &status, &err);
	recorder_close(node->recorder);
	if (rc == -ENOEXEC && node->options->record.as == AS_GO)
		return STATUS_NOT_GO;
	if (rc && !reported)
		message_error(&err);
	return status;
}

/* Messages of this recorder begin with the process's name and PID. */
static void set_subject(pid_t pid)
{
	char path[64], text[48];
	struct proc_stat stat;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (!proc_stat_read(path, &stat))
		return;
	snprintf(text, sizeof(text), "%s %d", stat.comm, (int)pid);
	message_set_subject(text);
}

/* The recorder ends properly if the node is killed, and a terminal's Ctrl-C reaches only the node. */
static void become_recorder(struct node *node, const struct node_recorder *wanted, pid_t parent, int fd)
{
	setpgid(0, 0);
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) || getppid() != parent)
		_exit(STATUS_NONE);
	set_subject(wanted->process.pid);
	_exit(run_recorder_of(node, wanted, fd));
}

/* --- in the node --- */

static void update_share(struct node *node)
{
	atomic_store(node->share.number, node->n ? node->n : 1);
}

/* Of an error that comes again at each search, only the first is reported. */
static void report_trouble(struct node *node, const struct error *err)
{
	if (strcmp(node->trouble.text, err->text) != 0)
		message_error(err);
	node->trouble = *err;
}

static void report_no_start(struct node *node, int code)
{
	struct error err;

	error_set(&err, code, "cannot start a recorder: %s", strerror(code));
	report_trouble(node, &err);
}

static uint32_t find_free_slot(const struct node *node)
{
	bool used[MAX_RECORDERS] = {false};
	uint32_t slot = 0;

	for (unsigned i = 0; i < node->n; i++)
		used[node->recorders[i].slot] = true;
	while (used[slot])
		slot++;
	return slot;
}

static void node_begin_recorder(struct node *node, const struct node_recorder *wanted)
{
	struct node_recorder *added = &node->recorders[node->n];
	pid_t parent = getpid(), pid;
	int ends[2], code;

	*added = *wanted;
	added->slot = find_free_slot(node);

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK)) {
		report_no_start(node, errno);
		return;
	}
	pid = fork();
	code = errno;
	if (pid == 0) {
		close(ends[0]);
		become_recorder(node, added, parent, ends[1]);
	}
	close(ends[1]);
	if (pid < 0) {
		report_no_start(node, code);
		close(ends[0]);
		return;
	}
	added->pid = pid;
	added->begin_fd = ends[0];
	added->begin_ns = now_ns();
	node->n++;
	node->trouble.text[0] = '\0';
	update_share(node);
}

static bool is_recorded(const struct node *node, pid_t pid)
{
	for (unsigned i = 0; i < node->n; i++) {
		if (node->recorders[i].process.pid == pid)
			return true;
	}
	return false;
}

static bool is_same(const struct file_id *one, const struct file_id *other)
{
	return one->dev == other->dev && one->ino == other->ino;
}

static bool is_other(const struct node *node, const struct file_id *exe)
{
	for (unsigned i = 0; i < node->nothers && i < MAX_OTHER_FILES; i++) {
		if (is_same(&node->others[i], exe))
			return true;
	}
	return is_same(&node->self, exe);
}

static bool is_refused(const struct node *node, const struct found_process *process, uint64_t now)
{
	for (unsigned i = 0; i < node->nrefused && i < MAX_REFUSED; i++) {
		const struct refused_process *one = &node->refused[i];

		if (one->process.pid == process->pid && one->process.start == process->start &&
		    now - one->when_ns < RETRY_S * 1000000000ull)
			return true;
	}
	return false;
}

/* Kernel threads have no executable. */
static bool find_exe(pid_t pid, struct file_id *exe)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (file_stat_at(AT_FDCWD, path, 0, &st))
		return false;
	*exe = (struct file_id){.dev = st.st_dev, .ino = st.st_ino};
	return true;
}

static bool is_old_enough(const struct found_process *process)
{
	double age_s = (double)clock_ns(CLOCK_BOOTTIME) / 1e9 -
		       (double)process->start / (double)sysconf(_SC_CLK_TCK);

	return process->start && age_s >= LEAST_AGE_S;
}

/* Starts a recorder of the first process that has none. */
static bool look_at_process(void *ctx, pid_t pid)
{
	struct node *node = ctx;
	struct node_recorder wanted = {.process = {.pid = pid}};

	if (pid == getpid() || is_recorded(node, pid) || !find_exe(pid, &wanted.exe) ||
	    is_other(node, &wanted.exe))
		return true;
	wanted.process.start = process_start(pid);
	if (!is_old_enough(&wanted.process) || is_refused(node, &wanted.process, now_ns()))
		return true;
	if (node->n < MAX_RECORDERS) {
		node_begin_recorder(node, &wanted);
		return false;
	}
	if (!node->full_reported)
		message("%d processes are recorded; no more at the same time", MAX_RECORDERS);
	node->full_reported = true;
	return false;
}

static void note_recorder_end(struct node *node, const struct node_recorder *ended, int status)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_NONE;

	if (code == STATUS_NOT_GO) {
		node->others[node->nothers++ % MAX_OTHER_FILES] = ended->exe;
		return;
	}
	if (WIFSIGNALED(status))
		message("the recorder of PID %d was ended by signal %d; another one starts in %d s",
			(int)ended->process.pid, WTERMSIG(status), RETRY_S);
	node->lost |= code == STATUS_CUT || (ended->records && code != STATUS_WHOLE);
	if (code == STATUS_NONE)
		node->refused[node->nrefused++ % MAX_REFUSED] =
			(struct refused_process){.process = ended->process, .when_ns = now_ns()};
}

static void stop_waiting(struct node_recorder *begins)
{
	if (begins->begin_fd >= 0)
		close(begins->begin_fd);
	begins->begin_fd = -1;
}

static void leave_slot(const struct node *node, uint32_t number)
{
	struct node_slot slot;

	if (!node->programs)
		return;
	slot = node_slot_at(node->programs, number);
	node_slot_leave(&slot);
}

static void reap_recorders(struct node *node)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (unsigned i = 0; i < node->n; i++) {
			if (node->recorders[i].pid != pid)
				continue;
			leave_slot(node, node->recorders[i].slot);
			stop_waiting(&node->recorders[i]);
			note_recorder_end(node, &node->recorders[i], status);
			node->recorders[i] = node->recorders[--node->n];
			break;
		}
		update_share(node);
	}
}

static void signal_recorders(const struct node *node, int number)
{
	for (unsigned i = 0; i < node->n; i++)
		kill(node->recorders[i].pid, number);
}

/* Recorders begin one after another, so that a node with many processes is not busy with that alone. */
static struct node_recorder *find_beginning(struct node *node)
{
	for (unsigned i = 0; i < node->n; i++) {
		if (node->recorders[i].begin_fd >= 0)
			return &node->recorders[i];
	}
	return NULL;
}

static void take_begin(struct node_recorder *begins)
{
	char byte;
	ssize_t n = read(begins->begin_fd, &byte, 1);

	begins->records = n > 0;
	if (n >= 0) {
		stop_waiting(begins);
	} else if (now_ns() - begins->begin_ns >= MOST_BEGIN_S * 1000000000ull) {
		message("the recorder of PID %d does not begin, and was killed", (int)begins->process.pid);
		kill(begins->pid, SIGKILL);
		stop_waiting(begins);
	}
}

static void follow(struct node *node)
{
	uint64_t next_ns = 0;
	struct error err;

	while (!signals_seen()) {
		struct node_recorder *begins = find_beginning(node);
		struct pollfd wait = {.fd = begins ? begins->begin_fd : -1, .events = POLLIN};

		if (!begins && now_ns() >= next_ns) {
			if (processes_visit(&node->options->filter, look_at_process, node, &err))
				report_trouble(node, &err);
			if (!find_beginning(node))
				next_ns = now_ns() + SEARCH_S * 1000000000ull;
			continue;
		}
		poll(&wait, 1, TICK_MS);
		if (begins)
			take_begin(begins);
		reap_recorders(node);
		if (signals_snapshots() > 0)
			signal_recorders(node, SIGUSR1);
	}
}

static void end_recorders(struct node *node)
{
	uint64_t until_ns = now_ns() + MOST_END_S * 1000000000ull;

	signal_recorders(node, SIGTERM);
	while (node->n && now_ns() < until_ns) {
		reap_recorders(node);
		poll(NULL, 0, node->n ? 20 : 0);
	}
	if (!node->n)
		return;
	message("%u recorders did not end, and were killed", node->n);
	node->lost = true;
	signal_recorders(node, SIGKILL);
}

/* Without these programs the recorders work as well, but each slows all switches and system calls of the
 * machine. */
static void open_programs(struct node *node)
{
	struct features features;
	struct error err = {""};

	features_probe(&features, &(struct features_options){.root = "", .btf = node->options->record.btf});
	node->programs = node_open(&features, node->options->record.syscalls, &err);
	if (!node->programs)
		message("each recorder has programs of its own at every switch and system call of the "
			"machine: %s",
			err.text);
}

static void report_wanted(const struct flight_options *options)
{
	struct text_path which = process_filter_text(&options->filter);

	if (options->record.quiet)
		return;
	if (which.bytes[0])
		message("recording every process of %s; write with: gotrace snapshot --all", which.bytes);
	else
		message("recording every Go program of this machine; write with: gotrace snapshot --all");
}

int flight_node(struct recorder *recorder, struct flight_options *options)
{
	struct node *node = calloc(1, sizeof(*node));
	int status = STATUS_NONE;
	struct error err;

	if (!node) {
		message("out of memory");
		return STATUS_NONE;
	}
	*node = (struct node){.recorder = recorder, .options = options};
	if (flight_share_open(&node->share, &err)) {
		message_error(&err);
	} else {
		options->plan.share = node->share.shared;
		find_exe(getpid(), &node->self);
		open_programs(node);
		report_wanted(options);
		follow(node);
		end_recorders(node);
		status = node->lost ? STATUS_CUT : STATUS_WHOLE;
	}
	if (node->programs)
		node_close(node->programs);
	flight_share_close(&node->share);
	free(node);
	return status;
}
