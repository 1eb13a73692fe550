/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* --layout FILE: the table that is used for a program of an unknown release. */
#ifndef GOTRACE_CLI_LAYOUT_FILE_H
#define GOTRACE_CLI_LAYOUT_FILE_H

#include "sandbox/sandbox.h"
#include "target/target.h"

/* Opens the file with the user's rights. Returns a descriptor or a negative errno. */
int layout_file_open(const char *path, struct error *err);
/* Sends it to the inspector. Call it before a program is opened. Returns 0 or a negative errno. */
int layout_file_give(struct sandbox *inspector, int fd, const char *path, struct error *err);

/*
 * Describes the source of an unknown release's layout: "layout from FILE". Returns "" if the release is
 * known. path: of --layout, or NULL. Valid until the next call.
 */
const char *layout_source(const struct target *target, const char *path);
/* Reports that source on standard error, or that --layout was not needed. */
void layout_report(const struct target *target, const char *path);

#endif
