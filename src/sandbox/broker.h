/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Opens files and reads memory for sandboxes, in a thread of the privileged side: a system call of theirs
 * that their filter holds up is looked at here (request.h), done here if it is allowed, and its result handed
 * over.
 */
#ifndef GOTRACE_SANDBOX_BROKER_H
#define GOTRACE_SANDBOX_BROKER_H

#include <stdint.h>
#include <sys/types.h>

#include "util/error.h"

struct broker;

struct broker *broker_new(struct error *err); /* NULL: failed */
/* From now on for this sandbox, too. Takes over both: where its calls wait, and its memory (/proc/PID/mem).
 */
int broker_add(struct broker *broker, int listener, int memory);
/* Sandboxes may look at this process from now on, for as long as it is the same process. */
void broker_allow(struct broker *broker, pid_t pid);
/* Its thread gives up all capabilities but these, before this returns. */
int broker_keep(struct broker *broker, uint64_t capabilities, struct error *err);
/* Ends the thread: what sandboxes still ask for fails. NULL is allowed. */
void broker_free(struct broker *broker);

#endif
