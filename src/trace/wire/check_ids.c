/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Maps the file's ids of goroutines, Ps and threads to indices of the automaton. */
#include <errno.h>

#include "util/array.h"
#include "trace/wire/order_state.h"

uint32_t order_find_g(const struct order *order, uint64_t id)
{
	uint32_t index = map64_find(&order->g_index, id);

	return index != MAP64_NONE ? index : NO_G;
}

int32_t order_find_p(const struct order *order, uint64_t id)
{
	uint32_t index = map64_find(&order->p_index, id);

	return index != MAP64_NONE ? (int32_t)index : NO_P;
}

uint32_t order_find_m(const struct order *order, uint64_t id)
{
	uint32_t index = id == NO_ID ? MAP64_NONE : map64_find(&order->m_index, id);

	return index != MAP64_NONE ? index : NO_M;
}

int order_make_g(struct order *order, uint64_t id, uint32_t *index)
{
	*index = order_find_g(order, id);
	if (*index)
		return 0;
	if (order->ngs >= MAP64_NONE || sched_fit_gs(&order->sched, order->ngs + 1) ||
	    array_grow((void **)&order->gs, &order->g_capacity, order->ngs + 1, sizeof(*order->gs)) ||
	    map64_set(&order->g_index, id, (uint32_t)order->ngs))
		return -ENOMEM;
	*index = (uint32_t)order->ngs++;
	order->gs[*index] = (struct g_record){.id = id};
	return 0;
}

int order_make_p(struct order *order, uint64_t id, int32_t *index)
{
	*index = order_find_p(order, id);
	if (*index != NO_P)
		return 0;
	if (order->nps >= INT32_MAX || sched_fit_ps(&order->sched, order->nps + 1) ||
	    array_grow((void **)&order->ps, &order->p_capacity, order->nps + 1, sizeof(*order->ps)) ||
	    map64_set(&order->p_index, id, (uint32_t)order->nps))
		return -ENOMEM;
	*index = (int32_t)order->nps++;
	order->ps[*index] = (struct p_record){.id = id};
	return 0;
}

int order_thread(struct order *order, uint64_t m, uint32_t *index)
{
	*index = order_find_m(order, m);
	if (*index || m == NO_ID)
		return 0;
	if (order->nms >= MAP64_NONE || sched_fit_ms(&order->sched, order->nms + 1) ||
	    array_grow((void **)&order->m_ids, &order->m_capacity, order->nms + 1, sizeof(*order->m_ids)) ||
	    map64_set(&order->m_index, m, (uint32_t)order->nms))
		return -ENOMEM;
	*index = (uint32_t)order->nms++;
	order->m_ids[*index] = m;
	return 0;
}
