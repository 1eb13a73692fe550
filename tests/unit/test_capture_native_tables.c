/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Walks this process's stacks with the unwind tables of its own code, and compares the result with that of
 * libgcc's unwinder, or with the known callers where libgcc has none.
 */
#include "unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

#include "capture/native_modules.h"
#include "capture/native_tables.h"

struct walked {
	struct native_tables *tables;
	uint64_t pcs[STACK_DEPTH];
	uint64_t theirs[STACK_DEPTH];
	size_t n, ntheirs;
	uint16_t flags;
};

static _Unwind_Reason_Code keep_theirs(struct _Unwind_Context *context, void *to)
{
	struct walked *walked = to;

	/* The last frame is at 0. */
	if (walked->ntheirs == STACK_DEPTH || !_Unwind_GetIP(context))
		return _URC_END_OF_STACK;
	walked->theirs[walked->ntheirs++] = _Unwind_GetIP(context);
	return _URC_NO_REASON;
}

/* Does both walks from here. After the first frame of each, the callers are the same. */
static __attribute__((noinline)) void walk_here(struct walked *walked)
{
	struct unwind_regs regs;

	__asm__ volatile("lea 1f(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2\n1:"
			 : "=a"(regs.ip), "=c"(regs.sp), "=d"(regs.bp));
	walked->n = native_tables_walk(walked->tables, getpid(), regs, NULL, walked->pcs, STACK_DEPTH,
				       &walked->flags);
	walked->ntheirs = 0;
	_Unwind_Backtrace(keep_theirs, walked);
	__asm__ volatile(""); /* prevents a tail call */
}

static void expect_same(const struct walked *walked)
{
	assert_int_equal(walked->flags, RAW_STACK_NATIVE);
	assert_int_equal(walked->n, walked->ntheirs);
	for (size_t i = 1; i < walked->n; i++) {
		/* At a frame interrupted by a signal, our address is one more. */
		assert_true(walked->pcs[i] == walked->theirs[i] || walked->pcs[i] == walked->theirs[i] + 1);
	}
}

static void prepare(struct walked *walked)
{
	struct error err;

	memset(walked, 0, sizeof(*walked));
	walked->tables = native_tables_new(false);
	assert_non_null(walked->tables);
	assert_int_equal(native_tables_refresh(walked->tables, getpid(), &err), 0);
}

static int setup(void **state)
{
	static struct walked walked;

	prepare(&walked);
	*state = &walked;
	return 0;
}

static int teardown(void **state)
{
	struct walked *walked = *state;

	native_tables_free(walked->tables);
	return 0;
}

static void own_stack(void **state)
{
	walk_here(*state);
	expect_same(*state);
}

/* Through libc: qsort's comparison. */
static struct walked *current;

static int compare(const void *a, const void *b)
{
	if (!current->n)
		walk_here(current);
	return *(const char *)a - *(const char *)b;
}

static void through_a_library(void **state)
{
	char text[] = "through";

	current = *state;
	qsort(text, sizeof(text) - 1, 1, compare);
	expect_same(current);
	assert_true(current->n > 4);
}

static void *thread(void *walked)
{
	walk_here(walked);
	return NULL;
}

static void of_a_thread(void **state)
{
	pthread_t id;

	assert_int_equal(pthread_create(&id, NULL, thread, *state), 0);
	pthread_join(id, NULL);
	expect_same(*state);
}

static void on_signal(int number)
{
	(void)number;
	walk_here(current);
}

/* The walk continues from a signal handler to the interrupted code, even from an alternate stack. */
static void through_a_signal(void **state)
{
	static char memory[1 << 16];
	const stack_t own = {.ss_sp = memory, .ss_size = sizeof(memory)}, off = {.ss_flags = SS_DISABLE};
	struct sigaction action = {.sa_handler = on_signal};

	current = *state;
	for (int i = 0; i < 2; i++) {
		sigaction(SIGUSR1, &action, NULL);
		raise(SIGUSR1);
		expect_same(current);
		assert_true(current->n > 6);
		action.sa_flags = SA_ONSTACK;
		assert_int_equal(sigaltstack(&own, NULL), 0);
	}
	sigaltstack(&off, NULL);
	signal(SIGUSR1, SIG_DFL);
}

/*
 * As gcc does if a function needs more alignment than it gets, and cannot rely on rsp: the CFA is in memory,
 * at rbp - 8.
 */
