/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Indices of strings and stacks that stay valid over generations, and what a stack stands for. */
#ifndef GOTRACE_ANALYSIS_NAMES_H
#define GOTRACE_ANALYSIS_NAMES_H

#include "analysis/state.h"

/* The name of code without one. */
#define UNNAMED_CODE "unnamed code"

uint32_t name_string(struct analysis *a, uint32_t id); /* id in the tables -> id in a->strings */
const char *name_text(const struct analysis *a, uint32_t string);
/* Returns the index in a->stacks of a stack id of the tables; 0 = none. */
uint32_t stack_index(struct analysis *a, uint32_t id);
const struct code_place *stack_site(const struct analysis *a, uint32_t stack);
/* The stack of a waker is that of a timer's interrupt: the time of a wait was up. */
bool stack_is_timer(const struct analysis *a, uint32_t stack);
/* The site is the program's own code. */
bool stack_is_in_program(const struct analysis *a, uint32_t stack);
/* The line of the innermost frame of this function (a string); 0: it is not in the stack. */
uint32_t stack_line_in(const struct analysis *a, uint32_t stack, uint32_t func);
/* The library function that the site is in, such as "sql.(*DB).conn"; func is 0 if that says nothing more. */
const struct code_place *stack_leaf(const struct analysis *a, uint32_t stack);
const struct code_place *stack_near(const struct analysis *a, uint32_t stack);
const struct code_place *stack_root(const struct analysis *a, uint32_t stack);
/* True if both stacks are of one line of the program's own code. */
bool stacks_share_site(const struct analysis *a, uint32_t one, uint32_t other);
/* Returns the index in the stack of the function of the program's own that calls the one at `frame`; the
 * number of frames if none does. */
uint32_t stack_own_caller(const struct analysis *a, uint32_t stack, uint32_t frame);
/* Outermost frames do not count: they are those of a thread or goroutine, whatever it does. */
bool stack_has_function(const struct analysis *a, uint32_t stack, uint32_t func); /* func: string; 0 = none */
/* Whether `is` is true for the name of any frame. */
bool stack_any(const struct analysis *a, uint32_t stack, bool (*is)(const char *func));
bool stack_calls(const struct analysis *a, uint32_t stack, const char *func);    /* of any frame */
bool stack_mentions(const struct analysis *a, uint32_t stack, const char *text); /* in a name of any frame */
/* True of a waker that cancels a context because its deadline has passed (Go src/context/context.go). */
bool stack_is_deadline(const struct analysis *a, uint32_t stack);
/* True in a select with a default case, or in a receive or send that was compiled from one. */
bool stack_polls(const struct analysis *a, uint32_t stack);

#endif
