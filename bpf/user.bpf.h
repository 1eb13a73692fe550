/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tasks, regions and logs of runtime/trace (from Go 1.11 on). Its functions are called whether or not the
 * runtime's tracer is on, except for regions made by StartRegion (Go 1.22 to 1.26
 * runtime/trace/annotation.go). The event belongs to the goroutine that calls them.
 */
#ifndef GOTRACE_USER_BPF_H
#define GOTRACE_USER_BPF_H

#include "bpf/abi0.bpf.h"

struct go_text {
	uint64_t address, len;
};

/*
 * Copies a text. BPF cannot fault pages in: if the text's page is not present, stores its address instead,
 * and user space reads the text later. Returns the number of bytes stored.
 */
static __always_inline uint16_t copy_text(struct raw_text *to, uint32_t at, struct go_text text,
					  uint16_t *away_len)
{
	uint64_t len = text.len > TEXT_MAX ? TEXT_MAX : text.len;

	*away_len = 0;
	barrier_var(len);
	barrier_var(at);
	if (!len || len > TEXT_MAX || at > TEXT_MAX)
		return 0;
	if (!bpf_probe_read_user(to->text + at, len, (const void *)text.address))
		return len;
	__builtin_memcpy(to->text + at, &text.address, sizeof(text.address));
	*away_len = len;
	return sizeof(text.address);
}

static __always_inline void fill_text(struct raw_text *to, const struct raw_record *rec, struct go_text one,
				      struct go_text other)
{
	to->record = *rec;
	to->record.tid = own_tid();
	to->record.time = bpf_ktime_get_ns();
	to->len = copy_text(to, 0, one, &to->away_len);
	to->len2 = copy_text(to, to->len, other, &to->away_len2);
}

/* Sends a record and its texts in one piece, so that neither can be lost alone. */
static __always_inline void send_text(const struct raw_record *rec, struct go_text one, struct go_text other)
{
	struct scratch *s = take_scratch();
	struct raw_text *text;
	uint64_t size;

	if (!s) {
		count_loss(LOSS_RECORD);
		return;
	}
	text = (struct raw_text *)s->chunk;
	fill_text(text, rec, one, other);
	/* It is smaller in any case; the mask is for the verifier. */
	size = (sizeof(*text) + text->len + text->len2) & (CHUNK - 1);
	put(text, size);
	give_back(s);
}

/* userTaskCreate(id, parentID, taskType) */
HIT(task_begin)
{
	struct raw_record rec = {.site = SITE_TASK_BEGIN};
	struct go_text name, none = {0};
	uint64_t args[4];
	struct go_g g;

	if (will_restart_prologue(ctx) || !entry_args(ctx, args, 4) || !read_self(ctx, &rec, &g))
		return;
	rec.arg = args[0];
	rec.arg2 = args[1];
	name = (struct go_text){args[2], args[3]};
	rec.stack = stack_of_caller(ctx, &g, 1);
	send_text(&rec, name, none);
}

/* userTaskEnd(id) */
HIT(task_end)
{
	struct raw_record rec = {.site = SITE_TASK_END};
	uint64_t args[1];
	struct go_g g;

	if (will_restart_prologue(ctx) || !entry_args(ctx, args, 1) || !read_self(ctx, &rec, &g))
		return;
	rec.arg = args[0];
	rec.stack = stack_of_caller(ctx, &g, 0);
	send(&rec);
}

/* userRegion(id, mode, regionType); mode 0: begin, 1: end. */
HIT(region)
{
	struct raw_record rec = {.site = SITE_REGION_BEGIN};
	struct go_text name, none = {0};
	uint64_t args[4];
	struct go_g g;

	if (will_restart_prologue(ctx) || !entry_args(ctx, args, 4) || args[1] > 1 ||
	    !read_self(ctx, &rec, &g))
		return;
	if (args[1])
		rec.site = SITE_REGION_END;
	rec.arg = args[0];
	name = (struct go_text){args[2], args[3]};
	rec.stack = stack_of_caller(ctx, &g, 1);
	send_text(&rec, name, none);
}

/* userLog(id, category, message) */
HIT(user_log)
{
	struct raw_record rec = {.site = SITE_LOG};
	struct go_text category, message;
	uint64_t args[5];
	struct go_g g;

	if (will_restart_prologue(ctx) || !entry_args(ctx, args, 5) || !read_self(ctx, &rec, &g))
		return;
	rec.arg = args[0];
	category = (struct go_text){args[1], args[2]};
	message = (struct go_text){args[3], args[4]};
	rec.stack = stack_of_caller(ctx, &g, 1);
	send_text(&rec, category, message);
}

/* Maximum number of nested contexts to search for a task. */
#define CONTEXTS 24

/* A program's load offset is a multiple of the page size. */
#define PAGE_MASK 0xfffu

static __always_inline bool is_task(uint64_t key_type, uint64_t value_type)
{
	return value_type - key_type == layout.task_type - layout.task_key_type &&
	       !((key_type - layout.task_key_type) & PAGE_MASK);
}

/*
 * The task of a context, found as fromContext does; 0 if there is none. In package context, every context
 * with a parent has it as its first field; in a valueCtx, key and value follow (Go 1.22 ... 1.26
 * context/context.go).
 */
static __always_inline uint64_t task_of(uint64_t context)
{
	for (int i = 0; i < CONTEXTS && context; i++) {
		uint64_t words[6]; /* parent: type, data; key: type, data; value: type, data */

		if (bpf_probe_read_user(words, sizeof(words), (const void *)context))
			return 0;
		if (is_task(words[2], words[4]))
			return read_word(words[5]);
		if (!words[0])
			return 0;
		context = words[1];
	}
	return 0;
}

static __always_inline bool tracer_is_off(const struct pt_regs *ctx)
{
#if defined(__TARGET_ARCH_arm64)
	return !(uint32_t)reg_value(ctx, layout.region_flag_register); /* `cbz` */
#else
	return !IS_EQUAL(ctx) == (go_minor <= 18);
#endif
}

/*
 * At the jump in StartRegion. If the comparison is equal, the tracer is off (up to Go 1.18: on). Arguments
 * are still in registers, and the frame is set up.
 */
HIT(region_start)
{
	struct raw_record rec = {.site = SITE_REGION_START};
	struct go_text name = {GO_ARG(ctx, 2), GO_ARG(ctx, 3)}, none = {0};
	uint64_t frame[2]; /* of the caller; return address */
	struct go_g g;

	if (!tracer_is_off(ctx) || !read_self(ctx, &rec, &g) || !read_user(frame, sizeof(frame), REG_FP(ctx)))
		return;
	rec.arg = task_of(GO_ARG(ctx, 1));
	rec.stack = walk_from(frame[1], frame[0], g_word(&g, layout.g_stack_hi), 0);
	send_text(&rec, name, none);
}

/* At the jump in (*Region).End, wherever it is inlined. If the comparison is equal, the Region was made while
 * the tracer was off. */
HIT(region_stop)
{
	struct raw_record rec = {.site = SITE_REGION_STOP};
	struct go_g g;

	if (!IS_EQUAL(ctx) || !read_self(ctx, &rec, &g))
		return;
	rec.stack = walk_from(REG_PC(ctx) + 1, REG_FP(ctx), g_word(&g, layout.g_stack_hi), 1);
	send(&rec);
}

#endif
