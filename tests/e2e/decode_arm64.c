/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Compares what the decoder says of each instruction with `objdump -d -M no-aliases` of an arm64 program,
 * read on standard input: the operation and its operands. Prints how many are the same, how many the decoder
 * does not know (only some may be unknown, see must_be_known()), and how many are different. Fails if any are
 * different.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/isa/arm64.h"

struct line {
	uint64_t address;
	uint32_t word;
	char name[32], operands[128];
};

struct tally {
	unsigned long same, other, unknown, different;
};

/* `   64bfc:<tab>aa1e03e3 <tab>orr<tab>x3, xzr, x30  // ...` */
static bool parse(const char *text, struct line *line)
{
	char *comment;

	line->operands[0] = '\0';
	if (sscanf(text, " %" SCNx64 ":\t%x \t%31s\t%127[^\n]", &line->address, &line->word, line->name,
		   line->operands) < 3)
		return false;
	comment = strstr(line->operands, " <");
	if (comment)
		*comment = '\0';
	comment = strstr(line->operands, "\t//");
	if (comment)
		*comment = '\0';
	return true;
}

static const char *reg(uint8_t number, bool wide, bool stack)
{
	static char names[8][8];
	static unsigned next;
	char *name = names[next++ % 8];

	if (number == 31)
		snprintf(name, 8, "%s", stack ? (wide ? "sp" : "wsp") : wide ? "xzr" : "wzr");
	else
		snprintf(name, 8, "%c%u", wide ? 'x' : 'w', number);
	return name;
}

static void show_memory(const struct arm64_insn *insn, char *text, size_t size)
{
	const char *base = reg(insn->rn, true, true);

	if (insn->after)
		snprintf(text, size, "[%s], #%" PRId64, base, insn->imm);
	else if (insn->before || insn->imm)
		snprintf(text, size, "[%s, #%" PRId64 "]%s", base, insn->imm, insn->before ? "!" : "");
	else
		snprintf(text, size, "[%s]", base);
}

/* The operands that objdump should print; empty if they are not compared. */
static void show(const struct line *line, const struct arm64_insn *insn, char *text, size_t size)
{
	uint64_t to = line->address + (uint64_t)insn->imm;
	const char *d = reg(insn->rd, insn->wide, false), *m = reg(insn->rm, insn->wide, false);
	char memory[64];

	show_memory(insn, memory, sizeof(memory));
	text[0] = '\0';
	switch (insn->op) {
	case ARM64_ADR:
		snprintf(text, size, "%s, %" PRIx64, d, to);
		break;
	case ARM64_ADRP:
		snprintf(text, size, "%s, %" PRIx64, d, (line->address & ~(uint64_t)0xfff) + (uint64_t)insn->imm);
		break;
	case ARM64_ADD:
	case ARM64_SUB:
		if (insn->imm < 4096)
			snprintf(text, size, "%s, %s, #0x%" PRIx64, reg(insn->rd, insn->wide, true),
				 reg(insn->rn, insn->wide, true), (uint64_t)insn->imm);
		break;
	case ARM64_CMP:
		if (insn->imm < 4096)
			snprintf(text, size, "%s, %s, #0x%" PRIx64, d, reg(insn->rn, insn->wide, true), (uint64_t)insn->imm);
		break;
	case ARM64_ADD_REG:
		snprintf(text, size, "%s, %s, %s", d, reg(insn->rn, insn->wide, false), m);
		break;
	case ARM64_CMP_REG:
		snprintf(text, size, "%s, %s, %s", d, reg(insn->rn, insn->wide, strstr(line->operands, "sp")), m);
		break;
	case ARM64_MOVE:
		snprintf(text, size, "%s, %s, %s", d, reg(31, insn->wide, false), m);
		break;
	case ARM64_LOAD:
	case ARM64_STORE:
	case ARM64_LOAD_ACQUIRE:
	case ARM64_STORE_RELEASE:
		snprintf(text, size, "%s, %s", d, memory);
		break;
	case ARM64_LOAD_PAIR:
	case ARM64_STORE_PAIR:
		snprintf(text, size, "%s, %s, %s", d, m, memory);
		break;
	case ARM64_LOAD_LITERAL:
	case ARM64_CBZ:
	case ARM64_CBNZ:
		snprintf(text, size, "%s, %" PRIx64, d, to);
		break;
	case ARM64_TBZ:
	case ARM64_TBNZ:
		snprintf(text, size, "%s, #%u, %" PRIx64, reg(insn->rd, insn->bit >= 32, false), insn->bit, to);
		break;
	case ARM64_B:
	case ARM64_BL:
	case ARM64_B_COND:
		snprintf(text, size, "%" PRIx64, to);
		break;
	case ARM64_BR:
	case ARM64_BLR:
		snprintf(text, size, "%s", reg(insn->rn, true, false));
		break;
	default:
		break;
	}
}

