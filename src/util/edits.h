/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How far apart two words are. */
#ifndef GOTRACE_UTIL_EDITS_H
#define GOTRACE_UTIL_EDITS_H

enum { EDITS_LETTERS = 31 };

/* Letters to add, leave out, change or swap; EDITS_LETTERS if a word has more than that. */
unsigned edits_between(const char *a, const char *b);

#endif
