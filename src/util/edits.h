/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The edit distance between two words. */
#ifndef GOTRACE_UTIL_EDITS_H
#define GOTRACE_UTIL_EDITS_H

enum { EDITS_LETTERS = 31 };

/* Returns the number of letters to insert, delete, change or swap; EDITS_LETTERS if a word is longer. */
unsigned edits_between(const char *a, const char *b);

#endif
