/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "analysis/top.h"

struct top *top_add(struct top tops[TOPS], uint64_t key, uint64_t weight)
{
	struct top *least = &tops[0];

	for (unsigned i = 0; i < TOPS; i++) {
		if (tops[i].n && tops[i].key == key) {
			tops[i].weight += weight;
			tops[i].n++;
			return &tops[i];
		}
		if (tops[i].weight < least->weight || !tops[i].n)
			least = &tops[i];
		if (!least->n)
			break;
	}
	/* The new key inherits the weight of the one it replaces, so that late heavy keys are kept. */
	*least = (struct top){.key = key, .weight = least->weight + weight, .over = least->weight, .n = 1};
	return least;
}

void top_merge(struct top to[TOPS], const struct top from[TOPS])
{
	for (unsigned i = 0; i < TOPS; i++) {
		struct top *top = from[i].n ? top_add(to, from[i].key, from[i].weight) : NULL;

		if (!top)
			continue;
		top->over += from[i].over;
		top->n += from[i].n - 1;
	}
}

uint64_t top_sure(const struct top *top)
{
	return top->weight - top->over;
}

const struct top *top_first(const struct top tops[TOPS])
{
	const struct top *first = &tops[0];

	for (unsigned i = 1; i < TOPS; i++) {
		if (tops[i].n && tops[i].weight > first->weight)
			first = &tops[i];
	}
	return first;
}
