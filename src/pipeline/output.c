/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "pipeline/output.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "util/directory.h"
#include "util/rights.h"

#define BUFFER_BYTES (256u << 10)
#define MAX_TRIES    1000

void output_init(struct output *out)
{
	memset(out, 0, sizeof(*out));
	out->fd = out->dir = -1;
}

static int take_buffer(struct output *out, struct error *err)
{
	out->buffer = malloc(BUFFER_BYTES);
	if (!out->buffer)
		return error_set(err, ENOMEM, "out of memory");
	return 0;
}

/* The last component of its path. */
static const char *output_base_name(const struct output *out)
{
	const char *slash = strrchr(out->path, '/');

	return slash ? slash + 1 : out->path;
}

static int open_standard_output(struct output *out, struct error *err)
{
	if (isatty(STDOUT_FILENO))
		return error_set(err, EINVAL,
				 "standard output is a terminal: redirect it to a file or a pipe");
	out->fd = STDOUT_FILENO;
	out->borrowed = true;
	return 0;
}

static bool is_null_device(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

/* Opens the file that was checked; the name may refer to another one by now. */
static int open_null_device(struct output *out, int found, struct error *err)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
	out->fd = open(path, O_WRONLY | O_CLOEXEC);
	return out->fd < 0 ? error_set(err, errno, "cannot open %s: %s", out->path, strerror(errno)) : 0;
}

static int output_refuse(const char *path, const struct stat *st, struct error *err)
{
	if (S_ISLNK(st->st_mode))
		return error_set(err, ELOOP,
				 "%s is a symbolic link, which gotrace does not write through; "
				 "name the file itself (or - for standard output)",
				 path);
	if (S_ISDIR(st->st_mode))
		return error_set(err, EISDIR, "%s is a directory; name a file in it", path);
	return error_set(err, EINVAL, "%s is not a regular file; name a file, or - for standard output",
			 path);
}

/* An existing file stays until tracing has really begun. */
static int open_hidden(struct output *out, struct error *err)
{
	out->fd = hidden_create(out->dir, O_WRONLY, out->part);
	if (out->fd < 0)
		return error_set(err, -out->fd, "cannot create %s: %s", out->path, strerror(-out->fd));
	out->regular = out->hidden = true;
	return 0;
}

static int open_in_place(struct output *out, struct error *err)
{
	int found = openat(out->dir, output_base_name(out), O_PATH | O_NOFOLLOW | O_CLOEXEC), rc;
	struct stat st;

	if (found < 0 && errno == ENOENT && output_base_name(out)[0])
		return open_hidden(out, err);
	if (found < 0 || fstat(found, &st)) {
		rc = error_set(err, errno, "cannot create %s: %s", out->path, strerror(errno));
	} else if (is_null_device(&st)) {
		rc = open_null_device(out, found, err);
	} else {
		rc = S_ISREG(st.st_mode) ? open_hidden(out, err) : output_refuse(out->path, &st, err);
	}
	if (found >= 0)
		close(found);
	return rc;
}

static int output_open_path(struct output *out, const char *path, struct error *err)
{
	size_t len = strlen(path);
	const char *name;

	if (len == 0 || len >= sizeof(out->path))
		return error_set(err, EINVAL, "the name of the file is %s", len ? "too long" : "empty");
	memcpy(out->path, path, len + 1);
	if (strcmp(path, "-") == 0)
		return open_standard_output(out, err);
	out->dir = directory_open_parent(out->path, &name, err);
	if (out->dir < 0)
		return out->dir;
	if (!*name)
		return error_set(err, EISDIR, "%s is a directory; name a file in it", path);
	return open_in_place(out, err);
}

static int end_opening(struct output *out, int rc, struct error *err)
{
	if (rc == 0)
		rc = take_buffer(out, err);
	if (rc)
		output_discard(out);
	return rc;
}

int output_open(struct output *out, const char *path, struct error *err)
{
	struct rights before = rights_as_user();
	int rc;

	output_init(out);
	rc = output_open_path(out, path, err);
	rights_restore(&before);
	return end_opening(out, rc, err);
}

