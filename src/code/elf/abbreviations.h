/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Checks abbreviation tables (DWARF 5, 7.5.3) before libdw reads them. libdw keeps a copy of each table per
 * unit that uses it. To skip an entry, it walks all of the entry's attributes, including those that occupy no
 * bytes in the file. Pure functions over untrusted bytes.
 */
#ifndef GOTRACE_CODE_ELF_ABBREVIATIONS_H
#define GOTRACE_CODE_ELF_ABBREVIATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/budget.h"

#define ABBREVIATIONS_MAX       (16u << 10) /* per table; compilers emit hundreds, with LTO thousands */
#define ABBREVIATION_ATTRIBUTES 128u        /* per abbreviation; compilers emit about 20 */
#define ABBREVIATION_EMPTY      24u         /* of these: attributes that occupy no bytes */

/*
 * Counts the abbreviations in the table at an offset. Returns false if one has more attributes than the
 * limits above, if there are more than ABBREVIATIONS_MAX, if the table has no end, or if the budget is spent.
 */
bool abbreviations_count(const uint8_t *bytes, size_t size, uint64_t offset, struct budget *budget,
			 uint32_t *n);
/*
 * Returns true if the entry at offset `entry` in .debug_info uses the table's first abbreviation. Otherwise
 * libdw reads further ones.
 */
bool abbreviations_first(const uint8_t *bytes, size_t size, uint64_t offset, const uint8_t *info,
			 size_t info_size, uint64_t entry);

#endif
