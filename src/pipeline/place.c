/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "pipeline/place.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "code/symbol/library.h"
#include "util/text.h"

enum { FUNCTION_WIDTH = 60, FILE_WIDTH = 40, CALL_WIDTH = 60 };

struct placed_frames {
	const struct strtab *strings;
	const struct frame *frames;
	int n;
	int first; /* index of the first frame that is not the kernel's */
};

static const char *function(const struct placed_frames *stack, int i)
{
	return strtab_get(stack->strings, stack->frames[i].func, NULL);
}

static const char *file(const struct placed_frames *stack, int i)
{
	return strtab_get(stack->strings, stack->frames[i].file, NULL);
}

/* Returns the index of the program's own function that the stack is in, or n if there is none. */
static int find_own(const struct placed_frames *stack)
{
	enum code_owner best = CODE_OF_LIBRARY;
	int own = stack->n;

	for (int i = stack->first; i < stack->n && best > CODE_OF_PROGRAM; i++) {
		enum code_owner owner = library_owner(function(stack, i), file(stack, i));

		if (owner < best) {
			best = owner;
			own = i;
		}
	}
	return own;
}

/* Returns the first function outside Go's runtime, which acts for the program everywhere, or "". */
static const char *find_outside_runtime(const struct placed_frames *stack)
{
	for (int i = stack->first; i < stack->n; i++) {
		if (!library_in_package(function(stack, i), "runtime"))
			return function(stack, i);
	}
	return "";
}

static void place_text_append(struct place_text *place, const char *before, const char *name, unsigned width,
			      const char *after)
{
	size_t len = strlen(place->text);

	snprintf(place->text + len, sizeof(place->text) - len, "%s%s%s", before,
		 text_name(name, strlen(name), width).bytes, after);
}

static void append_line(struct place_text *place, const struct placed_frames *stack, int i)
{
	const char *path = file(stack, i), *slash = strrchr(path, '/');
	char line[16];

	/* A frame without code has its own name as its file. */
	if (!*path || !stack->frames[i].line || strcmp(path, function(stack, i)) == 0)
		return;
	snprintf(line, sizeof(line), ":%u)", stack->frames[i].line);
	place_text_append(place, " (", slash ? slash + 1 : path, FILE_WIDTH, line);
}

struct place_text place_of(const struct strtab *strings, const struct frame *frames, int n)
{
	struct placed_frames stack = {.strings = strings, .frames = frames, .n = n};
	struct place_text place = {""};
	const char *called;
	int own;

	while (stack.first < n && library_is_kernel(function(&stack, stack.first), file(&stack, stack.first)))
		stack.first++;
	if (stack.first == n)
		return place;
	own = find_own(&stack);
	if (own == n) {
		place_text_append(&place, "", find_outside_runtime(&stack), FUNCTION_WIDTH, "");
		return place;
	}
	place_text_append(&place, "", function(&stack, own), FUNCTION_WIDTH, "");
	append_line(&place, &stack, own);
	called = own > stack.first ? function(&stack, own - 1) : "";
	if (*called && *called != '[' && !library_in_package(called, "runtime"))
		place_text_append(&place, " in ", called, FUNCTION_WIDTH, "");
	if (own - 1 > stack.first && library_is_call(function(&stack, stack.first)))
		place_text_append(&place, ": ", function(&stack, stack.first), CALL_WIDTH, "");
	return place;
}
