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

#include <ctype.h>
#include <stdlib.h>

enum {
	SHARING_SHIFT = 3,        /* eight CPUs per ring; on many machines they also share a cache */
	DEFAULT_BYTES = 16 << 20, /* of all rings: 230,000 records */
	/* At least: eight busy CPUs fill it in 36 ms, and it is drained every 12 ms. */
	DEFAULT_EACH = 4 << 20,
	MIN_EACH = 64 << 10,
	/*
	 * Bytes that a CPU writes per us if its program does nothing but switch goroutines (measured: 0.9
	 * million hits per second on two CPUs, of 72 bytes). They fill three quarters of an idle ring at
	 * most.
	 */
	CPU_BYTES_PER_US = 33,
	MIN_IDLE_NS = 4000000, /* looking at tiny rings more often would take too much CPU time */
	/* Each round of an idle recorder costs 0.3 ms of CPU time in three processes. */
	MAX_IDLE_NS = 250000000,
	/* The draining thread runs so soon after it was woken; it has priority over most others. */
	WOKEN_US = 10000,
};

#define CPU_LIMIT 65536 /* more than any kernel supports */

unsigned rings_count_cpus(const char *list)
{
	unsigned long last = CPU_LIMIT;
	char *end = (char *)list;

	do {
		if (!isdigit((unsigned char)*list))
			return 0;
		last = strtoul(list, &end, 10);
		list = end + 1;
	} while (last < CPU_LIMIT && (*end == ',' || *end == '-'));
	return last < CPU_LIMIT && (*end == '\0' || *end == '\n') ? (unsigned)last + 1 : 0;
}

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
	plan.cpus = plan.count == 1 ? cpus : 1u << plan.shift;
	plan.bytes = size_of_each(plan.count, bytes);
	return plan;
}

uint64_t rings_wake_at(const struct rings_plan *plan)
{
	return (uint64_t)(plan->bytes * RING_FILL_TO_DRAIN);
}

uint64_t rings_idle_ns(const struct rings_plan *plan)
{
	/* ns in which three quarters fill: after the wakeup at a quarter, or from the last round on. */
	uint64_t ns = plan->bytes * 750ull / CPU_BYTES_PER_US / (plan->cpus ? plan->cpus : 1);

	if (ns >= WOKEN_US * 1000ull)
		return MAX_IDLE_NS;
	ns = ns > MIN_IDLE_NS ? ns : MIN_IDLE_NS;
	return ns < MAX_IDLE_NS ? ns : MAX_IDLE_NS;
}
