/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: functions of gotrace itself that have probes. */
#ifndef GOTRACE_CAPTURE_SELF_PROBES_H
#define GOTRACE_CAPTURE_SELF_PROBES_H

#include <stdint.h>

/* Its probe puts a marker with this number into the ring. */
void own_marker(uint64_t number);
/* Its probe renews the lease for this many ticks; with LEASE_OPEN, even one that is closed. */
void own_renew(uint64_t ticks);
/* Its probe does nothing. */
void own_calibration(const void *unused);
/* Cost of one call of own_calibration(), ns. The difference between a measurement with the probe and one
 * without is the cost of a hit. */
uint64_t own_calibration_ns(void);
/* Offset of its return instruction, in bytes from its start. x86 kernels do not emulate it. */
#define OWN_RETURN 2
/* The same for a short system call. */
uint64_t own_call_ns(void);

#endif
