/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Writes a flight recorder's snapshot as a file in the requested format. */
#ifndef GOTRACE_FLIGHT_SNAPSHOT_BYTES_H
#define GOTRACE_FLIGHT_SNAPSHOT_BYTES_H

#include "flight/flight.h"
#include "flight/generation_ring.h"
#include "pipeline/output.h"
#include "trace/wire/wire.h"

struct snapshot_form {
	enum wire_format format;
	size_t max_bytes;
	struct time_window window; /* the log's clock */
};

/*
 * Writes and commits a snapshot in this form (output_commit()). Converts the kept generations if they have a
 * newer format, and drops the oldest ones if the converted file would exceed max_bytes. If only a window is
 * wanted, the file has that piece. Returns 0 or a negative errno, possibly with *err set.
 */
int snapshot_bytes_write(struct generation_refs *refs, const struct snapshot_form *form, struct output *out,
			 struct error *err);
/*
 * Returns the format in which the recorder keeps generations for files of this format. Generations are
 * independent of each other only from Go 1.22 on.
 */
enum wire_format snapshot_kept_format(enum wire_format format);

#endif
