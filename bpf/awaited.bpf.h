/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a parking goroutine waits for: the first argument of the function that called gopark (chanrecv,
 * chansend, semacquire1, notifyListWait). The function uses this argument again after the wait, so it has
 * stored it in the memory that its caller reserved for it, right above the return address. Register arguments
 * have such a slot, too (Go 1.17 to 1.27 cmd/compile/abi-internal.md, "spill space"); up to 1.16 it is the
 * argument itself. The walk has already copied that part of the stack.
 */
#ifndef GOTRACE_AWAITED_BPF_H
#define GOTRACE_AWAITED_BPF_H

#include "bpf/go.bpf.h"
#include "bpf/plugins.bpf.h"
#include "bpf/scratch.bpf.h"

#if defined(__TARGET_ARCH_arm64)
#define HAS_SPILL_SLOTS false /* they are in the caller's frame; not verified */
#else
#define HAS_SPILL_SLOTS true
#endif

/* Frames to search for gopark's caller: gopark and goparkunlock may come first, or be inlined in it. */
#define AWAITED_FRAMES 3

static __always_inline uint8_t awaited_kind(uint64_t pc)
{
	if (lies_in(pc, places.semacquire, places.semacquire_end) || in_plugin(pc, PLUGIN_SEMACQUIRE))
		return AWAITED_SEMAPHORE;
	if (lies_in(pc, places.chanrecv, places.chanrecv_end) ||
	    lies_in(pc, places.chansend, places.chansend_end) || in_plugin(pc, PLUGIN_CHANRECV) ||
	    in_plugin(pc, PLUGIN_CHANSEND))
		return AWAITED_CHANNEL;
	if (lies_in(pc, places.notify_wait, places.notify_wait_end) || in_plugin(pc, PLUGIN_NOTIFY_WAIT))
		return AWAITED_NOTIFY_LIST;
	return AWAITED_NONE;
}

/* Reads a word from the chunk. Returns false if the address is not in it. */
static __always_inline bool chunk_word(const struct scratch *s, uint64_t address, uint64_t *word)
{
	uint64_t at = address - s->base;

	if (at & 7 || at >> 3 > s->whole_frames)
		return false;
	*word = s->chunk[at >> 3 & (CHUNK_WORDS - 1)];
	return true;
}

/* Called when the chunk with gopark's frame has been read. */
static __always_inline void find_awaited(struct scratch *s)
{
	uint64_t bp = s->parked_bp, pc = s->pcs[0], address;

	s->parked_bp = 0;
	if (!HAS_SPILL_SLOTS)
		return;
	for (uint32_t i = 0; i < AWAITED_FRAMES; i++) {
		uint8_t kind = awaited_kind(pc);

		if (kind && chunk_word(s, bp + 16, &address) && address && !(address >> AWAITED_BITS))
			s->awaited = AWAITED(kind, address);
		if (kind || !chunk_word(s, bp + 8, &pc) || !chunk_word(s, bp, &bp))
			return;
	}
}

#endif
