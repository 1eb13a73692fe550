/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/child.h"
#include "sandbox/filter.h"
#include "sandbox/privilege.h"
#include "sandbox/rpc.h"
#include "target/reads.h"
#include "util/clock.h"
#include "util/utf8.h"
#include "util/window.h"

enum {
	ANSWER_S = 120, /* longest time for an answer */
	IDLE_S = 10,    /* the same if the process uses no CPU time */
	/*
	 * If two checks, which are normally less than a tenth of a second apart, are this far apart, gotrace
	 * itself was stopped.
	 */
	OWN_STOP_MS = 1000,
	STOPPED_MS = 5000, /* longest time for which it may be stopped */
	HELLO_MS = 1000,   /* the same for a worker that is starting */
	ENDING_MS = 1500,  /* longest time after the trace should have ended */
	END_MS = 1000,     /* time for an idle worker to exit by itself */
	KILLED_MS = 500,   /* time to reap a killed worker; the kernel may hold it for longer */
	/*
	 * Most descriptors of a worker: a file of /proc that is being read holds some pages. Names take up to
	 * 2,112 files with their debug files (target/names/map.c), and 1,024 processes two files each.
	 */
	MAX_FILES = 16384,
	MAX_THREADS = 64, /* of all workers */
};

/* Address space that malloc reserves for threads (64 MiB each), and cannot use otherwise. */
#define ARENA_BYTES (256ull << 20)

/* --- in the worker --- */

/* Limits are never raised: that needs a privilege. */
static int set_limit(__rlimit_resource_t resource, uint64_t most)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		return -errno;
	limit.rlim_max = limit.rlim_max < most ? limit.rlim_max : most;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(resource, &limit) ? -errno : 0;
}

