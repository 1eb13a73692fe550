/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The garbage collector's phase and heap goal. */
#ifndef GOTRACE_TARGET_HEAP_H
#define GOTRACE_TARGET_HEAP_H

#include "target/private.h"

/* Number of bytes of runtime.gcController that heap_goal() needs. */
size_t heap_controller_size(const struct target *target);
/*
 * Returns the goal in bytes as the runtime's tracer reports it, or 0 if there is none. bytes holds
 * heap_controller_size() bytes of gcController.
 */
uint64_t heap_goal(const struct release *release, const uint8_t *bytes);
/* Reads phase and goal from the process. Returns 0, -ENOMEM, -EFAULT, -ESRCH or -EPERM. */
int heap_read(const struct target *target, struct log_heap *heap);

#endif
