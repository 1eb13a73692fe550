/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: which sites of a Go program are probed at present, and changes of this set. */
#ifndef GOTRACE_CAPTURE_PROBE_SET_H
#define GOTRACE_CAPTURE_PROBE_SET_H

#include "capture/state.h"

/* Attaches the probes of the first level of detail. */
int probe_set_begin(struct capture *capture, struct error *err);
/* Adapts the level of detail to the cost, and notes a change in the log. */
int probe_set_adapt(struct capture *capture, uint64_t now, struct error *err);
/* Attaches the probes of a plugin that the present level of detail has. Returns 0 or a negative errno. */
int probe_set_attach_plugin(struct capture *capture, const struct target_plugin *plugin, struct error *err);
/* Returns true if sweeps and heap growth are probed now. */
bool probe_set_has_heap(const struct capture *capture);
/* Implement note_flags and level_text of struct backend. */
uint32_t probe_set_flags(const struct capture *capture);
const char *probe_set_text(enum detail_level level);

#endif
