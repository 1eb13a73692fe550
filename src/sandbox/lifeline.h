/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Ends a child with its parent although the parent may not signal it, because one of them has given up its
 * ids: then PDEATHSIG has no effect. The parent holds an end of a pipe. When it is closed, at the latest by
 * the kernel when the parent ends, the child gets a signal.
 */
#ifndef GOTRACE_SANDBOX_LIFELINE_H
#define GOTRACE_SANDBOX_LIFELINE_H

struct lifeline {
	int parent, child; /* ends of the pipe; -1 = closed */
};

/* Call it before the fork. Returns 0 or a negative errno. */
int lifeline_open(struct lifeline *line);
/* In the parent, after the fork. */
void lifeline_hold(struct lifeline *line);
/*
 * In the child, before it changes its ids: from here on the parent's end sends it this signal. Returns 0, or
 * a negative errno: -ESRCH if the parent has ended already.
 */
int lifeline_obey(struct lifeline *line, int signal);
/* In the parent: sends the signal. */
void lifeline_cut(struct lifeline *line);

#endif
