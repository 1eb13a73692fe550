/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Inside a sandbox: what is allowed, what is refused, and what ends it; and how answers of a hostile sandbox
 * are handled. */

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/broker_state.h"
#include "sandbox/filter.h"
#include "sandbox/inspector.h"
#include "sandbox/protocol.h"
#include "sandbox/rpc.h"
#include "sandbox/remote.h"
#include "util/window.h"

/* --- tries one thing and reports its errno (0: it succeeded) --- */

struct trial {
	int (*what)(void);
	bool threads; /* may start threads */
};

static void try_one(struct channel *channel, void *ctx)
{
	const struct trial *trial = ctx;
	struct message message = {.kind = 1};
	struct message go;

	/* Starts only once the broker serves the sandbox. */
	if (channel_take(channel, &go, NULL))
		return;
	message.code = trial->what();
	channel_put(channel, &message, NULL);
	channel_flush(channel);
}

static char path_of_target[64];
static pid_t target; /* of the trials: a process that sandboxes may inspect */

/* Returns the errno, or the negated signal that ended it. */
static int outcome_of(struct trial trial)
{
	const struct message go = {.kind = 1};
	const struct sandbox_plan plan = {.what = "the trial",
					  .work = try_one,
					  .ctx = &trial,
					  .bytes = SANDBOX_BYTES,
					  .threads = trial.threads};
	struct sandbox sandbox;
	struct broker *broker;
	struct message message;
	struct error err;
	int code, status;

	if (sandbox_start(&sandbox, &plan, &err))
		fail_msg("%s", err.text);
	broker = broker_new(&err);
	assert_non_null(broker);
	broker_allow(broker, target);
	assert_int_equal(sandbox_attend(&sandbox, broker, &err), 0);
	channel_put(&sandbox.channel, &go, NULL);
	channel_flush(&sandbox.channel);
	code = channel_take(&sandbox.channel, &message, NULL);
	if (code == 0) {
		code = message.code;
	} else {
		assert_int_equal(waitpid(sandbox.pid, &status, 0), sandbox.pid);
		sandbox.pid = 0;
		assert_true(WIFSIGNALED(status));
		code = -WTERMSIG(status);
	}
	sandbox_end(&sandbox);
	broker_free(broker);
	return code;
}

static int outcome(int (*what)(void))
{
	return outcome_of((struct trial){.what = what});
}

static int opens(const char *path, int flags)
{
	int fd = open(path, flags);

	return fd < 0 ? errno : 0;
}

static int open_shadow(void)
{
	return opens("/etc/shadow", O_RDONLY);
}

static int open_for_writing(void)
{
	return opens("/bin/true", O_WRONLY);
}

static int create(void)
{
	int fd = open("/tmp/gotrace-unit-created", O_RDONLY | O_CREAT, 0600);

	return fd < 0 ? errno : 0;
}

static int open_program(void)
{
	return opens("/bin/true", O_RDONLY);
}

static int open_of_target(void)
{
	return opens(path_of_target, O_RDONLY);
}

static int open_in_root(void)
{
	struct open_how how = {.flags = O_RDONLY, .resolve = RESOLVE_IN_ROOT};
	int root = open("/", O_PATH | O_DIRECTORY), fd;

	if (root < 0)
		return 1000;
	fd = (int)syscall(SYS_openat2, root, path_of_target, &how, sizeof(how));
	return fd < 0 ? errno : 0;
}

static int open_relative_to_root(void)
{
	int root = open("/", O_PATH | O_DIRECTORY), fd;

	fd = root < 0 ? -1 : openat(root, "etc/passwd", O_RDONLY);
	return fd < 0 ? errno : 0;
}

static int make_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, 0) < 0 ? errno : 0;
}

static int run_program(void)
{
	char *argv[] = {"true", NULL};

	return execv("/bin/true", argv) ? errno : 0;
}

static int kill_target(void)
{
	return kill(target, SIGKILL) ? errno : 0;
}

