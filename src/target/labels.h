/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reads goroutines' pprof labels (runtime/pprof.Do, SetGoroutineLabels) from the process. A program may store
 * anything in g.labels, so its contents are untrusted: a value that does not look like a set of labels is
 * lost, and every read is bounded.
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
/* Sets per call of labels_read(), at most. */
#define LABELS_BATCH 1024u

/* Whether the offset of g.labels in the target's release is known. */
bool labels_are_known(const struct target *target);
/* Sends a LOG_LABELS to the sink for each distinct set that is read. Returns NULL if out of memory. */
struct labels *labels_new(pid_t pid, unsigned go_minor, log_sink sink, void *ctx);
/*
 * Reads the sets at n addresses (values of g.labels; 0 = none), at most LABELS_BATCH. Sets numbers[i] to the
 * number of a LOG_LABELS, 0 for none, or LABELS_LOST. Returns 0, the sink's error, -ENOMEM, -ESRCH or -EPERM.
 */
int labels_read(struct labels *labels, const uint64_t *addresses, size_t n, uint32_t *numbers);
void labels_free(struct labels *labels);

#endif
