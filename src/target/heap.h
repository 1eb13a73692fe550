/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the garbage collector is doing, and at which size of the heap it will have done it. */
#ifndef GOTRACE_TARGET_HEAP_H
#define GOTRACE_TARGET_HEAP_H

#include "target/private.h"

/* How many bytes of runtime.gcController are looked at. */
size_t heap_controller_size(const struct target *target);
/* The goal as the runtime's tracer tells it, 0 = none: from that many bytes of gcController. */
uint64_t heap_goal(const struct release *release, const uint8_t *bytes);
/* Reads both from the process. 0, -EFAULT, -ESRCH or -EPERM. */
int heap_read(const struct target *target, struct log_heap *heap);

#endif
