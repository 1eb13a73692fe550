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
	struct snapshot_origin origin;
	/* Number of files of the same user, of the same process, and of its same trigger. */
	unsigned of_user, of_process, of_trigger;
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

static const char *snapshot_base_name(const char *path)
{
	return strrchr(path, '/') + 1;
}

static bool is_there(int dir, const struct snapshot_store_file *file)
{
	struct stat st;

	return fstatat(dir, file->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_dev == file->dev &&
	       st.st_ino == file->ino;
}

/* Adds one, or subtracts one with -1, for each other file of the same user, process and trigger, in both. */
static void count_shares(struct snapshot_store *store, struct snapshot_store_file *file, int by)
{
	for (unsigned i = 0; i < store->n; i++) {
		struct snapshot_store_file *other = &store->files[i];
		bool same = other->origin.uid == file->origin.uid;

		if (other == file || !same)
			continue;
		other->of_user += (unsigned)by;
		file->of_user += (unsigned)by;
		same = other->origin.pid == file->origin.pid && other->origin.start == file->origin.start;
		other->of_process += same ? (unsigned)by : 0;
		file->of_process += same ? (unsigned)by : 0;
		same = same && other->origin.trigger == file->origin.trigger;
		other->of_trigger += same ? (unsigned)by : 0;
		file->of_trigger += same ? (unsigned)by : 0;
	}
}

static void snapshot_store_forget(struct snapshot_store *store, unsigned which)
{
	struct snapshot_store_file *file = &store->files[which];

	count_shares(store, file, -1);
	memmove(file, file + 1, (--store->n - which) * sizeof(*file));
}

/* Files that others have taken away leave their places. */
static void forget_missing(struct snapshot_store *store, int dir)
{
	for (unsigned i = store->n; i-- > 0;) {
		if (!is_there(dir, &store->files[i]))
			snapshot_store_forget(store, i);
	}
}

static bool is_brief_end(const struct snapshot_store_file *file)
{
	return file->origin.of_end && file->origin.brief;
}

/* Whether the older file goes before the younger one, to make a place for a file of this user. */
static bool goes_before(const struct snapshot_store_file *older, const struct snapshot_store_file *younger,
			uid_t user)
{
	if (is_brief_end(older) != is_brief_end(younger))
		return is_brief_end(older);
	if (older->of_user != younger->of_user)
		return older->of_user > younger->of_user;
	if (older->origin.uid != younger->origin.uid)
		return younger->origin.uid != user;
	if (older->of_process != younger->of_process)
		return older->of_process > younger->of_process;
	if (older->origin.of_end != younger->origin.of_end)
		return older->origin.of_end;
	return older->of_trigger >= younger->of_trigger;
}

/* Returns which file goes if there is one too many: the new one, which is the last, if it has no place. */
static unsigned choose_file(const struct snapshot_store *store)
{
	const struct snapshot_store_file *files = store->files, *last = &files[store->n - 1], *chosen = NULL;

	if (is_brief_end(last))
		chosen = last;
	for (unsigned i = store->n - 1; i-- > 0;) {
		if (last->origin.of_end && !files[i].origin.of_end)
			continue;
		if (!chosen || goes_before(&files[i], chosen, last->origin.uid))
			chosen = &files[i];
	}
	return chosen ? (unsigned)(chosen - files) : store->n - 1;
}

/* Enters a new file, still without a name, as the last one. Returns false if it has no place. */
static bool snapshot_store_enter(struct snapshot_store *store, const struct snapshot_origin *origin, int dir)
{
	struct snapshot_store_file *file;

	if (store->n == store->keep)
		forget_missing(store, dir);
	file = &store->files[store->n++];
	*file = (struct snapshot_store_file){
		.origin = *origin, .of_user = 1, .of_process = 1, .of_trigger = 1};
	count_shares(store, file, 1);
	if (store->n <= store->keep || choose_file(store) != store->n - 1)
		return true;
	snapshot_store_forget(store, store->n - 1);
	return false;
}

/* The new file has its name: removes another one if there are too many. */
static void snapshot_store_remember(struct snapshot_store *store, const struct output *out)
{
	struct snapshot_store_file *file = &store->files[store->n - 1];
	struct stat st;
	unsigned which;

	if (fstat(out->fd, &st)) {
		snapshot_store_forget(store, store->n - 1);
		return;
	}
	snprintf(file->name, sizeof(file->name), "%s", snapshot_base_name(out->path));
	file->dev = st.st_dev;
	file->ino = st.st_ino;
	if (store->n <= store->keep)
		return;
	which = choose_file(store);
	if (is_there(out->dir, &store->files[which]))
		unlinkat(out->dir, store->files[which].name, 0);
	snapshot_store_forget(store, which);
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

static int snapshot_store_fill(const struct snapshot_store *store, const struct snapshot_source *source,
			       struct output *out, struct error *err)
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

/* Passes no file to the source, and removes what there is of it. */
static void snapshot_store_give_up(const struct snapshot_store *store, const struct snapshot_source *source,
				   struct output *out)
{
	source->write(source->ctx, -1, store->max_bytes, NULL);
	if (out)
		output_discard(out);
}

static int snapshot_store_publish(struct snapshot_store *store, const struct snapshot_source *source,
				  struct output *out, struct error *err)
{
	int rc = snapshot_store_fill(store, source, out, err);

	if (rc == 0)
		rc = output_publish(out, err);
	if (rc == 0 && store->keep)
		snapshot_store_remember(store, out);
	else if (store->keep)
		snapshot_store_forget(store, store->n - 1);
	return rc;
}

int snapshot_store_write(struct snapshot_store *store, const struct snapshot_source *source,
			 const struct snapshot_origin *origin, time_t now, struct snapshot_entry *entry,
			 struct error *err)
{
	struct output out;
	int rc = open_output(store, &out, origin->pid, now, &entry->made_dir, err);

	entry->path[0] = '\0';
	if (rc) {
		snapshot_store_give_up(store, source, NULL);
		return rc;
	}
	if (store->keep && !snapshot_store_enter(store, origin, out.dir)) {
		snapshot_store_give_up(store, source, &out);
		return 0;
	}
	rc = snapshot_store_publish(store, source, &out, err);
	if (rc) {
		output_discard(&out);
		return rc;
	}
	memcpy(entry->path, out.path, sizeof(entry->path));
	entry->bytes = out.committed;
	rc = output_close(&out);
	return rc ? error_set(err, -rc, "cannot write %s: %s", entry->path, strerror(-rc)) : 0;
}