__asm__(".pushsection .text\n"
	".type realigned, @function\n"
	"realigned:\n"
	"	.cfi_startproc\n"
	"	lea 8(%rsp), %r10\n"
	"	.cfi_def_cfa r10, 0\n"
	"	and $-64, %rsp\n"
	"	push -8(%r10)\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	.cfi_escape 0x10, 6, 2, 0x76, 0\n" /* rbp at *rbp */
	"	push %r10\n"
	"	.cfi_escape 0x0f, 3, 0x76, 0x78, 6\n" /* CFA = *(rbp - 8) */
	"	sub $72, %rsp\n"
	"	call *%rsi\n"
	"	add $72, %rsp\n"
	"	pop %r10\n"
	"	.cfi_def_cfa r10, 0\n"
	"	pop %rbp\n"
	"	.cfi_restore rbp\n"
	"	lea -8(%r10), %rsp\n"
	"	.cfi_def_cfa rsp, 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size realigned, . - realigned\n"
	".popsection\n");
void realigned(struct walked *walked, void (*call)(struct walked *));

static void through_a_realigned_stack(void **state)
{
	realigned(*state, walk_here);
	expect_same(*state);
}

/* sub rsp, 8; call rsi; add rsp, 8; ret: code made by a JIT compiler, without tables. */
static void gap(void **state)
{
	static const uint8_t code[] = {0x48, 0x83, 0xec, 8, 0xff, 0xd6, 0x48, 0x83, 0xc4, 8, 0xc3};
	struct walked *walked = *state;
	struct error err;
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*made)(struct walked *, void (*)(struct walked *));

	assert_true(page != MAP_FAILED);
	memcpy(page, code, sizeof(code));
	memcpy(&made, &page, sizeof(made));
	for (int known = 0; known < 2; known++) {
		made(walked, walk_here);
		assert_int_equal(walked->flags, RAW_STACK_NATIVE | RAW_STACK_BROKEN);
		/* An address that is not known to be code is not shown. */
		assert_int_equal(walked->n, known ? 2 : 1);
		assert_int_equal(native_tables_refresh(walked->tables, getpid(), &err), 0);
	}
	assert_int_equal(walked->pcs[1], (uintptr_t)page + 6);
	munmap(page, 4096);
}

/* Changes the version in the first CIE, which is used only if something is thrown. */
static void damage_eh_frame(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	Elf_Scn *scn = NULL;
	size_t names;
	GElf_Shdr header;

	assert_non_null(elf);
	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	while ((scn = elf_nextscn(elf, scn))) {
		assert_non_null(gelf_getshdr(scn, &header));
		if (!strcmp(elf_strptr(elf, names, header.sh_name), ".eh_frame"))
			break;
	}
	assert_non_null(scn);
	assert_int_equal(pwrite(fd, "\x7f", 1, (off_t)header.sh_offset + 8), 1);
	elf_end(elf);
	close(fd);
}

/* True if code is known at the address: walks a stack whose caller's return address is 0. */
static bool is_known(const struct native_tables *tables, uint64_t address)
{
	const uint64_t stack[4] = {0};
	struct unwind_regs regs = {.ip = address + 1, .sp = (uintptr_t)stack};
	uint64_t pcs[4];
	uint16_t flags;

	assert_int_equal(native_tables_walk(tables, getpid(), regs, NULL, pcs, 4, &flags), 1);
	return flags == RAW_STACK_NATIVE;
}

static void a_library_comes_and_goes(void **state)
{
	struct walked *walked = *state;
	void *library = dlopen("libthread_db.so.1", RTLD_LAZY), *symbol;
	struct error err;

	assert_non_null(library);
	symbol = dlsym(library, "td_ta_new");
	assert_non_null(symbol);
	assert_false(is_known(walked->tables, (uintptr_t)symbol));
	assert_int_equal(native_tables_refresh(walked->tables, getpid(), &err), 0);
	assert_true(is_known(walked->tables, (uintptr_t)symbol));
	dlclose(library);
	if (dlopen("libthread_db.so.1", RTLD_LAZY | RTLD_NOLOAD))
		return; /* a sanitizer keeps libraries */
	assert_int_equal(native_tables_refresh(walked->tables, getpid(), &err), 0);
	assert_false(is_known(walked->tables, (uintptr_t)symbol));
}

/* A file with a damaged .eh_frame: its valid part is used, and a line reports the rest. */
static void damage_is_reported(void **state)
{
	struct walked *walked = *state;
	char path[] = "/tmp/gotrace-test-XXXXXX", command[128];
	int fd = mkstemp(path);
	struct error line;
	void *library;

	assert_true(fd >= 0);
	close(fd);
	assert_false(native_tables_note(walked->tables, &line));
	snprintf(command, sizeof(command), "cp $(readlink -f /lib/x86_64-linux-gnu/libthread_db.so.1) %s",
		 path);
	assert_int_equal(system(command), 0);
	damage_eh_frame(path);
	library = dlopen(path, RTLD_LAZY);
	assert_non_null(library);
	assert_int_equal(native_tables_refresh(walked->tables, getpid(), &line), 0);
	assert_true(native_tables_note(walked->tables, &line));
	assert_non_null(strstr(line.text, path));
	assert_false(native_tables_note(walked->tables, &line));
	dlclose(library);
	unlink(path);
}

