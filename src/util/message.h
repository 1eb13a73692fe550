/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Messages on standard error, one line each. On a terminal, a message replaces the live line
 * (workers/summary/status.h). */
#ifndef GOTRACE_UTIL_MESSAGE_H
#define GOTRACE_UTIL_MESSAGE_H

#include <stdio.h>

#include "util/error.h"

/* Prints "gotrace: ..." and a newline. Names in it may be untrusted: unprintable characters become "?". */
void message(const char *format, ...) __attribute__((format(printf, 1, 2)));
void message_error(const struct error *err);
/* From now on, messages of this process and of those that it forks begin "gotrace: TEXT: ". */
void message_set_subject(const char *text);
/* For a line in parts: prints "gotrace: ". The caller ends the line. Returns stderr. */
FILE *message_begin(void);

#endif
