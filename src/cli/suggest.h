/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What somebody may have meant who wrote something else. */
#ifndef GOTRACE_CLI_SUGGEST_H
#define GOTRACE_CLI_SUGGEST_H

#include <stddef.h>

/* The name that is at most two letters away from the word (added, left out, changed or swapped); or NULL. */
const char *suggest_name(const char *word, const char *const *names, size_t n);

/* Refuses a first word that is no command, in one line with a guess. Returns STATUS_USAGE. */
int suggest_command(const char *word, const char *const *names, size_t n);

#endif
