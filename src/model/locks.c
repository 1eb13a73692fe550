/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/locks.h"

#include <stdio.h>

#include "model/emit.h"

enum { LOCK_TEXT = 48 };

/* sync.Mutex, the same in Go 1.4 to 1.27: state int32, sema uint32. */
enum { MUTEX_SEMA = 4 };
/* sync.RWMutex: w Mutex, writerSem, readerSem uint32, ... */
enum { RWMUTEX_WRITER_SEMA = 8, RWMUTEX_READER_SEMA = 12 };
/* sync.Cond: L Locker, notify notifyList, ... */
enum { COND_NOTIFY = 16 };

/*
 * sync.WaitGroup. From 1.18 on, and up to 1.17 where it is aligned to eight bytes, the semaphore is at 8;
 * else the semaphore comes first, and then what must be aligned. Up to 1.10 it is at 12.
 */
static uint64_t wait_group_of(unsigned go_minor, uint64_t semaphore)
{
	if (go_minor <= 10)
		return semaphore - 12;
	return semaphore % 8 && go_minor <= 17 ? semaphore : semaphore - 8;
}

static void print_semaphore(const struct model *md, uint64_t address, uint32_t stack, char text[LOCK_TEXT])
{
	const struct model_options *options = &md->options;
	enum lock_kind kind = LOCK_SEMAPHORE;

	if (options->lock_kind && stack)
		kind = options->lock_kind(options->ctx, &md->stacks.stacks[stack]);
	switch (kind) {
	case LOCK_MUTEX:
		snprintf(text, LOCK_TEXT, "mutex 0x%llx", (unsigned long long)address - MUTEX_SEMA);
		break;
	case LOCK_WRITER_QUEUE:
		snprintf(text, LOCK_TEXT, "rwmutex 0x%llx (write)", (unsigned long long)address - MUTEX_SEMA);
		break;
	case LOCK_WRITER:
		snprintf(text, LOCK_TEXT, "rwmutex 0x%llx (write)",
			 (unsigned long long)address - RWMUTEX_WRITER_SEMA);
		break;
	case LOCK_READER:
		snprintf(text, LOCK_TEXT, "rwmutex 0x%llx (read)",
			 (unsigned long long)address - RWMUTEX_READER_SEMA);
		break;
	case LOCK_WAIT_GROUP:
		snprintf(text, LOCK_TEXT, "waitgroup 0x%llx",
			 (unsigned long long)wait_group_of(md->target.go_minor, address));
		break;
	default:
		snprintf(text, LOCK_TEXT, "semaphore 0x%llx", (unsigned long long)address);
	}
}

static void print_awaited(const struct model *md, const struct op *op, char text[LOCK_TEXT])
{
	unsigned long long address = AWAITED_ADDRESS(op->arg2);

	switch (AWAITED_KIND(op->arg2)) {
	case AWAITED_CHANNEL:
		snprintf(text, LOCK_TEXT, "chan 0x%llx", address);
		break;
	case AWAITED_NOTIFY_LIST:
		snprintf(text, LOCK_TEXT, "cond 0x%llx", address - COND_NOTIFY);
		break;
	default:
		print_semaphore(md, address, op->stack2, text);
	}
}

/* The record says what is waited for. Go 1.4's arg2 is the beginning of a text. */
static bool has_address(const struct model *md, uint64_t arg2)
{
	return md->options.locks && md->target.go_minor != 4 && AWAITED_KIND(arg2) && AWAITED_ADDRESS(arg2);
}

static void write_log(struct model *md, struct op *op, uint64_t awaited, uint32_t stack)
{
	op->string = string_id(md, "lock");
	op->arg2 = awaited;
	op->stack2 = stack;
	md->lock_logs++;
}

void lock_note_park(struct model *md, struct m *m, uint64_t arg2, uint32_t stack)
{
	if (has_address(md, arg2))
		write_log(md, emit(&md->ops, OP_LOG, m), arg2, stack);
}

void lock_note_futex(struct model *md, struct m *m, uint64_t wait)
{
	if (md->options.locks && WAIT_KIND(wait) == FILE_FUTEX)
		write_log(md, emit(&md->ops, OP_LOG, m), wait, 0);
}

void lock_hold_place(struct model *md, struct m *m)
{
	if (md->options.locks)
		hold_place(&md->ops, m);
}

void lock_fill_place(struct model *md, size_t block, uint64_t arg2, uint32_t stack)
{
	const struct op *at = &md->ops.ops[block];
	struct op *op = block ? &md->ops.ops[block - 1] : NULL;

	if (!op || op->kind != OP_NONE || op->m != at->m || !has_address(md, arg2))
		return;
	*op = (struct op){
		.time = op->time, .kind = OP_LOG, .m = at->m, .g = at->g, .p = at->p, .inferred = true};
	md->ops.inferred++;
	write_log(md, op, arg2, stack);
}

void lock_logs_complete(struct model *md)
{
	uint32_t category = md->lock_logs ? string_id(md, "lock") : 0;
	char text[LOCK_TEXT];

	for (size_t i = md->ops.statuses; md->lock_logs && i < md->ops.n; i++) {
		struct op *op = &md->ops.ops[i];

		if (op->kind != OP_LOG || op->string != category || !op->arg2)
			continue;
		if (md->threads)
			snprintf(text, sizeof(text), "futex 0x%llx",
				 (unsigned long long)WAIT_FUTEX_ADDRESS(op->arg2));
		else
			print_awaited(md, op, text);
		op->string2 = strtab_add_str(md->annotations.texts, text);
		md->oom = md->oom || !op->string2;
		op->string2 |= TEXT_ID;
		op->arg2 = 0;
		op->stack2 = 0;
		md->lock_logs--;
	}
	md->lock_logs = 0;
}
