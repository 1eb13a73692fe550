/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/node.h"

#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/node.skel.h"
#include "capture/bpf.h"
#include "capture/kernel.h"

static void choose_node_programs(struct node_bpf *node, const struct features *features, bool syscalls)
{
	bool seconds = syscalls && features->preempted_calls, switches;
	enum switch_form form;
	struct error none;

	switches = kernel_switch_form(features->btf, &form, &none) == 0 && form != SWITCH_STATE_FIRST;
	node->rodata->preempted_calls = features->preempted_calls;
	bpf_program__set_autoload(node->progs.node_enter, syscalls);
	bpf_program__set_autoload(node->progs.node_exit, syscalls);
	bpf_program__set_autoload(node->progs.node_enter_backup, seconds);
	bpf_program__set_autoload(node->progs.node_exit_backup, seconds);
	bpf_program__set_autoload(node->progs.node_leave, switches);
	bpf_program__set_autoload(node->progs.node_come, switches);
}

struct node_bpf *node_open(const struct features *features, bool syscalls, struct error *err)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .btf_custom_path = features->btf);
	struct node_bpf *node = features->pointers ? node_bpf__open_opts(&options) : NULL;
	int rc;

	if (!node) {
		error_set(err, ENOTSUP, "this kernel has no such tracepoints");
		return NULL;
	}
	choose_node_programs(node, features, syscalls);
	rc = node_bpf__load(node);
	if (rc == 0)
		rc = node_bpf__attach(node);
	if (rc == 0)
		return node;
	error_set(err, -rc, "%s", libbpf_log_last());
	node_bpf__destroy(node);
	return NULL;
}

struct node_slot node_slot_at(const struct node_bpf *node, uint32_t slot)
{
	bool switches = bpf_program__autoload(node->progs.node_leave);

	return (struct node_slot){.recorded = bpf_map__fd(node->maps.recorded),
				  .entries = bpf_map__fd(node->maps.entries),
				  .exits = bpf_map__fd(node->maps.exits),
				  .switches = switches ? bpf_map__fd(node->maps.switches) : -1,
				  .slot = slot};
}

void node_close(struct node_bpf *node)
{
	node_bpf__destroy(node);
}

int node_slot_enter(const struct node_slot *slot, uint32_t tgid)
{
	return bpf_map_update_elem(slot->recorded, &tgid, &slot->slot, BPF_ANY) ? -errno : 0;
}

int node_slot_programs(const struct node_slot *slot, const char *tracepoint)
{
	return strcmp(tracepoint, "sys_enter") == 0      ? slot->entries
	       : strcmp(tracepoint, "sys_exit") == 0     ? slot->exits
	       : strcmp(tracepoint, "sched_switch") == 0 ? slot->switches
							 : -1;
}

void node_slot_leave(const struct node_slot *slot)
{
	uint32_t tgid, found, *last = NULL;

	while (bpf_map_get_next_key(slot->recorded, last, &tgid) == 0) {
		if (bpf_map_lookup_elem(slot->recorded, &tgid, &found) == 0 && found == slot->slot) {
			bpf_map_delete_elem(slot->recorded, &tgid);
			break;
		}
		last = &tgid;
	}
	bpf_map_delete_elem(slot->entries, &slot->slot);
	bpf_map_delete_elem(slot->exits, &slot->slot);
	if (slot->switches >= 0)
		bpf_map_delete_elem(slot->switches, &slot->slot);
}
