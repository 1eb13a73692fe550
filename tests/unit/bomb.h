/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Makes programs that run as before, but whose sections exhaust the memory or time of their readers. Only the
 * section header table changes, which is not used when a program runs.
 */
#ifndef GOTRACE_TEST_BOMB_H
#define GOTRACE_TEST_BOMB_H

/*
 * Changes a program or library with the sections of `gcc -g` (DWARF 5). Kinds:
 *   frame      compressed .eh_frame, 1 GiB when uncompressed
 *   cie        100,000 frame descriptions with one CIE of 256 KiB that cannot be parsed
 *   cies       the same with 512 such CIEs in turn
 *   ranges     200 units that share one compressed list of 250,000 ranges
 *   debug      compressed debug information, 1 GiB when uncompressed
 *   lines      a compressed line program of 30 MiB, each byte of which is a row
 *   attributes entries with a million attributes that occupy no bytes
 *   tables     20,000 units, each with its abbreviation at the end of the same long table
 *   strings    compressed symbol names, 1 GiB when uncompressed
 * Returns 0, or prints a line to standard error and returns -1.
 */
int bomb_make(const char *kind, const char *path);

#endif
