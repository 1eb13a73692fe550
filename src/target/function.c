/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/function.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "code/isa/arm64.h"
#include "code/isa/x86.h"
#include "target/private.h"
#include "util/suggest.h"
#include "util/utf8.h"

enum { MAX_SHOWN = 4 };
/* Condition codes of a stack pointer above its limit: `ja`, and arm64's `hi`. */
enum { ABOVE_X86 = 7, ABOVE_ARM64 = 8 };

const uint8_t *target_function_bytes(const struct target *target, uint64_t address, size_t size)
{
	uint64_t entry = address + target->bias;
	struct code code;

	return target_code_at(target, entry, entry + size, &code) ? NULL : code.bytes;
}

bool target_function_pointer(const struct target *target, uint64_t address, uint64_t *to)
{
	return image_pointer(&target->image->elf, address, to);
}

int target_function_delta(const struct target *target, uint64_t address, uint32_t *delta)
{
	return functab_sp_delta(target->functab, address + target->bias, delta);
}

bool target_function_offset(const struct target *target, uint64_t address, uint64_t *offset)
{
	return image_code_offset(&target->image->elf, address, offset);
}

/* --- by name --- */

/*
 * Whether the name ends with `end` at a word boundary: "conn).serve", "(*conn).serve" and "serve" match
 * "net/http.(*conn).serve", but "erve" does not.
 */
static bool function_is_end(const char *name, const char *end)
{
	size_t len = strlen(name), tail = strlen(end);

	if (!tail || tail >= len || strcmp(name + len - tail, end) != 0)
		return false;
	return strchr("./*(", name[len - tail - 1]) != NULL;
}

struct ends {
	char list[256]; /* the first matches, for messages */
	unsigned n;
	size_t index; /* of the last match */
};

static void find_ends(const struct functab *tab, const char *end, struct ends *ends)
{
	uint64_t entry, last;
	const char *name;
	size_t len = 0;

	*ends = (struct ends){.n = 0};
	for (size_t i = 0; i < functab_count(tab); i++) {
		if (functab_entry(tab, i, &entry, &last, &name) || !function_is_end(name, end))
			continue;
		ends->index = i;
		if (ends->n++ < MAX_SHOWN && len < sizeof(ends->list))
			len += (size_t)snprintf(ends->list + len, sizeof(ends->list) - len, "%s%.*s",
						len ? ", " : "", text_fit(name, 60), name);
	}
}

/* Whether the function is inlined at every call: its name is still in the table's strings. */
static bool is_inlined(const struct target *target, const char *name)
{
	const struct module *module = &target->image->module;
	const uint8_t *table = image_bytes(&target->image->elf, module->pclntab, module->pclntab_size);
	size_t len = strlen(name);

	for (const uint8_t *at = table, *end = table + module->pclntab_size; table && at < end;) {
		at = memmem(at, (size_t)(end - at), name, len + 1);
		if (!at)
			return false;
		if (at > table && at[-1] == '\0')
			return true;
		at++;
	}
	return false;
}

/* Gets the last part of a name in lower case. Returns false if it is empty or too long to compare. */
static bool function_fold(const char *name, char part[EDITS_LETTERS + 1])
{
	const char *last = strrchr(name, '.');
	size_t len = strlen(last = last ? last + 1 : name);

	for (size_t i = 0; i <= len && len <= EDITS_LETTERS; i++)
		part[i] = (char)tolower((unsigned char)last[i]);
	return len && len <= EDITS_LETTERS;
}

/* Finds the names whose last part differs least from the wanted one, by at most a third of its letters. */
static void find_near(const struct functab *tab, const char *wanted, struct ends *ends)
{
	char word[EDITS_LETTERS + 1], part[EDITS_LETTERS + 1];
	uint64_t entry, last;
	const char *name;
	unsigned nearest, edits;
	size_t len = 0;

	*ends = (struct ends){.n = 0};
	if (!function_fold(wanted, word))
		return;
	nearest = (unsigned)strlen(word) / 3;
	for (size_t i = 0; i < functab_count(tab); i++) {
		if (functab_entry(tab, i, &entry, &last, &name) || !function_fold(name, part))
			continue;
		edits = edits_between(word, part);
		if (edits > nearest)
			continue;
		if (edits < nearest)
			ends->n = 0, len = 0;
		nearest = edits;
		if (ends->n++ < MAX_SHOWN && len < sizeof(ends->list))
			len += (size_t)snprintf(ends->list + len, sizeof(ends->list) - len, "%s%.*s",
						len ? ", " : "", text_fit(name, 60), name);
	}
}

