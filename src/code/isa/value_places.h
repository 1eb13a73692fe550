/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where a call's arguments are when it begins, as indices of words in the kernel's struct pt_regs
 * (value_rule.place). PLACE_NONE: there is no such register, or a hit does not have it.
 */
#ifndef GOTRACE_CODE_ISA_VALUE_PLACES_H
#define GOTRACE_CODE_ISA_VALUE_PLACES_H

#include <stdbool.h>
#include <stdint.h>

enum { PLACE_NONE = -1 };

/* Number of registers that pass floating-point arguments; hits do not have these registers. */
enum { GO_FLOATS_AMD64 = 15, GO_FLOATS_ARM64 = 16, C_FLOATS = 8 };

/* Word i of Go's arguments in registers, from Go 1.17 on (src/cmd/compile/abi-internal.md). */
int place_of_go_word(bool arm64, unsigned i);
/* Word i of a C function's arguments (System V ABI for x86-64, 3.2.3; AAPCS64, 6.8.2). */
int place_of_c_word(bool arm64, unsigned i);
/* A register by its number in DWARF. */
int place_of_dwarf_register(bool arm64, uint64_t number);
/* The register's number in machine code, for probe_points.written. */
int place_register(bool arm64, int place);
/* The name of the register in this word of struct pt_regs, of the architecture that gotrace runs on. */
const char *place_name(uint8_t place);

#endif
