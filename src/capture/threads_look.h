/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the room: look.h for threads. */
#ifndef GOTRACE_CAPTURE_THREADS_LOOK_H
#define GOTRACE_CAPTURE_THREADS_LOOK_H

#include "capture/state.h"

/* The cost of a hit is known. LEVEL_SPANS is where nothing is left out. */
void threads_look_begin(struct capture *capture);
/* System calls are seen now. */
bool threads_look_at_calls(const struct capture *capture);
/* Changes how much is looked at, if that is due. 0 or a negative errno. */
int threads_look_adapt(struct capture *capture, uint64_t now, struct error *err);

#endif
