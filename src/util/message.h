/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef GOTRACE_UTIL_MESSAGE_H
#define GOTRACE_UTIL_MESSAGE_H

#include "util/error.h"

/* Prints one line "gotrace: ..." on standard error. */
void message_error(const struct error *err);

#endif
