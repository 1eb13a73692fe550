/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/awaited.h"

#include <string.h>

#include "target/private.h"

enum { FRAMES = 3 }; /* gopark, goparkunlock and their caller; either may be inlined in it */

static bool awaited_lies_in(uint64_t pc, uint64_t begin, uint64_t end)
{
	return pc >= begin && pc < end;
}

static uint8_t awaited_kind_of(const struct target *target, uint64_t pc)
{
	const struct go_places *places = &target->places;

	if (awaited_lies_in(pc, places->semacquire, places->semacquire_end) ||
	    plugins_have(target, PLUGIN_SEMACQUIRE, pc))
		return AWAITED_SEMAPHORE;
	if (awaited_lies_in(pc, places->chanrecv, places->chanrecv_end) ||
	    awaited_lies_in(pc, places->chansend, places->chansend_end) ||
	    plugins_have(target, PLUGIN_CHANRECV, pc) || plugins_have(target, PLUGIN_CHANSEND, pc))
		return AWAITED_CHANNEL;
	if (awaited_lies_in(pc, places->notify_wait, places->notify_wait_end) ||
	    plugins_have(target, PLUGIN_NOTIFY_WAIT, pc))
		return AWAITED_NOTIFY_LIST;
	return AWAITED_NONE;
}

static bool awaited_word_at(const struct memory_piece *stack, uint64_t address, uint64_t *word)
{
	if (address % sizeof(*word) || address < stack->address || stack->size < sizeof(*word) ||
	    address - stack->address > stack->size - sizeof(*word))
		return false;
	memcpy(word, stack->bytes + (address - stack->address), sizeof(*word));
	return true;
}

uint64_t awaited_read(const struct target *target, const struct g_view *view,
		      const struct memory_piece *stack)
{
	uint64_t bp = view->bp, pc = view->pc, address;

	/* On arm64, arguments are spilled elsewhere. */
	if ((view->status != G_STATUS_WAITING && view->status != G_STATUS_LEAKED) || target->image->elf.arm64)
		return 0;
	for (unsigned i = 0; i < FRAMES; i++) {
		uint8_t kind = awaited_kind_of(target, pc);

		if (kind && awaited_word_at(stack, bp + 16, &address) && address &&
		    !(address >> AWAITED_BITS))
			return AWAITED(kind, address);
		if (kind || !awaited_word_at(stack, bp + 8, &pc) || !awaited_word_at(stack, bp, &bp))
			return 0;
	}
	return 0;
}
