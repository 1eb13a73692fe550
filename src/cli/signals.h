/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * SIGINT, SIGTERM and SIGHUP end the trace properly. SIGPIPE and SIGXFSZ are ignored: write() fails instead.
 */
#ifndef GOTRACE_CLI_SIGNALS_H
#define GOTRACE_CLI_SIGNALS_H

void signals_install(void);
/*
 * For commands that leave nothing behind: these signals end the process with this status, whatever it does.
 * SQLite looks for an interruption only between the instructions of a query, and one of them may take hours.
 */
void signals_end_at_once(int status);
/* Returns how many of the former have been received, at most 100. */
int signals_seen(void);
/* Counts SIGUSR1, which then no longer ends the process. */
void signals_count_snapshots(void);
/* Returns how many SIGUSR1 have been received since the last call. */
int signals_snapshots(void);
/* In a forked child: restores the default actions. */
void signals_reset(void);

#endif
