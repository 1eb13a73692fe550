/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Growable arrays. An array starts as NULL with capacity 0, and is released with free(). */
#ifndef GOTRACE_UTIL_ARRAY_H
#define GOTRACE_UTIL_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/*
 * Grows an array to at least `want` items of item_size bytes each. Small arrays double, large ones grow by a
 * quarter. array is the address of the pointer to the items. New items are zeroed. Returns 0, or -ENOMEM with
 * the array unchanged.
 */
int array_grow(void *array, size_t *capacity, size_t want, size_t item_size);

/*
 * Returns the number of items whose key is at most this one. The key is an item's first member, a uint64_t;
 * the items are sorted by it.
 */
size_t array_upto(const void *items, size_t n, size_t item_size, uint64_t key);

#endif
