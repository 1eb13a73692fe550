/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the parts of the planner, which turns the release's rules into probes. */
#ifndef GOTRACE_TARGET_PLANNER_H
#define GOTRACE_TARGET_PLANNER_H

#include "target/copies.h"
#include "target/private.h"
#include "target/sites.h"

#define MAX_MATCHES 64

struct planner {
	const struct target *target;
	struct probe_plan *plan;
	struct error *err;
	uint64_t flag;      /* address of the flag of the runtime's tracer; 0 = not looked up yet */
	bool without_alloc; /* probes of --alloc are left out */
};

/* Makes the one line of text for a place that is not as the rule says. Returns -ENOTSUP. */
int planner_refuse(const struct planner *planner, const struct site_rule *rule, const struct code *code,
		   size_t offset, const char *why);
/* The same for a copy of the rule's function in `host`. */
int planner_refuse_copy(const struct planner *planner, const struct site_rule *rule, const char *host);
/*
 * Adds a probe for the rule's site. cookie: NULL, or for the site's program for copies. Returns 0, or a
 * negative errno if the place cannot be probed.
 */
int planner_add(struct planner *planner, const struct site_rule *rule, const struct code *code, size_t offset,
		const uint64_t *cookie);
/* Notes what is not probed in this program, and why. The first note stays. */
void planner_leave_out(struct planner *planner, const char *what, const char *why);

/*
 * Checks that the number of matches is the one in known releases. If it differs, the code has changed. what:
 * of the matches, for the message. Returns 0 or -ENOTSUP.
 */
int planner_check_total(const struct planner *planner, const struct site_rule *rule, const struct code *code,
			int n, const char *what);

/* A check whether the runtime's tracer is on, in one function or in an inlined copy of it. */
struct flag_check {
	size_t offset; /* of the jump */
	size_t line;   /* in the function; in tables without lines of inlined calls, the offset */
};

/*
 * Lists the checks that the rule's function makes in this code, in order of their lines. Returns their
 * number, or a negative errno if it is not as the rule says.
 */
int planner_checks(struct planner *planner, const struct site_rule *rule, const struct code *code,
		   struct flag_check checks[MAX_MATCHES]);

/* Parts of a plan. Each returns 0 or a negative errno. `code` is that of the function or contains a copy. */

/* The changes of a goroutine's status that the function makes, by their statuses. */
int plan_changes(struct planner *planner, const struct site_rule *rule, const struct code *code,
		 bool is_copy);
int plan_regions(struct planner *planner, const struct site_rule *rule, const struct code *code);
/* A copy of the function, by what identifies the event in the middle of other code. */
int plan_copy(struct planner *planner, const struct site_rule *rule, const struct code *code,
	      const char *host);

/*
 * Checks that every place that changes a goroutine's status is known for this release (Go 1.21 and later):
 * if one is not, events could be missed. Returns 0, or -ENOTSUP and *err names it.
 */
int check_status_changes(const struct target *target, struct error *err);

#endif
