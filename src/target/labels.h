/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * pprof labels of goroutines (runtime/pprof.Do, SetGoroutineLabels), read from the process. Any program may
 * store anything in g.labels, so nothing there is taken for granted: what does not look like a set of labels
 * is lost, and everything that is read has a limit.
 */
#ifndef GOTRACE_TARGET_LABELS_H
#define GOTRACE_TARGET_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "rawlog/rawlog.h"

struct labels;
struct target;

#define LABELS_LOST UINT32_MAX
/* Sets that are read in one go. */
#define LABELS_BATCH 1024u

/* Whether it is known where the release has them. */
bool labels_are_known(const struct target *target);
/* A LOG_LABELS goes to the sink for each different set. NULL when out of memory. */
struct labels *labels_new(pid_t pid, unsigned go_minor, log_sink sink, void *ctx);
/*
 * The sets at n addresses (values of g.labels; 0 = none), at most LABELS_BATCH. numbers[i] is the number of a
 * LOG_LABELS, 0 for none, or LABELS_LOST. Returns 0, what the sink gave, -ENOMEM, -ESRCH or -EPERM.
 */
int labels_read(struct labels *labels, const uint64_t *addresses, size_t n, uint32_t *numbers);
void labels_free(struct labels *labels);

#endif
