/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a flight recorder keeps, as the bytes of a file in the wanted format. */
#ifndef GOTRACE_FLIGHT_SNAPSHOT_BYTES_H
#define GOTRACE_FLIGHT_SNAPSHOT_BYTES_H

#include "flight/keeper.h"
#include "pipeline/output.h"
#include "wire/wire.h"

/*
 * format: of the file; what is kept has that format, or a newer one from which it is converted; then the
 * oldest generations are left out if the file would have more than max_bytes. All stands (output_commit).
 */
int snapshot_bytes_write(struct kept *kept, enum wire_format format, size_t max_bytes, struct output *out,
			 struct error *err);
/* The format in which generations are to be kept for files of this format: only from Go 1.22 on they stand
 * alone. */
enum wire_format snapshot_kept_format(enum wire_format format);

#endif
