/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * SIGINT, SIGTERM and SIGHUP end the trace properly; a broken pipe or a file-size limit is an error of write.
 */
#ifndef GOTRACE_CLI_SIGNALS_H
#define GOTRACE_CLI_SIGNALS_H

void signals_install(void);
/* How often we were asked to end. */
int signals_seen(void);
/* SIGUSR1 no longer ends us, but is counted. */
void signals_count_snapshots(void);
/* How many came since the last call. */
int signals_snapshots(void);
/* In a forked child: back to what a program expects. */
void signals_reset(void);

#endif
