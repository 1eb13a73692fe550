/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names that gotrace gives to log events and regions of its own, by which readers of a trace know them. Any
 * program can use the same names. Those of labels are in util/labels.h.
 */
#ifndef GOTRACE_UTIL_OWN_NAMES_H
#define GOTRACE_UTIL_OWN_NAMES_H

/* Categories of log events: notes about the trace itself, */
#define OWN_LOG_CATEGORY "gotrace"
/* what the goroutine is about to wait for (docs/analysis.md), */
#define LOCK_LOG_CATEGORY "lock"
/* and the CPU that the log's thread runs on from then on, by number. */
#define CPU_LOG_CATEGORY "[CPU]"

/* What the names of regions begin with in which a running goroutine had no CPU; a reason and "]" follow. */
#define OFF_CPU_REGION "[off CPU: "

#endif
