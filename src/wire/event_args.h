/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the arguments of events are called, for whoever prints them. */
#ifndef GOTRACE_EVENT_ARGS_H
#define GOTRACE_EVENT_ARGS_H

/* Names of the arguments of a v2 event (enum event_type), without dt: NULL behind the last. */
const char *const *event_args(unsigned type);
/* The same of v1 and v0 (enum event_v1_type), without the stack that may be the last. */
const char *const *event_v1_arg_names(unsigned type);
/* The name of a stop-the-world's kind in that format (enum wire_format); NULL if it has none. */
const char *event_v1_stw_kind(unsigned format, unsigned long long kind);

#endif