/* Makes the number-th name to try. */
static int name_new(struct output *out, int number)
{
	size_t dir = (size_t)(output_base_name(out) - out->path), size = sizeof(out->path) - dir;
	char stamp[32], suffix[16] = "";
	struct tm utc;

	gmtime_r(&out->now, &utc);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &utc);
	if (number > 1)
		snprintf(suffix, sizeof(suffix), "-%d", number);
	return snprintf(out->path + dir, size, "gotrace-%d-%s%s.trace", (int)out->pid, stamp, suffix) <
			       (int)size
		       ? 0
		       : -ENAMETOOLONG;
}

/* Chooses a name for messages. Another gotrace may take it before this file is published. */
static int output_find_name(struct output *out)
{
	struct stat st;
	int rc = 0;

	for (int number = 1; number <= MAX_TRIES; number++) {
		rc = name_new(out, number);
		if (rc || fstatat(out->dir, output_base_name(out), &st, AT_SYMLINK_NOFOLLOW))
			break;
	}
	return rc;
}

static int open_new(struct output *out, const char *dir, struct error *err)
{
	if (dir && snprintf(out->path, sizeof(out->path), "%s/", dir) >= (int)sizeof(out->path))
		return error_set(err, ENAMETOOLONG, "%s: the name is too long", dir);
	out->dir = directory_open(dir ? dir : ".", err);
	if (out->dir < 0)
		return out->dir;
	if (output_find_name(out))
		return error_set(err, ENAMETOOLONG, "%s: the name is too long", dir ? dir : out->path);
	out->fd = hidden_create(out->dir, O_WRONLY, out->part);
	if (out->fd < 0)
		return error_set(err, -out->fd, "cannot create a file in %s: %s (choose a place with -o)",
				 dir ? dir : "the current directory", strerror(-out->fd));
	out->regular = out->hidden = true;
	return 0;
}

int output_open_new(struct output *out, const char *dir, pid_t pid, time_t now, struct error *err)
{
	struct rights before = rights_as_user();
	int rc;

	output_init(out);
	out->pid = pid;
	out->now = now;
	rc = open_new(out, dir, err);
	rights_restore(&before);
	return end_opening(out, rc, err);
}

int output_open_scratch(const struct output *out)
{
	char part[PART_BYTES];
	int fd = hidden_create(out->dir, O_RDWR, part);

	if (fd >= 0)
		hidden_remove(fd, out->dir, part);
	return fd;
}

int output_name_scratch(const struct output *out, int fd, const char *suffix, char path[PATH_MAX])
{
	struct rights before;
	char part[PART_BYTES] = "";
	int rc;

	if (snprintf(path, PATH_MAX, "%s.%s", out->path, suffix) >= PATH_MAX)
		return -ENAMETOOLONG;
	before = rights_as_user();
	rc = hidden_link(fd, out->dir, part, path + (output_base_name(out) - out->path));
	rights_restore(&before);
	return rc;
}

int output_adopt(struct output *out, int fd, const char *path, bool regular, bool borrowed)
{
	output_init(out);
	out->fd = fd;
	out->regular = regular;
	out->borrowed = borrowed;
	snprintf(out->path, sizeof(out->path), "%s", path);
	return take_buffer(out, NULL);
}

static int publish_new(struct output *out)
{
	int rc = -EEXIST;

	for (int number = 1; number <= MAX_TRIES && rc == -EEXIST; number++) {
		rc = name_new(out, number);
		if (rc == 0)
			rc = hidden_link(out->fd, out->dir, out->part, output_base_name(out));
	}
	return rc;
}

static int output_publish_hidden(struct output *out)
{
	int rc;

	if (out->pid)
		return publish_new(out);
	rc = hidden_link(out->fd, out->dir, out->part, output_base_name(out));
	return rc == -EEXIST ? hidden_replace(out->fd, out->dir, out->part, output_base_name(out)) : rc;
}

/* Some file systems count no names: there, none seems to be removed. */
static bool has_name(const struct output *out)
{
	struct stat st;

	return fstat(out->fd, &st) == 0 && st.st_nlink > 0;
}

