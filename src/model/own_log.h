/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * gotrace's own log events: on a goroutine of the target that runs, or else on the synthetic one. Where the
 * target runs no goroutine and leaves no P (all are in system calls, say), an event waits for the end of the
 * generation, and is then inserted at the nearest place before: readers would otherwise count another P.
 */
#ifndef GOTRACE_MODEL_OWN_LOG_H
#define GOTRACE_MODEL_OWN_LOG_H

#include "model/annotator.h"
#include "model/state.h"

/* Writes the events that wait. Every op is in its place. */
void own_logs_settle(struct model *md);
void own_logs_free(struct own_logs *logs);

#endif
