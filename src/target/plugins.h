/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: the plugins of a program (-buildmode=plugin). A plugin contains copies of the
 * runtime's functions that its code calls, in a function table of its own; variables and function values are
 * the executable's. So its copies need probes of their own, by the same rules, and its addresses need its
 * table. The runtime keeps all modules in a list, which begins with the executable's, and never removes one.
 */
#ifndef GOTRACE_TARGET_PLUGINS_H
#define GOTRACE_TARGET_PLUGINS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/record.h"
#include "util/error.h"

struct target;

struct plugins {
	struct target *all[MAX_PLUGINS];  /* owned; in the order of the list */
	struct error errors[MAX_PLUGINS]; /* why it cannot be used; "" = it can */
	struct plugin_places places[MAX_PLUGINS];
	unsigned n;
	uint64_t last; /* address in the process of the last one's moduledata; 0 = there is none */
};

/*
 * Gets the addresses of the modules that follow the one at `address`. next: offset of moduledata.next. read
 * gets a word of the process's memory. Returns their number, at most max, -E2BIG if there are more, -EBADMSG
 * if the list is damaged, or the error of read. Pure.
 */
typedef int (*plugin_read_word)(void *ctx, uint64_t address, uint64_t *word);
int plugins_list(uint64_t address, uint32_t next, plugin_read_word read, void *ctx, uint64_t *modules,
		 unsigned max);

/*
 * Returns the plugin that contains the code at this address in the process, or else the program. They are
 * valid as long as the program's target.
 */
const struct target *plugins_owner(const struct target *target, uint64_t pc);
/* Whether pc is in one of the plugins' copies of this function (enum plugin_copy). */
bool plugins_have(const struct target *target, enum plugin_copy which, uint64_t pc);

#endif
