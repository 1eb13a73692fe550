/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "flight/snapshot_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/convert/convert.h"
#include "trace/cut/cut.h"

enum wire_format snapshot_kept_format(enum wire_format format)
{
	return format < WIRE_GO122 ? WIRE_GO126 : format;
}

static int snapshot_bytes_write_bytes(void *ctx, const void *bytes, size_t n)
{
	return output_write(ctx, bytes, n);
}

struct snapshot_conversion {
	struct wire *wire;
	struct cutter *cutter; /* NULL: everything is written */
	unsigned generations;
	struct error *err;
};

static int snapshot_take_generation(void *ctx, const struct generation *gen)
{
	struct snapshot_conversion *conversion = ctx;

	conversion->generations++;
	return wire_generation(conversion->wire, gen, conversion->err);
}

static int snapshot_cut_generation(void *ctx, const struct generation *gen)
{
	struct snapshot_conversion *conversion = ctx;

	return cutter_generation(conversion->cutter, gen);
}

static int snapshot_convert(const uint8_t *bytes, size_t n, const struct wire_options *options,
			    const struct time_window *window, struct error *err)
{
	struct snapshot_conversion conversion = {.wire = wire_new(options, err), .err = err};
	const struct cut_options piece = {.from = window->from_ns,
					  .to = window->until_ns,
					  .generation = snapshot_take_generation,
					  .ctx = &conversion};
	const struct convert_sink sink = {.generation = window->until_ns ? snapshot_cut_generation
									 : snapshot_take_generation,
					  .ctx = &conversion};
	struct convert_result *result = calloc(1, sizeof(*result));
	int rc;

	if (window->until_ns)
		conversion.cutter = cutter_new(&piece);
	rc = conversion.wire && result && (conversion.cutter || !window->until_ns) ? 0 : -ENOMEM;
	if (rc == 0)
		rc = convert_trace(bytes, n, NULL, &sink, result, err);
	if (rc && result && result->fault.text[0])
		*err = result->fault;
	if (rc == 0 && !conversion.generations)
		rc = error_set(err, ENODATA, "nothing of that time is kept, or none of it was watched");
	cutter_free(conversion.cutter);
	wire_free(conversion.wire);
	free(result);
	return rc;
}

/* Formats whose generations depend on each other are converted from the format that the recorder keeps. */
static int write_converted(const struct generation_refs *refs, const struct snapshot_form *form,
			   struct output *out, struct error *err)
{
	uint8_t *bytes = generation_refs_copy(refs);
	const struct wire_options options = {.format = form->format,
					     .out = {.write = snapshot_bytes_write_bytes, .ctx = out}};
	int rc = bytes ? snapshot_convert(bytes, generation_refs_bytes(refs), &options, &form->window, err)
		       : error_set(err, ENOMEM, "out of memory");

	free(bytes);
	return rc;
}

/*
 * Files in old formats are up to 50% larger. If the file exceeds max_bytes, the oldest generations are
 * dropped and the file is written again.
 */
static int write_cut(struct generation_refs *refs, const struct snapshot_form *form, struct output *out,
		     struct error *err)
{
	size_t max_bytes = form->max_bytes;
	int rc;

	for (;;) {
		rc = write_converted(refs, form, out, err);
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

int snapshot_bytes_write(struct generation_refs *refs, const struct snapshot_form *form, struct output *out,
			 struct error *err)
{
	const struct byte_sink sink = {.write = snapshot_bytes_write_bytes, .ctx = out};
	int rc;

	if (form->window.until_ns || snapshot_kept_format(form->format) != form->format)
		return write_cut(refs, form, out, err);
	rc = generation_refs_write(refs, &sink);
	return rc ? rc : output_commit(out);
}
