/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/functions/go_functions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/record.h"
#include "code/isa/arm64.h"
#include "code/isa/probe_points.h"
#include "code/isa/x86.h"
#include "target/functions/function_names.h"
#include "target/functions/value_debug.h"
#include "target/functions/value_plan.h"
#include "target/function.h"
#include "util/machine.h"
#include "util/utf8.h"

enum {
	WORD = 8,
	/* On the stack at a call's begin and end; arm64 has it in a register. */
	RETURN_ADDRESS = OWN_MACHINE == EM_AARCH64 ? 0 : WORD,
};

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

static bool jumps_to(const uint8_t *code, size_t size, uint64_t address, uint64_t to)
{
	struct arm64_insn jump;
	struct x86_insn insn;

	if (OWN_MACHINE == EM_AARCH64)
		return arm64_decode(code, size, &jump) && jump.op == ARM64_B &&
		       address + (uint64_t)jump.imm == to;
	return x86_decode(code, size, &insn) && insn.relative &&
	       address + insn.length + (uint64_t)insn.imm == to;
}

/*
 * True for the jump back to the entry after the call that grows the stack. The function starts over: no call
 * has begun yet, so none ends.
 */
static bool is_restart(const struct searched *in, uint64_t address)
{
	const struct target_function *function = in->function;
	const uint8_t *code = NULL;

	if (address >= function->begin && address < function->end && function->begin != function->entry)
		code = target_function_bytes(in->target, address, function->end - address);
	return code && jumps_to(code, function->end - address, address, function->entry);
}

/* Up to Go 1.5, the table still counts the frame at the jump back to the entry. */
static int64_t distance(void *ctx, uint64_t address)
{
	const struct searched *in = ctx;
	uint32_t delta;

	if (is_restart(in, address))
		return RETURN_ADDRESS;
	if (target_function_delta(in->target, address, &delta))
		return DISTANCE_UNKNOWN;
	return (int64_t)delta + RETURN_ADDRESS;
}

/* Go's linker does not split functions. */
static bool go_functions_no_source(void *ctx, uint64_t address, struct code_range *range)
{
	(void)ctx;
	(void)address;
	(void)range;
	return false;
}

static int find_probe_points(const struct target *target, const struct target_function *function,
			     struct probe_points *points, struct error *err)
{
	struct searched in = {target, function};
	const struct code_source source = {.arm64 = OWN_MACHINE == EM_AARCH64,
					   .ctx = &in,
					   .bytes = bytes,
					   .pointer = pointer,
					   .distance = distance,
					   .part = go_functions_no_source,
					   .range = go_functions_no_source};
	int rc = probe_points_find(&source, (struct code_range){function->begin, function->end}, points, err);
	unsigned kept = 0;

	for (unsigned i = 0; rc == 0 && i < points->n; i++) {
		if (!is_restart(&in, points->ends[i].address))
			points->ends[kept++] = points->ends[i];
	}
	points->n = kept;
	if (rc == 0 && function->condition && points->begin.address == function->begin)
		points->begin.condition = function->condition;
	return rc;
}

static int go_functions_add(const struct target *target, struct function_plan *plan, int fd, uint8_t site,
			    const struct probe_point *point, uint64_t cookie, struct error *err)
{
	uint64_t offset;

	if (!target_function_offset(target, point->address, &offset))
		return error_set(err, EBADMSG, "its code at 0x%llx is not in the file",
				 (unsigned long long)point->address);
	return function_plan_add(plan, fd, site, offset, cookie, err);
}

static uint64_t cookie_of(const struct probe_point *point, uint32_t number)
{
	return FUNCTION_COOKIE(number, point->distance / WORD, point->condition);
}

/*
 * Plans what the probe at a function's start reads of its arguments. Returns the number of the values, 0 if
 * nothing is read, or a negative errno.
 */
static int go_functions_plan_values(const struct target *target, struct function_plan *plan,
				    struct native_dwarf *dwarf, const struct target_function *function,
				    const struct probe_points *points, const struct value_list *list,
				    uint32_t number, struct error *err)
{
	struct function_values values = {.number = number, .site = SITE_FUNCTION_BEGIN};
	struct call_facts facts = {
		.abi = {.go = true, .go_minor = target->go_minor, .arm64 = OWN_MACHINE == EM_AARCH64},
		.entry = function->entry,
		.begin = points->begin.address,
		.written = points->written,
		.dwarf = dwarf,
	};
	int rc;

	if (!list->n)
		return 0;
	call_facts_of_go(&facts, function->name);
	rc = values_plan(list, &facts, &values, err);
	return rc ? rc : function_plan_read(plan, &values, err);
}

