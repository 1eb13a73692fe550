/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Walks of this very process's stacks by the tables of its own code, against
 * libgcc's unwinder, and where that has no answer against what must be there.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

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
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

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

	/* It ends with a frame at 0. */
	if (walked->ntheirs == STACK_DEPTH || !_Unwind_GetIP(context))
		return _URC_END_OF_STACK;
	walked->theirs[walked->ntheirs++] = _Unwind_GetIP(context);
	return _URC_NO_REASON;
}

/* Both walks from here; the callers that are common begin behind the first frame of each. */
static __attribute__((noinline)) void walk_here(struct walked *walked)
{
	struct unwind_regs regs;

	__asm__ volatile("lea 1f(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2\n1:"
			 : "=a"(regs.ip), "=c"(regs.sp), "=d"(regs.bp));
	walked->n =
		native_tables_walk(walked->tables, getpid(), regs, walked->pcs, STACK_DEPTH, &walked->flags);
	walked->ntheirs = 0;
	_Unwind_Backtrace(keep_theirs, walked);
	__asm__ volatile(""); /* no tail call */
}

static void expect_same(const struct walked *walked)
{
	assert_int_equal(walked->flags, RAW_STACK_NATIVE);
	assert_int_equal(walked->n, walked->ntheirs);
	for (size_t i = 1; i < walked->n; i++) {
		/* Where a signal has struck ours is one more. */
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

/* A handler's stack goes on with what was interrupted, also from a stack of its own. */
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
 * As gcc does where a function needs more alignment than it gets, and cannot
 * count on rsp: its CFA is in memory, at rbp - 8.
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

/* sub rsp, 8; call rsi; add rsp, 8; ret: what a compiler at run time makes, with no tables. */
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
		/* An address in memory that is not known to be code is not shown. */
		assert_int_equal(walked->n, known ? 2 : 1);
		assert_int_equal(native_tables_refresh(walked->tables, getpid(), &err), 0);
	}
	assert_int_equal(walked->pcs[1], (uintptr_t)page + 6);
	munmap(page, 4096);
}

/* Another version in the first CIE, which nobody looks at until something is thrown. */
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

/* Whether code is known at the address: of a stack whose caller's return address is 0. */
static bool is_known(const struct native_tables *tables, uint64_t address)
{
	const uint64_t stack[4] = {0};
	struct unwind_regs regs = {.ip = address + 1, .sp = (uintptr_t)stack};
	uint64_t pcs[4];
	uint16_t flags;

	assert_int_equal(native_tables_walk(tables, getpid(), regs, pcs, 4, &flags), 1);
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

/* A file whose .eh_frame is damaged: what is right in it is used, and there is a line about the rest. */
static void damage_is_told(void **state)
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
	assert_int_equal(native_tables_walk(tables, child, regs, pcs, 4, &flags), 1);
	native_tables_forget(tables, child);
	assert_int_equal(native_tables_walk(tables, child, regs, pcs, 4, &flags), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(native_tables_refresh(tables, child, &err), -ESRCH);
	native_tables_free(tables);
}

/* Its code is its parent's, although nobody can look at it; and stays when the parent is forgotten. */
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
	assert_int_equal(native_tables_fork(tables, getpid(), CHILD), 0); /* its parent is not known */
	assert_int_equal(native_tables_walk(tables, CHILD, regs, pcs, 4, &flags), 0);
	assert_int_equal(native_tables_refresh(tables, getpid(), &err), 0);
	assert_int_equal(native_tables_fork(tables, getpid(), CHILD), 0);
	assert_int_equal(native_tables_fork(tables, CHILD, GRANDCHILD), 0);
	assert_int_equal(native_tables_fork(tables, getpid(), CHILD), 0); /* the pid is another's now */
	native_tables_forget(tables, getpid());
	assert_int_equal(native_tables_walk(tables, getpid(), regs, pcs, 4, &flags), 0);
	assert_int_equal(native_tables_walk(tables, CHILD, regs, pcs, 4, &flags), 1);
	assert_int_equal(native_tables_walk(tables, GRANDCHILD, regs, pcs, 4, &flags), 1);
	native_tables_forget(tables, CHILD);
	native_tables_forget(tables, GRANDCHILD);
	assert_int_equal(native_tables_walk(tables, GRANDCHILD, regs, pcs, 4, &flags), 0);
	native_tables_free(tables);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(own_stack, setup, teardown),
		cmocka_unit_test_setup_teardown(through_a_library, setup, teardown),
		cmocka_unit_test_setup_teardown(of_a_thread, setup, teardown),
		cmocka_unit_test_setup_teardown(through_a_signal, setup, teardown),
		cmocka_unit_test_setup_teardown(through_a_realigned_stack, setup, teardown),
		cmocka_unit_test_setup_teardown(gap, setup, teardown),
		cmocka_unit_test_setup_teardown(a_library_comes_and_goes, setup, teardown),
		cmocka_unit_test_setup_teardown(damage_is_told, setup, teardown),
		cmocka_unit_test(several_processes),
		cmocka_unit_test(a_fork_is_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
