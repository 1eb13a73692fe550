/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How a program reads what it needs where the compiler has inlined the probed function: the cookie of such a
 * probe. Shared by the BPF programs and user space.
 */
#ifndef GOTRACE_COPY_PLACE_H
#define GOTRACE_COPY_PLACE_H

/* The low byte is the register that holds the object, numbered as in machine code. */
#define COPY_REGISTER 0xffu
/* At the jump behind a compare-and-swap: the change was made if the zero flag is 0. */
#define COPY_IF_CHANGED 0x100u
/* At such a jump, the status that the goroutine had before. */
#define COPY_OLD_SHIFT 16
#define COPY_OLD       0xffu
/*
 * The upper half is signed: the distance from the probe to the return address that stands for the probed
 * function in a stack, or an argument of that function. The argument may also be in the register, or in a
 * slot of the stack at this distance above the stack pointer.
 */
#define COPY_UPPER       32
#define COPY_IN_REGISTER 0x200u
#define COPY_IN_SLOT     0x400u

#endif
