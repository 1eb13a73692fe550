/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The layout of a ring is part of the kernel's interface (Documentation/bpf/ringbuf.rst; libbpf's ringbuf.c
 * is the reference): a page with the consumer's position, one with the producer's, and the data twice. libbpf
 * reads each ring to its end; merging several requires inspecting the next record before consuming it.
 */
#include "capture/ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/bpf.h>

enum { COMMIT_BYTES = 16 << 10 }; /* each commit costs writers a cache miss */

static uint32_t head_at(const struct ring *ring, uint64_t position)
{
	return __atomic_load_n((const uint32_t *)(ring->data + (position & ring->mask)), __ATOMIC_ACQUIRE);
}

static uint64_t next_position(uint64_t position, uint32_t head)
{
	uint64_t size = head & ~(uint32_t)(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

	return position + ((size + BPF_RINGBUF_HDR_SZ + 7) & ~(uint64_t)7);
}

int ring_map(struct ring *ring, int fd, uint32_t bytes, struct error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	const uint8_t *rest;

	if (consumer == MAP_FAILED)
		return error_set(err, errno, "cannot map the ring buffer: %s", strerror(errno));
	rest = mmap(NULL, page + 2 * (size_t)bytes, PROT_READ, MAP_SHARED, fd, (off_t)page);
	if (rest == MAP_FAILED) {
		int code = errno;

		munmap(consumer, page);
		return error_set(err, code, "cannot map the ring buffer: %s", strerror(code));
	}
	*ring = (struct ring){
		.consumer = consumer,
		.producer = (const uint64_t *)rest,
		.data = rest + page,
		.mask = bytes - 1,
		.page = page,
	};
	return 0;
}

void ring_unmap(struct ring *ring)
{
	if (!ring->consumer)
		return;
	munmap(ring->consumer, ring->page);
	munmap((void *)(uintptr_t)ring->producer, ring->page + 2 * (ring->mask + 1));
	*ring = (struct ring){0};
}

uint64_t ring_end(const struct ring *ring)
{
	return __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
}

double ring_fill(const struct ring *ring)
{
	return (double)(ring_end(ring) - ring->at) / (double)(ring->mask + 1);
}

bool ring_is_complete(struct ring *ring, uint64_t end)
{
	if (ring->complete < ring->at)
		ring->complete = ring->at;
	while (ring->complete < end) {
		uint32_t head = head_at(ring, ring->complete);

		if (head & BPF_RINGBUF_BUSY_BIT)
			return false;
		ring->complete = next_position(ring->complete, head);
	}
	return true;
}

bool ring_peek(struct ring *ring, uint64_t end, struct ring_record *record)
{
	while (ring->at < end) {
		uint32_t head = head_at(ring, ring->at);

		if (head & BPF_RINGBUF_BUSY_BIT)
			return false;
		record->next = next_position(ring->at, head);
		if (!(head & BPF_RINGBUF_DISCARD_BIT)) {
			record->data = ring->data + (ring->at & ring->mask) + BPF_RINGBUF_HDR_SZ;
			record->size = head;
			return true;
		}
		ring->at = record->next;
	}
	return false;
}

void ring_pass(struct ring *ring, const struct ring_record *record)
{
	ring->at = record->next;
	if (ring->at - ring->committed >= COMMIT_BYTES)
		ring_commit(ring);
}

void ring_commit(struct ring *ring)
{
	if (ring->committed == ring->at)
		return;
	ring->committed = ring->at;
	__atomic_store_n(ring->consumer, ring->at, __ATOMIC_RELEASE);
}
