/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A release's layout as text, one field per line, as printed by gotrace layout and read by --layout. Pure.
 *
 *	gotrace layout 1
 *	release go1.28.1
 *	arch amd64
 *	go.g_stack_lo 0x0             all rows of layout_fields, in their order
 *	go.g_syscallbp absent         the release does not have the field
 *	reasons.block 16              for each of the runtime's tables: its size,
 *	block.0 unspecified           and its texts in numerical order
 *	...
 *	end 1a2b3c4d                  CRC-32 of all lines before this one
 */
#ifndef GOTRACE_TARGET_LAYOUT_TEXT_H
#define GOTRACE_TARGET_LAYOUT_TEXT_H

#include <stddef.h>
#include <stdio.h>

#include "target/layout_table.h"
#include "util/error.h"

/* Size limit in bytes, larger than any such text. */
#define LAYOUT_TEXT_MOST (256u << 10)

/*
 * Parses the text, which is untrusted: every field must occur exactly once, in order and in bounds, and
 * nothing else may occur. Returns 0, -EBADMSG with "line 12: ..." in err, or -ENOMEM.
 */
int layout_text_parse(const char *text, size_t size, struct layout_table *table, struct error *err);
/*
 * Prints the text that layout_text_parse() reads. Returns 0, -EBADMSG if that would reject a reason or an
 * offset, or -ENOMEM.
 */
int layout_text_print(const struct layout_table *table, FILE *out, struct error *err);

#endif
