/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Each client has a thread that serves it. The first thread takes control messages and watches the clock: a
 * thread that is busy for too long is stuck in the kernel. Its client gets -EIO and a new thread. The stuck
 * thread ends when its call returns; gotrace does not wait for that.
 */
#include "sandbox/broker_work.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/broker_state.h"
#include "sandbox/privilege.h"
#include "util/clock.h"
#include "util/proc_stat.h"

enum {
	STUCK_MS = 500,     /* longer than swapping in a page or a slow disk takes */
	STARVED_MS = 10000, /* the same for a thread that gets no CPU */
	WATCH_MS = 250,     /* a stuck thread is found at most so much later; each look is a wake-up */
	REDUCE_MS = 1000,
};

/* Each server sees the number and reduces its own capabilities. Stuck ones end when their calls return. */
static bool all_have_reduced(const struct broker_state *state)
{
	for (unsigned i = 0; i < CLIENTS; i++) {
		const struct server *server = state->clients[i].server;

		if (server && server->kept != state->keep_number)
			return false;
	}
	return true;
}

static void reduce_all(struct broker_state *state, uint64_t mask)
{
	struct broker_reply reply = {.value = 0};
	const uint64_t one = 1, end = now_ns() + REDUCE_MS * 1000000ull;
	const struct timespec until = {.tv_sec = (time_t)(end / 1000000000),
				       .tv_nsec = (long)(end % 1000000000)};

	state->keep = mask;
	state->keep_number++;
	state->keep_result = privilege_keep(mask, &state->keep_error);
	for (unsigned i = 0; i < CLIENTS; i++) {
		if (state->clients[i].server && write(state->clients[i].server->wake, &one, sizeof(one)) < 0)
			break;
	}
	while (!all_have_reduced(state) && pthread_cond_timedwait(&state->reduced, &state->lock, &until) == 0)
		continue;
	reply.value = all_have_reduced(state) ? state->keep_result : -ETIMEDOUT;
	reply.error = state->keep_error;
	broker_send(state->control, &reply, sizeof(reply), NULL, 0, MSG_DONTWAIT);
}

/* --- a server: answers, with the lock held --- */

/* A descriptor number that is reused is no longer a root. */
static void note_root(struct client *client, int theirs, int ours)
{
	for (unsigned i = 0; i < client->nroots; i++) {
		if (client->roots[i].theirs != theirs)
			continue;
		close(client->roots[i].ours);
		client->roots[i] = client->roots[--client->nroots];
		break;
	}
	if (ours < 0)
		return;
	if (client->nroots == ROOTS) {
		close(client->roots[0].ours);
		memmove(client->roots, client->roots + 1, (ROOTS - 1) * sizeof(client->roots[0]));
		client->nroots--;
	}
	client->roots[client->nroots++] = (struct root){theirs, ours};
}

/* Installs the descriptor in the worker. Returns its number there. */
static int64_t hand_over(struct client *client, uint64_t call, const struct answer *answer)
{
	struct seccomp_notif_addfd add = {
		.id = call, .srcfd = (uint32_t)answer->fd, .newfd_flags = O_CLOEXEC};
	int theirs = ioctl(client->fd, SECCOMP_IOCTL_NOTIF_ADDFD, &add);

	if (theirs < 0)
		return -EMFILE;
	note_root(client, theirs, answer->is_root ? fcntl(answer->fd, F_DUPFD_CLOEXEC, 0) : -1);
	return theirs;
}

static void answer_worker(struct client *client, uint64_t call, struct answer *answer)
{
	struct seccomp_notif_resp reply = {.id = call};

	if (answer->bytes)
		memcpy(client->window + (answer->to - (uintptr_t)client->theirs.bytes), answer->bytes,
		       answer->size);
	if (answer->fd >= 0)
		answer->value = hand_over(client, call, answer);
	if (answer->value < 0)
		reply.error = (int32_t)answer->value;
	else
		reply.val = answer->value;
	ioctl(client->fd, SECCOMP_IOCTL_NOTIF_SEND, &reply); /* fails if the worker was killed meanwhile */
}

static void answer_own(struct client *client, uint64_t call, const struct answer *answer)
{
	const struct broker_reply reply = {.value = answer->value, .size = answer->size, .number = call};

	if (answer->bytes)
		memcpy(client->window, answer->bytes, answer->size);
	broker_send(client->fd, &reply, sizeof(reply), &answer->fd, answer->fd >= 0, MSG_DONTWAIT);
}