static int plan_probe_points(const struct target *target, struct function_plan *plan, int fd,
			     const struct probe_points *points, uint32_t number, int values,
			     struct error *err)
{
	uint64_t begin = cookie_of(&points->begin, number) | FUNCTION_READS(values) |
			 (points->ends_there ? FUNCTION_ENDS_THERE : 0);
	int rc = go_functions_add(target, plan, fd, SITE_FUNCTION_BEGIN, &points->begin, begin, err);

	for (unsigned i = 0; i < points->n && rc == 0; i++)
		rc = go_functions_add(target, plan, fd, SITE_FUNCTION_END, &points->ends[i],
				      cookie_of(&points->ends[i], number), err);
	return rc;
}

/* The state needed to plan one function. */
struct wanted_go_function {
	char name[FUNCTION_NAME_MAX];
	struct value_list list;
	struct target_function function;
	struct probe_points points;
};

static int go_functions_parse(const char *text, struct wanted_go_function *wanted, struct error *err)
{
	int rc = value_list_parse(text, &wanted->list, err);

	if (rc)
		return rc;
	if (wanted->list.name_len >= sizeof(wanted->name))
		return error_set(err, EINVAL, "the name '%.*s...' is too long", text_fit(text, 200), text);
	memcpy(wanted->name, text, wanted->list.name_len);
	wanted->name[wanted->list.name_len] = '\0';
	return 0;
}

/* The executable, for its debug information. */
struct go_executable {
	int fd;
	struct native_elf elf;
	struct value_debug debug;
	bool opened;
};

static struct native_dwarf *debug_information(struct go_executable *exe)
{
	if (!exe->opened && native_elf_open(&exe->elf, fcntl(exe->fd, F_DUPFD_CLOEXEC, 3)))
		exe->elf = (struct native_elf){.fd = -1};
	exe->opened = true;
	return value_debug_open(&exe->debug, &exe->elf, NULL, NULL);
}

static void close_executable(struct go_executable *exe)
{
	value_debug_close(&exe->debug);
	if (exe->opened)
		native_elf_close(&exe->elf);
	close(exe->fd);
}

static int plan_wanted(const struct target *target, struct function_plan *plan, struct go_executable *exe,
		       uint32_t number, struct wanted_go_function *wanted, struct error *err)
{
	struct error why = {""};
	int values, rc = target_function(target, wanted->name, &wanted->function, err);

	if (rc)
		return rc;
	rc = find_probe_points(target, &wanted->function, &wanted->points, &why);
	if (rc)
		return error_set(err, -rc, "cannot find the returns of %.*s: %.*s",
				 text_fit(wanted->name, 100), wanted->name, text_fit(why.text, 300),
				 why.text);
	values = go_functions_plan_values(target, plan, wanted->list.n ? debug_information(exe) : NULL,
					  &wanted->function, &wanted->points, &wanted->list, number, &why);
	if (values < 0)
		return error_set(err, -values, "%.*s: %.*s", text_fit(wanted->name, 100), wanted->name,
				 text_fit(why.text, 300), why.text);
	return plan_probe_points(target, plan, exe->fd, &wanted->points, number, values, err);
}

static int go_functions_plan_one(const struct target *target, struct function_plan *plan,
				 struct go_executable *exe, uint32_t number, struct error *err)
{
	struct wanted_go_function *wanted = calloc(1, sizeof(*wanted));
	int rc = wanted ? go_functions_parse(plan->wanted[number - 1].text, wanted, err)
			: error_set(err, ENOMEM, "out of memory");

	if (rc == 0)
		rc = plan_wanted(target, plan, exe, number, wanted, err);
	free(wanted);
	return rc;
}

int go_functions_plan(const struct target *target, const struct function_want *wanted, unsigned n,
		      struct function_plan *plan, struct error *err)
{
	struct go_executable exe = {.fd = -1};
	int rc = 0;

	*plan = (struct function_plan){.nwanted = n};
	if (n == 0)
		return 0;
	if (n > MAX_FUNCTIONS)
		return error_set(err, EINVAL, "more than %u functions", MAX_FUNCTIONS);
	memcpy(plan->wanted, wanted, n * sizeof(*wanted));
	exe.fd = target_open_exe(target);
	if (exe.fd < 0)
		return error_set(err, -exe.fd, "cannot open the executable: %s", strerror(-exe.fd));
	for (uint32_t number = 1; number <= n && rc == 0; number++) {
		if (wanted[number - 1].kind != FUNCTION_REQUEST)
			rc = go_functions_plan_one(target, plan, &exe, number, err);
	}
	if (rc == 0)
		rc = go_requests_plan(target, plan, exe.fd, err);
	close_executable(&exe);
	if (rc)
		functions_free(plan);
	return rc;
}
