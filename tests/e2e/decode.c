/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Compares the decoder's instruction boundaries with those of `objdump -dw`, read on standard input, function
 * by function. Prints how many are the same, how many the decoder rejects, how many objdump itself does not
 * consider code, and how many are different. Fails if any are different.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "code/isa/x86.h"

enum { MAX_CODE = 4 << 20 };

struct listing { /* a function, as objdump shows it */
	char name[256];
	uint8_t bytes[MAX_CODE + 16];
	bool begins[MAX_CODE + 16]; /* an instruction */
	size_t size;
	bool bad;
};

struct tally {
	unsigned long same, refused, bad, different, instructions;
};

static void judge(const struct listing *listing, struct tally *tally)
{
	struct x86_insn insn;

	if (listing->size == 0)
		return;
	if (listing->bad) {
		tally->bad++;
		return;
	}
	for (size_t at = 0; at < listing->size; at += insn.length) {
		if (!x86_decode(listing->bytes + at, listing->size - at, &insn)) {
			tally->refused++;
			printf("refused: %s+0x%zx: %02x %02x %02x %02x %02x\n", listing->name, at,
			       listing->bytes[at], listing->bytes[at + 1], listing->bytes[at + 2],
			       listing->bytes[at + 3], listing->bytes[at + 4]);
			return;
		}
		tally->instructions++;
		if (insn.map == X86_ONE && insn.opcode == 0x9b)
			continue; /* objdump joins it with the next instruction */
		if (at + insn.length < listing->size && listing->begins[at + insn.length])
			continue;
		if (at + insn.length == listing->size)
			continue;
		tally->different++;
		printf("different: %s+0x%zx: %02x %02x %02x %02x %02x: %u bytes\n", listing->name, at,
		       listing->bytes[at], listing->bytes[at + 1], listing->bytes[at + 2],
		       listing->bytes[at + 3], listing->bytes[at + 4], insn.length);
		return;
	}
	tally->same++;
}

/* `  401000:<tab>f3 0f 1e fa    <tab>endbr64` */
static void add_line(struct listing *listing, const char *line)
{
	const char *text = strchr(line, '\t');
	unsigned byte;
	int used;

	if (!text || listing->size >= MAX_CODE)
		return;
	listing->begins[listing->size] = true;
	for (text++; sscanf(text, "%2x%n", &byte, &used) == 1 && used == 2; text += 3) {
		listing->bytes[listing->size++] = (uint8_t)byte;
		listing->begins[listing->size] = false;
		if (text[2] != ' ' || text[3] == ' ' || text[3] == '\t')
			break;
	}
	if (strstr(line, "(bad)") || strstr(line, ".byte"))
		listing->bad = true;
}

static void begin(struct listing *listing, const char *line)
{
	const char *name = strchr(line, '<');

	snprintf(listing->name, sizeof(listing->name), "%s", name ? name : line);
	listing->name[strcspn(listing->name, ">\n")] = '\0';
	memset(listing->bytes, 0, listing->size + 16);
	listing->size = 0;
	listing->bad = false;
}

int main(void)
{
	static struct listing listing;
	struct tally tally = {0};
	char line[4096];

	while (fgets(line, sizeof(line), stdin)) {
		size_t len = strlen(line);

		if (line[0] == ' ') {
			add_line(&listing, line);
		} else if (len > 2 && strcmp(line + len - 3, ">:\n") == 0) {
			judge(&listing, &tally);
			begin(&listing, line);
		}
	}
	judge(&listing, &tally);
	printf("functions: %lu the same (%lu instructions), %lu refused, %lu not code, %lu different\n",
	       tally.same, tally.instructions, tally.refused, tally.bad, tally.different);
	return tally.different || tally.same == 0;
}
