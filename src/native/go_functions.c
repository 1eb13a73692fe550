/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "native/go_functions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/record.h"
#include "native/ways.h"
#include "target/function.h"
#include "target/x86.h"

enum { RETURN_ADDRESS = 8, WORD = 8 };

struct searched {
	const struct target *target;
	const struct target_function *function;
};

static const uint8_t *bytes(void *ctx, uint64_t address, size_t size)
{
	const struct searched *in = ctx;

	return target_function_bytes(in->target, address, size);
}

static bool pointer(void *ctx, uint64_t address, uint64_t *to)
{
	const struct searched *in = ctx;

	return target_function_pointer(in->target, address, to);
}

/* Behind the call that makes room for the stack the function begins anew: nothing has begun that could end.
 */
static bool begins_anew(const struct searched *in, uint64_t address)
{
	const struct target_function *function = in->function;
	const uint8_t *code = NULL;
	struct x86_insn insn;

	if (address >= function->begin && address < function->end && function->begin != function->entry)
		code = target_function_bytes(in->target, address, function->end - address);
	return code && x86_decode(code, function->end - address, &insn) && insn.relative &&
	       address + insn.length + (uint64_t)insn.imm == function->entry;
}

/* Up to Go 1.5 the table has the frame still standing where the function begins anew. */
static int64_t distance(void *ctx, uint64_t address)
{
	const struct searched *in = ctx;
	uint32_t delta;

	if (begins_anew(in, address))
		return RETURN_ADDRESS;
	if (target_function_delta(in->target, address, &delta))
		return WAYS_UNKNOWN;
	return (int64_t)delta + RETURN_ADDRESS;
}

/* Go's linker leaves functions in one piece. */
static bool nothing(void *ctx, uint64_t address, struct ways_range *range)
{
	(void)ctx;
	(void)address;
	(void)range;
	return false;
}

static int find_ways(const struct target *target, const struct target_function *function, struct ways *ways,
		     struct error *err)
{
	struct searched in = {target, function};
	const struct ways_code code = {.ctx = &in,
				       .bytes = bytes,
				       .pointer = pointer,
				       .distance = distance,
				       .part = nothing,
				       .range = nothing};
	int rc = ways_find(&code, (struct ways_range){function->begin, function->end}, ways, err);
	unsigned kept = 0;

	for (unsigned i = 0; rc == 0 && i < ways->n; i++) {
		if (!begins_anew(&in, ways->ends[i].address))
			ways->ends[kept++] = ways->ends[i];
	}
	ways->n = kept;
	if (rc == 0 && function->condition && ways->begin.address == function->begin)
		ways->begin.condition = function->condition;
	return rc;
}

static int add(const struct target *target, struct function_plan *plan, int fd, uint8_t site,
	       const struct way *way, uint64_t cookie, struct error *err)
{
	uint64_t offset;

	if (!target_function_offset(target, way->address, &offset))
		return error_set(err, EBADMSG, "its code at 0x%llx is not in the file",
				 (unsigned long long)way->address);
	return function_plan_add(plan, fd, site, offset, cookie, err);
}

static uint64_t cookie_of(const struct way *way, uint32_t number)
{
	return FUNCTION_COOKIE(number, way->distance / WORD, way->condition);
}

static int plan_ways(const struct target *target, struct function_plan *plan, int fd, const struct ways *ways,
		     uint32_t number, struct error *err)
{
	uint64_t begin = cookie_of(&ways->begin, number) | (ways->ends_there ? FUNCTION_ENDS_THERE : 0);
	int rc = add(target, plan, fd, SITE_FUNCTION_BEGIN, &ways->begin, begin, err);

	for (unsigned i = 0; i < ways->n && rc == 0; i++)
		rc = add(target, plan, fd, SITE_FUNCTION_END, &ways->ends[i],
			 cookie_of(&ways->ends[i], number), err);
	return rc;
}

static int plan_one(const struct target *target, struct function_plan *plan, int fd, uint32_t number,
		    struct error *err)
{
	const char *name = plan->wanted[number - 1].text;
	struct ways *ways = malloc(sizeof(*ways));
	struct error why = {""};
	struct target_function function;
	int rc = ways ? target_function(target, name, &function, err)
		      : error_set(err, ENOMEM, "out of memory");

	if (rc == 0) {
		rc = find_ways(target, &function, ways, &why);
		if (rc)
			error_set(err, -rc, "cannot find the ends of %.100s: %.300s", name, why.text);
	}
	if (rc == 0)
		rc = plan_ways(target, plan, fd, ways, number, err);
	free(ways);
	return rc;
}

int go_functions_plan(const struct target *target, const struct function_want *wanted, unsigned n,
		      struct function_plan *plan, struct error *err)
{
	int fd, rc = 0;

	*plan = (struct function_plan){.nwanted = n};
	if (n == 0)
		return 0;
	if (n > MAX_FUNCTIONS)
		return error_set(err, EINVAL, "more than %u functions", MAX_FUNCTIONS);
	memcpy(plan->wanted, wanted, n * sizeof(*wanted));
	fd = target_open_exe(target);
	if (fd < 0)
		return error_set(err, -fd, "cannot open the executable: %s", strerror(-fd));
	for (uint32_t number = 1; number <= n && rc == 0; number++)
		rc = plan_one(target, plan, fd, number, err);
	close(fd);
	if (rc)
		functions_free(plan);
	return rc;
}