/* A child that was forked shares the parent's list until it maps code of its own. */
static void several_processes(void **state)
{
	struct native_tables *tables = native_tables_new(true);
	struct native_tables_stats before, after;
	struct error err;
	const struct unwind_regs regs = {.ip = (uintptr_t)pause + 1, .sp = 0x1000};
	uint64_t pcs[4];
	uint16_t flags;
	pid_t child = fork();

	(void)state;
	if (!child) {
		pause();
		_exit(0);
	}
	assert_non_null(tables);
	assert_int_equal(native_tables_refresh(tables, getpid(), &err), 0);
	native_tables_stats(tables, &before);
	assert_true(before.modules > 3 && before.rows > 1000);
	assert_int_equal(native_tables_refresh(tables, child, &err), 0);
	native_tables_stats(tables, &after);
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(native_tables_walk(tables, child, regs, NULL, pcs, 4, &flags), 1);
	native_tables_forget(tables, child);
	assert_int_equal(native_tables_walk(tables, child, regs, NULL, pcs, 4, &flags), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(native_tables_refresh(tables, child, &err), -ESRCH);
	native_tables_free(tables);
}

/* A forked child has its parent's code even if it cannot be inspected, and keeps it when the parent is
 * forgotten. */
static void a_fork_is_believed(void **state)
{
	struct native_tables *tables = native_tables_new(true);
	struct unwind_regs regs = {.ip = (uintptr_t)&several_processes + 1};
	enum { CHILD = 0x7ffffff0, GRANDCHILD };
	uint64_t pcs[4];
	uint16_t flags;
	struct error err;

	(void)state;
	assert_non_null(tables);
	assert_int_equal(native_tables_fork(tables, getpid(), CHILD), 0); /* its parent is unknown */
	assert_int_equal(native_tables_walk(tables, CHILD, regs, NULL, pcs, 4, &flags), 0);
	assert_int_equal(native_tables_refresh(tables, getpid(), &err), 0);
	assert_int_equal(native_tables_fork(tables, getpid(), CHILD), 0);
	assert_int_equal(native_tables_fork(tables, CHILD, GRANDCHILD), 0);
	/* The pid belongs to another process now. */
	assert_int_equal(native_tables_fork(tables, getpid(), CHILD), 0);
	native_tables_forget(tables, getpid());
	assert_int_equal(native_tables_walk(tables, getpid(), regs, NULL, pcs, 4, &flags), 0);
	assert_int_equal(native_tables_walk(tables, CHILD, regs, NULL, pcs, 4, &flags), 1);
	assert_int_equal(native_tables_walk(tables, GRANDCHILD, regs, NULL, pcs, 4, &flags), 1);
	native_tables_forget(tables, CHILD);
	native_tables_forget(tables, GRANDCHILD);
	assert_int_equal(native_tables_walk(tables, GRANDCHILD, regs, NULL, pcs, 4, &flags), 0);
	native_tables_free(tables);
}

/* --- bounds --- */

static int make_library(char path[])
{
	char command[160];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	snprintf(command, sizeof(command), "cp $(readlink -f /lib/x86_64-linux-gnu/libc.so.6) %s", path);
	assert_int_equal(system(command), 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

/* Maps the file at the offset of libc's code. */
static void *map_code(int fd)
{
	void *code = mmap(NULL, 1 << 20, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0x26000);

	assert_true(code != MAP_FAILED);
	return code;
}

/* A rewritten file is a new module each time. Earlier versions are evicted. */
static void a_touched_file(void **state)
{
	struct walked *walked = *state;
	char path[] = "/tmp/gotrace-test-XXXXXX";
	struct native_tables_stats first, last;
	int fd = make_library(path);
	struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};

	for (unsigned i = 0; i < 200; i++) {
		void *code = map_code(fd);
		struct error err;

		times[1].tv_nsec = i;
		assert_int_equal(futimens(fd, times), 0);
		native_tables_refresh(walked->tables, getpid(), &err);
		munmap(code, 1 << 20);
		native_tables_stats(walked->tables, i == 100 ? &first : &last);
	}
	assert_true(last.rows <= 4u << 20);
	assert_true(last.bytes <= 64u << 20);
	assert_true(last.modules >= first.modules);
	close(fd);
	unlink(path);
}

/* Unused modules are evicted; a module in use stays until it is released. */
static void modules_give_way(void **state)
{
	struct native_modules modules = {.n = 0};
	struct module_key key = {.inode = 1};
	struct native_module *used;

	(void)state;
	used = native_modules_add(&modules, &key);
	assert_non_null(used);
	native_modules_use(&modules, used);
	for (key.inode = 2; key.inode < 3 * NATIVE_MODULES_MAX; key.inode++)
		assert_non_null(native_modules_add(&modules, &key));
	assert_int_equal(modules.n, NATIVE_MODULES_MAX);
	key.inode = 1;
	assert_ptr_equal(native_modules_find(&modules, &key), used);
	key.inode = 2;
	assert_null(native_modules_find(&modules, &key));
	for (size_t i = 0; i < modules.n; i++) {
		if (!modules.list[i]->users)
			native_modules_use(&modules, modules.list[i]);
	}
	assert_null(native_modules_add(&modules, &key));
	assert_false(native_modules_evict(&modules, NULL));
	native_modules_release(&modules, used);
	assert_int_equal(modules.releases, 1);
	assert_non_null(native_modules_add(&modules, &key));
	native_modules_free(&modules);
}

/* The first gap that is large enough is used, in any order of modules. */
static void gaps_are_used(void **state)
{
	const struct native_extent extents[] = {{50, 10}, {0, 20}, {30, 15}};
	struct native_modules modules = {.n = 0};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct native_module *module =
			native_modules_add(&modules, &(struct module_key){.inode = i + 1});

		assert_non_null(module);
		module->placed = true;
		module->rows = extents[i];
		module->pages = (struct native_extent){extents[i].first / 10, 1};
	}
	assert_int_equal(native_modules_gap(&modules, NATIVE_ROWS, 5, 100), 20);
	assert_int_equal(native_modules_gap(&modules, NATIVE_ROWS, 10, 100), 20);
	assert_int_equal(native_modules_gap(&modules, NATIVE_ROWS, 11, 100), 60);
	assert_int_equal(native_modules_gap(&modules, NATIVE_ROWS, 41, 100), UINT32_MAX);
	assert_int_equal(native_modules_gap(&modules, NATIVE_PAGES, 1, 100), 1);
	native_modules_free(&modules);
}

/* Returns two million rows per file: three files exceed the limit. */
static int read_large(void *ctx, int fd, const char *bytes, size_t size, struct module_code *code)
{
	enum { ROWS = 2 << 20 };
	unsigned *reads = ctx;

	(void)bytes;
	(void)size;
	*code = (struct module_code){.n = 0};
	if (fd < 0)
		return -ENOEXEC;
	++*reads;
	code->rows.rows = malloc(ROWS * sizeof(*code->rows.rows));
	assert_non_null(code->rows.rows);
	for (uint32_t i = 0; i < ROWS; i++)
		code->rows.rows[i] = (struct unwind_row){i, UNWIND_RULE(UNWIND_SP, 0, 1)};
	code->rows.n = code->size = ROWS;
	code->segments[0] = (struct module_segment){0, ROWS, 0};
	code->n = 1;
	return 0;
}

static void what_has_no_space_is_left_out(void **state)
{
	struct native_tables *tables = native_tables_new(false);
	unsigned reads = 0, before;
	struct native_tables_stats stats;
	struct error line;

	(void)state;
	assert_non_null(tables);
	native_tables_use(tables, &(struct module_reader){.read = read_large, .ctx = &reads});
	native_tables_refresh(tables, getpid(), &line);
	native_tables_stats(tables, &stats);
	assert_int_equal(stats.rows, 4 << 20);
	assert_true(stats.left_out > 0);
	assert_true(native_tables_note(tables, &line));
	assert_non_null(strstr(line.text, "the limit of 32 MB"));
	/* Nothing has been freed meanwhile, so they are not read again. */
	before = reads;
	native_tables_refresh(tables, getpid(), &line);
	if (!native_tables_behind(tables))
		assert_int_equal(reads, before);
	native_tables_free(tables);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(own_stack, setup, teardown),
	cmocka_unit_test_setup_teardown(through_a_library, setup, teardown),
	cmocka_unit_test_setup_teardown(of_a_thread, setup, teardown),
	cmocka_unit_test_setup_teardown(through_a_signal, setup, teardown),
	cmocka_unit_test_setup_teardown(through_a_realigned_stack, setup, teardown),
	cmocka_unit_test_setup_teardown(gap, setup, teardown),
	cmocka_unit_test_setup_teardown(a_library_comes_and_goes, setup, teardown),
	cmocka_unit_test_setup_teardown(damage_is_reported, setup, teardown),
	cmocka_unit_test(several_processes),
	cmocka_unit_test(a_fork_is_believed),
	cmocka_unit_test_setup_teardown(a_touched_file, setup, teardown),
	cmocka_unit_test(modules_give_way),
	cmocka_unit_test(gaps_are_used),
	cmocka_unit_test(what_has_no_space_is_left_out),
};

UNIT_TESTS(tests, NULL, NULL);
