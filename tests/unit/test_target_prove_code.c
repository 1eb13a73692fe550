/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The proof of a layout by the code of a small program: where one field is elsewhere, it names that field. */

#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "target/prove.h"

#define TEXT   0x400000ull
#define EACH   128u /* bytes of a function */
#define HEADER 0x48u
#define FUNC   0x2cu
#define PAGE   4096u

/* newproc1 and the end of gopark, as Go 1.26.8 compiles them; the latter only in another function. */
enum { NEWPROC1, CASGSTATUS, HOST, FUNCTIONS };

static const uint8_t newproc1[] = {
	0x48, 0x89, 0x93, 0x98, 0x00, 0x00, 0x00, /* mov %rdx, 0x98(%rbx): goid */
	0x48, 0x8b, 0xb0, 0x98, 0x00, 0x00, 0x00, /* mov 0x98(%rax), %rsi: the parent's */
	0x48, 0x89, 0xb3, 0x18, 0x01, 0x00, 0x00, /* mov %rsi, 0x118(%rbx): parentGoid */
	0x48, 0x89, 0x8b, 0x20, 0x01, 0x00, 0x00, /* mov %rcx, 0x120(%rbx): gopc */
	0x48, 0x89, 0x8b, 0x30, 0x01, 0x00, 0x00, /* mov %rcx, 0x130(%rbx): startpc */
	0x48, 0x89, 0x83, 0x60, 0x01, 0x00, 0x00, /* mov %rax, 0x160(%rbx): labels */
	0xc6, 0x83, 0xbf, 0x00, 0x00, 0x00, 0x00, /* movb $0, 0xbf(%rbx): trackingSeq */
	0x49, 0x89, 0x91, 0x80, 0x01, 0x00, 0x00, /* mov %rdx, 0x180(%r9): goidcache */
	0x49, 0x89, 0x91, 0x88, 0x01, 0x00, 0x00, /* mov %rdx, 0x188(%r9): goidcacheend */
	0xc3,
};

static const uint8_t casgstatus[] = {
	0xf0, 0x0f, 0xb1, 0x88, 0x90, 0x00, 0x00, 0x00, /* lock cmpxchg %ecx, 0x90(%rax) */
	0x48, 0x8b, 0x90, 0x88, 0x01, 0x00, 0x00,       /* mov 0x188(%rax), %rdx: bubble */
	0xc3,
};

static const uint8_t host[] = {
	0x90,                                     /* of the host */
	0x88, 0x90, 0xb0, 0x00, 0x00, 0x00,       /* mov %dl, 0xb0(%rax): waitreason, in gopark */
	0x40, 0x88, 0xb1, 0x10, 0x03, 0x00, 0x00, /* mov %sil, 0x310(%rcx): waitTraceBlockReason */
	0x48, 0x89, 0xb9, 0x08, 0x03, 0x00, 0x00, /* mov %rdi, 0x308(%rcx): waitTraceSkip */
	0xc3,
};

struct bytes {
	uint8_t data[2048];
	uint32_t size;
};

static uint32_t put(struct bytes *bytes, const void *data, size_t size)
{
	uint32_t at = bytes->size;

	assert_true(size <= sizeof(bytes->data) - at);
	memcpy(bytes->data + at, data, size);
	bytes->size += (uint32_t)size;
	return at;
}

static uint32_t put_u32(struct bytes *bytes, uint32_t value)
{
	return put(bytes, &value, sizeof(value));
}

static uint32_t put_text(struct bytes *bytes, const char *text)
{
	return put(bytes, text, strlen(text) + 1);
}

struct program {
	struct target target;
	struct target_image image;
	struct bytes table, gofunc;
	struct release release;
};

static void put_function(struct bytes *funcs, uint32_t i, uint32_t name, uint32_t tree_index, uint32_t tree)
{
	const uint8_t tail[4] = {0, 0, 0, 8};

	put_u32(funcs, i * EACH);
	put_u32(funcs, name);
	for (int n = 0; n < 5; n++) /* args, deferreturn, pcsp, pcfile, pcln */
		put_u32(funcs, 0);
	put_u32(funcs, 3); /* npcdata */
	put_u32(funcs, 0);
	put_u32(funcs, 1);
	put(funcs, tail, sizeof(tail));
	put_u32(funcs, 0);
	put_u32(funcs, 0);
	put_u32(funcs, tree_index);
	for (uint32_t n = 0; n < 8; n++)
		put_u32(funcs, n == 3 ? tree : UINT32_MAX);
}

/* The table of Go 1.20 and later, with one inlined call: gopark, in all of HOST but its first instruction. */
static void make_table(struct program *program)
{
	static const uint8_t magic[8] = {0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8},
			     tree_index[] = {0, 1, 2, 127, 0};
	const uint32_t each = FUNC + 3 * 4 + 8 * 4;
	struct bytes names = {.size = 0}, pctab = {.size = 0}, funcs = {.size = 0};
	uint32_t name[FUNCTIONS], gopark, tree;
	uint64_t header[8] = {FUNCTIONS, 1, 0, HEADER};

	put(&names, "", 1);
	name[NEWPROC1] = put_text(&names, "runtime.newproc1");
	name[CASGSTATUS] = put_text(&names, "runtime.casgstatus");
	name[HOST] = put_text(&names, "runtime.chanrecv");
	gopark = put_text(&names, "runtime.gopark");
	put(&pctab, "", 1);
	tree = put(&pctab, tree_index, sizeof(tree_index));
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		put_u32(&funcs, i * EACH);
		put_u32(&funcs, FUNCTIONS * 8 + 4 + i * each);
	}
	put_u32(&funcs, FUNCTIONS * EACH);
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		put_function(&funcs, i, name[i], i == HOST ? tree : 0, i == HOST ? 0 : UINT32_MAX);
	put_u32(&program->gofunc, 0);
	put_u32(&program->gofunc, gopark);
	put_u32(&program->gofunc, 0); /* called at the host's first instruction */
	put_u32(&program->gofunc, 1);
	header[4] = header[5] = header[3] + names.size;
	header[6] = header[5];
	header[7] = header[6] + pctab.size;
	put(&program->table, magic, sizeof(magic));
	put(&program->table, header, sizeof(header));
	put(&program->table, names.data, names.size);
	put(&program->table, pctab.data, pctab.size);
	put(&program->table, funcs.data, funcs.size);
}

