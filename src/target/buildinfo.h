/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Finds the Go release that built an image, from the linker's record. Pure. */
#ifndef GOTRACE_TARGET_BUILDINFO_H
#define GOTRACE_TARGET_BUILDINFO_H

#include "target/image.h"

struct go_version {
	unsigned minor, patch; /* go1.MINOR.PATCH; patch = 0 for a development version or release candidate */
	bool development;      /* devel, beta or release candidate */
	char text[32];         /* "go1.26.8"; may be truncated */
};

/*
 * The image must be relocated. Returns 0, -ENOEXEC if it was not built by Go, or -ENOTSUP if it has no record
 * (Go before 1.13) and names several releases.
 */
int buildinfo_version(const struct image *image, struct go_version *version, struct error *err);
/* Parses "go1.26.8", "go1.27rc1", "devel go1.27-0123456 ...", "go1.26.8 X:experiment". */
bool go_version_parse(const char *text, size_t len, struct go_version *version);

#endif
