/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the level of detail of threads, like probe_set.h for Go programs. */
#ifndef GOTRACE_CAPTURE_THREAD_DETAIL_H
#define GOTRACE_CAPTURE_THREAD_DETAIL_H

#include "capture/state.h"

/* Initializes the governor. Call it once the cost of a hit is known. LEVEL_STARTS_ONLY is full detail for
 * threads. */
void thread_detail_begin(struct capture *capture);
/* Returns true if system calls are recorded now. */
bool thread_detail_has_calls(const struct capture *capture);
/* Adapts the level of detail to the cost. Returns 0 or a negative errno. */
int thread_detail_adapt(struct capture *capture, uint64_t now, struct error *err);
/* Implement note_flags and level_text of struct backend. */
uint32_t thread_detail_flags(const struct capture *capture);
const char *thread_detail_text(enum detail_level level);

#endif
