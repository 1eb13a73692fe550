/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The inspector: a worker that parses files and memory of targets. It answers requests (protocol.h) until the
 * channel closes.
 */
#ifndef GOTRACE_SANDBOX_INSPECTOR_H
#define GOTRACE_SANDBOX_INSPECTOR_H

#include "sandbox/sandbox.h"

extern const struct sandbox_plan inspector_plan;

#endif
