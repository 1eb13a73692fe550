/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "flight/snapshot_store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
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

/* In memory that recorders of one node share. */
struct snapshot_list {
	pthread_mutex_t lock;
	unsigned n;
	struct snapshot_store_file files[]; /* made by these recorders, oldest first: at most keep + 1 */
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

static size_t snapshot_list_size(unsigned keep)
{
	return sizeof(struct snapshot_list) + ((size_t)keep + 1) * sizeof(struct snapshot_store_file);
}

/* Returns NULL if there is no memory. Pages of it are taken as files are entered. */
static struct snapshot_list *snapshot_list_new(unsigned keep)
{
	struct snapshot_list *list = mmap(NULL, snapshot_list_size(keep), PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t shared;

	if (list == MAP_FAILED)
		return NULL;
	pthread_mutexattr_init(&shared);
	pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&shared, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&list->lock, &shared);
	pthread_mutexattr_destroy(&shared);
	return list;
}

/* A recorder that was killed may have left the list half changed: it begins empty, and the files that were in
 * it stay.
 */
static void snapshot_list_lock(struct snapshot_list *list)
{
	if (pthread_mutex_lock(&list->lock) != EOWNERDEAD)
		return;
	list->n = 0;
	pthread_mutex_consistent(&list->lock);
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
	store->list = keep ? snapshot_list_new(keep) : NULL;
	return keep && !store->list ? error_set(err, ENOMEM, "out of memory") : 0;
}

void snapshot_store_own(const struct snapshot_store *store)
{
	if (store->list)
		madvise(store->list, snapshot_list_size(store->keep), MADV_DONTFORK);
}

void snapshot_store_close(struct snapshot_store *store)
{
	if (store->list)
		munmap(store->list, snapshot_list_size(store->keep));
	store->list = NULL;
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
static void count_shares(struct snapshot_list *list, struct snapshot_store_file *file, int by)
{
	for (unsigned i = 0; i < list->n; i++) {
		struct snapshot_store_file *other = &list->files[i];
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

static void snapshot_list_forget(struct snapshot_list *list, unsigned which)
{
	struct snapshot_store_file *file = &list->files[which];

	count_shares(list, file, -1);
	memmove(file, file + 1, (--list->n - which) * sizeof(*file));
}

/* Files that others have taken away leave their places. */
static void forget_missing(struct snapshot_list *list, int dir)
{
	for (unsigned i = list->n; i-- > 0;) {
		if (!is_there(dir, &list->files[i]))
			snapshot_list_forget(list, i);
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
static unsigned choose_file(const struct snapshot_list *list)
{
	const struct snapshot_store_file *files = list->files, *last = &files[list->n - 1], *chosen = NULL;

	if (is_brief_end(last))
		chosen = last;
	for (unsigned i = list->n - 1; i-- > 0;) {
		if (last->origin.of_end && !files[i].origin.of_end)
			continue;
		if (!chosen || goes_before(&files[i], chosen, last->origin.uid))
			chosen = &files[i];
	}
	return chosen ? (unsigned)(chosen - files) : list->n - 1;
}

/* Enters a file as the last one. Returns which one is too many, which may be that; list->n = none. */
static unsigned snapshot_list_enter(struct snapshot_list *list, unsigned keep,
				    const struct snapshot_store_file *file, int dir)
{
	struct snapshot_store_file *last;

	if (list->n == keep)
		forget_missing(list, dir);
	last = &list->files[list->n++];
	*last = *file;
	last->of_user = last->of_process = last->of_trigger = 1;
	count_shares(list, last, 1);
	return list->n <= keep ? list->n : choose_file(list);
}

/* Whether there is a place for one more. */
static bool has_file_place(const struct snapshot_store *store, const struct snapshot_origin *origin, int dir)
{
	const struct snapshot_store_file file = {.origin = *origin};
	struct snapshot_list *list = store->list;
	bool has;

	snapshot_list_lock(list);
	has = snapshot_list_enter(list, store->keep, &file, dir) != list->n - 1;
	snapshot_list_forget(list, list->n - 1);
	pthread_mutex_unlock(&list->lock);
	return has;
}

/*
 * The new file has its name: removes another one if there are too many, or the new one, whose place another
 * recorder may have taken meanwhile. Returns whether it is still there.
 */
static bool snapshot_store_remember(const struct snapshot_store *store, const struct snapshot_origin *origin,
				    const struct output *out)
{
	struct snapshot_store_file file = {.origin = *origin};
	struct snapshot_list *list = store->list;
	unsigned which, last;
	struct stat st;

	if (fstat(out->fd, &st))
		return true;
	snprintf(file.name, sizeof(file.name), "%s", snapshot_base_name(out->path));
	file.dev = st.st_dev;
	file.ino = st.st_ino;
	snapshot_list_lock(list);
	which = snapshot_list_enter(list, store->keep, &file, out->dir);
	last = list->n - 1;
	if (which <= last) {
		if (is_there(out->dir, &list->files[which]))
			unlinkat(out->dir, list->files[which].name, 0);
		snapshot_list_forget(list, which);
	}
	pthread_mutex_unlock(&list->lock);
	return which != last;
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
	if (store->keep && !has_file_place(store, origin, out.dir)) {
		snapshot_store_give_up(store, source, &out);
		return 0;
	}
	rc = snapshot_store_fill(store, source, &out, err);
	if (rc == 0)
		rc = output_publish(&out, err);
	if (rc) {
		output_discard(&out);
		return rc;
	}
	if (!store->keep || snapshot_store_remember(store, origin, &out))
		memcpy(entry->path, out.path, sizeof(entry->path));
	entry->bytes = out.committed;
	rc = output_close(&out);
	return rc ? error_set(err, -rc, "cannot write %s: %s", entry->path, strerror(-rc)) : 0;
}
