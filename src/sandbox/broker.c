/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The privileged process's side. It never waits for the broker longer than LIMIT_MS. */
#include "sandbox/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/broker_work.h"
#include "sandbox/child.h"
#include "sandbox/privilege.h"
#include "sandbox/request.h"
#include "target/maps.h"

enum {
	LIMIT_MS = 3000, /* the broker itself answers earlier, if it gets a CPU */
	END_MS = 100,    /* time to exit */
};

struct broker {
	pid_t pid;
	int control, reads;
	struct broker_shared *shared;
	uint64_t number; /* number of the last question */
	uint64_t files;  /* number of the last shared file */
	bool silent;     /* it did not answer in time, and is not asked again */
	struct target_reads functions;
};

/* A message includes only the used part of the path. */
static size_t broker_message_size(const struct broker_message *message)
{
	return offsetof(struct broker_message, path) + message->path_len;
}

static int send_control(struct broker *broker, const struct broker_message *message, const int *fds,
			unsigned n)
{
	return broker_send(broker->control, message, broker_message_size(message), fds, n, MSG_DONTWAIT);
}

static int take_reply(struct broker *broker, int from, struct broker_reply *reply, int *fd)
{
	struct pollfd ready = {.fd = from, .events = POLLIN};
	int fds[DESCRIPTORS], rc;

	do
		rc = poll(&ready, 1, LIMIT_MS);
	while (rc < 0 && errno == EINTR);
	if (rc <= 0 || broker_take(from, reply, sizeof(*reply), fds, MSG_DONTWAIT) != sizeof(*reply)) {
		broker->silent = true;
		return -EIO;
	}
	*fd = fds[0];
	return 0;
}

/* Returns the received value, or a negative errno. A signal does not end the wait, which is short. */
static int64_t broker_ask(struct broker *broker, struct broker_message *message, int send_fd,
			  struct broker_reply *reply, int *fd)
{
	int rc;

	*fd = -1;
	if (broker->silent)
		return -EIO;
	message->number = ++broker->number;
	rc = broker_send(broker->reads, message, broker_message_size(message), &send_fd, send_fd >= 0,
			 MSG_DONTWAIT);
	if (rc)
		return rc;
	do
		rc = take_reply(broker, broker->reads, reply, fd);
	while (rc == 0 && reply->number != message->number);
	return rc ? rc : reply->value;
}

static int ask_for_fd(struct broker *broker, struct broker_message *message, struct broker_reply *reply)
{
	int fd;
	int64_t value = broker_ask(broker, message, -1, reply, &fd);

	if (value < 0)
		return (int)value;
	return fd < 0 ? -EIO : fd;
}

/* --- reading --- */

static size_t broker_reply_bytes(const struct broker *broker, const struct broker_reply *reply, void *to,
				 size_t size)
{
	size_t n = reply->size < size ? reply->size : size;

	memcpy(to, broker->shared->window, n < WINDOW_BYTES ? n : WINDOW_BYTES);
	return n;
}

static ssize_t broker_ask_memory(void *ctx, pid_t pid, const struct iovec *from, unsigned n, void *to,
				 size_t size)
{
	struct broker_message message = {.ask = BROKER_MEMORY, .pid = pid};
	struct broker_reply reply;
	int64_t value;
	int fd;

	n = n < BROKER_PIECES ? n : BROKER_PIECES;
	message.path_len = (uint32_t)(n * sizeof(*from));
	memcpy(message.pieces, from, message.path_len);
	value = broker_ask(ctx, &message, -1, &reply, &fd);
	return value < 0 ? value : (ssize_t)broker_reply_bytes(ctx, &reply, to, size);
}

static int broker_ask_maps(void *ctx, pid_t pid)
{
	struct broker_message message = {.ask = BROKER_MAPS, .pid = pid};
	struct broker_reply reply;

	return ask_for_fd(ctx, &message, &reply);
}

static int broker_ask_mapping(void *ctx, pid_t pid, const struct proc_mapping *mapping)
{
	struct broker_message message = {
		.ask = BROKER_MAPPING,
		.pid = pid,
		.start = mapping->start,
		.end = mapping->end,
		.inode = mapping->inode,
		.major = mapping->major,
		.minor = mapping->minor,
	};
	struct broker_reply reply;

	if (mapping->path_len >= sizeof(message.path))
		return -ENOENT;
	message.path_len = (uint32_t)mapping->path_len;
	memcpy(message.path, mapping->path, mapping->path_len);
	return ask_for_fd(ctx, &message, &reply);
}

static int broker_ask_exe(void *ctx, pid_t pid, uint8_t *header, size_t size, size_t *got)
{
	struct broker_message message = {.ask = BROKER_EXE, .pid = pid, .size = size};
	struct broker_reply reply;
	int fd = ask_for_fd(ctx, &message, &reply);

	*got = fd < 0 ? 0 : broker_reply_bytes(ctx, &reply, header, size);
	return fd;
}

