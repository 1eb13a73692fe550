/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The hash that identifies a stack. The BPF programs compute it for stacks of hits and user space for stacks
 * of the snapshot, so that a stack has the same hash on both sides. It is stored in raw logs: never change
 * it.
 *
 * With 64 bits, the chance of a collision among a million different stacks is about one in 37 million. The
 * cost is two operations and a multiplication per frame. Include bpf/record.h (or vmlinux.h) first, for the
 * types.
 */
#ifndef GOTRACE_STACK_HASH_H
#define GOTRACE_STACK_HASH_H

#include "bpf/record.h"

#define STACK_HASH_FACTOR 0x9e3779b97f4a7c15ull

/* Starts the hash of a stack that leaves out skip logical frames at the leaf. */
static inline uint64_t stack_hash_begin(uint32_t skip)
{
	return (skip + 1ull) * STACK_HASH_FACTOR;
}

/* Adds one frame. Frames are added leaf first. */
static inline uint64_t stack_hash_add(uint64_t hash, uint64_t pc)
{
	hash = (hash ^ pc) * STACK_HASH_FACTOR;
	return hash << 29 | hash >> 35;
}

/* Finishes the hash of n frames. The result is never 0, which stands for "no stack". */
static inline uint64_t stack_hash_end(uint64_t hash, uint32_t n)
{
	hash = (hash ^ n) * STACK_HASH_FACTOR;
	hash ^= hash >> 32;
	return hash ? hash : 1;
}

#endif
