/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Suggestions for misspelled names. */
#ifndef GOTRACE_UTIL_SUGGEST_H
#define GOTRACE_UTIL_SUGGEST_H

#include <stddef.h>

/* Returns the closest name at most two letters away (added, left out, changed or swapped), or NULL. */
const char *suggest_name(const char *word, const char *const *names, size_t n);

/* --- edits.c: the edit distance between two words --- */

enum { EDITS_LETTERS = 31 };

/* Returns the number of letters to insert, delete, change or swap; EDITS_LETTERS if a word is longer. */
unsigned edits_between(const char *a, const char *b);

#endif
