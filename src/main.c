/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace: sets up the process, then runs a command. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "util/message.h"
#include "util/rights.h"

/*
 * The memory of gotrace is bounded, so freed memory must be reused or returned to the kernel: both threads
 * share one heap, and large arrays are mapped outside it, where they can grow in place (mremap). A fixed
 * threshold keeps glibc from raising it (up to 32 MiB) when mapped blocks are freed.
 */
static void set_up_memory(void)
{
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 2 << 20);
}

/*
 * If descriptors 0-2 are closed, reserves them. Otherwise a worker could inherit the other end of its own
 * channel as standard output or error and wait forever, and messages could be written into a trace. A
 * directory can be neither read nor written, and is closed on exec.
 */
static void hold_standard_files(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/",
				    /* Takes the lowest free number. */
				    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
}

/* What a command has printed, --help too, must have arrived, unless the reader wanted no more. */
static int flush_output(int status)
{
	if (status != STATUS_WHOLE || !fflush(stdout) || errno == EPIPE || errno == EBADF)
		return status;
	message("cannot write to standard output: %s", strerror(errno));
	return STATUS_NONE;
}

int main(int argc, char **argv)
{
	struct error err;

	hold_standard_files();
	if (rights_begin(&err)) {
		message_error(&err);
		return STATUS_NONE;
	}
	set_up_memory();
	return flush_output(run_commands(argc, argv));
}
