/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Seeded hashes: without the seed, nobody can construct keys that collide. */
#ifndef GOTRACE_UTIL_HASH_H
#define GOTRACE_UTIL_HASH_H

#include <stddef.h>
#include <stdint.h>

/* A seed for one table. The table's address is used if the kernel has no random bytes yet. */
uint64_t hash_seed(const void *table);

/* SipHash-1-3 (Aumasson and Bernstein, 2012), keyed by the seed. */
uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size);

/* Pointers and ids differ in few bits; the finalizer of MurmurHash3 spreads them over all bits. */
static inline uint64_t hash_u64(uint64_t seed, uint64_t key)
{
	key ^= seed;
	key ^= key >> 33;
	key *= 0xff51afd7ed558ccdull;
	key ^= key >> 33;
	key *= 0xc4ceb9fe1a85ec53ull;
	return key ^ key >> 33;
}

#endif
