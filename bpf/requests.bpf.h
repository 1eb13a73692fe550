/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Requests that a Go program serves and makes (--requests): probes where a request begins and ends, with
 * values that name it and pair its begin with its end. No probe is on a `ret`.
 */
#ifndef GOTRACE_REQUESTS_BPF_H
#define GOTRACE_REQUESTS_BPF_H

#include "bpf/go_functions.bpf.h"

HIT(request_begin)
{
	uint64_t cookie = bpf_get_attach_cookie(ctx);
	struct raw_record rec = {.site = SITE_REQUEST_BEGIN};
	struct go_g g;

	if (!is_call(ctx, &rec, &g, cookie))
		return;
	if (has_abi0())
		rec.stack = scan_here(ctx, &g, 0);
	else if (FUNCTION_DISTANCE(cookie) == 1)
		rec.stack =
			walk_entry(REG_PC(ctx) + 1, REG_SP(ctx), REG_FP(ctx), g_word(&g, layout.g_stack_hi));
	send_call(ctx, &rec, cookie);
}

HIT(request_end)
{
	uint64_t cookie = bpf_get_attach_cookie(ctx);
	struct raw_record rec = {.site = SITE_REQUEST_END};
	struct go_g g;

	if (is_call(ctx, &rec, &g, cookie))
		send_call(ctx, &rec, cookie);
}

#endif
