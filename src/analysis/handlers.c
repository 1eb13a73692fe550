/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "analysis/handlers.h"

#include <string.h>

#include "analysis/figures.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "code/symbol/library.h"

/*
 * What calls handlers: net/http's HandlerFunc and the multiplexers that are handlers themselves (chi,
 * gorilla), and gin's Context.
 */
static bool is_dispatcher(const struct analysis *a, const struct code_place *place)
{
	static const char *const ends[] = {".ServeHTTP", ".(*Context).Next", ".(*Ctx).Next"};
	const char *func = name_text(a, place->func);
	size_t n = strlen(func);

	/* A reverse proxy calls the program's transport. */
	if (library_in_package(func, "net/http/httputil") ||
	    library_owner(func, name_text(a, place->file)) == CODE_OF_PROGRAM)
		return false;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t len = strlen(ends[i]);

		if (n > len && strcmp(func + n - len, ends[i]) == 0)
			return true;
	}
	return false;
}

/* Of the program's functions, the innermost one that a dispatcher calls: those outside it are middleware. */
static uint32_t handler_find(const struct analysis *a, const struct stack_info *info)
{
	uint32_t handler = UINT32_MAX;
	bool dispatched = false;

	for (uint32_t i = info->site; i < info->n; i++) {
		const struct code_place *place = &a->frames[info->first + i];
		const char *func = name_text(a, place->func);

		if (strcmp(func, "net/http.serverHandler.ServeHTTP") == 0 ||
		    strcmp(func, "google.golang.org/grpc.(*Server).handleStream") == 0)
			return handler;
		if (dispatched || library_owner(func, name_text(a, place->file)) != CODE_OF_PROGRAM)
			continue;
		handler = place->func;
		dispatched = i + 1 < info->n && is_dispatcher(a, place + 1);
	}
	return UINT32_MAX;
}

uint32_t stack_handler(const struct analysis *a, uint32_t stack)
{
	uint32_t known = a->stacks[stack].handler;

	return known == UINT32_MAX ? 0 : known;
}

uint32_t handler_look_up(struct analysis *a, uint32_t stack)
{
	struct stack_info *info = &a->stacks[stack];

	if (!info->handler)
		info->handler = handler_find(a, info);
	return stack_handler(a, stack);
}

const struct handler_requests *handler_requests_of(const struct analysis *a, uint32_t func)
{
	for (unsigned i = 0; i < a->handlers.n; i++) {
		if (a->handlers.all[i].func == func)
			return &a->handlers.all[i];
	}
	return NULL;
}

/* Returns 1 + its index; 0 if there are too many. */
static uint8_t handler_index(struct analysis *a, uint32_t func)
{
	const struct handler_requests *known = handler_requests_of(a, func);

	if (known)
		return (uint8_t)(1 + (known - a->handlers.all));
	if (a->handlers.n == MAX_HANDLERS)
		return 0;
	a->handlers.all[a->handlers.n].func = func;
	return (uint8_t)++a->handlers.n;
}

void handler_enter(struct analysis *a, struct goroutine *g)
{
	uint32_t func;

	/* Code has no stack, and that of a runnable goroutine is its waker's. A gap is within a request. */
	if (!activity_is_blocked(g->activity))
		return;
	func = handler_look_up(a, g->stack);
	if (g->handler && a->handlers.all[g->handler - 1].func == func)
		return;
	g->handler = func ? handler_index(a, func) : 0;
	if (g->handler) {
		a->handlers.all[g->handler - 1].n++;
		a->handlers.all[g->handler - 1].before_ns += g->ran_outside;
	}
	g->ran_outside = 0;
}

void handler_spend(struct analysis *a, struct goroutine *g, uint64_t ns)
{
	if (g->handler && g->activity != ACT_UNWATCHED)
		a->handlers.all[g->handler - 1].spent[g->activity] += ns;
	else if (g->activity == ACT_CODE || g->activity == ACT_ASSIST || g->activity == ACT_RUNNABLE)
		g->ran_outside += ns;
}

double handler_share(const struct analysis *a, uint32_t stack, uint64_t ns)
{
	uint32_t handler = stack_handler(a, stack);
	const struct handler_requests *requests = handler ? handler_requests_of(a, handler) : NULL;
	uint64_t all = requests ? activities_ns(requests->spent) : 0;

	return all ? (double)ns / (double)all : 1;
}
