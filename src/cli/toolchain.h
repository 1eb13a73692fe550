/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A program made by a Go toolchain, so that it has the DWARF and the texts of its runtime. */
#ifndef GOTRACE_CLI_TOOLCHAIN_H
#define GOTRACE_CLI_TOOLCHAIN_H

#include "util/error.h"

/*
 * Builds tools/layout/program with ROOT/bin/go in a temporary directory, without network and without the
 * user's configuration of Go. Returns a descriptor of the program, which has no name any more, or a negative
 * errno: -ENOENT if there is no bin/go, -EINTR after a signal, -ETIMEDOUT, -EIO if it cannot be built.
 * Before there are other threads.
 */
int toolchain_build(const char *root, struct error *err);

#endif
