/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The encoders behind wire.h, one per family of formats. The contracts in wire.h apply here too. */
#ifndef GOTRACE_TRACE_WIRE_ENCODE_H
#define GOTRACE_TRACE_WIRE_ENCODE_H

#include "trace/wire/wire.h"

struct encoder_v2; /* go 1.22 and later */

struct encoder_v2 *encode_v2_new(const struct wire_options *options, struct error *err);
int encode_v2_generation(struct encoder_v2 *wire, const struct generation *gen, struct error *err);
void encode_v2_free(struct encoder_v2 *wire);

struct encoder_v1; /* v0, go 1.5 to go 1.21 */

struct encoder_v1 *encode_v1_new(const struct wire_options *options, struct error *err);
int encode_v1_generation(struct encoder_v1 *wire, const struct generation *gen, struct error *err);
void encode_v1_free(struct encoder_v1 *wire);

#endif
