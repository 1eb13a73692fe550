/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names of gotrace's own log events and regions, by which readers of a trace recognise them. Any program can
 * use the same names. The names of labels are in util/labels.h.
 */
#ifndef GOTRACE_UTIL_OWN_NAMES_H
#define GOTRACE_UTIL_OWN_NAMES_H

/* Category of log events: notes about the trace itself. */
#define OWN_LOG_CATEGORY "gotrace"
/* What the goroutine is about to wait for (docs/analysis.md). */
#define LOCK_LOG_CATEGORY "lock"
/* The number of the CPU that the log's thread runs on from then on. */
#define CPU_LOG_CATEGORY "[CPU]"

/* Prefix of the names of regions in which a running goroutine had no CPU; a reason and "]" follow. */
#define OFF_CPU_REGION "[off CPU: "

#endif