static int trace_target(void)
{
	return ptrace(PTRACE_ATTACH, target, NULL, NULL) ? errno : 0;
}

static int make_process(void)
{
	return fork() < 0 ? errno : 0;
}

static char source[64];

static int read_memory_of(pid_t pid)
{
	struct iovec to = {window_of_process().bytes, sizeof(source)}, from = {source, sizeof(source)};
	ssize_t n = process_vm_readv(pid, &to, 1, &from, 1, 0);

	return n < 0 ? errno : n == sizeof(source) ? 0 : 1000;
}

/* Data is read only into the window. It must not go into code, which writes through /proc/PID/mem could
 * change. */
static int read_to(void *to_bytes)
{
	struct iovec to = {to_bytes, sizeof(source)}, from = {source, sizeof(source)};

	return process_vm_readv(target, &to, 1, &from, 1, 0) < 0 ? errno : 0;
}

static int read_into_code(void)
{
	return read_to((void *)(uintptr_t)read_memory_of);
}

static int read_into_data(void)
{
	static char here[64];

	return read_to(here);
}

static int read_past_window(void)
{
	return read_to(window_of_process().bytes + WINDOW_BYTES - sizeof(source) / 2);
}

static int link_into_code(void)
{
	return readlink(path_of_target, (char *)(uintptr_t)read_memory_of, 64) < 0 ? errno : 0;
}

static int link_into_window(void)
{
	char text[PATH_MAX];

	return window_readlink(path_of_target, text, sizeof(text)) > 0 && text[0] == '/' ? 0 : errno;
}

static int stat_into_window(void)
{
	struct stat st;

	return window_stat(path_of_target, &st) ? errno : S_ISREG(st.st_mode) ? 0 : 1000;
}

/* --- arguments that the filter checks --- */

/* libc's fstat, which may be newfstatat with an empty path. */
static int stat_what_is_open(void)
{
	struct stat st;

	return fstat(STDERR_FILENO, &st) ? errno : 0;
}

static int stat_by_empty_path(void)
{
	struct stat st;

	return syscall(SYS_newfstatat, STDERR_FILENO, "", &st, AT_EMPTY_PATH) ? errno : 0;
}

static int stat_by_path(void)
{
	struct stat st;

	return syscall(SYS_newfstatat, AT_FDCWD, "/etc/passwd", &st, AT_EMPTY_PATH) ? errno : 0;
}

static int stat_a_closed_one(void)
{
	struct stat st;

	return syscall(SYS_newfstatat, 999, "", &st, AT_EMPTY_PATH) ? errno : 0;
}

static int step_back(void)
{
	return syscall(SYS_setpriority, PRIO_PROCESS, 0, FILTER_NICE) ? errno : 0;
}

static int raise_priority(void)
{
	return syscall(SYS_setpriority, PRIO_PROCESS, 0, FILTER_NORMAL - 1) ? errno : 0;
}

static int push_others_back(void)
{
	return syscall(SYS_setpriority, PRIO_PROCESS, target, FILTER_NICE) ? errno : 0;
}

static int push_user_back(void)
{
	return syscall(SYS_setpriority, PRIO_USER, 0, FILTER_NICE) ? errno : 0;
}

static int ask_for_limits_of_others(void)
{
	struct rlimit limit;

	return syscall(SYS_prlimit64, target, RLIMIT_NOFILE, NULL, &limit) ? errno : 0;
}

static int set_limit(void)
{
	const struct rlimit limit = {1, 1};

	return syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &limit, NULL) ? errno : 0;
}

static int duplicate_to(void)
{
	return dup3(STDERR_FILENO, STDOUT_FILENO, 0) < 0 ? errno : 0;
}

static int become_root(void)
{
	return setresuid(0, 0, 0) ? errno : 0;
}

static int signal_parent(void)
{
	return syscall(SYS_kill, 1, 0) ? errno : 0;
}

static int take_descriptor(void)
{
	return syscall(SYS_pidfd_open, target, 0) < 0 ? errno : 0;
}

