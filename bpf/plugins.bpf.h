/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Plugins of a Go program. Their code has copies of the runtime's functions, and so other addresses. When the
 * program opens a plugin, recording stops until the plugin's copies are probed, too.
 */
#ifndef GOTRACE_PLUGINS_BPF_H
#define GOTRACE_PLUGINS_BPF_H

#include "bpf/go.bpf.h"

const volatile bool may_have_plugins;
/* Set by capture while the programs run. */
volatile struct plugin_places plugins[MAX_PLUGINS];
volatile uint32_t plugin_count;

/* A separate function for the verifier. which: enum plugin_copy; PLUGIN_COPIES: any function. */
__noinline int plugin_has(uint64_t pc, uint32_t which)
{
	for (uint32_t i = 0; i < MAX_PLUGINS && i < plugin_count; i++) {
		const volatile struct plugin_places *one = &plugins[i];
		const volatile struct place_range *copy = &one->copies[which & (PLUGIN_COPIES - 1)];

		if (lies_in(pc, one->text.begin, one->text.end))
			return which >= PLUGIN_COPIES || lies_in(pc, copy->begin, copy->end);
	}
	return 0;
}

static __always_inline bool in_plugin(uint64_t pc, uint32_t which)
{
	return may_have_plugins && plugin_has(pc, which);
}

/*
 * The plugin is in the list of modules, and none of its code has run. Counted whether or not the lease is
 * open.
 */
SEC("?uprobe")
int plugin_opened(struct pt_regs *ctx)
{
	(void)ctx;
	if (!lease.plugin_ns)
		lease.plugin_ns = bpf_ktime_get_ns();
	__sync_fetch_and_add(&lease.plugins, 1);
	lease.until = 0;
	return 0;
}

#endif
