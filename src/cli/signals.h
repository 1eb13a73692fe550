/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * SIGINT, SIGTERM and SIGHUP end the trace properly. SIGPIPE and SIGXFSZ are ignored: write() fails instead.
 */
#ifndef GOTRACE_CLI_SIGNALS_H
#define GOTRACE_CLI_SIGNALS_H

void signals_install(void);
/* Returns how many of the former have been received, at most 100. */
int signals_seen(void);
/* Counts SIGUSR1, which then no longer ends the process. */
void signals_count_snapshots(void);
/* Returns how many SIGUSR1 have been received since the last call. */
int signals_snapshots(void);
/* In a forked child: restores the default actions. */
void signals_reset(void);

#endif
