/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: functions of gotrace itself that have probes. */
#ifndef GOTRACE_CAPTURE_SELF_PROBES_H
#define GOTRACE_CAPTURE_SELF_PROBES_H

#include <stdint.h>

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
/* Returns the cost of a short system call, in ns. */
uint64_t own_call_ns(void);

#endif
