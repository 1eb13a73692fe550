/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Processes and their descendants: finding them, and the names of the code that they share. */

#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/descendants.h"
#include "target/names/shared_names.h"

/* --- finding --- */

/* A waiting process with a waiting child. */
static pid_t start_two(int *inner)
{
	int ends[2];
	pid_t pid, second;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		second = fork();
		if (second == 0) {
			second = getpid();
			if (write(ends[1], &second, sizeof(second)) < 0)
				_exit(1);
		}
		pause();
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(read(ends[0], inner, sizeof(*inner)), sizeof(*inner));
	close(ends[0]);
	close(ends[1]);
	return pid;
}

static bool holds(const pid_t *pids, int n, pid_t pid)
{
	for (int i = 0; i < n; i++) {
		if (pids[i] == pid)
			return true;
	}
	return false;
}

static void test_descendants(void **state)
{
	struct error err = {""};
	pid_t outer, inner, *pids;
	int n;

	(void)state;
	outer = start_two(&inner);
	n = descendants("/proc", getpid(), &pids, &err);
	assert_int_equal(n, 2);
	assert_true(holds(pids, n, outer) && holds(pids, n, inner));
	free(pids);
	n = descendants("/proc", outer, &pids, &err);
	assert_int_equal(n, 1);
	assert_int_equal(pids[0], inner);
	free(pids);
	assert_true(process_is_alive("/proc", inner));
	kill(inner, SIGKILL);
	kill(outer, SIGKILL);
	waitpid(outer, NULL, 0);
	assert_false(process_is_alive("/proc", outer));
}

static void test_zombies_do_not_live(void **state)
{
	struct error err = {""};
	pid_t pid = fork(), *pids;
	siginfo_t info;

	(void)state;
	if (pid == 0)
		_exit(0);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	assert_false(process_is_alive("/proc", pid));
	assert_int_equal(descendants("/proc", getpid(), &pids, &err), 0);
	free(pids);
	waitpid(pid, NULL, 0);
}

static void test_no_proc(void **state)
{
	struct error err = {""};
	pid_t *pids;

	(void)state;
	assert_int_equal(descendants("/no/such/proc", 1, &pids, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/no/such/proc"));
}

/* --- names --- */

struct taken {
	unsigned symbols, stacks, others;
	char name[256]; /* of the last symbol's innermost function */
};

static int take(void *ctx, const struct log_record *record)
{
	struct taken *taken = ctx;
	const struct log_symbol *symbol = record->data;

	if (record->type == LOG_STACK)
		taken->stacks++;
	if (record->type != LOG_STACK && record->type != LOG_SYMBOL)
		taken->others++;
	if (record->type != LOG_SYMBOL)
		return 0;
	taken->symbols++;
	if (symbol->nframes) {
		const struct log_symbol_frame *frame = (const void *)(symbol + 1);

		snprintf(taken->name, sizeof(taken->name), "%.*s", frame->function_len,
			 (const char *)(frame + 1));
	}
	return 0;
}

static void put_stack(struct shared_names *names, uint64_t pc)
{
	uint64_t words[3] = {0};
	struct raw_stack *stack = (struct raw_stack *)words;
	struct log_record record = {.type = LOG_STACK, .size = sizeof(words), .data = words};

	*stack = (struct raw_stack){.n = 1, .site = SITE_STACK, .flags = RAW_STACK_NATIVE, .hash = 1};
	stack->pcs[0] = pc;
	assert_int_equal(shared_names_put(names, &record), 0);
}

static void put_site(struct shared_names *names, uint8_t site)
{
	struct raw_record rec = {.site = site};
	struct log_record record = {.type = LOG_RECORDS, .size = sizeof(rec), .data = &rec};

	assert_int_equal(shared_names_put(names, &record), 0);
}

/* An address in a function of this program. */
static uint64_t here(void)
{
	return (uint64_t)(uintptr_t)&put_site + 1;
}

static void test_names_are_shared(void **state)
{
	struct taken mine = {0}, child = {0};
	struct shared_names *one = shared_names_new(getpid(), take, &mine, NULL, NULL);
	/* This process does not exist: it has its names from the one that forked it. */
	struct shared_names *two = shared_names_new(0x7ffffff0, take, &child, one, NULL);

	(void)state;
	assert_non_null(one);
	assert_non_null(two);
	put_stack(one, here());
	put_stack(one, here());
	assert_int_equal(mine.symbols, 1);
	assert_int_equal(mine.stacks, 2);
	assert_string_equal(mine.name, "put_site");
	assert_int_equal(child.symbols, 0);
	put_stack(two, here());
	assert_int_equal(child.symbols, 1);
	assert_int_equal(mine.symbols, 1);
	assert_string_equal(child.name, "put_site");
	/* The remaining one continues without the other. */
	shared_names_free(one);
	put_stack(two, here() + 1);
	assert_int_equal(child.symbols, 2);
	shared_names_free(two);
}

static void test_another_program(void **state)
{
	struct taken mine = {0}, child = {0};
	struct shared_names *one = shared_names_new(getpid(), take, &mine, NULL, NULL);
	struct shared_names *two = shared_names_new(0x7ffffff0, take, &child, one, NULL);

	(void)state;
	put_stack(two, here());
	assert_int_equal(child.symbols, 1);
	put_site(two, SITE_EXEC); /* it cannot be inspected: no names */
	put_stack(two, here());
	assert_int_equal(child.symbols, 1);
	assert_int_equal(child.stacks, 2);
	assert_int_equal(child.others, 1);
	/* A process that maps code is inspected alone, and still knows the old names. */
	shared_names_free(two);
	two = shared_names_new(getpid(), take, &child, one, NULL);
	put_site(two, SITE_MAPPED);
	put_stack(two, here());
	assert_int_equal(child.symbols, 2);
	put_site(one, SITE_EXEC);
	put_stack(one, here());
	assert_int_equal(mine.symbols, 1);
	shared_names_free(one);
	shared_names_free(two);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_descendants),     cmocka_unit_test(test_zombies_do_not_live),
	cmocka_unit_test(test_no_proc),         cmocka_unit_test(test_names_are_shared),
	cmocka_unit_test(test_another_program),
};

UNIT_TESTS(tests, NULL, NULL);
