/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/this_machine.h"

#include <elf.h>
#include <string.h>

#include "unit.h"

static size_t put_note(unsigned char *to, uint32_t type, const char *name, const void *text, uint32_t size)
{
	const Elf64_Nhdr note = {.n_namesz = (uint32_t)strlen(name) + 1, .n_descsz = size, .n_type = type};
	size_t at = sizeof(note);

	memset(to, 0, 64);
	memcpy(to, &note, sizeof(note));
	memcpy(to + at, name, note.n_namesz);
	at += (note.n_namesz + 3) & ~3u;
	memcpy(to + at, text, size);
	return at + ((size + 3) & ~3u);
}

/* The build id is found after notes of another name or type; nothing beyond the end is read. */
static void test_build_id(void **state)
{
	unsigned char notes[256];
	char text[BUILD_ID_TEXT];
	size_t n = put_note(notes, 6, "Linux", "\1\2\3", 3);

	(void)state;
	n += put_note(notes + n, NT_GNU_BUILD_ID, "Gnu", "\4", 1);
	n += put_note(notes + n, NT_GNU_BUILD_ID, "GNU", "\x4a\x5a\x00\xff\x01", 5);
	build_id_find(notes, n, text);
	assert_string_equal(text, "4a5a00ff01");
	for (size_t i = 0; i < n; i++) {
		unsigned char *cut = test_malloc(i + 1);

		memcpy(cut, notes, i);
		build_id_find(cut, i, text);
		assert_string_equal(text, "");
		test_free(cut);
	}
}

static void test_this_machine(void **state)
{
	struct this_machine machine;

	(void)state;
	this_machine_read(&machine);
	assert_string_equal(machine.facts.system, "Linux");
	assert_true(machine.facts.host[0] && machine.facts.release[0] && machine.facts.cpus > 0);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_build_id),
					  cmocka_unit_test(test_this_machine)};

UNIT_TESTS(tests, NULL, NULL);
