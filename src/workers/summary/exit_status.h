/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The exit status of gotrace. */
#ifndef GOTRACE_WORKERS_SUMMARY_EXIT_STATUS_H
#define GOTRACE_WORKERS_SUMMARY_EXIT_STATUS_H

enum exit_status {
	STATUS_WHOLE = 0, /* written completely; the file is valid */
	STATUS_NONE = 1,  /* no trace; the file is invalid */
	STATUS_USAGE = 2,
	STATUS_CUT = 3,   /* written, but something was lost or cut */
	STATUS_FOUND = 4, /* report: whole, with a finding that --fail-on names */
};

#endif
