/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Writes what a flight recorder keeps as a file in the requested format. */
#ifndef GOTRACE_FLIGHT_SNAPSHOT_BYTES_H
#define GOTRACE_FLIGHT_SNAPSHOT_BYTES_H

#include "flight/generation_ring.h"
#include "pipeline/output.h"
#include "wire/wire.h"

/*
 * Writes a snapshot in this format. The generations kept have that format, or a newer one from which they are
 * converted. The oldest generations are left out if a converted file would exceed max_bytes. Commits
 * everything (output_commit()).
 */
int snapshot_bytes_write(struct generation_refs *refs, enum wire_format format, size_t max_bytes,
			 struct output *out, struct error *err);
/*
 * The format in which generations are kept for files of this format. Generations are independent of each
 * other only from Go 1.22 on.
 */
enum wire_format snapshot_kept_format(enum wire_format format);

#endif