/* Names that objdump may use for an operation. A name that ends with * is a prefix. */
static const char *const names[][5] = {
	[ARM64_NOP] = {"nop", "hint", "yield", "bti"},
	[ARM64_ADR] = {"adr"},
	[ARM64_ADRP] = {"adrp"},
	[ARM64_ADD] = {"add"},
	[ARM64_SUB] = {"sub"},
	[ARM64_CMP] = {"subs"},
	[ARM64_ADD_REG] = {"add"},
	[ARM64_CMP_REG] = {"subs"},
	[ARM64_MOVE] = {"orr"},
	[ARM64_CONSTANT] = {"movz", "movn", "orr"},
	[ARM64_LOAD] = {"ldr*", "ldur*"},
	[ARM64_STORE] = {"str*", "stur*"},
	[ARM64_LOAD_INDEX] = {"ldr*"},
	[ARM64_STORE_INDEX] = {"str*"},
	[ARM64_LOAD_PAIR] = {"ldp"},
	[ARM64_STORE_PAIR] = {"stp"},
	[ARM64_LOAD_ACQUIRE] = {"ldar*"},
	[ARM64_STORE_RELEASE] = {"stlr*"},
	[ARM64_LOAD_LITERAL] = {"ldr"},
	[ARM64_B] = {"b"},
	[ARM64_BL] = {"bl"},
	[ARM64_B_COND] = {"b.*"},
	[ARM64_CBZ] = {"cbz"},
	[ARM64_CBNZ] = {"cbnz"},
	[ARM64_TBZ] = {"tbz"},
	[ARM64_TBNZ] = {"tbnz"},
	[ARM64_BR] = {"br"},
	[ARM64_BLR] = {"blr"},
	[ARM64_RET] = {"ret"},
};

static bool has_name(const struct arm64_insn *insn, const char *name)
{
	for (unsigned i = 0; i < 5 && names[insn->op][i]; i++) {
		const char *known = names[insn->op][i], *star = strchr(known, '*');

		if (star ? strncmp(name, known, (size_t)(star - known)) == 0 : strcmp(name, known) == 0)
			return true;
	}
	return false;
}

/* movz x0, #0x1, lsl #16; movn; orr x0, xzr, #0x3 */
static bool same_constant(const struct line *line, const struct arm64_insn *insn)
{
	const char *number = strchr(line->operands, '#'), *shift = strstr(line->operands, "lsl #");
	uint64_t value = number ? strtoull(number + 1, NULL, 16) : 0;

	if (shift)
		value <<= atoi(shift + 5);
	if (line->name[3] == 'n')
		value = ~value;
	if (!insn->wide)
		value = (uint32_t)value;
	return number && (uint64_t)insn->imm == value;
}

/* Returns whether the decoder must know the instruction. */
static bool must_be_known(const struct line *line)
{
	static const char *const must[] = {"adr", "adrp", "b", "bl", "br", "blr", "ret", "cbz", "cbnz", "tbz",
					   "tbnz", "movz", "movn", "ldar", "ldarb", "stlr", "nop"};

	for (size_t i = 0; i < sizeof(must) / sizeof(must[0]); i++) {
		if (strcmp(line->name, must[i]) == 0)
			return true;
	}
	/* Loads and stores of whole registers, but not of vectors. */
	return strncmp(line->name, "b.", 2) == 0 ||
	       ((line->operands[0] == 'x' || line->operands[0] == 'w') &&
		(strcmp(line->name, "ldr") == 0 || strcmp(line->name, "str") == 0 ||
		 strcmp(line->name, "ldp") == 0 || strcmp(line->name, "stp") == 0 ||
		 strcmp(line->name, "ldrb") == 0 || strcmp(line->name, "ldur") == 0));
}

static bool agrees(const struct line *line, const struct arm64_insn *insn)
{
	char text[128];
	size_t len;

	if (!has_name(insn, line->name))
		return false;
	if (insn->op == ARM64_CONSTANT)
		return same_constant(line, insn);
	show(line, insn, text, sizeof(text));
	len = strlen(text);
	/* The extension of a register may follow. */
	return strncmp(text, line->operands, len) == 0 &&
	       (line->operands[len] == '\0' || line->operands[len] == ',' || len == 0);
}

static void judge(const struct line *line, struct tally *tally)
{
	uint8_t bytes[] = {(uint8_t)line->word, (uint8_t)(line->word >> 8), (uint8_t)(line->word >> 16),
			   (uint8_t)(line->word >> 24)};
	struct arm64_insn insn;
	bool known = arm64_decode(bytes, sizeof(bytes), &insn) && insn.op > ARM64_OTHER_ACCESS;

	if (known ? agrees(line, &insn) : !must_be_known(line)) {
		tally->same += known;
		tally->other += !known && insn.op != ARM64_UNKNOWN;
		tally->unknown += !known && insn.op == ARM64_UNKNOWN;
		return;
	}
	if (tally->different++ < 20)
		printf("different: %" PRIx64 ": %08x %s %s: operation %u\n", line->address, line->word,
		       line->name, line->operands, insn.op);
}

int main(void)
{
	struct tally tally = {0};
	char text[4096];

	while (fgets(text, sizeof(text), stdin)) {
		struct line line;

		if (text[0] == ' ' && parse(text, &line) && line.name[0] != '.')
			judge(&line, &tally);
	}
	printf("instructions: %lu the same, %lu others, %lu unknown, %lu different\n", tally.same, tally.other,
	       tally.unknown, tally.different);
	return tally.different || tally.same == 0;
}
