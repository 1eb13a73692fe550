/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Walks the words of a RAW_STACK_SCAN (bpf/record.h) like the runtime's own traceback, by the distance from
 * the stack pointer to the return address at each PC (pcsp tables; gentraceback, Go 1.4 … 1.20
 * runtime/traceback.go).
 */
#include "code/symbol/scan.h"

#include <string.h>

#include "bpf/record.h"
#include "code/symbol/pclntab.h"
#include "code/symbol/pcvalue.h"

#define WORD     8u
#define PLACE_PC ((1ull << SCANNED_SHIFT) - 1)

/*
 * The word at this distance from the leaf's stack pointer, in words; 0: none. The words are sorted by
 * distance.
 */
static uint64_t scan_word_at(const uint64_t *words, size_t n, uint64_t place)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (words[middle] >> SCANNED_SHIFT < place)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && words[low] >> SCANNED_SHIFT == place ? words[low] & PLACE_PC : 0;
}

/*
 * Gets the distance to the return address at the instruction before pc, in words. systemstack sets a
 * goroutine's PC to the entry of systemstack_switch. As look-ups use the byte before the PC, such a PC is
 * incremented.
 */
static bool find_depth(const struct functab *tab, uint64_t *pc, uint64_t *depth)
{
	struct function func;
	const char *name;
	size_t index;
	int32_t bytes;

	if (functab_lookup(tab, *pc, &index) == 0 && function_read(tab, index, &func) == 0 &&
	    func.entry == *pc)
		++*pc;
	else if (functab_lookup(tab, *pc - 1, &index) || function_read(tab, index, &func))
		return false;
	name = span_string(&tab->names, func.name);
	if (name && strcmp(name, "runtime.goexit") == 0)
		return false; /* above it are the goroutine's arguments and old stack contents */
	bytes = pcvalue_at(tab, &func, func.pcsp, *pc - 1);
	if (bytes < 0 || bytes % WORD)
		return false;
	*depth = (uint64_t)bytes / WORD;
	return true;
}

size_t scan_frames(const struct functab *tab, const uint64_t *words, size_t n, uint64_t *pcs, size_t max)
{
	uint64_t place = 0, depth, pc = n > 0 ? words[0] : 0;
	size_t count = 0, first = 1;
	bool named = n > 1 && words[1] >= SCANNED_FRAME;

	for (; first < n && words[first] >= SCANNED_FRAME && count < max; first++)
		pcs[count++] = words[first] & PLACE_PC;
	while (count < max && pc) {
		bool known = find_depth(tab, &pc, &depth);

		if (!named)
			pcs[count++] = pc;
		named = false;
		if (!known)
			break;
		place += depth;
		pc = scan_word_at(words + first, n - first, place);
		place++;
	}
	return count;
}
