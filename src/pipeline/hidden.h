/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Files that have no name until they are published, so that nothing is left if gotrace is killed before that.
 * If the file system does not support such files, they have the name .gotrace-PID-N.part and are locked
 * (flock). Unlocked ones are removed when the next such name is needed in that directory.
 */
#ifndef GOTRACE_PIPELINE_HIDDEN_H
#define GOTRACE_PIPELINE_HIDDEN_H

enum { PART_BYTES = 48 };

/*
 * Creates an empty file in the directory, with mode 0600, owned by the user behind sudo. Returns its
 * descriptor or a negative errno. access: O_WRONLY or O_RDWR. part: its name, "" if it has none.
 */
int hidden_create(int dir, int access, char part[PART_BYTES]);
/* Names the file and sets part to "". Returns 0 or a negative errno: -EEXIST if the name is in use. */
int hidden_link(int fd, int dir, char part[PART_BYTES], const char *name);
/* The same, replacing a file of that name. */
int hidden_replace(int fd, int dir, char part[PART_BYTES], const char *name);
/* Removes `name` if it refers to this file; "" is allowed. */
void hidden_remove(int fd, int dir, const char *name);

#endif