/* --- memory --- */

/* Flags and protection of a mapping that is tried. */
static int maps(int flags, int protection)
{
	return mmap(NULL, 1 << 16, protection, flags | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? errno : 0;
}

static int map_private(void)
{
	return maps(MAP_PRIVATE | MAP_NORESERVE | MAP_STACK, PROT_READ | PROT_WRITE);
}

static int map_shared(void)
{
	return maps(MAP_SHARED, PROT_READ | PROT_WRITE);
}

static int map_shared_and_checked(void)
{
	return maps(MAP_SHARED_VALIDATE, PROT_READ | PROT_WRITE);
}

static int map_growing_down(void)
{
	return maps(MAP_PRIVATE | MAP_GROWSDOWN, PROT_READ | PROT_WRITE);
}

static int map_huge_pages(void)
{
	return maps(MAP_PRIVATE | MAP_HUGETLB, PROT_READ | PROT_WRITE);
}

static int map_locked(void)
{
	return maps(MAP_PRIVATE | MAP_LOCKED, PROT_READ | PROT_WRITE);
}

static int map_code(void)
{
	return maps(MAP_PRIVATE, PROT_READ | PROT_EXEC);
}

static int make_memory_file(void)
{
	return memfd_create("hoard", MFD_CLOEXEC) < 0 ? errno : 0;
}

/* Makes a page writable, then protects it. */
static int protect(int protection)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED || mprotect(at, page, PROT_READ | PROT_WRITE))
		return 1000;
	memset(at, 1, page);
	return mprotect(at, page, protection) ? errno : 0;
}

static int keep_writable(void)
{
	return protect(PROT_READ | PROT_WRITE);
}

static int make_readable(void)
{
	return protect(PROT_READ);
}

static int hide(void)
{
	return protect(PROT_NONE);
}

static int make_code(void)
{
	return protect(PROT_READ | PROT_EXEC);
}

static void *sleep_in_thread(void *ctx)
{
	for (;;)
		poll(NULL, 0, 1000);
	return ctx;
}

static int start_thread(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, sleep_in_thread, NULL);
}

static int start_many_threads(void)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < 200; i++)
		rc = start_thread();
	return rc;
}

static int take_many_descriptors(void)
{
	int fd = 0;

	for (int i = 0; fd >= 0 && i < 100000; i++)
		fd = dup(STDERR_FILENO);
	return fd < 0 ? errno : 0;
}

/* --- budgets --- */

/* Directories, of which the broker also holds descriptors. */
static int open_many_roots(void)
{
	for (int i = 0; i < 3000; i++) {
		int fd = open("/", O_PATH | O_DIRECTORY);

		if (fd < 0)
			return errno;
		close(fd);
	}
	return opens("/bin/true", O_RDONLY);
}

/* The target is a copy of this process, so the address is valid there, too. */
static int read_target(void)
{
	return read_memory_of(target);
}

static int read_parent(void)
{
	return read_memory_of(1);
}

static int write_memory(void)
{
	static char here[8];
	struct iovec to = {here, sizeof(here)}, from = {here, sizeof(here)};

	return process_vm_writev(target, &to, 1, &from, 1, 0) < 0 ? errno : 0;
}

static int read_status(void)
{
	char text[4096];
	const char *at;
	ssize_t n;
	int fd = open(path_of_target, O_RDONLY);

	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return errno;
	text[n] = '\0';
	at = strstr(text, "Pid:\t");
	return at && atoi(at + 5) == target ? 0 : 1000;
}

static void start_target(void)
{
	target = fork();
	if (target == 0) {
		for (;;)
			pause();
	}
	assert_true(target > 0);
}

static void stop_target(void)
{
	kill(target, SIGKILL);
	waitpid(target, NULL, 0);
}

static void name_of_target(const char *form)
{
	snprintf(path_of_target, sizeof(path_of_target), form, (int)target);
}

