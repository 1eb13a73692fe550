/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Throughput of a ring's lock when CPUs do nothing but write to it, in millions of records per second, as
 * measured with the kernel's own benchmark (tools/testing/selftests/bpf, bench rb-libbpf) and reported on
 * bpf@vger.kernel.org:
 *
 * 	CPUs                            1     2    4    8   16   32   52
 * 	Xeon (A. Nakryiko, 2020)       10.9   4.9  3.9  4.0  2.6  2.0  2.1
 * 	Sapphire Rapids (K. K. Dwivedi, 2025)
 * 	                               11.4   2.7  2.5  2.4  2.0  2.5  1.9
 * 	EPYC 9654 (Xu Kuohai, 2025)    11.6  15.8  6.7  2.9  1.9  1.3  1.2
 *
 * A CPU of a saturated server makes about 0.2 million hits per second (docs/costs.md: a third of its time
 * goes into them). Eight CPUs need 1.6 million, which a single lock provides on all of these machines;
 * sixteen need 3.2 million, which it provides on none.
 */
#include "capture/rings.h"

enum {
	SHARING_SHIFT = 3,        /* eight CPUs per ring; on many machines they also share a cache */
	DEFAULT_BYTES = 16 << 20, /* of all rings: 230,000 records */
	/* At least: eight busy CPUs fill it in 36 ms, and it is drained every 10 ms. */
	DEFAULT_EACH = 4 << 20,
	MIN_EACH = 64 << 10,
};

static unsigned count_with(unsigned cpus, unsigned shift)
{
	return ((cpus - 1) >> shift) + 1;
}

static uint32_t round_up(uint32_t bytes)
{
	uint32_t size = 4096;

	while (size < bytes && size < 1u << 30)
		size *= 2;
	return size;
}

static uint32_t size_of_each(unsigned count, uint32_t bytes)
{
	uint32_t least = bytes ? MIN_EACH : DEFAULT_EACH;
	uint32_t each = (bytes ? bytes : DEFAULT_BYTES) / count;

	return round_up(count > 1 && each < least ? least : each);
}

struct rings_plan rings_plan(unsigned cpus, unsigned wanted, uint32_t bytes)
{
	unsigned most = wanted && wanted < MAX_RINGS ? wanted : MAX_RINGS;
	struct rings_plan plan = {.shift = wanted ? 0 : SHARING_SHIFT};

	if (!cpus)
		cpus = 1;
	while (count_with(cpus, plan.shift) > most)
		plan.shift++;
	plan.count = count_with(cpus, plan.shift);
	plan.bytes = size_of_each(plan.count, bytes);
	return plan;
}
