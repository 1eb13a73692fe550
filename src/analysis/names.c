/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Strings and stacks of the tables, copied once: they outlive the reader of the trace. */
#include <stdlib.h>
#include <string.h>

#include "analysis/state.h"
#include "symbol/symbol.h"
#include "util/array.h"

/* Packages that carry out what the program asked for: a wait in them is named by their caller. */
static const char *const plumbing[] = {
	"runtime", "sync",    "internal", "syscall", "os",      "net",    "time", "io",
	"bufio",   "reflect", "fmt",      "log",     "context", "crypto", "iter",
};
/* Frames of C below which the program's own code begins. */
static const char *const c_plumbing[] = {
	"pthread_", "__pthread_",   "___pthread_", "__lll_",     "lll_",  "futex",        "__futex_",
	"std::",    "__gthread",    "__GI_",       "clock_nano", "__",    "_IO_",         "[",
	"syscall",  "start_thread", "usleep",      "nanosleep",  "sleep", "new_do_write", "fwrite",
	"fflush",   "fsync",        "write",       "read",       "pread", "pwrite",       "poll",
	"epoll_",   "recv",         "send",        "fdatasync",  "open",
};

uint32_t name_string(struct analysis *a, uint32_t id)
{
	const struct strtab *from = id & TEXT_ID ? a->gen->tables->texts : a->gen->tables->strings;
	const char *text;
	uint32_t string;
	size_t len;

	if (!(id & ~TEXT_ID) || !from)
		return 0;
	text = strtab_get(from, id & ~TEXT_ID, &len);
	string = strtab_add(a->strings, text, len);
	if (len && !string)
		a->oom = true;
	return string;
}

const char *name_text(const struct analysis *a, uint32_t string)
{
	size_t len;

	return strtab_get(a->strings, string, &len);
}

/* Whether a function belongs to a package, or to one below it. */
static bool in_package(const char *func, const char *package)
{
	size_t n = strlen(package);

	return strncmp(func, package, n) == 0 &&
	       (func[n] == '.' || (func[n] == '/' && strcmp(package, "net")));
}

static bool is_go(const char *func)
{
	return strchr(func, '.') && !strstr(func, "::") && !strchr(func, '(') ? true
									      : strstr(func, ".(") != NULL;
}

/* A system call as gotrace names it, with its descriptor: "read(7: /data/x)", "epoll_wait(5)". */
static bool is_call(const char *func)
{
	const char *bracket = strchr(func, '(');

	return bracket && bracket[1] >= '0' && bracket[1] <= '9';
}

static bool is_plumbing(const char *func)
{
	if (!is_go(func)) {
		for (size_t i = 0; i < sizeof(c_plumbing) / sizeof(c_plumbing[0]); i++) {
			if (strncmp(func, c_plumbing[i], strlen(c_plumbing[i])) == 0)
				return true;
		}
		return !*func || is_call(func);
	}
	for (size_t i = 0; i < sizeof(plumbing) / sizeof(plumbing[0]); i++) {
		if (in_package(func, plumbing[i]))
			return true;
	}
	return false;
}

/* Of the runtime, or of sync: what a lock is made of. */
static bool is_lock_code(const char *func)
{
	if (!is_go(func))
		return is_plumbing(func);
	return in_package(func, "runtime") || in_package(func, "sync") || in_package(func, "internal");
}

bool is_system_function(const char *func)
{
	return in_package(func, "runtime") && strcmp(func, "runtime.main") != 0;
}

static uint32_t find_frame(const struct analysis *a, const struct stack_info *info,
			   bool (*skip)(const char *))
{
	for (uint32_t i = 0; i < info->n; i++) {
		const char *func = name_text(a, a->frames[info->first + i].func);

		if (!skip(func))
			return i;
	}
	return UINT32_MAX;
}

