/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sandbox/lifeline.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

static void close_end(int *end)
{
	if (*end >= 0)
		close(*end);
	*end = -1;
}

int lifeline_open(struct lifeline *line)
{
	int ends[2];

	*line = (struct lifeline){-1, -1};
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	*line = (struct lifeline){.parent = ends[1], .child = ends[0]};
	return 0;
}

void lifeline_hold(struct lifeline *line)
{
	close_end(&line->child);
}

/*
 * The last close of the other end counts as input (fs/pipe.c, pipe_release()). The kernel checks permission
 * with the ids that the child has now (fs/fcntl.c, sigio_perm()).
 */
int lifeline_obey(struct lifeline *line, int signal)
{
	struct pollfd end = {.fd = line->child, .events = POLLIN};

	close_end(&line->parent);
	if (fcntl(line->child, F_SETOWN, getpid()) || fcntl(line->child, F_SETSIG, signal) ||
	    fcntl(line->child, F_SETFL, O_ASYNC))
		return -errno;
	return poll(&end, 1, 0) ? -ESRCH : 0;
}

void lifeline_cut(struct lifeline *line)
{
	close_end(&line->parent);
}
