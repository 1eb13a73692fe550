/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Evaluates a jump condition from the processor's flags. */
#ifndef GOTRACE_CONDITION_BPF_H
#define GOTRACE_CONDITION_BPF_H

#include "bpf/base.bpf.h"

#if defined(__TARGET_ARCH_arm64)

/* True if b.cond is about to branch (Arm ARM, C1.2.4). */
static __always_inline bool is_taken(uint64_t flags, uint32_t code)
{
	bool negative = flags >> 31 & 1, zero = flags >> 30 & 1, carry = flags >> 29 & 1,
	     overflow = flags >> 28 & 1, holds;

	switch (code >> 1) {
	case 0:
		holds = zero;
		break;
	case 1:
		holds = carry;
		break;
	case 2:
		holds = negative;
		break;
	case 3:
		holds = overflow;
		break;
	case 4:
		holds = carry && !zero;
		break;
	case 5:
		holds = negative == overflow;
		break;
	case 6:
		holds = negative == overflow && !zero;
		break;
	default:
		return true;
	}
	return holds != (code & 1);
}

#else

/* True if a conditional jump is about to be taken (Intel SDM volume 1, appendix B). */
static __always_inline bool is_taken(uint64_t flags, uint32_t code)
{
	bool carry = flags & 1, parity = flags >> 2 & 1, zero = flags >> 6 & 1, sign = flags >> 7 & 1,
	     overflow = flags >> 11 & 1, holds;

	switch (code >> 1) {
	case 0:
		holds = overflow;
		break;
	case 1:
		holds = carry;
		break;
	case 2:
		holds = zero;
		break;
	case 3:
		holds = carry || zero;
		break;
	case 4:
		holds = sign;
		break;
	case 5:
		holds = parity;
		break;
	case 6:
		holds = sign != overflow;
		break;
	default:
		holds = zero || sign != overflow;
	}
	return holds != (code & 1);
}

#endif

#endif
