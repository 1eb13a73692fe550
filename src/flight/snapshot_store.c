/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "flight/snapshot_store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/output.h"
#include "util/directory.h"

/* Identified by inode, so that another file that has taken the name is not removed. */
struct snapshot_store_file {
	char name[NAME_MAX + 1];
	dev_t dev;
	ino_t ino;
};

/* Creates the directory if it is missing: log rotation may have removed it. */
static int open_output(const struct snapshot_store *store, struct output *out, pid_t pid, time_t now,
		       bool *made, struct error *err)
{
	int rc = output_open_new(out, store->dir, pid, now, err), dir;

	*made = false;
	if (rc != -ENOENT)
		return rc;
	dir = directory_make(store->dir, err);
	if (dir < 0)
		return dir;
	close(dir);
	*made = true;
	return output_open_new(out, store->dir, pid, now, err);
}

int snapshot_store_open(struct snapshot_store *store, const char *dir, unsigned keep, size_t max_bytes,
			struct error *err)
{
	struct output out;
	bool made;
	int rc;

	*store = (struct snapshot_store){.dir = dir, .keep = keep, .max_bytes = max_bytes};
	rc = open_output(store, &out, getpid(), 0, &made, err);
	if (rc)
		return rc;
	output_discard(&out);
	store->files = keep ? calloc(keep + 1, sizeof(*store->files)) : NULL;
	return keep && !store->files ? error_set(err, ENOMEM, "out of memory") : 0;
}

void snapshot_store_close(struct snapshot_store *store)
{
	free(store->files);
	store->files = NULL;
}

/* --- the file --- */

static const char *base_name(const char *path)
{
	return strrchr(path, '/') + 1;
}

static void remove_file(int dir, const struct snapshot_store_file *file)
{
	struct stat st;

	if (fstatat(dir, file->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_dev == file->dev &&
	    st.st_ino == file->ino)
		unlinkat(dir, file->name, 0);
}

static void remember(struct snapshot_store *store, const struct output *out)
{
	struct snapshot_store_file *file = &store->files[store->n];
	struct stat st;

	if (!store->keep || fstat(out->fd, &st))
		return;
	snprintf(file->name, sizeof(file->name), "%s", base_name(out->path));
	file->dev = st.st_dev;
	file->ino = st.st_ino;
	if (++store->n <= store->keep)
		return;
	remove_file(out->dir, &store->files[0]);
	memmove(store->files, store->files + 1, --store->n * sizeof(*store->files));
}

static int check_size(const struct snapshot_store *store, int fd, struct error *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return error_set(err, errno, "cannot write the snapshot: %s", strerror(errno));
	if (st.st_size <= 0 || (uint64_t)st.st_size > store->max_bytes)
		return error_set(err, EBADMSG, "cannot write the snapshot: unexpected size of %lld bytes",
				 (long long)st.st_size);
	return 0;
}

/* Copies at most `most` bytes, up to the end of the file, whose size may change during the copy. */
static int copy_all(int from, int to, uint64_t most, uint64_t *copied)
{
	ssize_t n = 1;

	for (*copied = 0; n > 0 && *copied < most; *copied += (uint64_t)n) {
		off_t at = (off_t)*copied;

		n = sendfile(to, from, &at, most - *copied);
		if (n < 0)
			return -errno;
	}
	return 0;
}

/*
 * The process that writes the snapshot has no privileges, is not trusted, and keeps its descriptor. The
 * published file is therefore a copy that it cannot access.
 */
static int take_copy(const struct snapshot_store *store, int scratch, struct output *out, struct error *err)
{
	int rc = check_size(store, scratch, err);

	if (rc)
		return rc;
	rc = copy_all(scratch, out->fd, store->max_bytes, &out->committed);
	if (rc)
		return error_set(err, -rc, "cannot write to %s: %s", store->dir, strerror(-rc));
	return check_size(store, out->fd, err);
}

static int fill(const struct snapshot_store *store, const struct snapshot_source *source, struct output *out,
		struct error *err)
{
	int scratch = output_open_scratch(out), rc;

	if (scratch < 0) {
		source->write(source->ctx, -1, store->max_bytes, NULL);
		return error_set(err, -scratch, "cannot create a file in %s: %s", store->dir,
				 strerror(-scratch));
	}
	rc = source->write(source->ctx, scratch, store->max_bytes, err);
	if (rc == 0)
		rc = take_copy(store, scratch, out, err);
	close(scratch);
	return rc;
}

int snapshot_store_write(struct snapshot_store *store, const struct snapshot_source *source, pid_t pid,
			 time_t now, struct snapshot_entry *entry, struct error *err)
{
	struct output out;
	int rc = open_output(store, &out, pid, now, &entry->made_dir, err);

	if (rc) {
		source->write(source->ctx, -1, store->max_bytes, NULL);
		return rc;
	}
	rc = fill(store, source, &out, err);
	if (rc == 0)
		rc = output_publish(&out, err);
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
