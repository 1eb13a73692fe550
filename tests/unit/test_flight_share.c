/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One limit on memory for the recorders of a node. */
#include "unit.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flight/share.h"

#define MIB (1u << 20)

/* In a recorder: waits for the number, and tries to change it. */
static int read_in_child(struct flight_share_owner *owner)
{
	void *page = (void *)((uintptr_t)owner->shared & ~(uintptr_t)4095);

	flight_share_give_up(owner);
	if (owner->number)
		return 1;
	for (int i = 0; i < 10000 && atomic_load(owner->shared) != 3; i++)
		usleep(1000);
	if (atomic_load(owner->shared) != 3)
		return 2;
	return mprotect(page, 4096, PROT_READ | PROT_WRITE) == -1 && errno == EACCES ? 0 : 3;
}

static void a_recorder_reads_the_number_and_cannot_change_it(void **state)
{
	struct flight_share_owner owner;
	struct error err;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(flight_share_open(&owner, &err), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(read_in_child(&owner));
	atomic_store(owner.number, 3);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	flight_share_close(&owner);
}

static void parts_are_equal_and_1_MiB_at_least(void **state)
{
	flight_share number;

	(void)state;
	assert_int_equal(flight_share_part(NULL, 64 * MIB), 64 * MIB);
	atomic_init(&number, 0);
	assert_int_equal(flight_share_part(&number, 64 * MIB), 64 * MIB);
	atomic_store(&number, 4);
	assert_int_equal(flight_share_part(&number, 64 * MIB), 16 * MIB);
	atomic_store(&number, 1000);
	assert_int_equal(flight_share_part(&number, 64 * MIB), MIB);
	assert_int_equal(flight_share_part(&number, 1000), 1000);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_recorder_reads_the_number_and_cannot_change_it),
	cmocka_unit_test(parts_are_equal_and_1_MiB_at_least),
};

UNIT_TESTS(tests, NULL, NULL);
