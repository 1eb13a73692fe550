/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "flight/snapshot_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/convert/convert.h"

enum wire_format snapshot_kept_format(enum wire_format format)
{
	return format < WIRE_GO122 ? WIRE_GO126 : format;
}

static int write_bytes(void *ctx, const void *bytes, size_t n)
{
	return output_write(ctx, bytes, n);
}

/* A whole snapshot in memory. */
struct whole {
	uint8_t *bytes;
	size_t n;
};

static int snapshot_gather(void *ctx, const void *bytes, size_t n)
{
	struct whole *whole = ctx;

	memcpy(whole->bytes + whole->n, bytes, n);
	whole->n += n;
	return 0;
}

struct snapshot_conversion {
	struct wire *wire;
	struct error *err;
};

static int snapshot_take_generation(void *ctx, const struct generation *gen)
{
	struct snapshot_conversion *conversion = ctx;

	return wire_generation(conversion->wire, gen, conversion->err);
}

static int snapshot_convert(const struct whole *whole, const struct wire_options *options, struct error *err)
{
	struct snapshot_conversion conversion = {.wire = wire_new(options, err), .err = err};
	const struct convert_sink sink = {.generation = snapshot_take_generation, .ctx = &conversion};
	struct convert_result *result = calloc(1, sizeof(*result));
	int rc = conversion.wire && result ? 0 : -ENOMEM;

	if (rc == 0)
		rc = convert_trace(whole->bytes, whole->n, NULL, &sink, result, err);
	if (rc && result && result->fault.text[0])
		*err = result->fault;
	wire_free(conversion.wire);
	free(result);
	return rc;
}

/* Formats whose generations depend on each other are converted from the format that the recorder keeps. */
static int write_converted(const struct generation_refs *refs, enum wire_format format, struct output *out,
			   struct error *err)
{
	struct whole whole = {.bytes = malloc(generation_refs_bytes(refs))};
	struct byte_sink to_whole = {.write = snapshot_gather, .ctx = &whole};
	const struct wire_options options = {.format = format, .out = {.write = write_bytes, .ctx = out}};
	int rc = whole.bytes ? generation_refs_write(refs, &to_whole)
			     : error_set(err, ENOMEM, "out of memory");

	if (rc == 0)
		rc = snapshot_convert(&whole, &options, err);
	free(whole.bytes);
	return rc;
}

/*
 * Files in old formats are up to 50% larger. If the file exceeds max_bytes, the oldest generations are
 * dropped and the file is written again.
 */
static int write_cut(struct generation_refs *refs, enum wire_format format, size_t max_bytes,
		     struct output *out, struct error *err)
{
	int rc;

	for (;;) {
		rc = write_converted(refs, format, out, err);
		if (rc == 0)
			rc = output_commit(out);
		if (rc || out->committed <= max_bytes)
			return rc;
		if (!generation_refs_cut(refs, (size_t)((double)generation_refs_bytes(refs) *
							(double)max_bytes / (double)out->committed)))
			return error_set(err, EFBIG, "a single generation exceeds --max-bytes");
		rc = output_restart(out);
		if (rc)
			return rc;
	}
}

int snapshot_bytes_write(struct generation_refs *refs, enum wire_format format, size_t max_bytes,
			 struct output *out, struct error *err)
{
	const struct byte_sink sink = {.write = write_bytes, .ctx = out};
	int rc;

	if (snapshot_kept_format(format) != format)
		return write_cut(refs, format, max_bytes, out, err);
	rc = generation_refs_write(refs, &sink);
	return rc ? rc : output_commit(out);
}
