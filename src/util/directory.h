/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Opens and creates the directories for gotrace's output files, and creates the files: no other file of the
 * program does (tools/lint.sh). A path is walked once, component by
 * component, to a descriptor, and all later operations use the descriptor. So no owner of a directory on the
 * path can redirect root elsewhere with a symbolic link.
 *
 * A symbolic link on the path is followed if it belongs to root or to the user that gotrace runs as. Under
 * sudo, a link that belongs to the invoking user is followed, too, if the path ends in a directory of that
 * user.
 */
#ifndef GOTRACE_UTIL_DIRECTORY_H
#define GOTRACE_UTIL_DIRECTORY_H

#include <limits.h>
#include <stdbool.h>

#include "util/error.h"

/*
 * Opens a directory with O_PATH. Returns a descriptor, owned by the caller, or a negative errno with err set.
 */
int directory_open(const char *path, struct error *err);
/* The same for a file's parent directory. *name: the file's name in it, a part of path. */
int directory_open_parent(const char *path, const char **name, struct error *err);
/*
 * Creates the directory with mode 0755, and opens it like directory_open. Under sudo it is given to the
 * invoking user if its parent belongs to root or that user, and no other user can replace entries in the
 * parent. Otherwise it belongs to root.
 */
int directory_make(const char *path, struct error *err);
/*
 * Creates a directory of a new name in `parent`, with mode 0700, and opens it. Everything above it belongs to
 * root or to the user that gotrace runs as, and nobody else can replace it: the directory may be used by its
 * path. Returns a descriptor, owned by the caller, or a negative errno with err set.
 */
int directory_make_temporary(const char *parent, char path[PATH_MAX], struct error *err);
/* Whether `name` in the directory is the file that is open as fd. */
bool directory_has(int dir, const char *name, int fd);
/*
 * Creates a file with mode 0600, never opening one that exists. name NULL: it has no name. access: O_WRONLY
 * or O_RDWR. Returns a descriptor or a negative errno.
 */
int directory_create_file(int dir, const char *name, int access);

#endif