static int is_lost(void *ctx, int memory)
{
	struct broker_message message = {.ask = BROKER_LOST};
	struct broker_reply reply;
	int fd;

	return broker_ask(ctx, &message, memory, &reply, &fd) == 1;
}

const struct target_reads *broker_reads(struct broker *broker)
{
	return &broker->functions;
}

pid_t broker_pid(const struct broker *broker)
{
	return broker->pid;
}

unsigned broker_stalls(const struct broker *broker)
{
	return atomic_load(&broker->shared->stalls);
}

bool broker_has_exited(const struct broker *broker)
{
	struct pollfd fd = {.fd = broker->control, .events = 0};

	return poll(&fd, 1, 0) > 0 && fd.revents & (POLLHUP | POLLERR);
}

/* --- start and end --- */

static void broker_run(int control, int reads, struct broker_shared *shared, pid_t parent)
{
	const int fds[] = {control, reads};
	const struct sched_param least = {.sched_priority = 1};

	if (child_begin("gotrace-broker", fds, 2, false, parent))
		_exit(1);
	/*
	 * Others wait for its answers, so run ahead of them; and with the policy of the thread that drains
	 * the rings, which asks thousands of times for one snapshot. Threads for the workers give it up
	 * (serve()).
	 */
	setpriority(PRIO_PROCESS, 0, -20);
	sched_setscheduler(0, SCHED_RR, &least);
	if (privilege_keep(PRIVILEGE_INSPECT, NULL))
		_exit(1);
	broker_work(CHILD_FD, CHILD_FD + 1, shared);
}

static int broker_start(struct broker *broker)
{
	int control[2], reads[2];
	pid_t parent = getpid();

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control))
		return errno;
	broker->control = control[0];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, reads)) {
		close(control[1]);
		return errno;
	}
	broker->reads = reads[0];
	fflush(NULL);
	broker->pid = fork();
	if (broker->pid == 0)
		broker_run(control[1], reads[1], broker->shared, parent);
	close(control[1]);
	close(reads[1]);
	return broker->pid < 0 ? errno : 0;
}

struct broker *broker_new(struct error *err)
{
	struct broker *broker = calloc(1, sizeof(*broker));
	int rc = ENOMEM;

	if (broker) {
		broker->control = broker->reads = -1;
		broker->functions = (struct target_reads){.memory = broker_ask_memory,
							  .maps = broker_ask_maps,
							  .file = broker_ask_mapping,
							  .exe = broker_ask_exe,
							  .lost = is_lost,
							  .ctx = broker};
		broker->shared = mmap(NULL, sizeof(*broker->shared), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (broker->shared == MAP_FAILED)
			broker->shared = NULL;
		else
			rc = broker_start(broker);
	}
	if (rc == 0)
		return broker;
	broker_free(broker);
	error_set(err, rc, "cannot set up the sandbox: %s", strerror(rc));
	return NULL;
}

int broker_add(struct broker *broker, const struct broker_client *client)
{
	const struct broker_message message = {
		.ask = BROKER_ADD, .address = (uintptr_t)client->theirs.bytes, .size = client->theirs.size};
	const int fds[] = {client->listener, client->memory, client->window};
	int rc = send_control(broker, &message, fds, 3);

	for (unsigned i = 0; i < 3; i++)
		close(fds[i]);
	return rc;
}

/*
 * Opens the directory here, while the PID still means this process. If the socket is full, the process is not
 * allowed.
 */
void broker_allow(struct broker *broker, pid_t pid)
{
	const struct broker_message message = {.ask = BROKER_ALLOW, .pid = pid};
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	send_control(broker, &message, &fd, 1);
	close(fd);
}

int broker_share(struct broker *broker, int fd, char path[64])
{
	const struct broker_message message = {.ask = BROKER_SHARE, .number = ++broker->files};

	snprintf(path, 64, REQUEST_SHARED_AT "%llu", (unsigned long long)message.number);
	return send_control(broker, &message, &fd, 1);
}

int broker_keep(struct broker *broker, uint64_t capabilities, struct error *err)
{
	const struct broker_message message = {.ask = BROKER_KEEP, .number = capabilities};
	struct broker_reply reply;
	int fd, rc = send_control(broker, &message, NULL, 0);

	if (rc == 0)
		rc = take_reply(broker, broker->control, &reply, &fd);
	if (rc)
		return error_set(err, EIO, "the broker process does not answer");
	reply.error.text[sizeof(reply.error.text) - 1] = '\0';
	return reply.value < 0 ? error_set(err, (int)-reply.value, "%s", reply.error.text) : 0;
}

void broker_free(struct broker *broker)
{
	if (!broker)
		return;
	if (broker->control >= 0)
		close(broker->control);
	if (broker->reads >= 0)
		close(broker->reads);
	if (broker->pid > 0)
		child_end(broker->pid, END_MS);
	if (broker->shared)
		munmap(broker->shared, sizeof(*broker->shared));
	free(broker);
}
