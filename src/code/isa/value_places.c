/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/isa/value_places.h"

#include <stddef.h>

/* struct pt_regs of Linux, arch/x86/include/asm/ptrace.h. */
enum { R15, R14, R13, R12, BP, BX, R11, R10, R9, R8, AX, CX, DX, SI, DI };

static const uint8_t go_amd64[] = {AX, BX, CX, DI, SI, R8, R9, R10, R11};
static const uint8_t c_amd64[] = {DI, SI, DX, CX, R8, R9};
/* By register number in machine code. The stack pointer is not included: the caller's is known. */
static const int8_t machine_amd64[] = {AX, CX, DX, BX, -1, BP, SI, DI, R8, R9, R10, R11, R12, R13, R14, R15};
/* DWARF has its own order of the first eight (System V ABI for x86-64, figure 3.36). */
static const int8_t dwarf_amd64[] = {AX, DX, CX, BX, SI, DI, BP, -1, R8, R9, R10, R11, R12, R13, R14, R15};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

int place_of_go_word(bool arm64, unsigned i)
{
	if (arm64)
		return i < 16 ? (int)i : PLACE_NONE;
	return i < COUNT(go_amd64) ? go_amd64[i] : PLACE_NONE;
}

int place_of_c_word(bool arm64, unsigned i)
{
	if (arm64)
		return i < 8 ? (int)i : PLACE_NONE;
	return i < COUNT(c_amd64) ? c_amd64[i] : PLACE_NONE;
}

int place_of_dwarf_register(bool arm64, uint64_t number)
{
	if (arm64)
		return number < 31 ? (int)number : PLACE_NONE;
	return number < COUNT(dwarf_amd64) ? dwarf_amd64[number] : PLACE_NONE;
}

int place_register(bool arm64, int place)
{
	if (arm64)
		return place;
	for (size_t i = 0; i < COUNT(machine_amd64); i++) {
		if (machine_amd64[i] == place)
			return (int)i;
	}
	return PLACE_NONE;
}

const char *place_name(uint8_t place)
{
#if defined(__aarch64__)
	static const char *const names[] = {"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",
					    "x8",  "x9",  "x10", "x11", "x12", "x13", "x14", "x15",
					    "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
					    "x24", "x25", "x26", "x27", "x28", "x29", "x30"};
#else
	static const char *const names[] = {"r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10",
					    "r9",  "r8",  "rax", "rcx", "rdx", "rsi", "rdi"};
#endif

	return place < COUNT(names) ? names[place] : "?";
}
