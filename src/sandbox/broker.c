/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sandbox/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/privilege.h"
#include "sandbox/reading.h"
#include "sandbox/request.h"
#include "util/files.h"
#include "util/rights.h"

enum {
	CLIENTS = 4,
	PROCESSES = 4096, /* that may be looked at; the oldest goes */
	PIECES = 1024,    /* UIO_MAXIOV: of memory in one call */
	PART = 1 << 20,   /* of what is read of a process's memory at a time */
	MOST = 1 << 30,   /* in one call */
};

/* A directory that a sandbox holds, to look up files in. */
struct root {
	int theirs, ours;
};

struct client {
	int listener, memory;
	struct root *roots;
	size_t nroots;
};

struct broker {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t done;
	int wake[2];
	struct client clients[CLIENTS];
	unsigned nclients;
	struct looked_at *processes; /* PROCESSES of them */
	size_t nprocesses, oldest;
	uint8_t *part; /* PART bytes */
	bool ending, reducing;
	uint64_t keep;
	struct error reduce_error;
	int reduced;
};

/* --- files --- */

/* Nothing but a program goes out: not what else may be mapped, or be at a path. */
static int only_program(int fd)
{
	uint8_t bytes[64];
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return fd;
	n = fstat(fd, &st) || !S_ISREG(st.st_mode) ? -1 : pread(fd, bytes, sizeof(bytes), 0);
	if (n > 0 && request_is_program(bytes, (size_t)n))
		return fd;
	close(fd);
	/* What is no program is told apart by who asks. */
	return n >= 0 && S_ISREG(st.st_mode) ? -ENOEXEC : -EACCES;
}

static int open_in_root(const struct looked_at *process, const char *path)
{
	int root = openat(process->dir, "root", O_PATH | O_DIRECTORY | O_CLOEXEC), fd;

	if (root < 0)
		return -errno;
	fd = only_program(file_open_in(root, path));
	close(root);
	return fd;
}

static int or_errno(int fd)
{
	return fd < 0 ? -errno : fd;
}

/* Of the process's own, which its owner alone may reach. */
static int open_own(const struct looked_at *process, const char *rest, bool link, int flags)
{
	struct rights before = rights_to_read();
	int fd = link ? file_open_at(process->dir, rest)
		      : or_errno(openat(process->dir, rest, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | flags));

	rights_restore(&before);
	return fd;
}

/* What the user names, the user must be able to read. */
static int open_users(const char *path)
{
	struct rights before = rights_as_user();
	int fd = file_open(path);

	rights_restore(&before);
	return fd;
}

static struct looked_at *process_of(struct broker *broker, pid_t pid)
{
	for (size_t i = broker->nprocesses; i > 0; i--) {
		if (broker->processes[i - 1].pid == pid)
			return &broker->processes[i - 1];
	}
	return NULL;
}

