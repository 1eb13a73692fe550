/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A release's layout as text, one field a line: what gotrace layout prints and --layout reads. Pure.
 *
 *	gotrace layout 1
 *	release go1.28.1
 *	arch amd64
 *	go.g_stack_lo 0x0             every row of layout_fields, in its order
 *	go.g_syscallbp absent         the release does not have the field
 *	reasons.block 16              of each table of the runtime: how many numbers it has,
 *	block.0 unspecified           and its texts in the order of their numbers
 *	...
 *	end 1a2b3c4d                  CRC-32 of all lines before this one
 */
#ifndef GOTRACE_TARGET_LAYOUT_TEXT_H
#define GOTRACE_TARGET_LAYOUT_TEXT_H

#include <stddef.h>
#include <stdio.h>

#include "target/layout_table.h"
#include "util/error.h"

/* More than any such text needs. */
#define LAYOUT_TEXT_MOST (256u << 10)

/*
 * Reads the text, which is untrusted input: every field must be there once, in its place, in bounds, and
 * nothing else. Returns 0, -EBADMSG with "line 12: ..." in err, or -ENOMEM.
 */
int layout_text_parse(const char *text, size_t size, struct layout_table *table, struct error *err);
/* Prints what layout_text_parse() reads. -EBADMSG if a reason or an offset is not what that takes; -ENOMEM.
 */
int layout_text_print(const struct layout_table *table, FILE *out, struct error *err);

#endif
