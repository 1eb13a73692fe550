/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * gotrace in a pid namespace of its own (a container): what leaves the programs has the ids that /proc has
 * there, while the programs themselves go on with those of the initial namespace. Off, and dead code,
 * everywhere else.
 */
#ifndef GOTRACE_SHOWN_BPF_H
#define GOTRACE_SHOWN_BPF_H

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

/* Ids of our namespace by those of the initial one: capture fills in who is there, forks add to it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* capture sets it */
	__type(key, uint32_t);
	__type(value, uint32_t);
} shown_ids SEC(".maps");

/* Who is not in our namespace keeps its id, marked: above all that there can be (PID_MAX_LIMIT is 1 << 22).
 */
#define ID_OUTSIDE 0x40000000u

static __always_inline uint32_t shown_id(uint32_t id)
{
	uint32_t *known;

	if (!own_level || !id)
		return id;
	known = bpf_map_lookup_elem(&shown_ids, &id);
	return known ? *known : id | ID_OUTSIDE;
}

/* A thread that was just made. */
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
	bpf_map_update_elem(&shown_ids, &id, &shown, BPF_ANY);
}

static __always_inline void forget_id(uint32_t id)
{
	if (own_level)
		bpf_map_delete_elem(&shown_ids, &id);
}

/* The ids in a record that is about to leave. */
static __always_inline void show_ids(struct raw_record *rec)
{
	rec->tid = shown_id(rec->tid);
	rec->goid = shown_id(rec->goid);
	if (rec->site == SITE_SWITCH || rec->site == SITE_WAKING || rec->site == SITE_FORK ||
	    rec->site == SITE_EXEC)
		rec->g = shown_id(rec->g);
	if (rec->site == SITE_FORK || (rec->site == SITE_WAKING && rec->status == WAKER_OTHER))
		rec->arg = shown_id(rec->arg);
}

#endif
