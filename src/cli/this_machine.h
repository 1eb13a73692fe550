/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The machine that gotrace runs on, described for exports. */
#ifndef GOTRACE_CLI_THIS_MACHINE_H
#define GOTRACE_CLI_THIS_MACHINE_H

#include <stddef.h>
#include <sys/utsname.h>

#include "export/export.h"

enum { BUILD_ID_TEXT = 2 * 32 + 1 };

struct this_machine {
	struct utsname name;
	char build_id[BUILD_ID_TEXT];
	struct export_machine facts; /* points to the members above */
};

void this_machine_read(struct this_machine *machine);
/* Finds the build id in ELF notes (binutils' NT_GNU_BUILD_ID). text: hexadecimal; "" if there is none. */
void build_id_find(const unsigned char *notes, size_t size, char text[BUILD_ID_TEXT]);

#endif