static void look_at_leaf(const struct analysis *a, struct stack_info *info)
{
	info->near = find_frame(a, info, is_lock_code);
	info->site = find_frame(a, info, is_plumbing);
	if (info->near == UINT32_MAX)
		info->near = info->n ? info->n - 1 : 0;
	/* Nothing but the standard library: its outermost layer says the most. */
	if (info->site == UINT32_MAX)
		info->site = info->near;
	for (uint32_t i = 0; i < info->n && i <= info->near + 1 && !info->primitive; i++)
		info->primitive = (uint8_t)primitive_of(name_text(a, a->frames[info->first + i].func));
	info->outside = info->n == 1 && name_text(a, a->frames[info->first].func)[0] == '[';
}

static bool copy_frames(struct analysis *a, const struct stack *from, struct stack_info *info)
{
	uint32_t n = from->frames ? from->n : 0;

	if (n > MAX_FRAMES_KEPT)
		n = MAX_FRAMES_KEPT;
	if (array_grow(&a->frames, &a->frame_capacity, a->nframes + n + 1, sizeof(*a->frames)))
		return false;
	info->first = (uint32_t)a->nframes;
	for (uint32_t i = 0; i < n; i++) {
		/* The root is kept also of a stack that is cut: it says what the goroutine is. */
		const struct frame *frame = &from->frames[i == MAX_FRAMES_KEPT - 1 ? from->n - 1 : i];

		a->frames[a->nframes++] = (struct code_place){
			.func = name_string(a, frame->func),
			.file = name_string(a, frame->file),
			.line = frame->line,
		};
	}
	info->n = n;
	return true;
}

static uint32_t add_stack(struct analysis *a, const struct stack *from)
{
	struct stack_info info = {0};

	if (a->nstacks >= MAX_STACKS)
		return 0;
	if (array_grow(&a->stacks, &a->stack_capacity, a->nstacks + 1, sizeof(*a->stacks)) ||
	    !copy_frames(a, from, &info)) {
		a->oom = true;
		return 0;
	}
	look_at_leaf(a, &info);
	a->stacks[a->nstacks] = info;
	return (uint32_t)a->nstacks++;
}

uint32_t stack_index(struct analysis *a, uint32_t id)
{
	size_t before = a->nstack_of;

	if (!id || id >= a->gen->tables->nstacks)
		return 0;
	if (id >= before) {
		if (array_grow(&a->stack_of, &a->nstack_of, id + 1, sizeof(*a->stack_of))) {
			a->oom = true;
			return 0;
		}
		memset(a->stack_of + before, 0xff, (a->nstack_of - before) * sizeof(*a->stack_of));
	}
	if (a->stack_of[id] == UINT32_MAX)
		a->stack_of[id] = add_stack(a, &a->gen->tables->stacks[id]);
	return a->stack_of[id];
}

static const struct code_place *frame_at(const struct analysis *a, uint32_t stack, uint32_t i)
{
	static const struct code_place none;
	const struct stack_info *info = &a->stacks[stack < a->nstacks ? stack : 0];

	return i < info->n ? &a->frames[info->first + i] : &none;
}

const struct code_place *stack_site(const struct analysis *a, uint32_t stack)
{
	return frame_at(a, stack, a->stacks[stack < a->nstacks ? stack : 0].site);
}

const struct code_place *stack_near(const struct analysis *a, uint32_t stack)
{
	return frame_at(a, stack, a->stacks[stack < a->nstacks ? stack : 0].near);
}

const struct code_place *stack_root(const struct analysis *a, uint32_t stack)
{
	uint32_t n = a->stacks[stack < a->nstacks ? stack : 0].n;

	return frame_at(a, stack, n ? n - 1 : 0);
}

bool stack_polls(const struct analysis *a, uint32_t stack)
{
	const struct stack_info *info = &a->stacks[stack < a->nstacks ? stack : 0];

	/* runtime.chanrecv, runtime.selectnbrecv, the program's function (cmd/compile: walkSelectCases). */
	for (uint32_t i = 0; i < info->n && i < 3; i++) {
		const char *func = name_text(a, a->frames[info->first + i].func);

		if (strncmp(func, "runtime.selectnb", 16) == 0 || strcmp(func, "runtime.selectgo") == 0)
			return true;
	}
	return false;
}
