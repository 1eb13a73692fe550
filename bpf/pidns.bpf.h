/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Support for gotrace in a pid namespace of its own (a container). Records that leave the programs have the
 * ids that /proc shows there, while the programs themselves use those of the initial namespace. Elsewhere
 * this is dead code.
 */
#ifndef GOTRACE_PIDNS_BPF_H
#define GOTRACE_PIDNS_BPF_H

#include "bpf/pids.bpf.h"
#include "bpf/record.h"

/* Set by capture before loading: the level of gotrace's pid namespace (0: the initial one), and its inode. */
const volatile uint32_t own_level;
const volatile uint32_t own_inode;

/* include/linux/pid_namespace.h, include/linux/ns_common.h */
struct ns_common {
	unsigned int inum;
} __attribute__((preserve_access_index));

struct pid_namespace {
	struct ns_common ns;
} __attribute__((preserve_access_index));

struct upid___ns {
	struct pid_namespace *ns;
} __attribute__((preserve_access_index));

/* Maps ids of the initial namespace to those of our own. Capture adds the threads that exist; forks add new
 * ones. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* capture sets it */
	__type(key, uint32_t);
	__type(value, uint32_t);
} pidns_ids SEC(".maps");

/* Marks the id of a thread outside our namespace. All valid ids are less (PID_MAX_LIMIT is 1 << 22). */
#define ID_OUTSIDE 0x40000000u

static __always_inline uint32_t pidns_id(uint32_t id)
{
	uint32_t *known;

	if (!own_level || !id)
		return id;
	known = bpf_map_lookup_elem(&pidns_ids, &id);
	return known ? *known : id | ID_OUTSIDE;
}

/* Records the ids of a thread that was just created. */
static __always_inline void learn_id(struct task_struct *task)
{
	const struct pid *pid;
	const char *at;
	uint32_t inode = 0, id, shown;

	if (!own_level)
		return;
	pid = thread_pid(task);
	if (level_of(pid) < own_level)
		return;
	at = (const char *)pid + bpf_core_field_offset(struct pid, numbers) +
	     (uint64_t)own_level * bpf_core_type_size(struct upid);
	inode = BPF_CORE_READ((const struct upid___ns *)at, ns, ns.inum);
	if (inode != own_inode)
		return;
	id = MEMBER(task, pid);
	shown = id_at(pid, own_level);
	bpf_map_update_elem(&pidns_ids, &id, &shown, BPF_ANY);
}

static __always_inline void forget_id(uint32_t id)
{
	if (own_level)
		bpf_map_delete_elem(&pidns_ids, &id);
}

/* Translates the ids in a record before it is sent. */
static __always_inline void translate_ids(struct raw_record *rec)
{
	rec->tid = pidns_id(rec->tid);
	rec->goid = pidns_id(rec->goid);
	if (rec->site == SITE_SWITCH || rec->site == SITE_WAKING || rec->site == SITE_FORK ||
	    rec->site == SITE_EXEC)
		rec->g = pidns_id(rec->g);
	if (rec->site == SITE_FORK || (rec->site == SITE_WAKING && rec->status == WAKER_OTHER))
		rec->arg = pidns_id(rec->arg);
}

#endif
