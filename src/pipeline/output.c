/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "pipeline/output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "util/owner.h"
#include "util/rights.h"

#define BUFFER_BYTES (256u << 10)
#define MAX_TRIES    1000

void output_init(struct output *out)
{
	memset(out, 0, sizeof(*out));
	out->fd = -1;
}

static int take_buffer(struct output *out, struct error *err)
{
	out->buffer = malloc(BUFFER_BYTES);
	if (!out->buffer)
		return error_set(err, ENOMEM, "out of memory");
	return 0;
}

/* O_EXCL never follows a link in the last place of a path. Returns a file of the user's own, or -errno. */
static int create_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct owner owner;

	if (fd < 0)
		return -errno;
	if (fchmod(fd, 0600) || (owner_behind_sudo(&owner) && fchown(fd, owner.uid, owner.gid))) {
		int code = errno;

		close(fd);
		unlink(path);
		return -code;
	}
	return fd;
}

static int open_standard_output(struct output *out, struct error *err)
{
	if (isatty(STDOUT_FILENO))
		return error_set(err, EINVAL,
				 "-o -: standard output is a terminal, a trace is binary; "
				 "redirect it to a file or a pipe");
	out->fd = STDOUT_FILENO;
	out->borrowed = true;
	return 0;
}

static bool is_null_device(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

/* What was looked at by name is looked at again by descriptor: the name may have been exchanged. */
static int open_null_device(struct output *out, struct error *err)
{
	struct stat st;
	int fd = open(out->path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return error_set(err, errno, "cannot open %s: %s", out->path, strerror(errno));
	if (fstat(fd, &st) || !is_null_device(&st)) {
		close(fd);
		return error_set(err, EINVAL, "%s is no longer the null device", out->path);
	}
	out->fd = fd;
	return 0;
}

static int refuse(const char *path, const struct stat *st, struct error *err)
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

/* A draft beside the file, so that what is there now stays until tracing has really begun. */
static int open_draft(struct output *out, struct error *err)
{
	char copy[PATH_MAX];

	for (int try = 1; try <= MAX_TRIES; try++) {
		memcpy(copy, out->path, sizeof(copy));
		if (snprintf(out->draft, sizeof(out->draft), "%s/.gotrace-%d-%d.part", dirname(copy),
			     (int)getpid(), try) >= (int)sizeof(out->draft))
			return error_set(err, ENAMETOOLONG, "%s: the name is too long", out->path);
		out->fd = create_file(out->draft);
		if (out->fd != -EEXIST)
			break;
	}
	if (out->fd < 0) {
		int code = -out->fd;

		out->draft[0] = '\0';
		return error_set(err, code, "cannot create %s: %s", out->path, strerror(code));
	}
	out->regular = true;
	return 0;
}

static int open_path(struct output *out, const char *path, struct error *err)
{
	size_t len = strlen(path);
	struct stat st;

	if (len == 0 || len >= sizeof(out->path))
		return error_set(err, EINVAL, "the name of the file is %s", len ? "too long" : "empty");
	memcpy(out->path, path, len + 1);
	if (strcmp(path, "-") == 0)
		return open_standard_output(out, err);
	if (lstat(path, &st) == 0) {
		if (is_null_device(&st))
			return open_null_device(out, err);
		if (!S_ISREG(st.st_mode))
			return refuse(path, &st, err);
	} else if (errno != ENOENT) {
		return error_set(err, errno, "cannot create %s: %s", path, strerror(errno));
	}
	return open_draft(out, err);
}

int output_open(struct output *out, const char *path, struct error *err)
{
	struct rights before = rights_as_user();
	int rc;

	output_init(out);
	rc = open_path(out, path, err);
	rights_restore(&before);
	if (rc == 0)
		rc = take_buffer(out, err);
	if (rc) {
		output_discard(out);
		return rc;
	}
	return 0;
}

int output_open_default(struct output *out, pid_t pid, time_t now, struct error *err)
{
	struct rights before = rights_as_user();
	char stamp[32], suffix[16] = "";
	struct tm utc;

	output_init(out);
	gmtime_r(&now, &utc);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &utc);
	for (int try = 1; try <= MAX_TRIES; try++) {
		if (try > 1)
			snprintf(suffix, sizeof(suffix), "-%d", try);
		snprintf(out->path, sizeof(out->path), "gotrace-%d-%s%s.trace", (int)pid, stamp, suffix);
		out->fd = create_file(out->path);
		if (out->fd != -EEXIST)
			break;
	}
	rights_restore(&before);
	if (out->fd < 0)
		return error_set(err, -out->fd,
				 "cannot create %s in the current directory: %s (choose a "
				 "place with -o FILE)",
				 out->path, strerror(-out->fd));
	out->regular = true;
	return take_buffer(out, err);
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

int output_publish(struct output *out, struct error *err)
{
	struct rights before;
	int rc;

	if (out->keeping)
		return out->keeping->publish(out, err);
	if (!out->draft[0])
		return 0;
	/* rename replaces a link that was planted meanwhile; it does not follow it. */
	before = rights_as_user();
	rc = rename(out->draft, out->path);
	rights_restore(&before);
	if (rc)
		return error_set(err, errno, "cannot create %s: %s", out->path, strerror(errno));
	out->draft[0] = '\0';
	return 0;
}

/* Named where O_TMPFILE is not to be had. */
static int open_part(struct output *out, const char *dir)
{
	for (int try = 1; try <= MAX_TRIES; try++) {
		if (snprintf(out->draft, sizeof(out->draft), "%s/.gotrace-%d-%d.part", dir, (int)getpid(),
			     try) >= (int)sizeof(out->draft))
			return -ENAMETOOLONG;
		out->fd = create_file(out->draft);
		if (out->fd != -EEXIST)
			break;
	}
	out->regular = out->fd >= 0;
	if (out->fd < 0)
		out->draft[0] = '\0';
	return out->fd < 0 ? out->fd : 0;
}

static int open_unnamed(struct output *out, const char *dir)
{
	struct owner owner;

	out->fd = open(dir, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
	if (out->fd < 0) /* EISDIR: a kernel or file system that does not know them */
		return errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL ? open_part(out, dir)
										 : -errno;
	if (fchmod(out->fd, 0600) || (owner_behind_sudo(&owner) && fchown(out->fd, owner.uid, owner.gid)))
		return -errno;
	return 0;
}

int output_open_unnamed(struct output *out, const char *dir, struct error *err)
{
	int rc;

	output_init(out);
	rc = open_unnamed(out, dir);
	if (rc)
		error_set(err, -rc, "cannot create a file in %s: %s", dir, strerror(-rc));
	else
		rc = take_buffer(out, err);
	if (rc)
		output_discard(out);
	return rc;
}

static int link_new(struct output *out, const char *path)
{
	char here[64];

	if (out->draft[0]) {
		if (renameat2(AT_FDCWD, out->draft, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
			return 0;
		/* EINVAL: a file system that cannot do it in one step. */
		return errno == EINVAL && link(out->draft, path) == 0 ? unlink(out->draft) : -errno;
	}
	snprintf(here, sizeof(here), "/proc/self/fd/%d", out->fd);
	return linkat(AT_FDCWD, here, AT_FDCWD, path, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

int output_publish_new(struct output *out, const char *path, struct error *err)
{
	size_t len = strlen(path);
	int rc = len < sizeof(out->path) ? link_new(out, path) : -ENAMETOOLONG;

	if (rc)
		return error_set(err, -rc, "cannot create %s: %s", path, strerror(-rc));
	memcpy(out->path, path, len + 1);
	out->draft[0] = '\0';
	out->regular = true;
	return 0;
}

static int write_all(struct output *out, const uint8_t *bytes, size_t n)
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

static int flush(struct output *out)
{
	size_t n = out->used;

	out->used = 0;
	return write_all(out, out->buffer, n);
}

int output_write(void *ctx, const void *bytes, size_t n)
{
	struct output *out = ctx;

	if (n > BUFFER_BYTES - out->used) {
		int rc = flush(out);

		if (rc)
			return rc;
	}
	if (n > BUFFER_BYTES)
		return write_all(out, bytes, n);
	memcpy(out->buffer + out->used, bytes, n);
	out->used += n;
	return 0;
}

int output_commit(struct output *out)
{
	int rc = flush(out);

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
	char copy[PATH_MAX];
	struct stat st;

	if (out->fd < 0 || !out->regular)
		return 0;
	memcpy(copy, out->path, sizeof(copy));
	if (stat(dirname(copy), &st) || st.st_uid == geteuid())
		return 0;
	if ((st.st_mode & (S_IWOTH | S_ISVTX)) == S_IWOTH)
		return 0;
	return 1ull << CAP_DAC_OVERRIDE | 1ull << CAP_FOWNER;
}

const char *output_name(const struct output *out)
{
	return out->borrowed ? "standard output" : out->path;
}

int output_close(struct output *out)
{
	int rc = 0;

	/* Network file systems tell of a full disk only here. */
	if (out->fd >= 0 && !out->borrowed && close(out->fd))
		rc = -errno;
	free(out->buffer);
	out->buffer = NULL;
	out->fd = -1;
	return rc;
}

void output_discard(struct output *out)
{
	struct rights before = rights_as_user();

	if (out->fd >= 0 && out->keeping)
		out->keeping->discard(out);
	else if (out->fd >= 0 && out->regular)
		unlink(out->draft[0] ? out->draft : out->path);
	rights_restore(&before);
	output_close(out);
}