static void files_come_from_the_broker_or_not_at_all(void **state)
{
	(void)state;
	start_target();
	assert_int_equal(outcome(open_program), 0);
	assert_int_not_equal(outcome(open_shadow), 0);
	assert_int_not_equal(outcome(open_for_writing), 0);
	assert_int_not_equal(outcome(create), 0);
	assert_int_not_equal(outcome(open_relative_to_root), 0);
	assert_int_not_equal(access("/tmp/gotrace-unit-created", F_OK), 0);
	name_of_target("/proc/%d/maps");
	assert_int_equal(outcome(open_of_target), 0);
	name_of_target("/proc/%d/mem");
	assert_int_equal(outcome(open_of_target), EACCES);
	name_of_target("/proc/%d/status");
	assert_int_equal(outcome(read_status), 0);
	snprintf(path_of_target, sizeof(path_of_target), "/proc/1/maps");
	assert_int_equal(outcome(open_of_target), EACCES);
	name_of_target("//proc/%d/exe");
	assert_int_equal(outcome(open_of_target), ELOOP);
	snprintf(path_of_target, sizeof(path_of_target), "/bin/true");
	assert_int_equal(outcome(open_in_root), 0);
	snprintf(path_of_target, sizeof(path_of_target), "/etc/passwd");
	assert_int_not_equal(outcome(open_in_root), 0);
	stop_target();
}

static void memory_is_that_of_the_target(void **state)
{
	(void)state;
	start_target();
	assert_int_equal(outcome(read_target), 0);
	assert_int_equal(outcome(read_parent), EPERM);
	assert_int_equal(outcome(write_memory), -SIGSYS);
	stop_target();
}

static void results_go_to_the_window_alone(void **state)
{
	(void)state;
	start_target();
	assert_int_equal(outcome(read_into_code), EFAULT);
	assert_int_equal(outcome(read_into_data), EFAULT);
	assert_int_equal(outcome(read_past_window), EFAULT);
	name_of_target("/proc/%d/exe");
	assert_int_equal(outcome(link_into_code), EFAULT);
	assert_int_equal(outcome(link_into_window), 0);
	assert_int_equal(outcome(stat_into_window), 0);
	stop_target();
}

static void arguments_are_looked_at(void **state)
{
	(void)state;
	start_target();
	assert_int_equal(outcome(stat_what_is_open), 0);
	assert_int_equal(outcome(stat_by_empty_path), 0);
	assert_int_equal(outcome(stat_by_path), EACCES);
	assert_int_equal(outcome(stat_a_closed_one), EBADF);
	assert_int_equal(outcome(step_back), 0);
	assert_int_equal(outcome(raise_priority), -SIGSYS);
	assert_int_equal(outcome(push_others_back), -SIGSYS);
	assert_int_equal(outcome(push_user_back), -SIGSYS);
	assert_int_equal(outcome(ask_for_limits_of_others), -SIGSYS);
	assert_int_equal(outcome(set_limit), -SIGSYS);
	assert_int_equal(outcome(duplicate_to), -SIGSYS);
	assert_int_equal(outcome(become_root), -SIGSYS);
	assert_int_equal(outcome(signal_parent), -SIGSYS);
	assert_int_equal(outcome(take_descriptor), -SIGSYS);
	stop_target();
}

/* RLIMIT_DATA does not count what is refused here. */
static void only_counted_memory_is_allowed(void **state)
{
	(void)state;
	assert_int_equal(outcome(map_private), 0);
	assert_int_equal(outcome(map_shared), -SIGSYS);
	assert_int_equal(outcome(map_shared_and_checked), -SIGSYS);
	assert_int_equal(outcome(map_growing_down), -SIGSYS);
	assert_int_equal(outcome(map_huge_pages), -SIGSYS);
	assert_int_equal(outcome(map_locked), -SIGSYS);
	assert_int_equal(outcome(map_code), -SIGSYS);
	assert_int_equal(outcome(make_memory_file), -SIGSYS);
	assert_int_equal(outcome(keep_writable), 0);
	assert_int_equal(outcome(make_readable), -SIGSYS);
	assert_int_equal(outcome(hide), -SIGSYS);
	assert_int_equal(outcome(make_code), -SIGSYS);
}

