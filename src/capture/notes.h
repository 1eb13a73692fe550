/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: notes in the log on what is recorded from here on (LOG_NOTE). */
#ifndef GOTRACE_CAPTURE_NOTES_H
#define GOTRACE_CAPTURE_NOTES_H

#include "capture/state.h"

/* Adds a note; flags: enum log_note_flags. text: at most MAX_NOTE bytes. Returns 0 or a negative errno. */
int note_put(struct capture *capture, uint32_t flags, const char *text);
/* The same for a time in the past: CLOCK_MONOTONIC, ns. */
int note_put_at(struct capture *capture, uint64_t time, uint32_t flags, const char *text);
/* Adds a note on the level of detail if it has changed since the last such note. */
int note_level(struct capture *capture, uint32_t flags);

#endif
