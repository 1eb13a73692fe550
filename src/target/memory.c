/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "target/reads.h"
#include "util/rights.h"
#include "util/window.h"

#define MAX_RUNS 1024u /* IOV_MAX */
/*
 * Neighbours are read together with the gap between them. The limit is much smaller than a page, so that a
 * gap never contains a whole page, which might be unmapped. Copying such a gap costs less than another entry
 * in the vector.
 */
#define MAX_GAP 512u
#define MAX_RUN (1u << 20)

/* In a worker, the data arrives in the window and is copied from there. */
static ssize_t read_vector(pid_t pid, const struct iovec *remote, unsigned n, void *to, size_t size)
{
	const struct target_reads *reads = target_reads();
	struct window window = window_of_process();
	struct iovec local = {.iov_base = window.bytes ? window.bytes : to, .iov_len = size};
	ssize_t got;

	if (reads)
		return reads->memory(reads->ctx, pid, remote, n, to, size);
	if (window.bytes && size > window.size)
		local.iov_len = window.size;
	got = process_vm_readv(pid, &local, 1, remote, n, 0);
	if (window.bytes && got > 0)
		memcpy(to, window.bytes, (size_t)got);
	return got < 0 ? -errno : got;
}

ssize_t memory_read_some(pid_t pid, uint64_t address, void *to, size_t size)
{
	size_t done = 0;

	while (done < size) {
		struct iovec rest = {.iov_base = (void *)(uintptr_t)(address + done), .iov_len = size - done};
		ssize_t n = read_vector(pid, &rest, 1, (uint8_t *)to + done, rest.iov_len);

		if (n < 0)
			return done ? (ssize_t)done : n;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

int memory_read(pid_t pid, uint64_t address, void *to, size_t size)
{
	ssize_t n = memory_read_some(pid, address, to, size);

	if (n < 0)
		return (int)n;
	return (size_t)n == size ? 0 : -EFAULT;
}

/* Pieces first .. first + n - 1, read as one range of memory. */
struct memory_run {
	size_t first, n;
	uint64_t address;
	size_t size;
};

static int memory_by_address(const void *a, const void *b)
{
	const struct memory_piece *one = a, *two = b;

	return one->address < two->address ? -1 : one->address > two->address;
}

static bool joins(const struct memory_run *run, const struct memory_piece *piece)
{
	uint64_t skip = piece->address - run->address;

	return (skip <= run->size || skip - run->size <= MAX_GAP) && skip + piece->size <= MAX_RUN;
}

/* Makes the next runs, at most MAX_RUNS. Returns their number; *total is their combined size. */
static unsigned make_runs(const struct memory_piece *pieces, size_t n, struct memory_run *runs, size_t *total)
{
	unsigned count = 0;

	*total = 0;
	for (size_t i = 0; i < n; i++) {
		const struct memory_piece *piece = &pieces[i];
		struct memory_run *run = count ? &runs[count - 1] : NULL;

		if (run && joins(run, piece)) {
			uint64_t size = piece->address - run->address + piece->size;

			if (size > run->size) {
				*total += size - run->size;
				run->size = size;
			}
			run->n++;
			continue;
		}
		if (count == MAX_RUNS)
			break;
		runs[count++] = (struct memory_run){
			.first = i, .n = 1, .address = piece->address, .size = piece->size};
		*total += piece->size;
	}
	return count;
}

static int memory_reserve(struct memory_batch *batch, size_t size)
{
	uint8_t *bigger;

	if (size <= batch->capacity)
		return 0;
	bigger = realloc(batch->buffer, size);
	if (!bigger)
		return -ENOMEM;
	batch->buffer = bigger;
	batch->capacity = size;
	return 0;
}

static void memory_deliver(const struct memory_run *run, struct memory_piece *pieces, const uint8_t *bytes)
{
	for (size_t i = run->first; i < run->first + run->n; i++)
		pieces[i].bytes = bytes + (pieces[i].address - run->address);
}

/* A run that contains a bad piece is read piece by piece, so that the others are not lost. */
static int read_singly(pid_t pid, const struct memory_run *run, struct memory_piece *pieces, uint8_t *bytes)
{
	for (size_t i = run->first; i < run->first + run->n; i++) {
		uint8_t *to = bytes + (pieces[i].address - run->address);
		int rc = memory_read(pid, pieces[i].address, to, pieces[i].size);

		if (rc == -ESRCH || rc == -EPERM)
			return rc;
		pieces[i].bytes = rc ? NULL : to;
	}
	return 0;
}

/* Number of runs that fit into a worker's window: at least one. */
static unsigned runs_at_once(const struct memory_run *runs, unsigned n)
{
	struct window window = window_of_process();
	size_t total = 0;
	unsigned count = 0;

	while (count < n && (!window.bytes || !count || total + runs[count].size <= window.size))
		total += runs[count++].size;
	return count;
}

/* Returns the number of bytes read, from the first run on, or a negative errno. */
static ssize_t read_some_runs(pid_t pid, const struct memory_run *runs, unsigned n, uint8_t *to)
{
	struct iovec remote[MAX_RUNS];
	size_t size = 0;

	n = runs_at_once(runs, n);
	if (n == 1)
		return memory_read_some(pid, runs->address, to, runs->size);
	for (unsigned i = 0; i < n; i++) {
		remote[i] = (struct iovec){(void *)(uintptr_t)runs[i].address, runs[i].size};
		size += runs[i].size;
	}
	return read_vector(pid, remote, n, to, size);
}

static int read_runs(pid_t pid, const struct memory_run *runs, unsigned n, struct memory_piece *pieces,
		     uint8_t *to)
{
	while (n) {
		ssize_t got = read_some_runs(pid, runs, n, to);
		bool whole = false;
		int rc;

		if (got < 0 && got != -EFAULT && got != -EIO)
			return (int)got;
		/* The kernel stops at the first run that it cannot read completely. */
		while (n && got > 0 && (size_t)got >= runs->size) {
			memory_deliver(runs, pieces, to);
			got -= (ssize_t)runs->size;
			to += runs->size;
			runs++;
			n--;
			whole = got == 0;
		}
		if (!n)
			break;
		if (whole)
			continue; /* the window was full */
		rc = read_singly(pid, runs, pieces, to);
		if (rc)
			return rc;
		to += runs->size;
		runs++;
		n--;
	}
	return 0;
}

/* Upper bound for the size of all runs. */
static size_t space(const struct memory_piece *pieces, size_t n)
{
	size_t size = 0;

	for (size_t i = 0; i < n; i++)
		size += pieces[i].size + MAX_GAP;
	return size;
}

int memory_gather(struct memory_batch *batch, struct memory_piece *pieces, size_t n)
{
	struct memory_run runs[MAX_RUNS];
	size_t used = 0, total;
	int rc = memory_reserve(batch, space(pieces, n));

	qsort(pieces, n, sizeof(*pieces), memory_by_address);
	for (size_t i = 0; rc == 0 && i < n;) {
		unsigned count = make_runs(pieces + i, n - i, runs, &total);

		rc = read_runs(batch->pid, runs, count, pieces + i, batch->buffer + used);
		used += total;
		i += runs[count - 1].first + runs[count - 1].n;
	}
	return rc;
}

void memory_batch_free(struct memory_batch *batch)
{
	free(batch->buffer);
	batch->buffer = NULL;
	batch->capacity = 0;
}

static const char *how_to_be_allowed(void)
{
	if (rights_in_user_namespace())
		return "this is root only inside a user namespace (a rootless container?): run gotrace with "
		       "sudo outside it";
	if (geteuid() == 0)
		return "even root may not: run gotrace where the process was started (outside this "
		       "container, with CAP_SYS_PTRACE), unless a security module forbids it";
	if (rights_have(RIGHT_SYS_PTRACE))
		return "only its owner may read it: run gotrace as root, or with CAP_DAC_READ_SEARCH";
	return "run gotrace as root, or with CAP_SYS_PTRACE";
}

const char *memory_how_to_be_allowed(void)
{
	static const char *advice;

	if (!advice)
		advice = how_to_be_allowed();
	return advice;
}
