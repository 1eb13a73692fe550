/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Programs at the tracepoints of system calls and switches that all recorders of a machine share
 * (bpf/node.bpf.c). They are loaded by the process that starts the recorders, which inherit the maps.
 */
#ifndef GOTRACE_CAPTURE_NODE_H
#define GOTRACE_CAPTURE_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/node.h"
#include "capture/features.h"
#include "util/error.h"

struct node_bpf;

/* Maps of the programs, and a recorder's place in them. */
struct node_slot {
	int recorded, entries, exits, switches; /* switches: -1 on Linux 5.16 and 5.17 */
	uint32_t slot;                          /* below NODE_SLOTS */
};

/* Loads and attaches the programs. Returns NULL and sets *err if this kernel cannot: then each recorder
 * attaches its own. */
struct node_bpf *node_open(const struct features *features, bool syscalls, struct error *err);
struct node_slot node_slot_at(const struct node_bpf *node, uint32_t slot);
void node_close(struct node_bpf *node);

/* In a recorder: calls of this process (tgid in the initial pid namespace) go to its programs. */
int node_slot_enter(const struct node_slot *slot, uint32_t tgid);
/* Returns the map for programs at this tracepoint, or -1 if the node has none there. */
int node_slot_programs(const struct node_slot *slot, const char *tracepoint);
/* Removes what a recorder entered that has ended, however that was. */
void node_slot_leave(const struct node_slot *slot);

#endif
