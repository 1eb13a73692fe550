/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Goroutines that are running, on threads that have no CPU. The kernel reports an interval when it is over
 * (SITE_OFF_CPU). At the end of the generation, when every op has its place, the intervals are divided among
 * the goroutines that ran on their threads meanwhile: for the summary, and as regions of the trace.
 */
#ifndef GOTRACE_MODEL_OFF_CPU_H
#define GOTRACE_MODEL_OFF_CPU_H

#include "model/state.h"

void off_cpu_free(struct off_cpu *off);
/* A SITE_OFF_CPU record. */
void off_cpu_take(struct model *md, const struct raw_record *rec);
/* A SITE_CPU record. */
void off_cpu_take_move(struct model *md, const struct raw_record *rec);
/* CPU times of the threads, as the kernel counts them: LOG_THREAD_TIMES. */
void off_cpu_take_times(struct model *md, const struct log_thread_times *times);
/* LOG_QUOTA. */
void off_cpu_take_quota(struct model *md, const struct log_record *record);
/* Nothing before this time counts, ns: it was not watched. */
void off_cpu_watched_since(struct model *md, uint64_t time);
/* The generation's ops are in their places, and samples are still to come. */
void off_cpu_close(struct model *md);
/* To be called after model_finish. Pointers stay valid as long as the model. */
void off_cpu_figures(struct model *md, struct cpu_figures *figures);

#endif
