/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the room: functions of gotrace itself that carry probes. */
#ifndef GOTRACE_CAPTURE_OWN_SITES_H
#define GOTRACE_CAPTURE_OWN_SITES_H

#include <stdint.h>

/* Its probe puts a marker with this number into the ring. */
void own_marker(uint64_t number);
/* Its probe does what a usual hit does: reads a stack's worth of memory. */
void own_calibration(const void *memory);
/* Cost of one call of own_calibration, ns. Measured twice, with and without the probe, it gives a hit's cost.
 */
uint64_t own_calibration_ns(void);
/* Where its return is, in bytes from its beginning: an instruction that the kernel has to run by itself. */
#define OWN_RETURN 2
/* The same of a short system call. */
uint64_t own_call_ns(void);

#endif
