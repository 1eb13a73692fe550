/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tasks, regions and logs of runtime/trace. The functions that tell the
 * runtime's tracer of them are called while it is off, too, but for regions
 * of StartRegion (Go 1.22 ... 1.26 runtime/trace/annotation.go). Goroutines call
 * them themselves: R14 is the one that the event is of.
 */
#ifndef GOTRACE_USER_BPF_H
#define GOTRACE_USER_BPF_H

#include "bpf/stack.bpf.h"

struct text {
	uint64_t address, len;
};

static __always_inline bool read_self(struct raw_record *rec, struct go_g *g, uint64_t self)
{
	if (!read_g(g, self))
		return false;
	rec->g = self;
	rec->goid = g_word(g, layout.g_goid);
	rec->status = g_status(g);
	rec->p = p_kept_quiet(g_word(g, layout.g_m));
	return true;
}

/* At the push that makes a frame: the stack from the caller on. */
static __always_inline uint64_t caller_stack(struct pt_regs *ctx, const struct go_g *g, uint8_t skip)
{
	return stack_from(return_address(ctx), REG_FP(ctx), g_word(g, layout.g_stack_hi), skip);
}

/*
 * A program may name a text in a page that nobody has touched yet, and no page
 * can be fetched here: user space gets the address, to read it later.
 */
static __always_inline uint16_t copy_text(struct raw_text *to, uint32_t at, struct text text, uint16_t *away)
{
	uint64_t len = text.len > TEXT_MAX ? TEXT_MAX : text.len;

	*away = 0;
	barrier_var(len);
	barrier_var(at);
	if (!len || len > TEXT_MAX || at > TEXT_MAX)
		return 0;
	if (!bpf_probe_read_user(to->text + at, len, (const void *)text.address))
		return len;
	__builtin_memcpy(to->text + at, &text.address, sizeof(text.address));
	*away = len;
	return sizeof(text.address);
}

static __always_inline void fill_text(struct raw_text *to, const struct raw_record *rec, struct text one,
				      struct text other)
{
	to->record = *rec;
	to->record.tid = own_tid();
	to->record.time = bpf_ktime_get_ns();
	to->len = copy_text(to, 0, one, &to->away);
	to->len2 = copy_text(to, to->len, other, &to->away2);
}

/* Sends a record with its texts as one, so that neither can be lost without the other. */
static __always_inline void send_text(const struct raw_record *rec, struct text one, struct text other)
{
	struct scratch *s = take_scratch();
	struct raw_text *text;
	uint64_t size;

	if (!s) {
		count_loss(LOSS_RING_FULL);
		return;
	}
	text = (struct raw_text *)s->chunk;
	fill_text(text, rec, one, other);
	size = sizeof(*text) + text->len + text->len2;
	barrier_var(size);
	if (size > sizeof(*text) + 2 * TEXT_MAX || put(text, size))
		count_loss(LOSS_RING_FULL);
	give_back(s);
}

SEC("?uprobe")
int task_begin(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_TASK_BEGIN, .arg = GO_ARG(ctx, 0), .arg2 = GO_ARG(ctx, 1)};
	struct text name = {GO_ARG(ctx, 2), GO_ARG(ctx, 3)}, none = {0};
	struct go_g g;

	if (comes_again(ctx) || !read_self(&rec, &g, REG_G(ctx)))
		return 0;
	rec.stack = caller_stack(ctx, &g, 1);
	send_text(&rec, name, none);
	return 0;
}

SEC("?uprobe")
int task_end(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_TASK_END, .arg = GO_ARG(ctx, 0)};
	struct go_g g;

	if (comes_again(ctx) || !read_self(&rec, &g, REG_G(ctx)))
		return 0;
	rec.stack = caller_stack(ctx, &g, 0);
	send(&rec);
	return 0;
}

/* BX: 0 = it begins, 1 = it ends. */
SEC("?uprobe")
int region(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_REGION_BEGIN, .arg = GO_ARG(ctx, 0)};
	struct text name = {GO_ARG(ctx, 2), GO_ARG(ctx, 3)}, none = {0};
	struct go_g g;

	if (GO_ARG(ctx, 1) > 1 || comes_again(ctx))
		return 0;
	if (GO_ARG(ctx, 1))
		rec.site = SITE_REGION_END;
	if (!read_self(&rec, &g, REG_G(ctx)))
		return 0;
	rec.stack = caller_stack(ctx, &g, 1);
	send_text(&rec, name, none);
	return 0;
}

SEC("?uprobe")
int user_log(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_LOG, .arg = GO_ARG(ctx, 0)};
	struct text category = {GO_ARG(ctx, 1), GO_ARG(ctx, 2)}, message = {GO_ARG(ctx, 3), GO_ARG(ctx, 4)};
	struct go_g g;

	if (comes_again(ctx) || !read_self(&rec, &g, REG_G(ctx)))
		return 0;
	rec.stack = caller_stack(ctx, &g, 1);
	send_text(&rec, category, message);
	return 0;
}

/* Contexts in contexts that are looked through for a task. */
#define CONTEXTS 24

/* Programs are loaded at a multiple of the page size from where they were linked. */
#define PAGE_MASK 0xfffu

static __always_inline bool is_task(uint64_t key_type, uint64_t value_type)
{
	return value_type - key_type == layout.task_type - layout.task_key_type &&
	       !((key_type - layout.task_key_type) & PAGE_MASK);
}

/*
 * The task of a context, as fromContext finds it; 0 if there is none. Every
 * context of the package context that has a parent has it as its first field,
 * and a valueCtx its key and value behind that (Go 1.22 ... 1.26 context/context.go).
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
 * At the jump in StartRegion: equal = the tracer is off; up to Go 1.18 = it is on. Arguments are still in
 * registers, the frame is made.
 */
SEC("?uprobe")
int region_start(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_REGION_START};
	struct text name = {GO_ARG(ctx, 2), GO_ARG(ctx, 3)}, none = {0};
	uint64_t frame[2]; /* of the caller; return address */
	struct go_g g;

	if (!tracer_is_off(ctx) || !read_self(&rec, &g, REG_G(ctx)) ||
	    !read_user(frame, sizeof(frame), REG_FP(ctx)))
		return 0;
	rec.arg = task_of(GO_ARG(ctx, 1));
	rec.stack = stack_from(frame[1], frame[0], g_word(&g, layout.g_stack_hi), 0);
	send_text(&rec, name, none);
	return 0;
}

/* At the jump in (*Region).End, wherever it is inlined: equal = the Region is that of no tracer. */
SEC("?uprobe")
int region_stop(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_REGION_STOP};
	struct go_g g;

	if (!IS_EQUAL(ctx) || !read_self(&rec, &g, REG_G(ctx)))
		return 0;
	rec.stack = stack_from(REG_PC(ctx) + 1, REG_FP(ctx), g_word(&g, layout.g_stack_hi), 1);
	send(&rec);
	return 0;
}

#endif
