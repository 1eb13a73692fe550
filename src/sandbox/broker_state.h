/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: state shared by the threads of the broker. */
#ifndef GOTRACE_SANDBOX_BROKER_STATE_H
#define GOTRACE_SANDBOX_BROKER_STATE_H

#include <linux/seccomp.h>
#include <pthread.h>
#include <stdbool.h>

#include "sandbox/broker_messages.h"
#include "sandbox/held_process.h"
#include "sandbox/request.h"

enum {
	CLIENTS = 5,      /* including the privileged process, which is the first */
	PROCESSES = 4096, /* allowed ones; the oldest is replaced */
	ROOTS = 4,        /* directories per worker in which files are looked up */
	SHARED_FILES = 8, /* files that a worker may open */
};

/* What a client may use per second. Unused amounts accumulate for some seconds. */
struct allowance {
	uint64_t filled_ns;
	int64_t opens, calls, bytes; /* bytes may go below zero by one call */
};

struct root {
	int theirs, ours;
};

struct client {
	int fd;     /* seccomp listener; for the privileged process, the socket for reading */
	int memory; /* the worker's /proc/PID/mem; -1: this is the privileged process */
	uint8_t *window;
	struct window theirs; /* the window's address in the worker */
	struct root roots[ROOTS];
	unsigned nroots;
	struct allowance allowance;
	struct server *server; /* NULL: the client is gone */
};

/* A thread that serves one client. */
struct server {
	struct broker_state *state;
	struct client *client;
	int wake;
	pid_t tid;
	uint64_t busy_ns; /* start of the current call; 0: idle */
	uint64_t call;
	bool lost;                   /* was busy for too long: another thread serves the client */
	uint64_t kept;               /* number of the last reduction of capabilities that it has done */
	struct held_process process; /* the last one requested */
	uint64_t serial;
	uint8_t *part; /* WINDOW_BYTES: the data read, until it is known that the caller still waits */
};

struct allowed {
	pid_t pid;
	int dir;
	uint64_t serial;
};

struct broker_state {
	pthread_mutex_t lock; /* protects everything below */
	pthread_cond_t reduced;
	int control;
	/* Actions that a control message may trigger. */
	void (*start_server)(struct broker_state *state, struct client *client);
	void (*reduce)(struct broker_state *state, uint64_t capabilities);
	struct broker_shared *shared;
	struct client clients[CLIENTS];
	struct allowed *processes; /* PROCESSES of them */
	size_t nprocesses, oldest;
	uint64_t serial;
	struct {
		uint64_t number;
		int fd;
	} files[SHARED_FILES];
	unsigned nfiles;
	unsigned nlost; /* threads that are stuck */
	uint64_t keep, keep_number;
	struct error keep_error;
	int keep_result;
};

/* The answer to a call. */
struct answer {
	int64_t value;     /* or a negative errno */
	int fd;            /* to be passed to the caller; -1 = none */
	bool is_root;      /* the descriptor is a directory in which to look up files */
	const void *bytes; /* for the window, or NULL */
	size_t size;
	uint64_t to; /* their address in the worker */
};

/*
 * Handles one message from the control socket, with the lock held. False: there is none. Only the first
 * thread handles one that reduces capabilities.
 */
bool broker_take_control(struct broker_state *state, bool is_first_thread);
/* Returns the process, held by the server, if workers may read it. NULL: they may not. */
struct held_process *server_process(struct server *server, pid_t pid);
/* True if too many threads are stuck to begin another call that may block. */
bool server_must_refuse(struct server *server);
/* Returns a duplicate of the file that was shared under this number, or a negative errno. */
int server_file(struct server *server, uint64_t number);
/* Handles a worker's system call. */
struct answer answer_call(struct server *server, const struct seccomp_data *call);
/* Handles a question of the privileged process. fd: came with it; the caller owns it. */
struct answer answer_question(struct server *server, const struct broker_message *message, int fd);
/* Takes a call and `opens` opened files from the allowance. Returns false if it is used up. */
bool allowance_take(struct allowance *allowance, uint64_t now_ns, unsigned opens);

#endif
