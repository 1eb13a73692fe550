/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Running goroutines whose threads have no CPU. The kernel reports an interval when it is over
 * (SITE_OFF_CPU). At the end of the generation, when every op is in its place, the intervals are divided
 * among the goroutines that ran on their threads: for the summary, and as regions of the trace.
 */
#ifndef GOTRACE_MODEL_OFF_CPU_H
#define GOTRACE_MODEL_OFF_CPU_H

#include "model/state.h"

void off_cpu_free(struct off_cpu *off);
/* Takes a SITE_OFF_CPU record. */
void off_cpu_take(struct model *md, const struct raw_record *rec);
/* Takes a SITE_CPU record. */
void off_cpu_take_move(struct model *md, const struct raw_record *rec);
/* Takes CPU times of the threads, as counted by the kernel: LOG_THREAD_TIMES. */
void off_cpu_take_times(struct model *md, const struct log_thread_times *times);
/* Takes a LOG_QUOTA. */
void off_cpu_take_quota(struct model *md, const struct log_record *record);
/* Ignores time before this, ns: it was not watched. */
void off_cpu_watched_since(struct model *md, uint64_t time);
/* Divides the intervals. The generation's ops must be in their places, without the samples. */
void off_cpu_close(struct model *md);
/* To be called after model_finish(). The pointers are valid as long as the model. */
void off_cpu_figures(struct model *md, struct cpu_figures *figures);

#endif
