/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "rawlog/awaited.h"

#include <stdio.h>

/* sync.Mutex, the same in Go 1.4 to 1.27: state int32, sema uint32. */
enum { MUTEX_SEMA = 4 };
/* sync.RWMutex: w Mutex, writerSem, readerSem uint32, ... */
enum { RWMUTEX_WRITER_SEMA = 8, RWMUTEX_READER_SEMA = 12 };
/* sync.Cond: L Locker, notify notifyList, ... */
enum { COND_NOTIFY = 16 };

/*
 * sync.WaitGroup. The semaphore is at offset 12 up to Go 1.10, and at 8 from 1.18 on. In between, it is at 8
 * if the struct is aligned to eight bytes; otherwise it comes first.
 */
static uint64_t wait_group_of(unsigned go_minor, uint64_t semaphore)
{
	if (go_minor <= 10)
		return semaphore - 12;
	return semaphore % 8 && go_minor <= 17 ? semaphore : semaphore - 8;
}

static void print_semaphore(unsigned long long address, unsigned go_minor, enum lock_kind kind,
			    char text[AWAITED_TEXT])
{
	switch (kind) {
	case LOCK_MUTEX:
		snprintf(text, AWAITED_TEXT, "mutex 0x%llx", address - MUTEX_SEMA);
		break;
	case LOCK_WRITER_QUEUE:
		snprintf(text, AWAITED_TEXT, "rwmutex 0x%llx (write)", address - MUTEX_SEMA);
		break;
	case LOCK_WRITER:
		snprintf(text, AWAITED_TEXT, "rwmutex 0x%llx (write)", address - RWMUTEX_WRITER_SEMA);
		break;
	case LOCK_READER:
		snprintf(text, AWAITED_TEXT, "rwmutex 0x%llx (read)", address - RWMUTEX_READER_SEMA);
		break;
	case LOCK_WAIT_GROUP:
		snprintf(text, AWAITED_TEXT, "waitgroup 0x%llx",
			 (unsigned long long)wait_group_of(go_minor, address));
		break;
	default:
		snprintf(text, AWAITED_TEXT, "semaphore 0x%llx", address);
	}
}

void awaited_text(uint64_t awaited, unsigned go_minor, enum lock_kind kind, char text[AWAITED_TEXT])
{
	unsigned long long address = AWAITED_ADDRESS(awaited);

	switch (AWAITED_KIND(awaited)) {
	case AWAITED_CHANNEL:
		snprintf(text, AWAITED_TEXT, "chan 0x%llx", address);
		break;
	case AWAITED_NOTIFY_LIST:
		snprintf(text, AWAITED_TEXT, "cond 0x%llx", address - COND_NOTIFY);
		break;
	default:
		print_semaphore(address, go_minor, kind, text);
	}
}
