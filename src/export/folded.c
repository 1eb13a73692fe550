/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Folded stacks, as flame graph tools read them: `root;...;leaf N`, N in us.
 * Each line ends with what the goroutine did there, in brackets.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/format.h"
#include "export/fold.h"

struct folded {
	struct profiles profiles;
	struct byte_sink out;
};

static void folded_free(void *writer)
{
	struct folded *folded = writer;

	profiles_free(&folded->profiles);
	free(folded);
}

static void *folded_open(const struct export_options *options, const struct census *census,
			 struct tl_visitor *visitor, struct error *err)
{
	struct folded *folded = calloc(1, sizeof(*folded));

	(void)err;
	if (!folded)
		return NULL;
	folded->out = options->out;
	if (profiles_init(&folded->profiles, census, &options->profile, 1, visitor)) {
		folded_free(folded);
		return NULL;
	}
	return folded;
}

static int folded_finish(void *writer)
{
	struct folded *folded = writer;
	struct buffer text = {0};
	int rc = fold(&folded->profiles, &folded->profiles.all[0], &text);

	if (!rc && text.len)
		rc = folded->out.write(folded->out.ctx, text.bytes, text.len);
	buffer_free(&text);
	return rc;
}

const struct export_writer export_folded = {
	.open = folded_open, .finish = folded_finish, .free = folded_free};
