/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "flight/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/output.h"
#include "util/owner.h"

enum { MAX_NAMES = 1000 };

/* By its place on the disk: a file of another that got the name meanwhile is not ours to remove. */
struct store_file {
	char path[PATH_MAX];
	dev_t dev;
	ino_t ino;
};

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

/* The bytes come from a process without privileges: what it has written is looked at, not what it says. */
static int check_bytes(const struct store *store, struct output *out, struct error *err)
{
	struct stat st;

	if (fstat(out->fd, &st))
		return error_set(err, errno, "cannot make the snapshot: %s", strerror(errno));
	if (st.st_size <= 0 || (uint64_t)st.st_size > store->max_bytes)
		return error_set(err, EBADMSG, "cannot make the snapshot: it has %lld bytes",
				 (long long)st.st_size);
	out->committed = (uint64_t)st.st_size;
	return 0;
}

int store_write(struct store *store, const struct store_source *source, pid_t pid, time_t now,
		struct store_entry *entry, struct error *err)
{
	struct output out;
	int rc = open_output(store, &out, &entry->made_dir, err);

	if (rc) {
		source->write(source->ctx, -1, store->max_bytes, NULL);
		return rc;
	}
	rc = source->write(source->ctx, out.fd, store->max_bytes, err);
	if (rc == 0)
		rc = check_bytes(store, &out, err);
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
