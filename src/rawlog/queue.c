/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "rawlog/queue.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	/* While the consumer keeps up, only a few chunks are used in turn, so they stay in the cache. */
	CHUNK_BYTES = 256 << 10,
	CHUNKS = 4096,    /* of address space; memory is allocated on first write */
	KEPT_CHUNKS = 64, /* memory of free chunks from this one on is returned after a backlog */
	WORD_BITS = 64,
};

/* Consecutive chunks to which records are appended. */
struct queue_slot {
	uint32_t first, n;     /* chunks */
	_Atomic uint32_t used; /* bytes */
};

/* Shared by both processes. Slot numbers increase forever; at most CHUNKS slots exist at a time. */
struct queue_shared {
	_Atomic uint64_t opened;      /* by the producer; records are appended to the last slot */
	_Atomic uint64_t closed;      /* by the consumer: slots completely taken */
	_Atomic uint64_t taken;       /* by the consumer: bytes taken */
	_Atomic uint32_t is_sleeping; /* a futex: 1 while the consumer sleeps */
	struct queue_slot slots[CHUNKS];
};

struct queue_entry {
	uint32_t type, size;
};

struct queue {
	struct queue_shared *shared;
	uint8_t *memory; /* CHUNKS chunks of CHUNK_BYTES */
	size_t budget;
	/* Private to the producer. */
	struct queue_slot last; /* the open slot */
	uint64_t opened, reclaimed;
	uint64_t put, flushed;             /* bytes; at the last queue_flush() */
	uint64_t free[CHUNKS / WORD_BITS]; /* a bit for each chunk that belongs to no slot */
	uint32_t touched;                  /* number of chunks, from the first on, that may have memory */
	struct queue_slot past[CHUNKS];    /* copies of the slots, made when they were opened */
	/* Private to the consumer. */
	uint64_t slot;
	uint32_t at; /* bytes of the slot already taken */
};

static size_t queue_padded(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

static void *shared_memory(size_t size)
{
	void *memory =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

struct queue *queue_new(size_t budget, struct error *err)
{
	struct queue *queue = calloc(1, sizeof(*queue));

	if (queue) {
		queue->shared = shared_memory(sizeof(*queue->shared));
		queue->memory = shared_memory((size_t)CHUNKS * CHUNK_BYTES);
		queue->budget = budget;
		memset(queue->free, 0xff, sizeof(queue->free));
	}
	if (queue && queue->shared && queue->memory)
		return queue;
	queue_free(queue);
	error_set(err, ENOMEM, "out of memory");
	return NULL;
}

void queue_free(struct queue *queue)
{
	if (!queue)
		return;
	if (queue->shared)
		munmap(queue->shared, sizeof(*queue->shared));
	if (queue->memory)
		munmap(queue->memory, (size_t)CHUNKS * CHUNK_BYTES);
	free(queue);
}

/* --- the producer --- */

static bool is_free(const struct queue *queue, uint32_t chunk)
{
	return queue->free[chunk / WORD_BITS] >> chunk % WORD_BITS & 1;
}

static void queue_slot_mark(struct queue *queue, const struct queue_slot *slot, bool is_free)
{
	for (uint32_t i = slot->first; i < slot->first + slot->n; i++) {
		uint64_t bit = 1ull << i % WORD_BITS, *word = &queue->free[i / WORD_BITS];

		*word = is_free ? *word | bit : *word & ~bit;
	}
}

/* Returns the number of consecutive free chunks from `first` on, before `end`. */
static uint32_t count_free(const struct queue *queue, uint32_t first, uint32_t end)
{
	uint32_t n = 0;

	while (first + n < end && is_free(queue, first + n))
		n++;
	return n;
}

/*
 * Returns memory to the system after a backlog has been taken. Chunks without memory read as zeros, so only
 * free chunks may lose theirs: a slot owns its chunks until the consumer has closed it, wherever they are.
 */
static void shrink(struct queue *queue)
{
	uint32_t end = queue->touched;

	if (end <= KEPT_CHUNKS)
		return;
	queue->touched = KEPT_CHUNKS;
	for (uint32_t i = KEPT_CHUNKS; i < end; i++) {
		uint32_t n = count_free(queue, i, end);

		if (n)
			madvise(queue->memory + (size_t)i * CHUNK_BYTES, (size_t)n * CHUNK_BYTES,
				MADV_REMOVE);
		i += n; /* to the end, or to a chunk in use */
		if (i < end)
			queue->touched = i + 1;
	}
}

/* Frees the chunks of slots that the consumer has finished. The open slot is never freed. */
static void reclaim(struct queue *queue)
{
	uint64_t closed = atomic_load_explicit(&queue->shared->closed, memory_order_acquire);

	while (queue->reclaimed < closed && queue->reclaimed + 1 < queue->opened)
		queue_slot_mark(queue, &queue->past[queue->reclaimed++ % CHUNKS], true);
	if (queue->reclaimed + 1 == queue->opened)
		shrink(queue);
}

/* Finds the lowest n adjacent free chunks: memory is reused before more is touched. */
static bool find_chunks(const struct queue *queue, uint32_t n, uint32_t *first)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < CHUNKS; i++) {
		if (i % WORD_BITS == 0 && !queue->free[i / WORD_BITS]) {
			found = 0;
			i += WORD_BITS - 1;
			continue;
		}
		found = is_free(queue, i) ? found + 1 : 0;
		if (found == n) {
			*first = i + 1 - n;
			return true;
		}
	}
	return false;
}

