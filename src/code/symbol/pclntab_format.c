/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/symbol/pclntab_format.h"

#include <stddef.h>

/*
 * One row per layout; for each magic number, the oldest first. Go 1.4 runtime/runtime.h (struct Func), later
 * runtime/runtime2.go and symtab.go.
 */
static const struct pclntab_format formats[] = {
	{
		/* No inlining is recorded. nfuncdata is a word; its low byte is enough. */
		.magic = 0xfffffffb,
		.first = 4,
		.last = 8,
		.header_size = 0x10,
		.nfunc = 0x08,
		.rows = 0x10,
		.word_size = 8,
		.func_size = 0x28,
		.func_name = 0x08,
		.func_pcsp = 0x14,
		.func_pcfile = 0x18,
		.func_pcln = 0x1c,
		.func_npcdata = 0x20,
		.func_nfuncdata = 0x24,
		.funcdata_size = 8,
	},
	{
		/* Adds inline trees. */
		.magic = 0xfffffffb,
		.first = 9,
		.last = 9,
		.header_size = 0x10,
		.nfunc = 0x08,
		.rows = 0x10,
		.word_size = 8,
		.func_size = 0x28,
		.func_name = 0x08,
		.func_pcsp = 0x14,
		.func_pcfile = 0x18,
		.func_pcln = 0x1c,
		.func_npcdata = 0x20,
		.func_nfuncdata = 0x24,
		.funcdata_size = 8,
		.inline_size = 16,
		.inline_name = 12,
		.inline_parent = 0,
		.inline_file = 4,
		.inline_line = 8,
	},
	{
		/* Adds FuncIDs, in a word. */
		.magic = 0xfffffffb,  .first = 10,
		.last = 11,           .header_size = 0x10,
		.nfunc = 0x08,        .rows = 0x10,
		.word_size = 8,       .func_size = 0x28,
		.func_name = 0x08,    .func_pcsp = 0x14,
		.func_pcfile = 0x18,  .func_pcln = 0x1c,
		.func_npcdata = 0x20, .func_nfuncdata = 0x24,
		.func_id = 0x10,      .funcdata_size = 8,
		.inline_size = 16,    .inline_name = 12,
		.inline_parent = 0,   .inline_file = 4,
		.inline_line = 8,
	},
	{
		/* FuncIDs are a byte, and also in the trees; nfuncdata is a byte. */
		.magic = 0xfffffffb,  .first = 12,
		.last = 15,           .header_size = 0x10,
		.nfunc = 0x08,        .rows = 0x10,
		.word_size = 8,       .func_size = 0x28,
		.func_name = 0x08,    .func_pcsp = 0x14,
		.func_pcfile = 0x18,  .func_pcln = 0x1c,
		.func_npcdata = 0x20, .func_nfuncdata = 0x27,
		.func_id = 0x24,      .funcdata_size = 8,
		.inline_size = 20,    .inline_id = 2,
		.inline_name = 12,    .inline_parent = 16,
	},
	{
		/* Adds pcHeader; files are listed by compilation unit. */
		.magic = 0xfffffffa, .first = 16,          .last = 17,
		.header_size = 0x40, .nfunc = 0x08,        .names = 0x18,
		.cutab = 0x20,       .files = 0x28,        .pctab = 0x30,
		.funcs = 0x38,       .word_size = 8,       .func_size = 0x2c,
		.func_name = 0x08,   .func_pcsp = 0x14,    .func_pcfile = 0x18,
		.func_pcln = 0x1c,   .func_npcdata = 0x20, .func_nfuncdata = 0x2b,
		.func_cu = 0x24,     .func_id = 0x28,      .funcdata_size = 8,
		.inline_size = 20,   .inline_id = 2,       .inline_name = 12,
		.inline_parent = 16,
	},
	{
		/* Offsets replace addresses; the word textStart precedes the names. */
		.magic = 0xfffffff0, .first = 18,          .last = 19,
		.header_size = 0x48, .nfunc = 0x08,        .names = 0x20,
		.cutab = 0x28,       .files = 0x30,        .pctab = 0x38,
		.funcs = 0x40,       .word_size = 4,       .func_size = 0x28,
		.func_name = 0x04,   .func_pcsp = 0x10,    .func_pcfile = 0x14,
		.func_pcln = 0x18,   .func_npcdata = 0x1c, .func_nfuncdata = 0x27,
		.func_cu = 0x20,     .func_id = 0x24,      .funcdata_size = 4,
		.inline_size = 20,   .inline_id = 2,       .inline_name = 12,
		.inline_parent = 16,
	},
	{
		/* Adds startLine to _func; smaller trees. */
		.magic = 0xfffffff1, .first = 20,          .last = UINT8_MAX,
		.header_size = 0x48, .nfunc = 0x08,        .names = 0x20,
		.cutab = 0x28,       .files = 0x30,        .pctab = 0x38,
		.funcs = 0x40,       .word_size = 4,       .func_size = 0x2c,
		.func_name = 0x04,   .func_pcsp = 0x10,    .func_pcfile = 0x14,
		.func_pcln = 0x18,   .func_npcdata = 0x1c, .func_nfuncdata = 0x2b,
		.func_cu = 0x20,     .func_id = 0x28,      .funcdata_size = 4,
		.inline_size = 16,   .inline_id = 0,       .inline_name = 4,
		.inline_parent = 8,
	},
};

