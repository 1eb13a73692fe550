/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module, and pure: which system calls take a file descriptor, and in which argument. */
#ifndef GOTRACE_CAPTURE_CALLS_H
#define GOTRACE_CAPTURE_CALLS_H

#include <stdint.h>

#include "bpf/call_kind.h"

/* Fills in enum call_kind by system call number, for the architecture that gotrace is built for. */
void calls_kinds(uint8_t kinds[CALL_NUMBERS]);

#endif
