/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: what the target gets done, with and without probes. */
#ifndef GOTRACE_CAPTURE_PROGRESS_H
#define GOTRACE_CAPTURE_PROGRESS_H

#include "capture/state.h"

/* Call it at the end of each time that was watched, once the probes are dropped, and of each that was not,
 * before they are attached again. The governor learns from the two what a hit costs. */
void progress_learn(struct capture *capture, bool watched);

#endif