int output_publish(struct output *out, struct error *err)
{
	struct rights before;
	int rc;

	if (out->owner)
		return out->owner->publish(out, err);
	if (!out->hidden)
		return 0;
	before = rights_as_user();
	rc = output_publish_hidden(out);
	rights_restore(&before);
	if (rc)
		return error_set(err, -rc, "cannot create %s: %s", out->path,
				 rc == -ESTALE ? "another user has removed the new file" : strerror(-rc));
	out->hidden = false;
	out->linked = has_name(out);
	return 0;
}

bool output_was_removed(const struct output *out)
{
	return out->linked && !has_name(out);
}

static int output_write_all(struct output *out, const uint8_t *bytes, size_t n)
{
	while (n > 0) {
		ssize_t took = write(out->fd, bytes, n);

		if (took < 0 && errno == EINTR)
			continue;
		if (took < 0) {
			out->error = errno;
			return -out->error;
		}
		out->written += (uint64_t)took;
		bytes += took;
		n -= (size_t)took;
	}
	return 0;
}

static int output_flush_buffer(struct output *out)
{
	size_t n = out->used;

	out->used = 0;
	return output_write_all(out, out->buffer, n);
}

int output_write(void *ctx, const void *bytes, size_t n)
{
	struct output *out = ctx;

	if (n > BUFFER_BYTES - out->used) {
		int rc = output_flush_buffer(out);

		if (rc)
			return rc;
	}
	if (n > BUFFER_BYTES)
		return output_write_all(out, bytes, n);
	memcpy(out->buffer + out->used, bytes, n);
	out->used += n;
	return 0;
}

int output_commit(struct output *out)
{
	int rc = output_flush_buffer(out);

	if (rc == 0)
		out->committed = out->written;
	return rc;
}

int output_cut(struct output *out)
{
	out->used = 0;
	if (!out->regular || out->written == out->committed)
		return 0;
	if (ftruncate(out->fd, (off_t)out->committed) || lseek(out->fd, (off_t)out->committed, SEEK_SET) < 0)
		return -errno;
	out->written = out->committed;
	return 0;
}

int output_restart(struct output *out)
{
	out->used = 0;
	out->written = out->committed = 0;
	return ftruncate(out->fd, 0) || lseek(out->fd, 0, SEEK_SET) < 0 ? -errno : 0;
}

uint64_t output_capabilities(const struct output *out)
{
	struct stat dir, file;

	if (out->fd < 0 || !out->regular || out->dir < 0 || fstat(out->dir, &dir) || fstat(out->fd, &file))
		return 0;
	if (dir.st_uid != geteuid() && (dir.st_mode & (S_IWOTH | S_ISVTX)) != S_IWOTH)
		return 1ull << CAP_DAC_OVERRIDE | 1ull << CAP_FOWNER;
	/* A file whose owner was changed can be linked only by that owner. */
	return out->hidden && file.st_uid != geteuid() ? 1ull << CAP_FOWNER : 0;
}

const char *output_name(const struct output *out)
{
	return out->borrowed ? "standard output" : out->path;
}

int output_close(struct output *out)
{
	int rc = 0;

	/* Network file systems may report a full disk only here. */
	if (out->fd >= 0 && !out->borrowed && close(out->fd))
		rc = -errno;
	if (out->dir >= 0)
		close(out->dir);
	free(out->buffer);
	out->buffer = NULL;
	out->fd = out->dir = -1;
	return rc;
}

void output_discard(struct output *out)
{
	struct rights before = rights_as_user();

	if (out->fd >= 0 && out->owner)
		out->owner->discard(out);
	else if (out->fd >= 0 && out->regular && out->dir >= 0)
		hidden_remove(out->fd, out->dir, out->hidden ? out->part : output_base_name(out));
	rights_restore(&before);
	output_close(out);
}

const char *output_advice(int code)
{
	switch (-code) {
	case ENOSPC:
	case EDQUOT:
		return "; free some space, or choose another place";
	case EPIPE:
		return "; the reader has closed the pipe";
	case EFBIG:
		return "; the size of files is limited (ulimit -f)";
	default:
		return "";
	}
}
