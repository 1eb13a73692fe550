/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What is known of a function whose arguments are to be read. */
#ifndef GOTRACE_NATIVE_CALL_FACTS_H
#define GOTRACE_NATIVE_CALL_FACTS_H

#include "native/call_abi.h"

struct native_dwarf;

/* What is known of a function. */
struct call_facts {
	struct call_abi abi;
	bool has_receiver; /* its first parameter is the receiver of a Go method */
	bool receiver_is_pointer;
	bool is_generic;            /* Go: a dictionary comes before the parameters */
	bool is_closure;            /* Go: its name does not say of what kind it is */
	bool is_copy;               /* made by the compiler: it may take other arguments than the function */
	struct native_dwarf *dwarf; /* of its file; NULL: none */
	uint64_t entry, begin;      /* link-time addresses: of the function, of the probe */
	uint32_t written;           /* registers that the code in front of the probe changes, by number */
};

/* Fills in what a Go function's name says: whether it is a method, or generic. */
void call_facts_of_go(struct call_facts *facts, const char *name);

#endif
