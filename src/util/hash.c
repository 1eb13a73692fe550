/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/hash.h"

#include <endian.h>
#include <string.h>
#include <sys/random.h>

uint64_t hash_seed(const void *table)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed))
		seed = hash_u64((uintptr_t)&seed, (uintptr_t)table);
	return seed;
}

static uint64_t rotate(uint64_t word, unsigned bits)
{
	return word << bits | word >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] = rotate(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] = rotate(v[2], 32);
}

static void add_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	sip_round(v);
	v[0] ^= word;
}

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size)
{
	uint64_t v[4] = {seed ^ 0x736f6d6570736575ull, seed ^ 0x646f72616e646f6dull,
			 seed ^ 0x6c7967656e657261ull, seed ^ 0x7465646279746573ull};
	const uint8_t *at = bytes;
	uint64_t word;
	size_t left;

	for (left = size; left >= sizeof(word); left -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		add_word(v, le64toh(word));
	}
	word = (uint64_t)size << 56;
	for (size_t i = 0; i < left; i++)
		word |= (uint64_t)at[i] << 8 * i;
	add_word(v, word);
	v[2] ^= 0xff;
	for (unsigned i = 0; i < 3; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
