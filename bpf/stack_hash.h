/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The hash that names a stack. Both sides compute it: the BPF programs for
 * stacks of hits, user space for stacks of the snapshot, so that one stack has
 * one name. It is stored in raw logs: never change it.
 *
 * 64 bits, so that a million different stacks collide with a chance of about
 * one in 37 million; two operations and a multiplication a frame.
 * Include bpf/record.h (or vmlinux.h) first, for the types.
 */
#ifndef GOTRACE_STACK_HASH_H
#define GOTRACE_STACK_HASH_H

#include "bpf/record.h"

#define STACK_HASH_FACTOR 0x9e3779b97f4a7c15ull

/* The start of a stack of which skip logical frames are left out at the leaf. */
static inline uint64_t stack_hash_begin(uint32_t skip)
{
	return (skip + 1ull) * STACK_HASH_FACTOR;
}

/* One frame after the other, leaf first. */
static inline uint64_t stack_hash_add(uint64_t hash, uint64_t pc)
{
	hash = (hash ^ pc) * STACK_HASH_FACTOR;
	return hash << 29 | hash >> 35;
}

/* The result for n frames is never 0, which stands for "no stack". */
static inline uint64_t stack_hash_end(uint64_t hash, uint32_t n)
{
	hash = (hash ^ n) * STACK_HASH_FACTOR;
	hash ^= hash >> 32;
	return hash ? hash : 1;
}

#endif
