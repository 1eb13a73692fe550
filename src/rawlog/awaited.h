/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Describes what a goroutine waits for: "mutex 0xc000012340" (AWAITED in bpf/record.h). */
#ifndef GOTRACE_RAWLOG_AWAITED_H
#define GOTRACE_RAWLOG_AWAITED_H

#include <stdint.h>

#include "bpf/record.h"

/* The kind of lock that a semaphore of Go's runtime belongs to. */
enum lock_kind {
	LOCK_SEMAPHORE, /* not known */
	LOCK_MUTEX,
	LOCK_READER,       /* of an RWMutex, behind a writer */
	LOCK_WRITER,       /* of an RWMutex, behind readers */
	LOCK_WRITER_QUEUE, /* of an RWMutex, behind another writer */
	LOCK_WAIT_GROUP,
};

enum { AWAITED_TEXT = 48 };

/*
 * Describes an AWAITED value. The address in the text is that of the lock that contains the semaphore or
 * list, by the layout of this Go release. kind: the kind of lock, for a semaphore.
 */
void awaited_text(uint64_t awaited, unsigned go_minor, enum lock_kind kind, char text[AWAITED_TEXT]);

#endif
