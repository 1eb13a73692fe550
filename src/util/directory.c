/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/owner.h"
#include "util/rights.h"

enum { MAX_LINKS = 40 }; /* as in the kernel */

struct path_walk {
	const char *path;
	char rest[PATH_MAX]; /* what is left to walk */
	int dir;             /* the directory reached so far */
	unsigned links;
	bool users_link; /* a link that belongs to sudo's invoking user was followed */
	struct error *err;
};

/* A hard link of a symbolic link may belong to root although another user put it here (link(2)). */
static bool is_trusted(struct path_walk *walk, const struct stat *link)
{
	struct owner user;

	if (link->st_nlink == 1 && (link->st_uid == 0 || link->st_uid == geteuid()))
		return true;
	if (!owner_behind_sudo(&user) || link->st_uid != user.uid)
		return false;
	walk->users_link = true;
	return true;
}

static void path_walk_go_to(struct path_walk *walk, int dir)
{
	close(walk->dir);
	walk->dir = dir;
}

/* Replaces the link's name by its target. */
static int follow_link(struct path_walk *walk, int link, const char *name)
{
	char target[PATH_MAX], rest[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (fstat(link, &st))
		return -errno;
	if (!S_ISLNK(st.st_mode))
		return -ENOTDIR;
	if (!is_trusted(walk, &st))
		return error_set(walk->err, ELOOP,
				 "%s: component %s is a symbolic link owned by another user (uid %u), which "
				 "gotrace does not follow; specify the target directory instead",
				 walk->path, name, (unsigned)st.st_uid);
	n = readlinkat(link, "", target, sizeof(target));
	if (n <= 0 || ++walk->links > MAX_LINKS)
		return n < 0 ? -errno : -ELOOP;
	if (snprintf(rest, sizeof(rest), "%.*s/%s", (int)n, target, walk->rest) >= (int)sizeof(rest))
		return -ENAMETOOLONG;
	memcpy(walk->rest, rest, sizeof(rest));
	return 0;
}

/* Tries O_DIRECTORY first, which makes the kernel trigger automounts. */
static int path_walk_enter(struct path_walk *walk, const char *name)
{
	int fd = openat(walk->dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), rc;

	if (fd >= 0) {
		path_walk_go_to(walk, fd);
		return 0;
	}
	if (errno != ENOTDIR && errno != ELOOP)
		return -errno;
	fd = openat(walk->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	rc = follow_link(walk, fd, name);
	close(fd);
	return rc;
}

/* Takes the first name of the rest, "" at the end. A leading "/" is handled by the caller. */
static void path_walk_take_name(struct path_walk *walk, char name[NAME_MAX + 2])
{
	size_t slashes = strspn(walk->rest, "/"), n = strcspn(walk->rest + slashes, "/");

	/* A name that is too long stays too long. */
	snprintf(name, NAME_MAX + 2, "%.*s", (int)n, walk->rest + slashes);
	memmove(walk->rest, walk->rest + slashes + n, strlen(walk->rest + slashes + n) + 1);
}

static int path_walk_begin(struct path_walk *walk)
{
	int fd = open(walk->rest[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	path_walk_go_to(walk, fd);
	return 0;
}

static int path_walk_step(struct path_walk *walk, bool *ended)
{
	unsigned links = walk->links;
	char name[NAME_MAX + 2];
	int rc;

	path_walk_take_name(walk, name);
	*ended = !name[0];
	if (*ended)
		return 0;
	rc = path_walk_enter(walk, name);
	return rc == 0 && walk->links > links && walk->rest[0] == '/' ? path_walk_begin(walk) : rc;
}

/*
 * Through a link of their own, the user could redirect root anywhere. A directory that the user owns is safe,
 * because the user may change it anyway.
 */
static int path_walk_check_end(const struct path_walk *walk)
{
	struct owner user;
	struct stat st;

	if (!walk->users_link)
		return 0;
	if (fstat(walk->dir, &st))
		return -errno;
	if (owner_behind_sudo(&user) && st.st_uid == user.uid)
		return 0;
	return error_set(walk->err, ELOOP,
			 "%s: a symbolic link owned by uid %u leads to a directory owned by uid %u; specify "
			 "that directory instead",
			 walk->path, (unsigned)user.uid, (unsigned)st.st_uid);
}

static int path_walk_finish(struct path_walk *walk, int rc)
{
	if (rc == 0)
		rc = path_walk_check_end(walk);
	if (rc == 0)
		return walk->dir;
	if (walk->dir >= 0)
		close(walk->dir);
	if (walk->err && !walk->err->text[0])
		error_set(walk->err, -rc, "cannot open the directory %s: %s", walk->path, strerror(-rc));
	return rc;
}

int directory_open(const char *path, struct error *err)
{
	struct path_walk walk = {.path = path, .dir = -1, .err = err};
	bool ended = false;
	int rc;

	if (err)
		err->text[0] = '\0';
	rc = snprintf(walk.rest, sizeof(walk.rest), "%s", path) < PATH_MAX ? 0 : -ENAMETOOLONG;
	if (rc == 0)
		rc = path[0] ? path_walk_begin(&walk) : -ENOENT;
	while (rc == 0 && !ended)
		rc = path_walk_step(&walk, &ended);
	return path_walk_finish(&walk, rc);
}

int directory_open_parent(const char *path, const char **name, struct error *err)
{
	const char *slash = strrchr(path, '/');
	int len = !slash ? 0 : slash == path ? 1 : (int)(slash - path);
	char dir[PATH_MAX] = ".";

	*name = slash ? slash + 1 : path;
	if (slash && snprintf(dir, sizeof(dir), "%.*s", len, path) >= PATH_MAX)
		return error_set(err, ENAMETOOLONG, "%s: the name is too long", path);
	return directory_open(dir, err);
}

bool directory_has(int dir, const char *name, int fd)
{
	struct stat there, here;

	return fstatat(dir, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && fstat(fd, &here) == 0 &&
	       there.st_dev == here.st_dev && there.st_ino == here.st_ino;
}

/* --- making files --- */

int directory_create_file(int dir, const char *name, int access)
{
	int fd = name ? openat(dir, name, access | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)
		      : openat(dir, ".", access | O_TMPFILE | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

/* --- making directories --- */

static bool is_empty(int fd)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	bool empty = dir != NULL;
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		empty &= strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
	if (dir)
		closedir(dir);
	else if (copy >= 0)
		close(copy);
	return empty;
}

/*
 * Whether only root and the user can have replaced the directory since it was made. The user could also
 * remove an empty directory in their own directory and make it again, so replacing it gains nothing.
 */
static bool is_ours_to_give(int parent, int fd, uid_t user)
{
	struct stat st, above;

	return fstat(parent, &above) == 0 && (above.st_uid == 0 || above.st_uid == user) &&
	       (!(above.st_mode & (S_IWGRP | S_IWOTH)) || above.st_mode & S_ISVTX) && fstat(fd, &st) == 0 &&
	       st.st_dev == above.st_dev && st.st_uid == geteuid() && is_empty(fd);
}

static int make_in(int parent, const char *name)
{
	struct owner user;
	int fd, rc = 0;

	if (mkdirat(parent, name, 0755))
		return -errno;
	if (!owner_behind_sudo(&user))
		return 0;
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (is_ours_to_give(parent, fd, user.uid) && fchown(fd, user.uid, user.gid))
		rc = -errno;
	close(fd);
	return rc;
}

int directory_make(const char *path, struct error *err)
{
	char copy[PATH_MAX];
	const char *name;
	size_t n;
	int parent, rc;

	if (snprintf(copy, sizeof(copy), "%s", path) >= PATH_MAX)
		return error_set(err, ENAMETOOLONG, "%s: the name is too long", path);
	for (n = strlen(copy); n > 1 && copy[n - 1] == '/'; n--)
		copy[n - 1] = '\0';
	parent = directory_open_parent(copy, &name, err);
	if (parent < 0 && parent != -ENOENT)
		return parent;
	rc = parent < 0 ? parent : make_in(parent, name);
	if (parent >= 0)
		close(parent);
	if (rc && rc != -EEXIST)
		return error_set(err, -rc, "cannot create the directory %s: %s", path, strerror(-rc));
	return directory_open(path, err);
}

/* --- temporary directories --- */

/* In a user namespace, root has only the rights of its user, and the owner of "/" may have no id there. */
static bool is_replaceable(const struct stat *st)
{
	if (st->st_uid != 0 && st->st_uid != geteuid() && !rights_in_user_namespace())
		return true;
	return st->st_mode & (S_IWGRP | S_IWOTH) && !(st->st_mode & S_ISVTX);
}

/* Whether another user could replace the directory, or one above it. A negative errno is an error. */
static int others_may_replace(int dir)
{
	struct stat here = {.st_ino = 0}, above;
	int fd = fcntl(dir, F_DUPFD_CLOEXEC, 0), up, rc = fd < 0 || fstat(fd, &here) ? -errno : 0;

	for (bool top = false; rc == 0 && !top; here = above) {
		rc = is_replaceable(&here);
		up = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(fd);
		fd = up;
		if (fd < 0 || fstat(fd, &above))
			rc = -errno;
		else
			top = above.st_dev == here.st_dev && above.st_ino == here.st_ino;
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

/* Gets the path without symbolic links, which others might replace. */
static int directory_path_of(int dir, char path[PATH_MAX])
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
	n = readlink(link, path, PATH_MAX);
	if (n < 0 || n >= PATH_MAX)
		return n < 0 ? -errno : -ENAMETOOLONG;
	path[n] = '\0';
	return 0;
}

static int make_temporary_in(int parent, char path[PATH_MAX])
{
	size_t len = strlen(path);
	uint64_t number = 0;
	const char *name = path + len + 1;
	int fd;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -EIO;
	if (snprintf(path + len, PATH_MAX - len, "/gotrace-%016llx", (unsigned long long)number) >=
	    (int)(PATH_MAX - len))
		return -ENAMETOOLONG;
	if (mkdirat(parent, name, 0700))
		return -errno;
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int directory_make_temporary(const char *parent, char path[PATH_MAX], struct error *err)
{
	int dir = directory_open(parent, err), rc;

	if (dir < 0)
		return dir;
	rc = others_may_replace(dir);
	if (rc > 0) {
		close(dir);
		return error_set(err, EPERM,
				 "another user could replace files below %s: choose another directory with "
				 "TMPDIR",
				 parent);
	}
	if (rc == 0)
		rc = directory_path_of(dir, path);
	if (rc == 0)
		rc = make_temporary_in(dir, path);
	close(dir);
	return rc < 0 ? error_set(err, -rc, "cannot make a directory in %s: %s", parent, strerror(-rc)) : rc;
}
