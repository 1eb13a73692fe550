/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Facts about a function whose arguments are read. */
#ifndef GOTRACE_TARGET_FUNCTIONS_CALL_FACTS_H
#define GOTRACE_TARGET_FUNCTIONS_CALL_FACTS_H

#include "target/functions/call_abi.h"

struct native_dwarf;

struct call_facts {
	struct call_abi abi;
	bool has_receiver; /* its first parameter is the receiver of a Go method */
	bool receiver_is_pointer;
	bool is_generic; /* Go: a dictionary precedes the parameters */
	bool is_copy;    /* a copy made by the compiler, which may take other arguments than the original */
	struct native_dwarf *dwarf; /* debug information of its file, or NULL */
	uint64_t entry, begin;      /* link-time addresses of the function and of the probe */
	uint32_t written;           /* bitmap of registers that code before the probe changes, by number */
};

/* Sets the facts that a Go function's name shows: whether it is generic, and whether it is a method. */
void call_facts_of_go(struct call_facts *facts, const char *name);

#endif
