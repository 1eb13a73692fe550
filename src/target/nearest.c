/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/nearest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/prove.h"

/* Number of nearest releases to try, older and newer. The runtimes of others differ too much. */
#define CANDIDATES 4
/* The oldest release whose moduledata has gofunc. Older releases are all in the table. */
#define OLDEST 18u

/*
 * Returns the nth nearest release of the table, or NULL if there is none. The first one is the release
 * itself, of which the program may have a development version.
 */
static const struct release *nearest(unsigned minor, unsigned n)
{
	unsigned found = 0;

	for (unsigned away = 0; away <= minor; away++) {
		const struct release *older =
			away && minor - away >= OLDEST ? release_find(minor - away) : NULL;
		const struct release *newer = release_find(minor + away);

		if (newer && found++ == n)
			return newer;
		if (older && found++ == n)
			return older;
	}
	return NULL;
}

/* Returns the nth layout to try, or NULL if there is none. */
static const struct release *candidate(const struct target_image *image, unsigned n)
{
	if (image->given)
		return n == 0 ? &image->given->release : NULL;
	return n < CANDIDATES ? nearest(image->near_minor, n) : NULL;
}

/* Copies only the fields of moduledata, which may come from another release than all others. */
static void take_module_fields(struct runtime_offsets *to, const struct runtime_offsets *from)
{
	to->module_text = from->module_text;
	to->module_etext = from->module_etext;
	to->module_gofunc = from->module_gofunc;
	to->module_pclntable = from->module_pclntable;
	to->module_next = from->module_next;
}

static bool gofunc_is_in_file(const struct target_image *image)
{
	size_t size;

	return image_rest(&image->elf, image->module.gofunc, &size) != NULL;
}

/* Why the release's own row is not used: there is none, or the program contradicts it. */
static const char *why_nearest(const struct target_image *image)
{
	return image->changed.text[0] ? image->changed.text : "which this gotrace does not know";
}

/* The patch release may differ: the process decides whether the layout fits. */
static int check_given(const struct target *target, struct error *err)
{
	const struct layout_table *given = target->image->given;

	if (given->release.minor != target->go_minor)
		return error_set(err, ENOTSUP, "was built by %s, %s, and the given layout is for %s",
				 target->go_version, why_nearest(target->image), given->version.text);
	if (given->arm64 != target->image->elf.arm64)
		return error_set(err, ENOTSUP, "is a program for %s, and the given layout is for %s",
				 given->arm64 ? "amd64" : "arm64", given->arm64 ? "arm64" : "amd64");
	return 0;
}

int nearest_adopt(struct target *target, struct error *err)
{
	struct target_image *image = target->image;
	struct error inner = {.text = ""};
	const struct release *row;
	int rc = image->given ? check_given(target, err) : 0;

	if (rc)
		return rc;
	image->near_minor = target->go_minor;
	target->given = image->given != NULL;
	for (unsigned n = 0; (row = candidate(image, n)); n++) {
		image->near = *row;
		image->release = &image->near;
		if (module_find(&image->elf, row, &image->module, &inner) == 0 && gofunc_is_in_file(image)) {
			image->module_row = row;
			target->nearest = row->minor;
			return 0;
		}
	}
	return error_set(err, ENOTSUP, "was built by %s, %s, and its function table differs from %s",
			 target->go_version, why_nearest(image),
			 target->given ? "that of the given layout" : "those of the nearest releases");
}

/*
 * A table made from a program without iter.Pull has no offset of a coroutine's goroutine (runtime/coro.go).
 * It fits only programs without iter.Pull.
 */
static int check_coroutines(const struct target *target, const struct go_layout *layout, struct error *err)
{
	struct code code;

	if (layout->coro_gp != LAYOUT_ABSENT || target_code(target, "runtime.coroswitch_m", &code))
		return 0;
	return error_set(err, EBADMSG,
			 "it has no runtime.coro, which the program uses: generate it from a toolchain");
}

static int try_release(struct target *target, const struct release *row, struct error *err)
{
	struct target_image *image = target->image;
	int rc = target->given ? check_coroutines(target, &row->layout.go, err) : 0;

	if (rc)
		return rc;
	image->near = *row;
	take_module_fields(&image->near.layout.runtime, &image->module_row->layout.runtime);
	target->nearest = row->minor;
	target_take_layout(target);
	rc = target_find_copies(target, err);
	if (rc == 0)
		rc = prove_code(target, &image->near, err);
	if (rc == 0)
		rc = target_find_variables(target, err);
	return rc ? rc : target_prove(target, false, err);
}

/* No candidate fits. why: what the first one, of release `best`, has against it. */
static int nearest_refuse(const struct target *target, unsigned best, const char *why, struct error *err)
{
	const char *label = target->image->label, *changed = target->image->changed.text;

	if (target->given)
		return error_set(err, ENOTSUP,
				 "%s was built by %s, %s, and the given layout does not fit: %s", label,
				 target->go_version, why_nearest(target->image), why);
	if (changed[0])
		return error_set(
			err, ENOTSUP,
			"%s was built by %s, %s: was it built by a changed toolchain? Make a layout of that "
			"(gotrace layout --go GOROOT) and give it with --layout, or trace it as threads "
			"(--as c)",
			label, target->go_version, changed);
	return error_set(
		err, ENOTSUP,
		"%s was built by %s, which this gotrace does not know, and the layouts of Go 1.%u do not "
		"fit: %s. Trace it as threads (--as c), or build it with DWARF (without -w)",
		label, target->go_version, best, why);
}

int nearest_check_code(const struct target *target, struct error *err)
{
	struct error first = {.text = ""}, inner = {.text = ""};
	const struct release *row;
	unsigned best = 0;

	for (unsigned n = 0; (row = candidate(target->image, n)); n++) {
		if (prove_code(target, row, &inner) == 0)
			return 0;
		if (n == 0) {
			first = inner;
			best = row->minor;
		}
	}
	return nearest_refuse(target, best, first.text, err);
}

int nearest_prove(struct target *target, struct error *err)
{
	struct error first = {.text = ""}, inner = {.text = ""};
	const struct release *row;
	unsigned best = 0;

	for (unsigned n = 0; (row = candidate(target->image, n)); n++) {
		int rc = try_release(target, row, &inner);

		if (rc == 0 || rc == -ESRCH || rc == -EPERM || rc == -ENOMEM) {
			if (rc)
				*err = inner;
			return rc;
		}
		if (n == 0) {
			first = inner;
			best = row->minor;
		}
	}
	return nearest_refuse(target, best, first.text, err);
}