/* Address space that is in use. It includes memory shared with the parent. */
static uint64_t mapped_bytes(void)
{
	unsigned long long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file && fscanf(file, "%llu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/*
 * The filter allows only memory that RLIMIT_DATA counts. RLIMIT_AS limits, in addition, page tables: one page
 * for each 2 MiB of address space, whether that holds anything or not.
 */
static int limit_memory(const struct sandbox_plan *plan)
{
#ifdef __SANITIZE_ADDRESS__
	/* The sanitizer needs terabytes. */
	(void)plan;
	(void)mapped_bytes;
	return 0;
#else
	uint64_t addresses;
	int rc = set_limit(RLIMIT_DATA, plan->bytes);

	if (__builtin_add_overflow(mapped_bytes() + plan->addresses + ARENA_BYTES, plan->bytes, &addresses))
		addresses = RLIM_INFINITY;
	return rc ? rc : set_limit(RLIMIT_AS, addresses);
#endif
}

/* What else holds memory: threads, of which root's workers have a user id for themselves, and open files. */
static int set_limits(const struct sandbox_plan *plan)
{
	int rc = set_limit(RLIMIT_CORE, 0);

	if (rc == 0)
		rc = set_limit(RLIMIT_NOFILE, MAX_FILES);
	if (rc == 0 && geteuid() == 0)
		rc = set_limit(RLIMIT_NPROC, MAX_THREADS);
	return rc ? rc : limit_memory(plan);
}

/*
 * Opens its own memory for the broker, which reads call arguments there. This is done before the ids change.
 * Read-only, because writes through this file ignore read-only pages.
 */
static int own_memory(void)
{
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	return open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
}

/* Gives up all privileges. *listener: the descriptor through which the broker receives its system calls. */
static int worker_confine(const struct sandbox_plan *plan, pid_t parent, int *listener, struct error *err)
{
	const struct filter_options filter = {.listener = listener, .threads = plan->threads};
	int rc = set_limits(plan);

	if (rc)
		return error_set(err, -rc, "cannot set up the sandbox: limits: %s", strerror(-rc));
	rc = privilege_drop_all(err);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (!child_end_with(parent))
		return -ESRCH;
	return rc ? rc : filter_install(&filter, err);
}

/* Sends an unsolicited first answer: a descriptor of its memory, and the listener. */
static int hello(const struct sandbox_plan *plan, struct channel *channel, pid_t parent)
{
	struct error err = {""};
	int fds[2] = {own_memory(), -1}, rc;

	if (fds[0] < 0)
		rc = error_set(&err, errno, "cannot set up the sandbox: /proc/self/mem: %s", strerror(errno));
	else
		rc = worker_confine(plan, parent, &fds[1], &err);
	if (rc) {
		rpc_answer(channel, rc, &err, NULL, 0);
		return rc;
	}
	rc = rpc_answer_fds(channel, NULL, 0, fds, 2);
	close(fds[0]);
	close(fds[1]);
	return rc;
}

static void worker_run(const struct sandbox_plan *plan, int fd, pid_t parent, struct window window)
{
	struct channel channel;

	if (child_begin("gotrace", &fd, 1, true, parent) || channel_open(&channel, CHILD_FD))
		_exit(1);
	if (hello(plan, &channel, parent))
		_exit(1);
	target_reads_set_delegate(NULL);
	window_use(window);
	plan->work(&channel, plan->ctx);
	_exit(0);
}

/* --- in the parent --- */

static int take_hello(struct sandbox *sandbox, struct error *err)
{
	struct rpc hello = {.kind = 0};
	int rc = rpc_take_answer(&sandbox->channel, &hello);

	sandbox->client.memory = hello.fds[0];
	sandbox->client.listener = hello.fds[1];
	hello.fds[0] = hello.fds[1] = -1;
	descriptors_close(hello.fds);
	if (rc)
		return error_set(err, -rc, "cannot set up the sandbox: %s", strerror(-rc));
	if (hello.code < 0)
		return error_set(err, -hello.code, "%s", hello.error.text);
	return sandbox->client.memory >= 0 && sandbox->client.listener >= 0
		       ? 0
		       : error_set(err, EIO, "cannot set up the sandbox: received no descriptors");
}

/* --- limits --- */

static const char *too_slow(struct sandbox *sandbox, uint64_t now)
{
	const struct sandbox_wait *wait = &sandbox->wait;

	if (wait->stopped_ns && now - wait->stopped_ns >= sandbox->stopped_ms * 1000000ull)
		return "is stopped and was abandoned";
	if (wait->ending_ns && now - wait->ending_ns >= ENDING_MS * 1000000ull)
		return "was still busy when the trace was to end and was abandoned";
	if (sandbox->has_reader)
		return NULL;
	if (now - wait->moved_ns >= IDLE_S * 1000000000ull)
		return "makes no progress and was abandoned";
	return now - wait->begin_ns >= sandbox->answer_s * 1000000000ull
		       ? "takes too long to answer and was abandoned"
		       : NULL;
}

/* Ctrl-Z stops all of gotrace; that time does not count. */
static void leave_out_own_stop(struct sandbox_wait *wait, uint64_t now)
{
	uint64_t away = now - wait->checked_ns;

	wait->checked_ns = now;
	if (away < OWN_STOP_MS * 1000000ull)
		return;
	wait->begin_ns += away;
	wait->moved_ns += away;
	wait->stopped_ns += wait->stopped_ns ? away : 0;
	wait->ending_ns += wait->ending_ns ? away : 0;
}

static void check_worker(struct sandbox *sandbox, uint64_t now)
{
	struct sandbox_wait *wait = &sandbox->wait;
	uint64_t cpu = clock_process_ns(sandbox->pid);
	bool stopped = child_is_stopped(sandbox->pid);

	leave_out_own_stop(wait, now);
	if (!stopped)
		wait->stopped_ns = 0;
	else if (!wait->stopped_ns)
		wait->stopped_ns = now;
	if (cpu != wait->cpu_ns)
		wait->moved_ns = now;
	wait->cpu_ns = cpu;
	if (!wait->ending_ns && sandbox->must_end && sandbox->must_end(sandbox->ctx))
		wait->ending_ns = now;
}

/* Called by the channel while it waits. */
static bool may_wait(void *ctx)
{
	struct sandbox *sandbox = ctx;
	uint64_t now = now_ns();

	check_worker(sandbox, now);
	sandbox->slow = too_slow(sandbox, now);
	return !sandbox->slow;
}

int sandbox_begin_wait(struct sandbox *sandbox)
{
	sandbox->wait.begin_ns = sandbox->wait.moved_ns = sandbox->wait.checked_ns = now_ns();
	sandbox->wait.stopped_ns = 0;
	if (!sandbox->wait.ending_ns && sandbox->must_end && sandbox->must_end(sandbox->ctx))
		sandbox->wait.ending_ns = sandbox->wait.begin_ns;
	sandbox->slow = too_slow(sandbox, sandbox->wait.begin_ns);
	return sandbox->slow ? -ETIMEDOUT : 0;
}

void sandbox_until(struct sandbox *sandbox, bool (*must_end)(void *ctx), void *ctx)
{
	sandbox->must_end = must_end;
	sandbox->ctx = ctx;
}

/* --- start --- */

/* Sealed, so that the worker cannot truncate it while the broker uses it. */
static int make_window(struct sandbox *sandbox)
{
	int fd = memfd_create("gotrace-window", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *bytes = MAP_FAILED;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, WINDOW_BYTES) == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		bytes = mmap(NULL, WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	sandbox->client.window = fd;
	if (bytes == MAP_FAILED)
		return -errno;
	sandbox->client.theirs = (struct window){bytes, WINDOW_BYTES};
	return 0;
}

static void drop_window(struct sandbox *sandbox)
{
	if (sandbox->client.theirs.bytes)
		munmap(sandbox->client.theirs.bytes, sandbox->client.theirs.size);
}

static int worker_start(struct sandbox *sandbox, const struct sandbox_plan *plan, const int ends[2])
{
	pid_t parent = getpid();
	int rc = make_window(sandbox);

	if (rc)
		return rc;
	privilege_choose_id();
	fflush(NULL);
	sandbox->pid = fork();
	if (sandbox->pid == 0)
		worker_run(plan, ends[1], parent, sandbox->client.theirs);
	rc = sandbox->pid < 0 ? -errno : 0;
	sandbox->pid = rc ? 0 : sandbox->pid;
	drop_window(sandbox);
	return rc;
}

int sandbox_start(struct sandbox *sandbox, const struct sandbox_plan *plan, struct error *err)
{
	int ends[2], rc;

	*sandbox = (struct sandbox){.what = plan->what,
				    .client = {.listener = -1, .memory = -1, .window = -1},
				    .channel = {.fd = -1},
				    .answer_s = ANSWER_S,
				    .stopped_ms = STOPPED_MS};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return error_set(err, errno, "cannot set up the sandbox: %s", strerror(errno));
	rc = worker_start(sandbox, plan, ends);
	close(ends[1]);
	if (rc == 0)
		rc = channel_open(&sandbox->channel, ends[0]);
	if (rc) {
		close(ends[0]);
		sandbox->channel.fd = -1;
		if (rc == -EFBIG)
			return error_set(
				err, EFBIG,
				"cannot set up the sandbox: the size of files is limited (ulimit -f)");
		return error_set(err, -rc, "cannot set up the sandbox: %s", strerror(-rc));
	}
	channel_limit(&sandbox->channel, may_wait, sandbox);
	sandbox_begin_wait(sandbox);
	sandbox->stopped_ms = HELLO_MS;
	rc = take_hello(sandbox, err);
	sandbox->stopped_ms = STOPPED_MS;
	return rc;
}

int sandbox_attend(struct sandbox *sandbox, struct broker *broker, struct error *err)
{
	int rc = broker_add(broker, &sandbox->client);

	sandbox->client.listener = sandbox->client.memory = sandbox->client.window = -1;
	sandbox->broker = broker;
	return rc ? error_set(err, -rc, "cannot set up the sandbox: %s", strerror(-rc)) : 0;
}

/* --- end --- */

static bool sandbox_reap(struct sandbox *sandbox, int *status)
{
	if (sandbox->pid <= 0 || !child_wait(sandbox->pid, KILLED_MS, status))
		return false;
	sandbox->pid = 0;
	return true;
}

/* If the kernel holds the process, or gotrace may not signal it, it is left alone. */
static void kill_it(struct sandbox *sandbox)
{
	int status;

	if (sandbox->pid > 0)
		kill(sandbox->pid, SIGKILL);
	sandbox_reap(sandbox, &status);
}

static void sandbox_explain(struct sandbox *sandbox, int rc)
{
	int status;

	if (rc == -ETIMEDOUT)
		error_set(&sandbox->why, ETIMEDOUT, "%s %s", sandbox->what,
			  sandbox->slow ? sandbox->slow : "does not answer");
	else if (rc == -ENOMEM)
		error_set(&sandbox->why, ENOMEM, "out of memory");
	else if (rc == -EBADMSG)
		error_set(&sandbox->why, EBADMSG, "%s sent an invalid answer", sandbox->what);
	else if (!sandbox_reap(sandbox, &status))
		error_set(&sandbox->why, EPIPE, "%s does not answer", sandbox->what);
	else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		error_set(&sandbox->why, EPIPE,
			  "%s was killed by its seccomp filter: it made a forbidden system call (a malicious "
			  "or damaged file?)",
			  sandbox->what);
	else if (WIFSIGNALED(status))
		error_set(&sandbox->why, EPIPE, "%s was killed by signal %d (%s)", sandbox->what,
			  WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		error_set(&sandbox->why, EPIPE, "%s exited unexpectedly (status %d)", sandbox->what,
			  WEXITSTATUS(status));
}

int sandbox_fail(struct sandbox *sandbox, int rc, struct error *err)
{
	if (!sandbox->broken) {
		sandbox_explain(sandbox, rc);
		kill_it(sandbox);
	}
	sandbox->broken = true;
	return error_set(err, EPIPE, "%s", sandbox->why.text);
}

bool sandbox_has_exited(struct sandbox *sandbox)
{
	struct pollfd fd = {.fd = sandbox->channel.fd, .events = 0};

	if (!sandbox->broken && poll(&fd, 1, 0) > 0 && fd.revents & (POLLHUP | POLLERR))
		sandbox_fail(sandbox, -EPIPE, NULL);
	return sandbox->broken;
}

bool sandbox_is_stopped(const struct sandbox *sandbox)
{
	return child_is_stopped(sandbox->pid);
}

void sandbox_set_niceness(const struct sandbox *sandbox, int niceness)
{
	setpriority(PRIO_PROCESS, (id_t)sandbox->pid, niceness);
}

/* A stopped worker does not notice that the channel is closed. */
void sandbox_end(struct sandbox *sandbox)
{
	const struct broker_client *client = &sandbox->client;

	channel_close(&sandbox->channel);
	if (client->listener >= 0)
		close(client->listener);
	if (client->memory >= 0)
		close(client->memory);
	if (client->window >= 0)
		close(client->window);
	if (sandbox->pid > 0)
		child_end(sandbox->pid, child_is_stopped(sandbox->pid) || sandbox->broken ? 0 : END_MS);
	sandbox->pid = 0;
}

static bool is_confined; /* this process, by itself */

/*
 * Whether a filter is not necessary where the kernel has none, as in an emulator of processes: libseccomp
 * reports ECANCELED for errors of system calls.
 */
static bool can_do_without(int rc, bool had_none)
{
	return had_none && (rc == -ECANCELED || rc == -ENOSYS || rc == -EINVAL);
}

static int confine_self(const struct filter_options *filter, struct error *err)
{
	bool had_none = privilege_has_none();
	int rc;

	if (is_confined)
		return 0;
	privilege_choose_id();
	rc = privilege_drop_all(err);
	if (rc == 0)
		rc = filter_install(filter, err);
	if (can_do_without(rc, had_none))
		rc = 0;
	is_confined = rc == 0;
	return rc;
}

bool sandbox_is_confined(void)
{
	return is_confined;
}

int sandbox_confine(struct error *err)
{
	return confine_self(&(struct filter_options){.listener = NULL}, err);
}

int sandbox_confine_parent(const pid_t *children, size_t n, struct error *err)
{
	return confine_self(&(struct filter_options){.children = children, .nchildren = n}, err);
}

int sandbox_confine_drawer(struct error *err)
{
	return confine_self(&(struct filter_options){.draws = true}, err);
}
