/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "export/parquet/lives.h"

#include <stdlib.h>

#include "util/array.h"

int lives_init(struct lake_lives *lives)
{
	*lives = (struct lake_lives){.n = 1};
	return array_grow(&lives->all, &lives->capacity, 1, sizeof(*lives->all));
}

void lives_free(struct lake_lives *lives)
{
	for (size_t i = 0; i < lives->n && lives->all; i++) {
		free(lives->all[i].waits);
		free(lives->all[i].pairs);
	}
	free(lives->all);
	map64_free(&lives->by_serial);
}

struct lake_life *lives_find(const struct lake_lives *lives, uint32_t serial)
{
	uint32_t slot = map64_find(&lives->by_serial, serial);

	return slot == MAP64_NONE ? NULL : &lives->all[slot];
}

struct lake_life *lives_at(struct lake_lives *lives, uint32_t serial)
{
	struct lake_life *life = lives_find(lives, serial);
	uint32_t slot = lives->unused;

	if (life)
		return life;
	if (!slot) {
		if (array_grow(&lives->all, &lives->capacity, lives->n + 1, sizeof(*lives->all)))
			return NULL;
		slot = (uint32_t)lives->n++;
	}
	if (map64_set(&lives->by_serial, serial, slot))
		return NULL;
	life = &lives->all[slot];
	lives->unused = life->next;
	*life = (struct lake_life){.serial = serial, .kind = SPENT_UNWATCHED};
	return life;
}

void lives_release(struct lake_lives *lives, struct lake_life *life)
{
	if (!life->gone || life->requests)
		return;
	map64_del(&lives->by_serial, life->serial);
	free(life->waits);
	free(life->pairs);
	*life = (struct lake_life){.next = lives->unused};
	lives->unused = (uint32_t)(life - lives->all);
}

struct spent_times lives_spent(const struct lake_life *life, uint64_t now)
{
	struct spent_times spent = life->before;

	if (!life->gone && now > life->since && life->since)
		spent.ns[life->kind] += now - life->since;
	return spent;
}
