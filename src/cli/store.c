/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/owner.h"
#include "convert/convert.h"

enum { MAX_NAMES = 1000 };

/* By its place on the disk: a file of another that got the name meanwhile is not ours to remove. */
struct store_file {
	char path[PATH_MAX];
	dev_t dev;
	ino_t ino;
};

enum wire_format store_kept_format(enum wire_format format)
{
	return format < WIRE_GO122 ? WIRE_GO126 : format;
}

static int make_dir(const char *dir)
{
	struct owner owner;

	if (mkdir(dir, 0755))
		return -errno;
	if (owner_behind_sudo(&owner) && chown(dir, owner.uid, owner.gid))
		return -errno;
	return 0;
}

/* Log rotation may have taken the directory away. */
static int open_output(const struct store *store, struct output *out, bool *made, struct error *err)
{
	int rc = output_open_unnamed(out, store->dir, err);

	*made = rc == -ENOENT && make_dir(store->dir) == 0;
	return *made ? output_open_unnamed(out, store->dir, err) : rc;
}

int store_open(struct store *store, const char *dir, unsigned keep, size_t max_bytes, struct error *err)
{
	struct output out;
	bool made;
	int rc;

	*store = (struct store){.dir = dir, .keep = keep, .max_bytes = max_bytes};
	rc = open_output(store, &out, &made, err);
	if (rc)
		return rc;
	output_discard(&out);
	store->files = keep ? calloc(keep + 1, sizeof(*store->files)) : NULL;
	return keep && !store->files ? error_set(err, ENOMEM, "out of memory") : 0;
}

void store_close(struct store *store)
{
	free(store->files);
	store->files = NULL;
}

/* --- the bytes --- */

static int write_bytes(void *ctx, const void *bytes, size_t n)
{
	return output_write(ctx, bytes, n);
}

/* All of a snapshot in one piece. */
struct whole {
	uint8_t *bytes;
	size_t n;
};

static int gather(void *ctx, const void *bytes, size_t n)
{
	struct whole *whole = ctx;

	memcpy(whole->bytes + whole->n, bytes, n);
	whole->n += n;
	return 0;
}

struct conversion {
	struct wire *wire;
	struct error *err;
};

static int take_generation(void *ctx, const struct generation *gen)
{
	struct conversion *conversion = ctx;

	return wire_generation(conversion->wire, gen, conversion->err);
}

static int convert(const struct whole *whole, const struct wire_options *options, struct error *err)
{
	struct conversion conversion = {.wire = wire_new(options, err), .err = err};
	const struct convert_sink sink = {.generation = take_generation, .ctx = &conversion};
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

/* In formats in which generations do not stand alone a snapshot is made anew from what is kept in another. */
static int write_converted(const struct kept *kept, enum wire_format format, struct output *out,
			   struct error *err)
{
	struct whole whole = {.bytes = malloc(kept_bytes(kept))};
	struct byte_sink to_whole = {.write = gather, .ctx = &whole};
	const struct wire_options options = {.format = format, .out = {.write = write_bytes, .ctx = out}};
	int rc = whole.bytes ? kept_write(kept, &to_whole) : error_set(err, ENOMEM, "out of memory");

	if (rc == 0)
		rc = convert(&whole, &options, err);
	free(whole.bytes);
	return rc;
}

/* Old formats take up to half as much again: what is too much for the file is left out, and all is made anew.
 */
static int write_cut(struct kept *kept, enum wire_format format, size_t max_bytes, struct output *out,
		     struct error *err)
{
	int rc;

	for (;;) {
		rc = write_converted(kept, format, out, err);
		if (rc == 0)
			rc = output_commit(out);
		if (rc || out->committed <= max_bytes)
			return rc;
		if (!kept_cut(kept, (size_t)((double)kept_bytes(kept) * (double)max_bytes /
					     (double)out->committed)))
			return error_set(err, EFBIG, "a single generation is over --max-bytes");
		rc = output_restart(out);
		if (rc)
			return rc;
	}
}

static int write_all(const struct store *store, struct kept *kept, enum wire_format format,
		     struct output *out, struct error *err)
{
	const struct byte_sink sink = {.write = write_bytes, .ctx = out};
	int rc;

	if (store_kept_format(format) != format)
		return write_cut(kept, format, store->max_bytes, out, err);
	rc = kept_write(kept, &sink);
	return rc ? rc : output_commit(out);
}

/* --- the file --- */

static int publish(const struct store *store, struct output *out, pid_t pid, time_t now, struct error *err)
{
	char path[PATH_MAX], stamp[32], suffix[16] = "";
	struct tm utc;
	int rc = -EEXIST;

	gmtime_r(&now, &utc);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &utc);
	for (int try = 1; try <= MAX_NAMES && rc == -EEXIST; try++) {
		if (try > 1)
			snprintf(suffix, sizeof(suffix), "-%d", try);
		if (snprintf(path, sizeof(path), "%s/gotrace-%d-%s%s.trace", store->dir, (int)pid, stamp,
			     suffix) >= (int)sizeof(path))
			return error_set(err, ENAMETOOLONG, "%s: the name is too long", store->dir);
		rc = output_publish_new(out, path, err);
	}
	return rc;
}

static void remove_file(const struct store_file *file)
{
	struct stat st;

	if (lstat(file->path, &st) == 0 && st.st_dev == file->dev && st.st_ino == file->ino)
		unlink(file->path);
}

static void remember(struct store *store, const struct output *out)
{
	struct store_file *file = &store->files[store->n];
	struct stat st;

	if (!store->keep || fstat(out->fd, &st))
		return;
	memcpy(file->path, out->path, sizeof(file->path));
	file->dev = st.st_dev;
	file->ino = st.st_ino;
	if (++store->n <= store->keep)
		return;
	remove_file(&store->files[0]);
	memmove(store->files, store->files + 1, --store->n * sizeof(*store->files));
}

int store_write(struct store *store, struct kept *kept, enum wire_format format, pid_t pid, time_t now,
		struct store_entry *entry, struct error *err)
{
	struct error why = {""};
	struct output out;
	int rc = open_output(store, &out, &entry->made_dir, err);

	if (rc)
		return rc;
	rc = write_all(store, kept, format, &out, &why);
	if (rc && out.error)
		error_set(err, out.error, "cannot write to %s: %s", store->dir, strerror(out.error));
	else if (rc)
		error_set(err, -rc, "cannot make the snapshot: %s", why.text[0] ? why.text : strerror(-rc));
	if (rc == 0)
		rc = publish(store, &out, pid, now, err);
	if (rc) {
		output_discard(&out);
		return rc;
	}
	remember(store, &out);
	memcpy(entry->path, out.path, sizeof(entry->path));
	entry->bytes = out.committed;
	rc = output_close(&out);
	return rc ? error_set(err, -rc, "cannot write %s: %s", entry->path, strerror(-rc)) : 0;
}