/* A descriptor or a negative errno. */
static int open_request(struct broker *broker, const struct request *request, uint64_t flags)
{
	const struct looked_at *process = request->pid ? process_of(broker, request->pid) : NULL;

	if (request->pid && !process)
		return -EACCES;
	switch (request->kind) {
	case REQUEST_PROC:
		return open_own(process, request->rest, false, (int)(flags & O_DIRECTORY));
	case REQUEST_LINK:
		return only_program(open_own(process, request->rest, true, 0));
	/* Without O_PATH: the kernel hands over no such descriptor (kernel/seccomp.c, fget). */
	case REQUEST_ROOT:
		return or_errno(openat(process->dir, request->rest, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	case REQUEST_OWN_ROOT:
		return or_errno(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	case REQUEST_IN_ROOT:
		return open_in_root(process, request->rest);
	case REQUEST_FILE:
		return only_program(open_users(request->rest));
	default:
		return -EACCES;
	}
}

/* --- a sandbox's memory --- */

static bool take_bytes(const struct client *client, uint64_t address, void *to, size_t size)
{
	return pread(client->memory, to, size, (off_t)address) == (ssize_t)size;
}

static bool give_bytes(const struct client *client, uint64_t address, const void *bytes, size_t size)
{
	return pwrite(client->memory, bytes, size, (off_t)address) == (ssize_t)size;
}

/* The page behind it may not be there. */
static bool take_path(const struct client *client, uint64_t address, char path[PATH_MAX])
{
	ssize_t n = pread(client->memory, path, PATH_MAX, (off_t)address);

	return n > 0 && memchr(path, '\0', (size_t)n);
}

static bool take_request(const struct client *client, uint64_t address, struct request *request)
{
	char path[PATH_MAX];

	if (!take_path(client, address, path))
		return false;
	request_parse(path, request);
	return true;
}

/* --- what is asked --- */

struct answer {
	int64_t value; /* or a negative errno */
	int fd;        /* to be handed over; -1 = none */
	bool is_root;
};

static struct answer nothing_but(int64_t value)
{
	return (struct answer){.value = value, .fd = -1};
}

static struct answer answer_open(struct broker *broker, const struct client *client, uint64_t path,
				 uint64_t flags)
{
	struct request request;
	int fd;

	if (!take_request(client, path, &request))
		return nothing_but(-EFAULT);
	fd = request_flags_are_harmless(flags) ? open_request(broker, &request, flags) : -EACCES;
	return (struct answer){.value = fd < 0 ? fd : 0,
			       .fd = fd < 0 ? -1 : fd,
			       .is_root = request.kind == REQUEST_ROOT || request.kind == REQUEST_OWN_ROOT};
}

/* Below a root that was handed over, or as any other. */
static struct answer answer_open_below(const struct client *client, const uint64_t *args)
{
	struct open_how how = {0};
	char path[PATH_MAX];
	int fd = -EACCES;

	if (args[3] != sizeof(how) || !take_bytes(client, args[2], &how, sizeof(how)) ||
	    !take_path(client, args[1], path))
		return nothing_but(-EFAULT);
	if (!request_flags_are_harmless(how.flags) || how.mode || !(how.resolve & RESOLVE_IN_ROOT))
		return nothing_but(-EACCES);
	for (size_t i = 0; i < client->nroots; i++) {
		if (client->roots[i].theirs == (int)args[0])
			fd = only_program(file_open_in(client->roots[i].ours, path));
	}
	return (struct answer){.value = fd < 0 ? fd : 0, .fd = fd < 0 ? -1 : fd};
}

static struct answer answer_stat(struct broker *broker, const struct client *client, uint64_t path,
				 uint64_t to, uint64_t flags)
{
	const struct looked_at *process;
	struct request request;
	struct rights before;
	struct stat st;
	int rc;

	if (!take_request(client, path, &request))
		return nothing_but(-EFAULT);
	process = request.pid ? process_of(broker, request.pid) : NULL;
	if (!process ||
	    (request.kind != REQUEST_PROC && request.kind != REQUEST_LINK && request.kind != REQUEST_PROCESS))
		return nothing_but(-EACCES);
	before = rights_to_read();
	rc = fstatat(process->dir, request.rest, &st, (int)(flags & AT_SYMLINK_NOFOLLOW));
	rights_restore(&before);
	if (rc)
		return nothing_but(-errno);
	return nothing_but(!to || give_bytes(client, to, &st, sizeof(st)) ? 0 : -EFAULT);
}

static struct answer answer_link(struct broker *broker, const struct client *client, uint64_t path,
				 uint64_t to, uint64_t size)
{
	const struct looked_at *process;
	struct request request;
	char text[PATH_MAX];
	ssize_t n;

	if (!take_request(client, path, &request))
		return nothing_but(-EFAULT);
	process = request.pid ? process_of(broker, request.pid) : NULL;
	if (!process || request.kind != REQUEST_LINK)
		return nothing_but(-EACCES);
	n = readlinkat(process->dir, request.rest, text, sizeof(text));
	if (n < 0)
		return nothing_but(-errno);
	if ((uint64_t)n > size)
		n = (ssize_t)size;
	return nothing_but(give_bytes(client, to, text, (size_t)n) ? n : -EFAULT);
}

/* Where in a list of pieces we are. */
struct cursor {
	const struct iovec *all;
	size_t count, at, skip;
};

/* The next pieces, the last perhaps cut, of `room` bytes in all. Returns their bytes. */
static size_t next_part(struct cursor *cursor, size_t room, struct iovec *part, size_t *n)
{
	size_t size = 0;

	for (*n = 0; cursor->at < cursor->count && size < room; (*n)++) {
		const struct iovec *piece = &cursor->all[cursor->at];
		size_t left = piece->iov_len - cursor->skip, len = left < room - size ? left : room - size;

		part[*n] = (struct iovec){(char *)piece->iov_base + cursor->skip, len};
		size += len;
		cursor->at += len == left;
		cursor->skip = len == left ? 0 : cursor->skip + len;
	}
	return size;
}

/* Reads part by part, until one is not there to its end. */
static int64_t copy_memory(struct broker *broker, const struct client *client, struct looked_at *process,
			   struct cursor *cursor, const struct iovec *local)
{
	struct iovec part[PIECES];
	size_t done = 0;

	while (done < local->iov_len) {
		size_t room = local->iov_len - done < PART ? local->iov_len - done : PART, n;
		size_t wanted = next_part(cursor, room, part, &n);
		ssize_t got = wanted ? looked_at_read(process, broker->part, wanted, part, n) : 0;

		if (got < 0)
			return done ? (int64_t)done : got;
		if (got && !give_bytes(client, (uintptr_t)local->iov_base + done, broker->part, (size_t)got))
			return -EFAULT;
		done += (size_t)got;
		if (!wanted || (size_t)got < wanted)
			break;
	}
	return (int64_t)done;
}

/* process_vm_readv(pid, local, 1, remote, n, 0). */
static struct answer answer_memory(struct broker *broker, const struct client *client, const uint64_t *args)
{
	struct looked_at *process = process_of(broker, (pid_t)args[0]);
	struct iovec local, pieces[PIECES];
	struct cursor cursor = {.all = pieces, .count = args[4]};

	if (!process)
		return nothing_but(-EPERM);
	if (args[2] != 1 || args[4] > PIECES || args[5] ||
	    !take_bytes(client, args[1], &local, sizeof(local)) ||
	    !take_bytes(client, args[3], pieces, args[4] * sizeof(*pieces)) || local.iov_len > MOST)
		return nothing_but(-EINVAL);
	return nothing_but(copy_memory(broker, client, process, &cursor, &local));
}

static struct answer answer_call(struct broker *broker, const struct client *client,
				 const struct seccomp_data *call)
{
	const uint64_t *args = (const uint64_t *)call->args;

	switch (call->nr) {
	case SYS_openat:
		return answer_open(broker, client, args[1], args[2]);
	case SYS_openat2:
		return answer_open_below(client, args);
	case SYS_newfstatat:
		return answer_stat(broker, client, args[1], args[2], args[3]);
	case SYS_faccessat:
	case SYS_faccessat2:
		return answer_stat(broker, client, args[1], 0, 0);
	case SYS_readlinkat:
		return answer_link(broker, client, args[1], args[2], args[3]);
	case SYS_process_vm_readv:
		return answer_memory(broker, client, args);
#ifdef SYS_open
	case SYS_open:
		return answer_open(broker, client, args[0], args[1]);
	case SYS_stat:
		return answer_stat(broker, client, args[0], args[1], 0);
	case SYS_lstat:
		return answer_stat(broker, client, args[0], args[1], AT_SYMLINK_NOFOLLOW);
	case SYS_access:
		return answer_stat(broker, client, args[0], 0, 0);
	case SYS_readlink:
		return answer_link(broker, client, args[0], args[1], args[2]);
#endif
	default:
		return nothing_but(-EPERM);
	}
}

/* --- the answer --- */

/* A number that is used anew is no root any more. */
static int note_root(struct client *client, int theirs, int ours)
{
	struct root *bigger;

	for (size_t i = 0; i < client->nroots; i++) {
		if (client->roots[i].theirs != theirs)
			continue;
		close(client->roots[i].ours);
		client->roots[i] = client->roots[--client->nroots];
		break;
	}
	if (ours < 0)
		return 0;
	bigger = realloc(client->roots, (client->nroots + 1) * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	client->roots = bigger;
	bigger[client->nroots++] = (struct root){theirs, ours};
	return 0;
}

/* Puts the descriptor into the sandbox; returns its number there. */
static int64_t hand_over(struct client *client, uint64_t id, const struct answer *answer)
{
	struct seccomp_notif_addfd add = {.id = id, .srcfd = (uint32_t)answer->fd, .newfd_flags = O_CLOEXEC};
	int theirs = ioctl(client->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
	int ours = theirs >= 0 && answer->is_root ? fcntl(answer->fd, F_DUPFD_CLOEXEC, 0) : -1;

	if (theirs < 0)
		return -EMFILE;
	if (note_root(client, theirs, ours) && ours >= 0)
		close(ours);
	return theirs;
}

/* False when the sandbox has gone. */
static bool serve(struct broker *broker, struct client *client)
{
	struct seccomp_notif call;
	struct seccomp_notif_resp reply = {.flags = 0};
	struct answer answer;

	memset(&call, 0, sizeof(call)); /* the kernel insists */
	if (ioctl(client->listener, SECCOMP_IOCTL_NOTIF_RECV, &call))
		return errno == EINTR || errno == EAGAIN;
	answer = answer_call(broker, client, &call.data);
	if (answer.fd >= 0) {
		answer.value = hand_over(client, call.id, &answer);
		close(answer.fd);
	}
	reply.id = call.id;
	if (answer.value < 0)
		reply.error = (int32_t)answer.value;
	else
		reply.val = answer.value;
	ioctl(client->listener, SECCOMP_IOCTL_NOTIF_SEND, &reply); /* fails if it was killed meanwhile */
	return true;
}

/* --- the thread --- */

static void close_client(struct client *client)
{
	for (size_t i = 0; i < client->nroots; i++)
		close(client->roots[i].ours);
	free(client->roots);
	close(client->listener);
	close(client->memory);
}

static void serve_all(struct broker *broker, const struct pollfd *fds, unsigned n)
{
	for (unsigned i = n; i > 0; i--) {
		struct client *client = &broker->clients[i - 1];

		if (!fds[i].revents || ((fds[i].revents & POLLIN) && serve(broker, client)))
			continue;
		close_client(client);
		*client = broker->clients[--broker->nclients];
	}
}

static void reduce(struct broker *broker)
{
	broker->reduced = privilege_keep(broker->keep, &broker->reduce_error);
	broker->reducing = false;
	pthread_cond_signal(&broker->done);
}

static void *work(void *ctx)
{
	struct broker *broker = ctx;
	struct pollfd fds[1 + CLIENTS];
	char byte;

	pthread_mutex_lock(&broker->lock);
	while (!broker->ending) {
		unsigned n = broker->nclients;

		fds[0] = (struct pollfd){.fd = broker->wake[0], .events = POLLIN};
		for (unsigned i = 0; i < n; i++)
			fds[1 + i] = (struct pollfd){.fd = broker->clients[i].listener, .events = POLLIN};
		pthread_mutex_unlock(&broker->lock);
		if (poll(fds, 1 + n, -1) < 0)
			memset(fds, 0, sizeof(fds));
		pthread_mutex_lock(&broker->lock);
		if (fds[0].revents && read(broker->wake[0], &byte, 1) < 0)
			break;
		if (broker->reducing)
			reduce(broker);
		serve_all(broker, fds, n);
	}
	pthread_mutex_unlock(&broker->lock);
	return NULL;
}

/* Signals are for the thread that waits for them. */
static int start_thread(struct broker *broker)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&broker->thread, NULL, work, broker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

static void free_parts(struct broker *broker)
{
	for (unsigned i = 0; i < broker->nclients; i++)
		close_client(&broker->clients[i]);
	for (size_t i = 0; i < broker->nprocesses; i++)
		looked_at_close(&broker->processes[i]);
	for (unsigned i = 0; i < 2; i++) {
		if (broker->wake[i] >= 0)
			close(broker->wake[i]);
	}
	free(broker->processes);
	free(broker->part);
	free(broker);
}

struct broker *broker_new(struct error *err)
{
	struct broker *broker = calloc(1, sizeof(*broker));
	int rc = broker ? 0 : ENOMEM;

	if (broker) {
		broker->wake[0] = broker->wake[1] = -1;
		pthread_mutex_init(&broker->lock, NULL);
		pthread_cond_init(&broker->done, NULL);
		broker->processes = calloc(PROCESSES, sizeof(*broker->processes));
		broker->part = malloc(PART);
		if (!broker->processes || !broker->part)
			rc = ENOMEM;
		else if (pipe2(broker->wake, O_CLOEXEC))
			rc = errno;
		else
			rc = start_thread(broker);
	}
	if (rc == 0)
		return broker;
	if (broker)
		free_parts(broker);
	error_set(err, rc, "cannot set up the sandbox: %s", strerror(rc));
	return NULL;
}

static void wake(const struct broker *broker)
{
	while (write(broker->wake[1], "w", 1) < 0 && errno == EINTR)
		;
}

int broker_add(struct broker *broker, int listener, int memory)
{
	int rc = 0;

	pthread_mutex_lock(&broker->lock);
	if (broker->nclients < CLIENTS)
		broker->clients[broker->nclients++] = (struct client){.listener = listener, .memory = memory};
	else
		rc = -ENOSPC;
	pthread_mutex_unlock(&broker->lock);
	wake(broker);
	return rc;
}

void broker_allow(struct broker *broker, pid_t pid)
{
	struct looked_at *process;

	pthread_mutex_lock(&broker->lock);
	process = process_of(broker, pid);
	if (process) {
		looked_at_close(process);
	} else if (broker->nprocesses < PROCESSES) {
		process = &broker->processes[broker->nprocesses++];
	} else {
		process = &broker->processes[broker->oldest++ % PROCESSES];
		looked_at_close(process);
	}
	looked_at_open(process, pid);
	pthread_mutex_unlock(&broker->lock);
}

int broker_keep(struct broker *broker, uint64_t capabilities, struct error *err)
{
	int rc;

	pthread_mutex_lock(&broker->lock);
	broker->keep = capabilities;
	broker->reducing = true;
	wake(broker);
	while (broker->reducing)
		pthread_cond_wait(&broker->done, &broker->lock);
	rc = broker->reduced;
	if (rc)
		*err = broker->reduce_error;
	pthread_mutex_unlock(&broker->lock);
	return rc;
}

void broker_free(struct broker *broker)
{
	if (!broker)
		return;
	pthread_mutex_lock(&broker->lock);
	broker->ending = true;
	pthread_mutex_unlock(&broker->lock);
	wake(broker);
	pthread_join(broker->thread, NULL);
	free_parts(broker);
}
