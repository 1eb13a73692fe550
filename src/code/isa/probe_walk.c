/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/isa/probe_walk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "util/array.h"

enum {
	MAX_CODE = 4 << 20,  /* of one function, bytes */
	MAX_JUMPS = 1 << 18, /* of one function */
};

int walk_refuse(const struct probe_walk *walk, uint64_t address, const char *why)
{
	return error_set(walk->err, ENOTSUP, "%s (at 0x%" PRIx64 ")", why, address);
}

const struct code_piece *walk_piece_of(const struct probe_walk *walk, uint64_t address)
{
	for (unsigned i = 0; i < walk->npieces; i++) {
		const struct code_piece *piece = &walk->pieces[i];

		if (address - piece->start < piece->size)
			return piece;
	}
	return NULL;
}

int walk_add_piece(struct probe_walk *walk, uint64_t start, uint64_t end)
{
	struct code_piece *piece = &walk->pieces[walk->npieces];
	unsigned alignment = walk->ops->alignment;

	if (walk_piece_of(walk, start))
		return 0;
	if (walk->npieces == PROBE_POINTS_PIECES || end <= start || end - start > MAX_CODE ||
	    start % alignment)
		return walk_refuse(walk, start, "its code is too large, misaligned or in too many parts");
	*piece = (struct code_piece){.start = start, .size = (end - start) / alignment * alignment};
	piece->bytes = walk->source->bytes(walk->source->ctx, start, piece->size);
	if (!piece->bytes || !piece->size)
		return walk_refuse(walk, start, "its code is not in the file");
	if (alignment == 1) {
		piece->begins = calloc(1, piece->size);
		if (!piece->begins)
			return error_set(walk->err, ENOMEM, "out of memory");
	}
	walk->npieces++;
	return 0;
}

int walk_add_end(struct probe_walk *walk, uint64_t address, uint8_t condition)
{
	struct probe_points *points = walk->points;

	if (points->n == PROBE_POINTS_ENDS)
		return walk_refuse(walk, address, "it returns from too many places");
	points->ends[points->n++] = (struct probe_point){
		.address = address, .distance = walk->ops->return_distance, .condition = condition};
	return 0;
}

int walk_add_jump(struct probe_walk *walk, const struct code_jump *jump)
{
	if (walk->njumps >= MAX_JUMPS)
		return error_set(walk->err, ENOTSUP, "it has too many jumps");
	if (array_grow(&walk->jumps, &walk->capacity, walk->njumps + 1, sizeof(*walk->jumps)))
		return error_set(walk->err, ENOMEM, "out of memory");
	walk->jumps[walk->njumps++] = *jump;
	return 0;
}

bool walk_is_jumped_to(const struct probe_walk *walk, uint64_t first, uint64_t last)
{
	for (unsigned i = 0; i < walk->njumps; i++) {
		if (!walk->jumps[i].again && walk->jumps[i].to >= first && walk->jumps[i].to <= last)
			return true;
	}
	return false;
}

void walk_free(struct probe_walk *walk)
{
	for (unsigned i = 0; i < walk->npieces; i++)
		free(walk->pieces[i].begins);
	free(walk->jumps);
}