/* Finds functions of package main, without methods and closures. */
static void find_in_main(const struct functab *tab, struct ends *ends)
{
	uint64_t entry, last;
	const char *name;
	size_t len = 0;

	*ends = (struct ends){.n = 0};
	for (size_t i = 0; i < functab_count(tab) && ends->n < MAX_SHOWN; i++) {
		if (functab_entry(tab, i, &entry, &last, &name) || strncmp(name, "main.", 5) != 0 ||
		    strpbrk(name + 5, ".(["))
			continue;
		ends->n++;
		len += (size_t)snprintf(ends->list + len, sizeof(ends->list) - len, "%s%.*s", len ? ", " : "",
					text_fit(name, 60), name);
		if (len >= sizeof(ends->list))
			return;
	}
}

static int function_refuse_unknown(const struct target *target, const char *name, struct error *err)
{
	struct ends ends;
	const char *last = strrchr(name, '.'), *what = "; similar names: ";

	if (is_inlined(target, name))
		return error_set(err, ENOENT,
				 "%.*s has no code of its own: the compiler inlined it into its callers. "
				 "Name one of these, or build it with //go:noinline",
				 text_fit(name, 200), name);
	find_ends(target->functab, last ? last + 1 : name, &ends);
	if (!ends.n)
		find_near(target->functab, name, &ends);
	if (!ends.n) {
		find_in_main(target->functab, &ends);
		what = "; its own are, among others: ";
	}
	return error_set(err, ENOENT, "no function %.*s in the program%s%s", text_fit(name, 200), name,
			 ends.n ? what : "", ends.n ? ends.list : "");
}

/* --- where a call begins --- */

static bool is_conditional(const struct code *code, size_t at)
{
	struct arm64_insn arm64;
	struct x86_insn x86;

	if (code->arm64)
		return arm64_decode(code->bytes + at, code->size - at, &arm64) &&
		       arm64_is_conditional(&arm64);
	return x86_decode(code->bytes + at, code->size - at, &x86) && x86_is_jcc(&x86);
}

/*
 * A call begins at the push that makes the frame, after the stack check. Up to Go 1.20 and on arm64 no push
 * is probed, so it begins at the jump of the check: a `jbe` or `b.ls` to the code that grows the stack, or in
 * Go 1.4 a `ja` around that code. That code may also yield the P, and it restarts the function. The stack is
 * large enough if the stack pointer is above the limit.
 */
static void find_begin(const struct code *code, struct target_function *found)
{
	size_t at;

	found->begin = found->entry;
	if (code_prologue(code, &at) && (code->arm64 || code_stack_check(code, &at)))
		return; /* neither a frame nor a check */
	found->begin = found->entry + at;
	if (is_conditional(code, at))
		found->condition = 1 + (code->arm64 ? ABOVE_ARM64 : ABOVE_X86);
}

static int function_take(const struct target *target, size_t index, struct target_function *found,
			 struct error *err)
{
	uint64_t entry = 0, end = 0;
	struct code code;

	*found = (struct target_function){.name = ""};
	if (functab_entry(target->functab, index, &entry, &end, &found->name) ||
	    target_code_at(target, entry, end, &code))
		return error_set(err, ENOENT, "the code of %.*s is not in the file",
				 text_fit(found->name, 200), found->name);
	found->entry = code.address;
	/*
	 * Up to Go 1.5, zeros fill the gap between two functions, and the table counts them as part of the
	 * first.
	 */
	while (target->go_minor <= 5 && code.size > 1 && code.bytes[code.size - 1] == 0)
		code.size--;
	found->end = code.address + code.size;
	find_begin(&code, found);
	return 0;
}

int target_function(const struct target *target, const char *name, struct target_function *found,
		    struct error *err)
{
	uint64_t entry, end;
	struct ends ends;
	size_t index;

	if (functab_find(target->functab, name, &entry, &end) == 0 &&
	    functab_lookup(target->functab, entry, &index) == 0)
		return function_take(target, index, found, err);
	find_ends(target->functab, name, &ends);
	if (ends.n == 1)
		return function_take(target, ends.index, found, err);
	if (ends.n)
		return error_set(err, EEXIST, "%.*s is the name of several functions: %s",
				 text_fit(name, 200), name, ends.list);
	return function_refuse_unknown(target, name, err);
}
