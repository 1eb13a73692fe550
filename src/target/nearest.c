/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/nearest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/prove.h"

/* So many releases are tried, those on both sides: older ones have other runtimes. */
#define CANDIDATES 4
/* The oldest one whose moduledata has gofunc; what is older is in the table for good. */
#define OLDEST 18u

/* The nth nearest release of the table; NULL if there is none. */
static const struct release *nearest(unsigned minor, unsigned n)
{
	unsigned found = 0;

	for (unsigned away = 1; away <= minor; away++) {
		const struct release *older = minor - away >= OLDEST ? release_find(minor - away) : NULL;
		const struct release *newer = release_find(minor + away);

		if (newer && found++ == n)
			return newer;
		if (older && found++ == n)
			return older;
	}
	return NULL;
}

/* The fields of moduledata are one release's, all others another's. */
static void take_module_fields(struct runtime_offsets *to, const struct runtime_offsets *from)
{
	to->module_text = from->module_text;
	to->module_etext = from->module_etext;
	to->module_gofunc = from->module_gofunc;
	to->module_pclntable = from->module_pclntable;
}

static bool gofunc_is_in_file(const struct target_image *image)
{
	size_t size;

	return image_rest(&image->elf, image->module.gofunc, &size) != NULL;
}

int nearest_adopt(struct target *target, struct error *err)
{
	struct target_image *image = target->image;
	struct error inner = {.text = ""};

	image->near_minor = target->go_minor;
	for (unsigned n = 0; n < CANDIDATES; n++) {
		const struct release *row = nearest(target->go_minor, n);

		if (!row)
			break;
		image->near = *row;
		image->release = &image->near;
		if (module_find(&image->elf, row, &image->module, &inner) == 0 && gofunc_is_in_file(image)) {
			image->module_row = row;
			target->nearest = row->minor;
			return 0;
		}
	}
	return error_set(err, ENOTSUP,
			 "was built by %s, which this gotrace does not know, and its function table differs "
			 "from those of the nearest releases",
			 target->go_version);
}

static int try_release(struct target *target, const struct release *row, struct error *err)
{
	struct target_image *image = target->image;
	int rc;

	image->near = *row;
	take_module_fields(&image->near.layout.runtime, &image->module_row->layout.runtime);
	target->nearest = row->minor;
	target_take_layout(target);
	rc = target_find_variables(target, err);
	return rc ? rc : target_prove(target, err);
}

int nearest_prove(struct target *target, struct error *err)
{
	struct error first = {.text = ""}, inner = {.text = ""};
	unsigned minor = target->image->near_minor, best = 0;

	for (unsigned n = 0; n < CANDIDATES; n++) {
		const struct release *row = nearest(minor, n);
		int rc = row ? try_release(target, row, &inner) : -ENOENT;

		if (rc == 0 || rc == -ESRCH || rc == -EPERM || rc == -ENOMEM) {
			if (rc)
				*err = inner;
			return rc;
		}
		if (n == 0 && row) {
			first = inner;
			best = row->minor;
		}
	}
	return error_set(
		err, ENOTSUP,
		"%s was built by %s, which this gotrace does not know, and the layouts of Go 1.%u do not "
		"fit: %s. Trace it as threads (--as c), or build it with DWARF (without -w)",
		target->image->label, target->go_version, best, first.text);
}
