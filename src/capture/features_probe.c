/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* features_probe(): the order of the probes. */
#include "capture/features_probes.h"
#include "capture/bpf.h"

void features_probe(struct features *features, const struct features_options *options)
{
	const char *root = options->root;

	*features = (struct features){.btf = options->btf};
	libbpf_log_capture();
	probe_kernel(features);
	probe_proc(features, root); /* without it capabilities are unknown */
	probe_privileges(features, root);
	probe_lockdown(features, root);
	probe_bpf(features, root);
	probe_memlock(features, root);
	probe_ring_buffer(features, root);
	probe_btf(features, root, options->btf);
	probe_loops(features);
	probe_task_pointers(features);
	probe_kernel_reads(features);
	probe_tracepoints(features, options->thorough);
	probe_preempted_calls(features);
	probe_thread_list(features);
	probe_exchange(features);
	probe_uprobes(features, root);
	probe_cookies(features);
	probe_register_writes(features);
	probe_samples(features, root);
	probe_paranoid(features, root);
	probe_unprivileged_bpf(features, root);
	probe_tracefs(features, root);
	probe_clock(features, root);
	if (options->thorough)
		probe_clock_skew(features);
	probe_yama(features, root);
	probe_priority(features);
}
