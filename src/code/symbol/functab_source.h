/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The bytes of a function table, and facts about the program that it does not contain. */
#ifndef GOTRACE_CODE_SYMBOL_FUNCTAB_SOURCE_H
#define GOTRACE_CODE_SYMBOL_FUNCTAB_SOURCE_H

#include <stddef.h>
#include <stdint.h>

struct functab_source {
	const uint8_t *pclntab; /* not copied: must outlive the functab */
	size_t pclntab_size;
	const uint8_t *gofunc; /* bytes that contain the inline trees (functab_gofunc_range); NULL = none */
	size_t gofunc_size;
	uint64_t gofunc_address; /* address of the first gofunc byte; from 1.18 on moduledata.gofunc */
	uint64_t text, etext;    /* addresses of Go code in the process */
	uint64_t bias;           /* up to 1.17, added to the addresses in the table */
	/* 0 = unknown: names, addresses and stack pointer deltas are still correct, stacks are not. */
	uint32_t go_minor;
};

#endif
