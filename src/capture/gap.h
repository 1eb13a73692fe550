/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: intervals that were not recorded, and the notes about them in the log. */
#ifndef GOTRACE_CAPTURE_GAP_H
#define GOTRACE_CAPTURE_GAP_H

#include "capture/state.h"

/*
 * Called once per round. Detects that the lease has closed, and why. Notes the gap in the log once everything
 * before it has been drained. Resumes recording when records can be read again. Returns 0 or a negative
 * errno.
 */
int gap_update(struct capture *capture, uint64_t now, struct error *err);
/* Stops recording at once, until gap_end_pause(). */
void gap_pause(struct capture *capture, const char *why);
void gap_end_pause(struct capture *capture);

#endif