/* The file has only the code. */
static void make_code(struct program *program)
{
	struct loaded *file = &program->image.file;
	uint8_t page[PAGE] = {0};

	memset(page, 0xcc, sizeof(page));
	memcpy(page + NEWPROC1 * EACH, newproc1, sizeof(newproc1));
	memcpy(page + CASGSTATUS * EACH, casgstatus, sizeof(casgstatus));
	memcpy(page + HOST * EACH, host, sizeof(host));
	file->fd = memfd_create("code", 0);
	assert_true(file->fd >= 0);
	assert_int_equal(write(file->fd, page, sizeof(page)), sizeof(page));
	file->size = sizeof(page);
	file->data = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(file->data != MAP_FAILED);
	program->image.elf = (struct image){
		.data = file->data,
		.size = PAGE,
		.n = 1,
		.segments = {{.address = TEXT, .file_size = PAGE, .memory_size = PAGE, .executable = true}}};
}

static struct program *make_program(void)
{
	struct program *program = calloc(1, sizeof(*program));
	struct functab_source source;
	struct error err;

	assert_non_null(program);
	make_table(program);
	make_code(program);
	program->release = *release_find(26);
	program->image.release = &program->release;
	program->target.image = &program->image;
	program->target.go_minor = 26;
	source = (struct functab_source){.pclntab = program->table.data,
					 .pclntab_size = program->table.size,
					 .gofunc = program->gofunc.data,
					 .gofunc_size = program->gofunc.size,
					 .text = TEXT,
					 .etext = TEXT + FUNCTIONS * EACH,
					 .go_minor = 26};
	program->target.functab = functab_new(&source, &err);
	assert_non_null(program->target.functab);
	assert_int_equal(target_find_copies(&program->target, &err), 0);
	return program;
}

static void free_program(struct program *program)
{
	functab_free(program->target.functab);
	copies_free(&program->image.copies);
	close(program->image.file.fd);
	munmap(program->image.file.data, PAGE);
	free(program);
}

static void test_right_layout(void **state)
{
	struct program *program = make_program();
	struct error err = {.text = ""};

	(void)state;
	assert_int_equal(prove_code(&program->target, &program->release, &err), 0);
	free_program(program);
}

static void test_moved_field_is_named(void **state)
{
	struct program *program = make_program();
	struct go_layout *layout = &program->release.layout.go;
	const struct {
		uint32_t *field;
		const char *says;
	} moves[] = {
		{&layout->g_goid, "g.goid is not at 0xa0 (runtime.newproc1)"},
		{&layout->g_startpc, "g.startpc is not at 0x138 (runtime.newproc1)"},
		{&layout->g_status, "g.atomicstatus is not at 0x98 (runtime.casgstatus)"},
		{&layout->g_waitreason, "g.waitreason is not at 0xb8 (runtime.gopark)"},
		{&layout->m_block_reason, "m.waitTraceBlockReason is not at 0x318 (runtime.gopark)"},
		{&layout->m_trace_skip, "m.waitTraceSkip is not at 0x310 (runtime.gopark)"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		struct error err = {.text = ""};

		*moves[i].field += 8;
		assert_int_equal(prove_code(&program->target, &program->release, &err), -EBADMSG);
		assert_string_equal(err.text, moves[i].says);
		*moves[i].field -= 8;
	}
	free_program(program);
}

/* Code that cannot be decoded, or is not there, proves nothing and contradicts nothing. */
static void test_unknown_code_is_no_contradiction(void **state)
{
	struct program *program = make_program();
	struct error err = {.text = ""};
	const uint8_t bad = 0x06; /* not an instruction in 64-bit mode */

	(void)state;
	assert_int_equal(pwrite(program->image.file.fd, &bad, 1, CASGSTATUS * EACH), 1);
	program->release.layout.go.g_status += 8;
	assert_int_equal(prove_code(&program->target, &program->release, &err), 0);
	program->release.layout.go.m_procid += 8; /* runtime.minit is not in this program */
	assert_int_equal(prove_code(&program->target, &program->release, &err), 0);
	free_program(program);
}

/* Go changed m between two patches of 1.24; the newest row is the one to try first. */
static void test_rows_of_patches(void **state)
{
	const struct release *newest = release_find(24), *first = release_patch(24, 1);

	(void)state;
	assert_non_null(first);
	assert_ptr_equal(newest, release_patch(24, 0));
	assert_int_equal(newest->patch, 6);
	assert_int_equal(first->patch, 0);
	assert_int_equal(first->layout.go.m_alllink + 24, newest->layout.go.m_alllink);
	assert_null(release_patch(24, 2));
	assert_null(release_patch(99, 0));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_right_layout),
	cmocka_unit_test(test_moved_field_is_named),
	cmocka_unit_test(test_unknown_code_is_no_contradiction),
	cmocka_unit_test(test_rows_of_patches),
};

UNIT_TESTS(tests, NULL, NULL);
