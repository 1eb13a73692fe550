/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Chooses the encoder of a format. */
#include <errno.h>
#include <stdlib.h>

#include "trace/wire/encode.h"

struct wire {
	struct encoder_v1 *v1; /* one of the two */
	struct encoder_v2 *v2;
};

struct wire *wire_new(const struct wire_options *options, struct error *err)
{
	struct wire *wire;

	if (!wire_format_header(options->format)) {
		error_set(err, EINVAL, "no trace format has the number %d", (int)options->format);
		return NULL;
	}
	wire = calloc(1, sizeof(*wire));
	if (!wire) {
		error_set(err, ENOMEM, "no memory for the trace encoder");
		return NULL;
	}
	if (options->format < WIRE_GO122)
		wire->v1 = encode_v1_new(options, err);
	else
		wire->v2 = encode_v2_new(options, err);
	if (!wire->v1 && !wire->v2) {
		free(wire);
		return NULL;
	}
	return wire;
}

int wire_generation(struct wire *wire, const struct generation *gen, struct error *err)
{
	return wire->v1 ? encode_v1_generation(wire->v1, gen, err) : encode_v2_generation(wire->v2, gen, err);
}

void wire_free(struct wire *wire)
{
	if (!wire)
		return;
	encode_v1_free(wire->v1);
	encode_v2_free(wire->v2);
	free(wire);
}
