/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* --layout FILE: the table that is used for a program whose release is not known. */
#ifndef GOTRACE_CLI_LAYOUT_FILE_H
#define GOTRACE_CLI_LAYOUT_FILE_H

#include "sandbox/sandbox.h"
#include "target/target.h"

/* Gives the inspector the file, before it opens a program. path NULL: there is none. 0 or a negative errno.
 */
int layout_file_give(struct sandbox *inspector, const char *path, struct error *err);

/*
 * The source of the layout of a release that is not known, in words: "layout from FILE". path: of --layout,
 * or NULL. "" if the release is known. Valid until the next call.
 */
const char *layout_source(const struct target *target, const char *path);
/* Reports it on standard error, or that --layout was not needed. */
void layout_report(const struct target *target, const char *path);

#endif