static void threads_are_limited(void **state)
{
	(void)state;
	assert_int_equal(outcome(start_thread), -SIGSYS);
	assert_int_equal(outcome_of((struct trial){.what = start_thread, .threads = true}), 0);
	if (geteuid() == 0)
		assert_int_equal(outcome_of((struct trial){.what = start_many_threads, .threads = true}),
				 EAGAIN);
	assert_int_equal(outcome_of((struct trial){.what = make_readable, .threads = true}), -SIGSYS);
}

static void descriptors_are_limited(void **state)
{
	(void)state;
	assert_int_equal(outcome(take_many_descriptors), EMFILE);
}

static unsigned opens_at(struct allowance *allowance, uint64_t now_ns)
{
	unsigned n = 0;

	while (n < 1000000 && allowance_take(allowance, now_ns, 1))
		n++;
	return n;
}

/* The allowance is that of ten seconds, plus 5,000 for each second that passes. */
static void opens_are_limited(void **state)
{
	struct allowance allowance = {0};
	const uint64_t second = 1000000000;

	(void)state;
	assert_int_equal(opens_at(&allowance, 100 * second), 50000);
	assert_int_equal(opens_at(&allowance, 100 * second), 0);
	assert_int_equal(opens_at(&allowance, 101 * second), 5000);
	assert_int_equal(opens_at(&allowance, 1000 * second), 50000);
}

static void directories_are_limited(void **state)
{
	int before, after;

	(void)state;
	before = open("/dev/null", O_RDONLY);
	assert_int_equal(outcome(open_many_roots), 0);
	after = open("/dev/null", O_RDONLY);
	/* No descriptor of the sandbox is left open here. */
	assert_int_equal(after, before + 1);
	close(before);
	close(after);
}

static void everything_else_ends_it(void **state)
{
	(void)state;
	start_target();
	assert_int_equal(outcome(make_socket), -SIGSYS);
	assert_int_equal(outcome(run_program), -SIGSYS);
	assert_int_equal(outcome(kill_target), -SIGSYS);
	assert_int_equal(outcome(trace_target), -SIGSYS);
	assert_int_equal(outcome(make_process), -SIGSYS);
	assert_int_equal(kill(target, 0), 0);
	stop_target();
}

/* --- malformed answers --- */

/* The answer to any request. */
struct nonsense {
	struct message message;
	const void *bytes;
	size_t size;
};

static void answer_nonsense(struct channel *channel, void *ctx)
{
	const struct nonsense *nonsense = ctx;
	struct message question;

	while (channel_take(channel, &question, NULL) == 0) {
		channel_skip(channel, question.size);
		send(channel->fd, &nonsense->message, sizeof(nonsense->message), MSG_NOSIGNAL);
		if (nonsense->size)
			send(channel->fd, nonsense->bytes, nonsense->size, MSG_NOSIGNAL);
	}
}

static void is_not_believed(struct nonsense *nonsense)
{
	const struct sandbox_plan plan = {
		.what = "the liar", .work = answer_nonsense, .ctx = nonsense, .bytes = SANDBOX_BYTES};
	struct sandbox sandbox;
	struct target *opened = NULL;
	struct module_code code;
	struct error err = {""};

	if (sandbox_start(&sandbox, &plan, &err))
		fail_msg("%s", err.text);
	assert_true(remote_target_open(&sandbox, getpid(), &opened, &err) < 0);
	assert_null(opened);
	assert_true(sandbox.broken);
	assert_non_null(strstr(err.text, "sent an invalid answer"));
	/* Later answers are not used, either. */
	assert_true(remote_module_read(&sandbox, -1, "x", 1, &code) < 0);
	sandbox_end(&sandbox);
}