static void give_answer(struct client *client, uint64_t call, struct answer *answer)
{
	if (client->memory < 0)
		answer_own(client, call, answer);
	else
		answer_worker(client, call, answer);
}

static void server_begin_call(struct server *server, uint64_t call)
{
	pthread_mutex_lock(&server->state->lock);
	server->call = call;
	server->busy_ns = now_ns();
	pthread_mutex_unlock(&server->state->lock);
}

/* Sends no answer if the caller no longer waits. */
static void server_end_call(struct server *server, struct answer *answer)
{
	pthread_mutex_lock(&server->state->lock);
	server->busy_ns = 0;
	if (!server->lost)
		give_answer(server->client, server->call, answer);
	pthread_mutex_unlock(&server->state->lock);
	/* Closing it may take as long as opening it. */
	server_begin_call(server, 0);
	if (answer->fd >= 0)
		close(answer->fd);
	pthread_mutex_lock(&server->state->lock);
	server->busy_ns = 0;
	pthread_mutex_unlock(&server->state->lock);
}

/* Returns false if the client is gone. */
static bool serve_worker(struct server *server)
{
	struct answer answer = {.value = -EDQUOT, .fd = -1};
	struct client *client = server->client;
	struct seccomp_notif call;
	unsigned opens;

	memset(&call, 0, sizeof(call)); /* required by the kernel */
	if (ioctl(client->fd, SECCOMP_IOCTL_NOTIF_RECV, &call))
		return errno == EINTR || errno == EAGAIN || errno == ENOENT;
	server_begin_call(server, call.id);
	opens = call.data.nr != SYS_process_vm_readv;
	if (allowance_take(&client->allowance, now_ns(), opens))
		answer = answer_call(server, &call.data);
	client->allowance.bytes -= (int64_t)answer.size;
	server_end_call(server, &answer);
	return true;
}

static bool serve_own(struct server *server)
{
	struct broker_message message;
	struct answer answer;
	int fds[DESCRIPTORS];
	ssize_t n = broker_take(server->client->fd, &message, sizeof(message), fds, MSG_DONTWAIT);

	if (n == 0 || (n < 0 && n != -EAGAIN))
		return false;
	if (n < 0)
		return true;
	server_begin_call(server, message.number);
	answer = answer_question(server, &message, fds[0]);
	server_end_call(server, &answer);
	descriptors_close(fds);
	return true;
}

/* If one process is traced, keeps its memory open: opening it later may need a dropped capability. */
static void hold_memory(struct server *server)
{
	struct broker_state *state = server->state;
	struct held_process *process;
	pid_t pid;

	pthread_mutex_lock(&state->lock);
	pid = state->nprocesses == 1 ? state->processes[0].pid : 0;
	pthread_mutex_unlock(&state->lock);
	process = pid ? server_process(server, pid) : NULL;
	if (process)
		held_process_open_memory(process);
}

static void server_reduce(struct server *server)
{
	struct broker_state *state = server->state;
	uint64_t ignored;
	struct error err;
	int rc;

	if (read(server->wake, &ignored, sizeof(ignored)) < 0)
		return;
	hold_memory(server);
	rc = privilege_keep(state->keep, &err);
	pthread_mutex_lock(&state->lock);
	if (rc) {
		state->keep_result = rc;
		state->keep_error = err;
	}
	server->kept = state->keep_number;
	pthread_cond_signal(&state->reduced);
	pthread_mutex_unlock(&state->lock);
}

static bool serve_next(struct server *server)
{
	struct pollfd fds[2] = {{.fd = server->wake, .events = POLLIN},
				{.fd = server->client->fd, .events = POLLIN}};

	if (poll(fds, 2, -1) < 0)
		return true;
	if (fds[0].revents)
		server_reduce(server);
	if (!fds[1].revents)
		return true;
	if (!(fds[1].revents & POLLIN))
		return false;
	return server->client->memory < 0 ? serve_own(server) : serve_worker(server);
}

static void forget_client(struct client *client)
{
	for (unsigned i = 0; i < client->nroots; i++)
		close(client->roots[i].ours);
	close(client->fd);
	if (client->memory >= 0) {
		close(client->memory);
		munmap(client->window, client->theirs.size);
	}
	*client = (struct client){.server = NULL};
}

