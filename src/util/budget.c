/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/budget.h"

#include "util/clock.h"

/* Reading the clock is a system call of about 0.2 us. A step of most loops takes a tenth of that. */
#define STEPS_PER_CHECK 512

uint64_t budget_thread_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

bool budget_take(struct budget *budget, uint64_t bytes)
{
	if (bytes > budget->bytes)
		return false;
	budget->bytes -= bytes;
	return true;
}

void budget_give(struct budget *budget, uint64_t bytes)
{
	budget->bytes += bytes;
}

static uint64_t used_ns(const struct budget *budget)
{
	return budget_thread_ns() - budget->started_ns;
}

void budget_start(struct budget *budget)
{
	budget->started_ns = budget_thread_ns();
	budget->steps = 0;
	budget->spent = budget->cpu_ns == 0;
}

void budget_stop(struct budget *budget)
{
	uint64_t used = used_ns(budget);

	budget->cpu_ns = used < budget->cpu_ns ? budget->cpu_ns - used : 0;
	budget->spent |= budget->cpu_ns == 0;
}

bool budget_step(struct budget *budget)
{
	if (budget->spent)
		return false;
	if (++budget->steps < STEPS_PER_CHECK)
		return true;
	budget->steps = 0;
	budget->spent = used_ns(budget) >= budget->cpu_ns;
	return !budget->spent;
}

void budget_earn(struct budget *budget, uint64_t ns, uint64_t most)
{
	uint64_t space = budget->cpu_ns < most ? most - budget->cpu_ns : 0;

	budget->cpu_ns += ns < space ? ns : space;
}
