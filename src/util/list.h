/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Lists that are short and many: there may be one for each goroutine, so the first items take little. */
#ifndef GOTRACE_UTIL_LIST_H
#define GOTRACE_UTIL_LIST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes room for one more behind n items of so many bytes each; the list begins as NULL with no capacity.
 * False when out of memory: the list stays as it is.
 */
bool list_grow(void **items, unsigned n, unsigned *capacity, size_t each);

#endif
