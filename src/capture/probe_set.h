/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: which sites of a Go program are probed at present, and changes of this set. */
#ifndef GOTRACE_CAPTURE_PROBE_SET_H
#define GOTRACE_CAPTURE_PROBE_SET_H

#include <stdint.h>

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

/* --- self_probes.c: functions of gotrace itself that have probes --- */

/* Its probe puts a marker with this number into the ring. */
void own_marker(uint64_t number);
/* Its probe renews the lease for this many ticks. With LEASE_OPEN, it also opens a closed lease. */
void own_renew(uint64_t ticks);
/* Its probe does nothing. */
void own_calibration(const void *unused);
/* Returns the cost of one call of own_calibration(), in ns. The difference between a measurement with the
 * probe and one without is the cost of a hit. */
uint64_t own_calibration_ns(void);
/* Offset of own_calibration()'s return instruction, in bytes. x86 kernels do not emulate it. */
#define OWN_RETURN 2

#endif
