/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* probe_points_find(): the sequence of the search. */
#include <errno.h>

#include "code/isa/probe_walk.h"

/* Compilers may let unreachable code jump to the address after the end. */
static bool is_past_end(const struct probe_walk *walk, uint64_t address)
{
	for (unsigned i = 0; i < walk->npieces; i++) {
		if (address == walk->pieces[i].start + walk->pieces[i].size)
			return true;
	}
	return false;
}

static int end_by_jump(struct probe_walk *walk, const struct code_jump *jump)
{
	if (jump->condition == NO_CONDITION_CODE)
		return walk_refuse(walk, jump->from, walk->ops->no_condition_code);
	return walk_add_end(walk, jump->from, jump->condition);
}

/* Decides whether a jump stays inside, leads to another piece, or ends the call. */
static int settle_jump(struct probe_walk *walk, struct code_jump *jump)
{
	const struct code_source *source = walk->source;
	int64_t distance = source->distance(source->ctx, jump->from);
	struct code_range range;

	if (walk_piece_of(walk, jump->to)) {
		jump->again = jump->to == walk->pieces[0].start && distance == walk->ops->return_distance &&
			      walk->ops->makes_frame(walk);
		return jump->again ? end_by_jump(walk, jump) : 0;
	}
	if (source->part(source->ctx, jump->to, &range))
		return walk_add_piece(walk, range.start, range.end);
	if (distance == DISTANCE_UNKNOWN)
		return walk_refuse(walk, jump->from, "it is unclear whether the jump stays in the function");
	if (distance == walk->ops->return_distance)
		return end_by_jump(walk, jump);
	if (source->range(source->ctx, jump->to, &range))
		return walk_add_piece(walk, range.start, range.end);
	if (is_past_end(walk, jump->to))
		return 0;
	return walk_refuse(walk, jump->from, "it is unclear where the jump leads");
}

/* Scans pieces until there are no new ones: each may have jumps to further pieces. */
static int scan_all(struct probe_walk *walk)
{
	unsigned scanned = 0, settled = 0;
	int rc = 0;

	while (rc == 0 && (scanned < walk->npieces || settled < walk->njumps)) {
		if (scanned < walk->npieces) {
			rc = walk->ops->scan(walk, &walk->pieces[scanned++]);
			continue;
		}
		rc = settle_jump(walk, &walk->jumps[settled]);
		settled++;
	}
	return rc;
}

/*
 * If data or foreign code was decoded as instructions, a jump into the middle of an instruction reveals it.
 */
static int check_jumps(const struct probe_walk *walk)
{
	for (unsigned i = 0; i < walk->njumps; i++) {
		const struct code_piece *to = walk_piece_of(walk, walk->jumps[i].to);

		if (to && to->begins && !to->begins[walk->jumps[i].to - to->start])
			return walk_refuse(walk, walk->jumps[i].from,
					   "a jump into the middle of an instruction");
	}
	return 0;
}

static int probe_walk_find_begin(struct probe_walk *walk)
{
	uint64_t entry = walk->pieces[0].start;

	if (walk_is_jumped_to(walk, entry, entry))
		return walk_refuse(walk, entry, "a loop begins at the function's entry");
	return walk->ops->choose_begin(walk);
}

/*
 * The kernel does not define the order of two programs at one address. There, one program handles begin and
 * end.
 */
static int separate_ends(struct probe_walk *walk)
{
	struct probe_points *points = walk->points;
	unsigned kept = 0;

	for (unsigned i = 0; i < points->n; i++) {
		struct probe_point *end = &points->ends[i];

		if (end->address != points->begin.address) {
			points->ends[kept++] = *end;
			continue;
		}
		if (end->condition)
			return walk_refuse(walk, end->address,
					   "its first instruction is a jump that may leave it");
		points->ends_there = true;
	}
	points->n = kept;
	return 0;
}

int probe_points_find(const struct code_source *source, struct code_range range, struct probe_points *points,
		      struct error *err)
{
	struct probe_walk walk = {.source = source,
				  .ops = source->arm64 ? &probe_walk_arm64 : &probe_walk_x86,
				  .points = points,
				  .err = err};
	int rc;

	*points = (struct probe_points){.n = 0};
	rc = walk_add_piece(&walk, range.start, range.end);
	if (rc == 0)
		rc = scan_all(&walk);
	if (rc == 0)
		rc = check_jumps(&walk);
	if (rc == 0)
		rc = probe_walk_find_begin(&walk);
	if (rc == 0)
		rc = separate_ends(&walk);
	walk_free(&walk);
	return rc;
}
