/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "export/parquet/encode.h"

enum { GROUP = 8, BLOCK = 128, MINIBLOCKS = 4, MINIBLOCK = BLOCK / MINIBLOCKS };

unsigned pq_width(uint64_t most)
{
	return most ? 64 - (unsigned)__builtin_clzll(most) : 0;
}

/* Appends values of width bits each, lowest bit first. n * width must be a multiple of 8. */
static void encode_pack(struct pq_bytes *out, const uint64_t *values, size_t n, unsigned width)
{
	uint8_t *to = width ? pq_bytes_add(out, n * width / 8) : NULL;
	unsigned __int128 bits = 0;
	unsigned held = 0;

	for (size_t i = 0; to && i < n; i++) {
		bits |= (unsigned __int128)values[i] << held;
		for (held += width; held >= 8; held -= 8, bits >>= 8)
			*to++ = (uint8_t)bits;
	}
}

/* --- hybrid --- */

static size_t run_at(const uint32_t *values, size_t n, size_t at)
{
	size_t end = at + 1;

	while (end < n && values[end] == values[at])
		end++;
	return end - at;
}

static void put_run(struct pq_bytes *out, size_t length, uint32_t value, unsigned width)
{
	pq_put_varint(out, (uint64_t)length << 1);
	pq_put_number(out, value, (width + 7) / 8);
}

/* Puts whole groups; the last one of a page may be padded with zeros. */
static void encode_put_groups(struct pq_bytes *out, const uint32_t *values, size_t n, unsigned width)
{
	size_t groups = (n + GROUP - 1) / GROUP;

	pq_put_varint(out, (uint64_t)groups << 1 | 1);
	for (size_t at = 0; at < n; at += GROUP) {
		uint64_t group[GROUP] = {0};

		for (size_t i = 0; i < GROUP && at + i < n; i++)
			group[i] = values[at + i];
		encode_pack(out, group, GROUP, width);
	}
}

void pq_put_hybrid(struct pq_bytes *out, const uint32_t *values, size_t n, unsigned width)
{
	size_t groups = 0; /* where values begin that are not written yet */

	for (size_t at = 0; at < n;) {
		size_t run = run_at(values, n, at), open = (at - groups) % GROUP;

		/* A run completes the open group first, so that only the page's last group is padded. */
		if (open && run > GROUP - open) {
			at += GROUP - open;
			run -= GROUP - open;
			open = 0;
		}
		if (!open && run >= GROUP) {
			if (at > groups)
				encode_put_groups(out, values + groups, at - groups, width);
			put_run(out, run, values[at], width);
			groups = at + run;
		}
		at += run;
	}
	if (n > groups)
		encode_put_groups(out, values + groups, n - groups, width);
}

/* --- deltas --- */

/* Differences wrap around, at the size of the column's type. */
static int64_t difference(int64_t later, int64_t earlier, bool narrow)
{
	uint64_t delta = (uint64_t)later - (uint64_t)earlier;

	return narrow ? (int32_t)(uint32_t)delta : (int64_t)delta;
}

static void put_block(struct pq_bytes *out, const int64_t *values, size_t n, bool narrow)
{
	uint64_t rest[BLOCK] = {0};
	uint8_t widths[MINIBLOCKS] = {0};
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < n; i++) {
		int64_t delta = difference(values[i + 1], values[i], narrow);

		least = delta < least ? delta : least;
	}
	for (size_t i = 0; i < n; i++) {
		unsigned width;

		rest[i] = (uint64_t)difference(difference(values[i + 1], values[i], narrow), least, narrow);
		if (narrow)
			rest[i] = (uint32_t)rest[i];
		width = pq_width(rest[i]);
		if (width > widths[i / MINIBLOCK])
			widths[i / MINIBLOCK] = (uint8_t)width;
	}
	pq_put_varint(out, pq_zigzag(least));
	pq_put(out, widths, sizeof(widths));
	for (unsigned i = 0; i < MINIBLOCKS; i++)
		encode_pack(out, rest + i * MINIBLOCK, MINIBLOCK, widths[i]);
}

void pq_put_deltas(struct pq_bytes *out, const int64_t *values, size_t n, bool narrow)
{
	pq_put_varint(out, BLOCK);
	pq_put_varint(out, MINIBLOCKS);
	pq_put_varint(out, n);
	pq_put_varint(out, n ? pq_zigzag(values[0]) : 0);
	for (size_t at = 0; at + 1 < n; at += BLOCK)
		put_block(out, values + at, n - 1 - at < BLOCK ? n - 1 - at : BLOCK, narrow);
}
