/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: shared by all processes that gotrace starts for itself. */
#ifndef GOTRACE_SANDBOX_CHILD_H
#define GOTRACE_SANDBOX_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

enum { CHILD_FD = 3 }; /* the first of the descriptors that it keeps, after the standard ones */

/*
 * In the child: closes all descriptors but these, which become CHILD_FD and so on, and, if `talks`, standard
 * output and error. Ignores the signals that are meant for gotrace, and makes the process undumpable, so that
 * it cannot be ptraced. Returns 0 or a negative errno.
 */
int child_begin(const char *name, const int *fds, unsigned n, bool talks, pid_t parent);
/*
 * From here on the child dies with its parent (PDEATHSIG, which a change of its ids clears). Returns false if
 * the parent has already died.
 */
bool child_end_with(pid_t parent);
/*
 * In the parent: kills the child if it has not exited by itself after ms milliseconds. Discards its status.
 * Returns false if it does not exit (the kernel holds it, or gotrace may not signal it); it is then left
 * alone.
 */
bool child_end(pid_t pid, int ms);
/* Waits at most ms milliseconds for the child to exit. */
bool child_wait(pid_t pid, int ms, int *status);
/* True if the child is stopped (SIGSTOP). Any thread of its parent may call this. */
bool child_is_stopped(pid_t pid);

#endif