static void *client_serve(void *ctx)
{
	struct server *server = ctx;
	struct broker_state *state = server->state;
	const struct sched_param none = {.sched_priority = 0};

	server->tid = (pid_t)syscall(SYS_gettid);
	/* A worker must not take CPUs from everybody else by what it asks for. The niceness remains. */
	if (server->client->memory >= 0)
		sched_setscheduler(0, SCHED_OTHER, &none);
	while (!server->lost && serve_next(server))
		continue;
	pthread_mutex_lock(&state->lock);
	if (server->lost)
		state->nlost--;
	else
		forget_client(server->client);
	pthread_mutex_unlock(&state->lock);
	held_process_close(&server->process);
	close(server->wake);
	free(server->part);
	free(server);
	return NULL;
}

static void start_server(struct broker_state *state, struct client *client)
{
	struct server *server = calloc(1, sizeof(*server));
	pthread_attr_t detached;
	pthread_t thread;

	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	if (server) {
		*server = (struct server){.state = state,
					  .client = client,
					  .kept = state->keep_number,
					  .wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
					  .part = malloc(WINDOW_BYTES),
					  .process = {.dir = -1, .memory = -1}};
		client->server = server;
	}
	/* Without memory or threads this process is useless. */
	if (!server || !server->part || server->wake < 0 ||
	    pthread_create(&thread, &detached, client_serve, server))
		_exit(1);
	pthread_attr_destroy(&detached);
}

/* --- the first thread --- */

static void client_give_up(struct broker_state *state, struct client *client)
{
	struct answer failed = {.value = -EIO, .fd = -1};
	struct server *server = client->server;

	server->lost = true;
	state->nlost++;
	atomic_fetch_add(&state->shared->stalls, 1);
	if (server->call)
		give_answer(client, server->call, &failed);
	start_server(state, client);
}

/* A thread that is running or waiting for a CPU is not stuck. */
static bool wants_cpu(pid_t tid)
{
	struct proc_stat stat;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	return proc_stat_read(path, &stat) && stat.state == 'R';
}

static void broker_watch_clients(struct broker_state *state)
{
	uint64_t now = now_ns();

	for (unsigned i = 0; i < CLIENTS; i++) {
		const struct server *server = state->clients[i].server;

		if (server && server->busy_ns && now > server->busy_ns + STUCK_MS * 1000000ull &&
		    (!wants_cpu(server->tid) || now > server->busy_ns + STARVED_MS * 1000000ull))
			client_give_up(state, &state->clients[i]);
	}
}

static bool broker_state_begin(struct broker_state *state, int control, int reads,
			       struct broker_shared *shared)
{
	pthread_mutexattr_t inherits;
	pthread_condattr_t monotonic;

	/* Threads of different priority share the lock. */
	pthread_mutexattr_init(&inherits);
	pthread_mutexattr_setprotocol(&inherits, PTHREAD_PRIO_INHERIT);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_mutex_init(&state->lock, &inherits);
	pthread_mutexattr_destroy(&inherits);
	pthread_cond_init(&state->reduced, &monotonic);
	pthread_condattr_destroy(&monotonic);
	state->control = control;
	state->start_server = start_server;
	state->reduce = reduce_all;
	state->shared = shared;
	state->processes = calloc(PROCESSES, sizeof(*state->processes));
	state->clients[0] = (struct client){.fd = reads, .memory = -1, .window = shared->window};
	if (state->processes)
		start_server(state, &state->clients[0]);
	return state->processes;
}

/* The socket hangs up when the privileged process closes it or exits. */
_Noreturn void broker_work(int control, int reads, struct broker_shared *shared)
{
	struct broker_state *state = calloc(1, sizeof(*state));
	struct pollfd fd = {.fd = control, .events = POLLIN};

	if (!state || !broker_state_begin(state, control, reads, shared))
		_exit(1);
	while (!(fd.revents & (POLLHUP | POLLERR))) {
		if (poll(&fd, 1, WATCH_MS) < 0)
			fd.revents = 0;
		pthread_mutex_lock(&state->lock);
		while (broker_take_control(state, true))
			continue;
		broker_watch_clients(state);
		pthread_mutex_unlock(&state->lock);
	}
	_exit(0);
}
