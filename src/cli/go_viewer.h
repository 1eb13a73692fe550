/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Go's own viewer, `go tool trace`: a server that shows one trace to a browser. */
#ifndef GOTRACE_CLI_GO_VIEWER_H
#define GOTRACE_CLI_GO_VIEWER_H

#include <limits.h>

#include "cli/attended.h"
#include "util/error.h"

struct go_tool {
	char path[PATH_MAX];
	unsigned minor; /* of its release, 1.MINOR; 0 = unknown */
};

/* Finds go in PATH, or where it is installed by default. Returns 0, or -ENOENT and sets *err. */
int go_tool_find(struct go_tool *go, struct error *err);

struct go_viewer {
	struct attended process;
	int start; /* a pipe that it waits for; -1 = closed */
};

/*
 * Starts a process that waits, without privileges, as the user behind sudo. `trace` is a file that will be
 * complete when go_viewer_run() is called; browser is that of browser_start(). Returns 0, or a negative errno
 * and sets *err.
 */
int go_viewer_start(struct go_viewer *viewer, const struct attendant *attendant, const struct go_tool *go,
		    int trace, int browser, struct error *err);
/*
 * Makes the process run go. Once that listens, it prints the address of the server with `place` ("/...") and
 * opens it in the browser. Waits until a signal, or go's end. Returns an exit status.
 */
int go_viewer_run(struct go_viewer *viewer, const struct attendant *attendant, const char *place);
/* Ends the process if it still waits. Does nothing if it was not started. */
void go_viewer_end(struct go_viewer *viewer);

#endif