static void nonsense_is_not_believed(void **state)
{
	static struct target_facts facts;
	static char bytes[512];
	struct nonsense wrong_kind = {.message = {.kind = 77}};
	struct nonsense wrong_size = {.message = {.kind = RPC_RESULT, .size = 0}};
	struct nonsense endless = {.message = {.kind = RPC_RESULT, .size = UINT64_MAX}};
	struct nonsense odd_failure = {.message = {.kind = RPC_RESULT, .code = -1, .size = 3}};
	struct nonsense odd_code = {.message = {.kind = RPC_RESULT, .code = INT32_MIN, .size = sizeof(bytes)},
				    .bytes = bytes,
				    .size = sizeof(bytes)};
	struct nonsense unasked = {.message = {.kind = RPC_RECORD, .code = LOG_GS, .size = 1ull << 40}};
	struct nonsense bad_facts = {.message = {.kind = RPC_RESULT, .size = sizeof(facts)},
				     .bytes = &facts,
				     .size = sizeof(facts)};

	(void)state;
	memset(facts.go_version, 'x', sizeof(facts.go_version));
	is_not_believed(&wrong_kind);
	is_not_believed(&wrong_size);
	is_not_believed(&endless);
	is_not_believed(&odd_failure);
	is_not_believed(&odd_code);
	is_not_believed(&unasked);
	is_not_believed(&bad_facts);
}

static void die_at_once(struct channel *channel, void *ctx)
{
	struct message question;

	(void)ctx;
	channel_take(channel, &question, NULL);
	_exit(3);
}

static void death_is_reported(void **state)
{
	const struct sandbox_plan plan = {.what = "the mortal", .work = die_at_once, .bytes = SANDBOX_BYTES};
	struct sandbox sandbox;
	struct target *opened;
	struct error err = {""};

	(void)state;
	assert_int_equal(sandbox_start(&sandbox, &plan, &err), 0);
	assert_false(sandbox_has_exited(&sandbox));
	assert_true(remote_target_open(&sandbox, getpid(), &opened, &err) < 0);
	assert_string_equal(err.text, "the mortal exited unexpectedly (status 3)");
	assert_true(sandbox_has_exited(&sandbox));
	sandbox_end(&sandbox);
}

/* The real inspector reads this test's executable. */
static void code_is_read_over_there(void **state)
{
	struct sandbox sandbox;
	struct module_code here, there;
	struct error err = {""};
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	if (sandbox_start(&sandbox, &inspector_plan, &err))
		fail_msg("%s", err.text);
	assert_int_equal(module_read(fd, &here), 0);
	assert_int_equal(remote_module_read(&sandbox, fd, NULL, 0, &there), 0);
	assert_int_equal(there.n, here.n);
	assert_int_equal(there.base, here.base);
	assert_int_equal(there.rows.n, here.rows.n);
	assert_memory_equal(there.rows.rows, here.rows.rows, here.rows.n * sizeof(*here.rows.rows));
	module_free(&here);
	module_free(&there);
	/* Bytes that are not a program. */
	assert_int_equal(remote_module_read(&sandbox, -1, "no program", 10, &there), -ENOEXEC);
	assert_false(sandbox.broken);
	close(fd);
	sandbox_end(&sandbox);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(files_come_from_the_broker_or_not_at_all),
	cmocka_unit_test(memory_is_that_of_the_target),
	cmocka_unit_test(results_go_to_the_window_alone),
	cmocka_unit_test(arguments_are_looked_at),
	cmocka_unit_test(only_counted_memory_is_allowed),
	cmocka_unit_test(threads_are_limited),
	cmocka_unit_test(descriptors_are_limited),
	cmocka_unit_test(opens_are_limited),
	cmocka_unit_test(directories_are_limited),
	cmocka_unit_test(everything_else_ends_it),
	cmocka_unit_test(nonsense_is_not_believed),
	cmocka_unit_test(death_is_reported),
	cmocka_unit_test(code_is_read_over_there),
};

UNIT_TESTS(tests, NULL, NULL);
