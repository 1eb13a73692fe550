/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Builds a program with a Go toolchain, to get the DWARF and texts of its runtime. */
#ifndef GOTRACE_CLI_TOOLCHAIN_H
#define GOTRACE_CLI_TOOLCHAIN_H

#include "util/error.h"

/*
 * Builds tools/layout/program with ROOT/bin/go in a temporary directory, without the network and without the
 * user's Go configuration. Call it before there are other threads. Returns a descriptor of the program, which
 * has been unlinked, or a negative errno: -ENOENT if there is no bin/go, -EINTR after a signal, -ETIMEDOUT,
 * -EIO if it cannot be built.
 */
int toolchain_build(const char *root, struct error *err);

#endif
