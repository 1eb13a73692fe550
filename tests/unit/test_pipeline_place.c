/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Where a stack is, in one line of a message. */
#include "unit.h"

#include <string.h>

#include "pipeline/place.h"

/* A frame as "function" or "function|file:line", where the line is one digit. */
static struct frame frame_of(struct strtab *strings, const char *text)
{
	const char *bar = strchr(text, '|'), *colon = bar ? strrchr(text, ':') : NULL;
	size_t len = bar ? (size_t)(bar - text) : strlen(text);

	return (struct frame){
		.func = strtab_add(strings, text, len),
		.file = bar ? strtab_add(strings, bar + 1, (size_t)(colon - bar - 1)) : 0,
		.line = colon ? (uint32_t)(colon[1] - '0') : 0,
	};
}

static void assert_place(const char *expected, const char *const *texts)
{
	struct strtab *strings = strtab_new();
	struct frame frames[8];
	int n = 0;

	assert_non_null(strings);
	for (; texts[n]; n++)
		frames[n] = frame_of(strings, texts[n]);
	assert_string_equal(place_of(strings, frames, n).text, expected);
	strtab_free(strings);
}

#define PLACE(expected, ...) assert_place(expected, (const char *const[]){__VA_ARGS__, NULL})

static void go_programs(void **state)
{
	(void)state;
	PLACE("main.fetch (fetch.go:4)", "runtime.chanrecv1|/go/src/runtime/chan.go:9",
	      "main.fetch|/x/fetch.go:4", "main.main|/x/main.go:7");
	PLACE("main.fetch (fetch.go:4) in sync.(*Mutex).Lock", "runtime.semacquire1|r.go:1",
	      "sync.(*Mutex).lockSlow|mutex.go:1", "sync.(*Mutex).Lock|mutex.go:2",
	      "main.fetch|/x/fetch.go:4");
	PLACE("main.get (get.go:4) in database/sql.(*DB).QueryContext", "runtime.selectgo|r.go:1",
	      "database/sql.(*DB).conn|/go/sql.go:2", "database/sql.(*DB).QueryContext|/go/sql.go:3",
	      "main.get|/x/get.go:4");
	PLACE("os/signal.loop", "runtime.selectgo|r.go:1", "os/signal.loop|/go/signal.go:2");
	PLACE("", "runtime.goexit1|r.go:1");
	assert_place("", (const char *const[]){NULL});
}

static void threads(void **state)
{
	(void)state;
	PLACE("consume (io.c:5) in read: read(3: pipe)", "read(3: pipe)|read(3: pipe):1", "__libc_read",
	      "read", "consume|io.c:5", "consumer [consumer]");
	/* The kernel's frames are not what the program called. */
	PLACE("consume in read: read(3: pipe)", "pipe_read|[kernel]:1", "ext4_read|[ext4]:1",
	      "read(3: pipe)|read(3: pipe):1", "read", "consume");
	PLACE("[interrupt: disk]", "[interrupt: disk]|[interrupt: disk]:1");
	PLACE("touch", "handle_mm_fault|[kernel]:1", "[page fault]|[page fault]:1", "touch");
	PLACE("", "kthread|[kernel]:1");
}

/* Names come from the target. */
static void terminals_are_safe(void **state)
{
	(void)state;
	PLACE("ma?in.x (a?b.go:3)", "ma\x1bin.x|/x/a\nb.go:3");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(go_programs),
	cmocka_unit_test(threads),
	cmocka_unit_test(terminals_are_safe),
};

UNIT_TESTS(tests, NULL, NULL);