/*
 * Newest first: the first row whose release is not newer than the program's applies. Ids: runtime/symtab.go,
 * from 1.21 on internal/abi/symtab.go. Tables: runtime/funcdata.h. Frames: gentraceback
 * (runtime/traceback.go), CallersFrames (runtime/symtab.go), and their use in runtime/trace.go.
 */
static const struct release_rules release_rules[] = {
	{
		.go_minor = 25,
		.short_names = true,
		.ids = {.gopanic = 10, .panicwrap = 15, .sigpanic = 20, .wrapper = 23},
		.pcdata_inline = 2,
		.funcdata_inline = 3,
		.funcdata_wrapped = 7,
		.elide = ELIDE_BY_ID,
	},
	{
		.go_minor = 22,
		.short_names = true,
		.ids = {.gopanic = 10, .panicwrap = 15, .sigpanic = 19, .wrapper = 22},
		.pcdata_inline = 2,
		.funcdata_inline = 3,
		.funcdata_wrapped = 7,
		.elide = ELIDE_BY_ID,
	},
	{
		.go_minor = 21,
		.short_names = true,
		.ids = {.gopanic = 9, .panicwrap = 14, .sigpanic = 18, .wrapper = 21},
		.pcdata_inline = 2,
		.funcdata_inline = 3,
		.funcdata_wrapped = 7,
		.elide = ELIDE_BY_ID,
	},
	{
		.go_minor = 18,
		.ids = {.gopanic = 9, .panicwrap = 14, .sigpanic = 18, .wrapper = 21},
		.pcdata_inline = 2,
		.funcdata_inline = 3,
		.funcdata_wrapped = 7,
		.elide = ELIDE_BY_ID,
		.at_return = true,
		.exact_faults = true,
	},
	{
		.go_minor = 17,
		.ids = {.gopanic = 9, .panicwrap = 15, .sigpanic = 19, .wrapper = 22},
		.pcdata_inline = 2,
		.funcdata_inline = 3,
		.funcdata_wrapped = NO_TABLE,
		.elide = ELIDE_BY_ID,
		.at_return = true,
		.exact_faults = true,
	},
	{
		.go_minor = 16,
		.ids = {.gopanic = 18, .panicwrap = 19, .sigpanic = 9, .wrapper = 22},
		.pcdata_inline = 2,
		.funcdata_inline = 3,
		.funcdata_wrapped = NO_TABLE,
		.elide = ELIDE_BY_ID,
		.at_return = true,
		.exact_faults = true,
	},
	{
		.go_minor = 14,
		.ids = {.gopanic = 18, .panicwrap = 19, .sigpanic = 9, .wrapper = 22},
		.pcdata_inline = 2,
		.funcdata_inline = 4,
		.funcdata_wrapped = NO_TABLE,
		.elide = ELIDE_BY_ID,
		.at_return = true,
		.exact_faults = true,
	},
	{
		.go_minor = 13,
		.ids = {.gopanic = 18, .panicwrap = 19, .sigpanic = 9, .wrapper = 20},
		.pcdata_inline = 2,
		.funcdata_inline = 4,
		.funcdata_wrapped = NO_TABLE,
		.elide = ELIDE_BY_ID,
		.at_return = true,
	},
	{
		.go_minor = 12,
		.ids = {.gopanic = 18, .panicwrap = 19, .sigpanic = 9, .wrapper = 20},
		.pcdata_inline = 1,
		.funcdata_inline = 2,
		.funcdata_wrapped = NO_TABLE,
		.elide = ELIDE_BY_ID,
		.at_return = true,
	},
	{
		.go_minor = 10,
		.pcdata_inline = 1,
		.funcdata_inline = 2,
		.funcdata_wrapped = NO_TABLE,
		.elide = ELIDE_BY_FILE,
		.at_return = true,
		.tree_by_index = true,
		.exact_faults = true,
	},
	{
		.go_minor = 9,
		.pcdata_inline = 1,
		.funcdata_inline = 2,
		.funcdata_wrapped = NO_TABLE,
		.elide = ELIDE_NONE,
		.at_return = true,
		.tree_by_index = true,
		.exact_faults = true,
	},
	{
		.go_minor = 4,
		.pcdata_inline = NO_TABLE,
		.funcdata_inline = NO_TABLE,
		.funcdata_wrapped = NO_TABLE,
		.elide = ELIDE_NONE,
		.at_return = true,
		.written_raw = true,
	},
};

const struct pclntab_format *pclntab_format_find(uint32_t magic, uint32_t go_minor)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		const struct pclntab_format *format = &formats[i];

		if (format->magic == magic &&
		    (go_minor == 0 || (go_minor >= format->first && go_minor <= format->last)))
			return format;
	}
	return NULL;
}

const struct release_rules *release_rules_find(uint32_t go_minor)
{
	for (size_t i = 0; i < sizeof(release_rules) / sizeof(release_rules[0]); i++) {
		if (go_minor >= release_rules[i].go_minor)
			return &release_rules[i];
	}
	return NULL;
}
