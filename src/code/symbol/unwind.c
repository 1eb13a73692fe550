/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Finds return addresses in the bytes of a goroutine's stack by the function table's stack pointer deltas, as
 * the runtime's gentraceback does (Go 1.4 runtime/traceback.go). Frame pointers do not exist before Go 1.7
 * and are unreliable before 1.14. The step for each address is cached, because a program blocks and calls in
 * few places.
 */
#include "code/symbol/unwind.h"

#include <stdlib.h>
#include <string.h>

#include "util/map64.h"

/* Root functions: topofstack, Go 1.4 to 1.16 runtime/traceback.go; later TOPFRAME in runtime/asm_amd64.s. */
static const char *const tops[] = {"runtime.goexit", "runtime.mstart", "runtime.mcall", "runtime.morestack",
				   "runtime.rt0_go"};
#define NTOPS (sizeof(tops) / sizeof(tops[0]))
/* The collector of 1.5 to 1.8 replaces a return address by this function (runtime/mstkbar.go). */
#define BARRIER "runtime.stackBarrier"

struct known_code {
	uint64_t entry, end;
};

struct unwinder {
	const struct functab *tab;
	struct known_code tops[NTOPS], barrier;
	struct map64 steps; /* address -> step: a delta, or one of the two values below */
};

/* Distinct from deltas, which are multiples of 8. */
enum { STEP_TOP = 1, STEP_UNKNOWN = 2 };

/* When this is reached, the cache is emptied (about 2 MB). */
#define MAX_STEPS (1u << 16)

struct unwinder *unwinder_new(const struct functab *tab)
{
	struct unwinder *unwinder = calloc(1, sizeof(*unwinder));

	if (!unwinder)
		return NULL;
	unwinder->tab = tab;
	for (size_t i = 0; i < NTOPS; i++)
		functab_find(tab, tops[i], &unwinder->tops[i].entry, &unwinder->tops[i].end);
	functab_find(tab, BARRIER, &unwinder->barrier.entry, &unwinder->barrier.end);
	return unwinder;
}

void unwinder_free(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	map64_free(&unwinder->steps);
	free(unwinder);
}

static bool known_code_is_within(const struct known_code *place, uint64_t pc)
{
	return pc >= place->entry && pc < place->end;
}

static uint32_t find_step(const struct unwinder *unwinder, uint64_t pc)
{
	uint32_t delta;

	for (size_t i = 0; i < NTOPS; i++) {
		if (known_code_is_within(&unwinder->tops[i], pc))
			return STEP_TOP;
	}
	return functab_sp_delta(unwinder->tab, pc, &delta) == 0 ? delta : STEP_UNKNOWN;
}

/* A step that cannot be cached is computed again each time. */
static uint32_t step_at(struct unwinder *unwinder, uint64_t pc)
{
	const uint32_t *known = map64_get(&unwinder->steps, pc);
	uint32_t step;

	if (known)
		return *known;
	step = find_step(unwinder, pc);
	if (unwinder->steps.count >= MAX_STEPS)
		map64_clear(&unwinder->steps);
	if (pc)
		map64_set(&unwinder->steps, pc, step);
	return step;
}

/* The word at the address; false if it is not entirely in the copy. */
static bool stack_word(const struct stack_bytes *stack, uint64_t at, uint64_t *word)
{
	if (at < stack->lo || stack->hi < sizeof(*word) || at > stack->hi - sizeof(*word))
		return false;
	memcpy(word, stack->bytes + (at - stack->lo), sizeof(*word));
	return true;
}

/* The return address that a barrier replaced; 0 if unknown. */
static uint64_t behind_barrier(const struct stack_bytes *stack, uint64_t at)
{
	for (size_t i = 0; i < stack->nbarriers; i++) {
		if (stack->barriers[i].at == at)
			return stack->barriers[i].pc;
	}
	return 0;
}

size_t unwinder_walk(struct unwinder *unwinder, uint64_t pc, uint64_t sp, const struct stack_bytes *stack,
		     uint64_t *pcs, size_t max, bool *whole)
{
	size_t n = 0;

	*whole = false;
	while (n < max) {
		uint32_t step = step_at(unwinder, pc);

		if (step == STEP_UNKNOWN)
			break;
		pcs[n++] = pc;
		if (step == STEP_TOP) {
			*whole = true;
			break;
		}
		/* The copy ends below 2^64, so sp cannot wrap around. */
		if (sp > UINT64_MAX - step || !stack_word(stack, sp + step, &pc))
			break;
		sp += step;
		if (known_code_is_within(&unwinder->barrier, pc))
			pc = behind_barrier(stack, sp);
		sp += sizeof(pc);
	}
	return n;
}