static bool open_slot(struct queue *queue, size_t need)
{
	struct queue_slot slot = {.n = (uint32_t)((need + CHUNK_BYTES - 1) / CHUNK_BYTES)};
	struct queue_slot *shared = &queue->shared->slots[queue->opened % CHUNKS];

	reclaim(queue);
	if (queue->opened - queue->reclaimed >= CHUNKS - 1 || !find_chunks(queue, slot.n, &slot.first))
		return false;
	queue_slot_mark(queue, &slot, false);
	if (slot.first + slot.n > queue->touched)
		queue->touched = slot.first + slot.n;
	queue->past[queue->opened % CHUNKS] = queue->last = slot;
	shared->first = slot.first;
	shared->n = slot.n;
	atomic_store_explicit(&shared->used, 0, memory_order_relaxed);
	atomic_store_explicit(&queue->shared->opened, ++queue->opened, memory_order_release);
	return true;
}

/* Returns space for an entry in the open slot or a new one, or NULL if there is none. */
static struct queue_entry *queue_space_for(struct queue *queue, size_t need)
{
	size_t space = queue->opened ? (size_t)queue->last.n * CHUNK_BYTES - queue->last.used : 0;

	if (need > space && !open_slot(queue, need))
		return NULL;
	return (void *)(queue->memory + (size_t)queue->last.first * CHUNK_BYTES + queue->last.used);
}

int queue_put(void *ctx, const struct log_record *record)
{
	struct queue *queue = ctx;
	size_t need = sizeof(struct queue_entry) + queue_padded(record->size);
	struct queue_entry *entry = queue_space_for(queue, need);

	if (!entry)
		return -ENOBUFS;
	*entry = (struct queue_entry){.type = record->type, .size = record->size};
	if (record->size)
		memcpy(entry + 1, record->data, record->size);
	queue->last.used += (uint32_t)need;
	queue->put += need;
	atomic_store_explicit(&queue->shared->slots[(queue->opened - 1) % CHUNKS].used, queue->last.used,
			      memory_order_release);
	return 0;
}

static long futex(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

void queue_wake(struct queue *queue)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_exchange(&queue->shared->is_sleeping, 0))
		futex(&queue->shared->is_sleeping, FUTEX_WAKE, 1, NULL);
}

void queue_flush(struct queue *queue)
{
	if (queue->flushed == queue->put)
		return;
	queue->flushed = queue->put;
	queue_wake(queue);
}

double queue_fill(const struct queue *queue)
{
	uint64_t taken = atomic_load_explicit(&queue->shared->taken, memory_order_relaxed);

	return taken < queue->put ? (double)(queue->put - taken) / (double)queue->budget : 0;
}

/* --- the consumer --- */

static bool next_slot(struct queue *queue)
{
	if (atomic_load_explicit(&queue->shared->opened, memory_order_acquire) <= queue->slot + 1)
		return false;
	return true;
}

/* Returns the bytes used in the slot being read. Once a later slot is open, it no longer grows. */
static uint32_t used_now(struct queue *queue)
{
	return atomic_load_explicit(&queue->shared->slots[queue->slot % CHUNKS].used, memory_order_acquire);
}

bool queue_take(struct queue *queue, struct log_record *record)
{
	const struct queue_slot *slot;
	const struct queue_entry *entry;

	if (atomic_load_explicit(&queue->shared->opened, memory_order_acquire) <= queue->slot)
		return false;
	while (queue->at == used_now(queue)) {
		if (!next_slot(queue))
			return false;
		if (queue->at != used_now(queue))
			break;
		queue->at = 0;
		atomic_store_explicit(&queue->shared->closed, ++queue->slot, memory_order_release);
	}
	slot = &queue->shared->slots[queue->slot % CHUNKS];
	entry = (const void *)(queue->memory + (size_t)slot->first * CHUNK_BYTES + queue->at);
	*record = (struct log_record){.type = entry->type, .size = entry->size, .data = entry + 1};
	queue->at += (uint32_t)(sizeof(*entry) + queue_padded(entry->size));
	atomic_fetch_add_explicit(&queue->shared->taken, sizeof(*entry) + queue_padded(entry->size),
				  memory_order_relaxed);
	return true;
}

static bool has_records(struct queue *queue)
{
	return atomic_load(&queue->shared->opened) > queue->slot &&
	       (queue->at != used_now(queue) || next_slot(queue));
}

void queue_arm(struct queue *queue)
{
	atomic_store(&queue->shared->is_sleeping, 1);
	atomic_thread_fence(memory_order_seq_cst);
}

void queue_wait(struct queue *queue, unsigned timeout_ms)
{
	const struct timespec timeout = {.tv_sec = timeout_ms / 1000,
					 .tv_nsec = (long)(timeout_ms % 1000) * 1000000};

	if (!has_records(queue))
		futex(&queue->shared->is_sleeping, FUTEX_WAIT, 1, &timeout);
	atomic_store(&queue->shared->is_sleeping, 0);
}
