/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* State that the privileged process sets: allowed processes, shared files, clients. */
#include "sandbox/broker_state.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/files.h"
#include "util/rights.h"

enum { MAX_LOST = 3 }; /* stuck threads; with this many, no call that may block is begun until one returns */

/* --- control messages; with the lock held --- */

static struct allowed *find_process(struct broker_state *state, pid_t pid)
{
	for (size_t i = state->nprocesses; i > 0; i--) {
		if (state->processes[i - 1].pid == pid)
			return &state->processes[i - 1];
	}
	return NULL;
}

static void broker_state_allow(struct broker_state *state, pid_t pid, int dir)
{
	struct allowed *process = find_process(state, pid);

	if (!process && state->nprocesses < PROCESSES) {
		process = &state->processes[state->nprocesses++];
		process->dir = -1;
	} else if (!process) {
		process = &state->processes[state->oldest++ % PROCESSES];
	}
	if (process->dir >= 0)
		close(process->dir);
	*process = (struct allowed){.pid = pid, .dir = dir, .serial = ++state->serial};
}

static void broker_state_share(struct broker_state *state, uint64_t number, int fd)
{
	unsigned which = state->nfiles++ % SHARED_FILES;

	if (state->files[which].number)
		close(state->files[which].fd);
	state->files[which].number = number;
	state->files[which].fd = fd;
}

static void add_client(struct broker_state *state, const struct broker_message *message, int *fds)
{
	struct client *client = NULL;
	void *window = message->size <= WINDOW_BYTES
			       ? mmap(NULL, message->size, PROT_READ | PROT_WRITE, MAP_SHARED, fds[2], 0)
			       : MAP_FAILED;

	for (unsigned i = 1; i < CLIENTS && !client; i++)
		client = state->clients[i].server ? NULL : &state->clients[i];
	if (!client && window != MAP_FAILED)
		munmap(window, message->size);
	if (!client || window == MAP_FAILED)
		return; /* the descriptors are closed, and its calls fail */
	*client = (struct client){.fd = fds[0],
				  .memory = fds[1],
				  .window = window,
				  .theirs = {(uint8_t *)(uintptr_t)message->address, message->size}};
	fds[0] = fds[1] = -1;
	state->start_server(state, client);
}

/* Handles one waiting message. False: there is none. Only the first thread handles a reduction. */
bool broker_take_control(struct broker_state *state, bool is_first)
{
	struct broker_message message;
	int fds[DESCRIPTORS];
	ssize_t n = recv(state->control, &message, sizeof(message), MSG_DONTWAIT | MSG_PEEK);

	if (n <= 0 || (message.ask == BROKER_KEEP && !is_first))
		return false;
	n = broker_take(state->control, &message, sizeof(message), fds, MSG_DONTWAIT);
	if (n <= 0)
		return false;
	if (message.ask == BROKER_ALLOW && fds[0] >= 0) {
		broker_state_allow(state, message.pid, fds[0]);
		fds[0] = -1;
	} else if (message.ask == BROKER_SHARE && fds[0] >= 0) {
		broker_state_share(state, message.number, fds[0]);
		fds[0] = -1;
	} else if (message.ask == BROKER_ADD && fds[2] >= 0) {
		add_client(state, &message, fds);
	} else if (message.ask == BROKER_KEEP) {
		state->reduce(state, message.number);
	}
	descriptors_close(fds);
	return true;
}

/* --- used by servers --- */

struct held_process *server_process(struct server *server, pid_t pid)
{
	struct broker_state *state = server->state;
	struct allowed *found;

	pthread_mutex_lock(&state->lock);
	found = find_process(state, pid);
	/* The message that allows it may still be waiting. */
	while (!found && broker_take_control(state, false))
		found = find_process(state, pid);
	if (found && (server->process.pid != pid || server->serial != found->serial)) {
		held_process_close(&server->process);
		server->process = (struct held_process){
			.pid = pid, .dir = fcntl(found->dir, F_DUPFD_CLOEXEC, 0), .memory = -1};
		server->serial = found->serial;
	}
	pthread_mutex_unlock(&state->lock);
	return found ? &server->process : NULL;
}

bool server_must_refuse(struct server *server)
{
	struct broker_state *state = server->state;
	bool refuse;

	pthread_mutex_lock(&state->lock);
	refuse = state->nlost >= MAX_LOST;
	pthread_mutex_unlock(&state->lock);
	return refuse;
}

int server_file(struct server *server, uint64_t number)
{
	struct broker_state *state = server->state;
	struct rights before;
	int handle = -1;

	pthread_mutex_lock(&state->lock);
	while (broker_take_control(state, false))
		continue;
	for (unsigned i = 0; i < SHARED_FILES; i++) {
		if (state->files[i].number == number)
			handle = fcntl(state->files[i].fd, F_DUPFD_CLOEXEC, 0);
	}
	pthread_mutex_unlock(&state->lock);
	if (handle < 0)
		return -EACCES;
	before = rights_to_read(); /* only its owner may be able to read the file */
	handle = file_open_found(handle);
	rights_restore(&before);
	return handle;
}
