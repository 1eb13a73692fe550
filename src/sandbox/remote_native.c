/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Files with native code, read in the sandbox: unwind rules, places of functions. */
#include "sandbox/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/answers.h"
#include "sandbox/inspection.h"
#include "util/files.h"

/* --- unwind rules --- */

static int remote_take_rows(struct sandbox *sandbox, struct inspection *call,
			    const struct module_facts *facts, struct module_code *code)
{
	struct error err;
	size_t size = facts->rows * sizeof(*code->rows.rows);

	if (call->rpc.left != size)
		return sandbox_fail(sandbox, -EBADMSG, &err);
	code->rows.rows = malloc(size + 1);
	if (!code->rows.rows)
		return channel_skip(&sandbox->channel, size) ? -EPIPE : -ENOMEM;
	if (inspection_read(sandbox, call, code->rows.rows, size, &err))
		return -EPIPE;
	if (!answer_rows_are_good(facts, code->rows.rows))
		return sandbox_fail(sandbox, -EBADMSG, &err);
	code->rows.n = facts->rows;
	return 0;
}

/* True for an O_PATH descriptor: the worker must open the file itself. */
static bool is_handle(int fd)
{
	return fd >= 0 && fcntl(fd, F_GETFL) & O_PATH;
}

int remote_module_read(struct sandbox *sandbox, int fd, const char *bytes, size_t size,
		       struct module_code *code)
{
	struct inspection call = {.rpc = {.kind = INSPECT_MODULE}};
	struct module_facts facts;
	struct error err;
	char path[64];
	int rc;

	*code = (struct module_code){.n = 0};
	if (is_handle(fd)) {
		rc = sandbox->broker ? broker_share(sandbox->broker, fd, path) : -EBADF;
		if (rc)
			return rc;
		call.rpc = (struct rpc){.kind = INSPECT_MODULE_FILE, .bytes = path, .size = strlen(path)};
	} else if (fd >= 0) {
		call.rpc.send[0] = fd;
		call.rpc.nsend = 1;
	} else {
		call.rpc.bytes = bytes;
		call.rpc.size = size;
	}
	rc = inspect(sandbox, &call, &err);
	inspection_close_fd(&call);
	if (rc == 0)
		rc = inspection_read(sandbox, &call, &facts, sizeof(facts), &err);
	if (rc)
		return rc;
	if (!answer_module_is_good(&facts))
		return sandbox_fail(sandbox, -EBADMSG, &err);
	memcpy(code->segments, facts.segments, sizeof(code->segments));
	code->n = facts.n;
	code->base = facts.base;
	code->size = facts.size;
	code->rows.functions = facts.functions;
	code->rows.damaged = facts.damaged;
	rc = remote_take_rows(sandbox, &call, &facts, code);
	if (rc)
		module_free(code);
	return rc;
}

/* --- places of functions --- */

static void remote_append(char **to, const void *bytes, size_t size)
{
	memcpy(*to, bytes, size);
	*to += size;
}

static char *make_question(pid_t pid, const char *exe, const struct function_want *wanted, unsigned n,
			   size_t *size)
{
	struct inspect_functions head = {.pid = (uint32_t)pid, .n = n, .path_len = (uint32_t)strlen(exe)};
	char *bytes, *to;

	*size = sizeof(head) + head.path_len + 1u;
	for (unsigned i = 0; i < n; i++)
		*size += sizeof(struct inspect_function) + strlen(wanted[i].text) + 1;
	bytes = to = malloc(*size);
	if (!bytes)
		return NULL;
	remote_append(&to, &head, sizeof(head));
	remote_append(&to, exe, head.path_len + 1u);
	for (unsigned i = 0; i < n; i++) {
		const struct inspect_function one = {.kind = (uint32_t)wanted[i].kind,
						     .len = (uint32_t)strlen(wanted[i].text)};

		remote_append(&to, &one, sizeof(one));
		remote_append(&to, wanted[i].text, one.len + 1u);
	}
	return bytes;
}

/* Takes the probes after the head of a list. */
static int take_probes(struct sandbox *sandbox, struct inspection *call, const struct function_plan *plan,
		       struct function_probes *list, struct error *err)
{
	size_t size = list->n * sizeof(*list->probes);
	struct stat st;
	int rc;

	if (call->rpc.left != size || list->fd < 0 || file_stat(list->fd, &st) || !S_ISREG(st.st_mode))
		return sandbox_fail(sandbox, -EBADMSG, err);
	list->probes = malloc(size);
	if (!list->probes)
		return sandbox_fail(sandbox, -ENOMEM, err); /* the rest of the answer stays unread */
	list->capacity = list->n;
	rc = inspection_read(sandbox, call, list->probes, size, err);
	if (rc == 0 && !answer_function_probes_are_good(list->probes, list->n, plan->nwanted, plan->nvalues,
							(uint64_t)st.st_size))
		rc = sandbox_fail(sandbox, -EBADMSG, err);
	return rc;
}

static int remote_take_list(struct sandbox *sandbox, struct function_plan *plan, unsigned which,
			    struct error *err)
{
	struct inspection call = {.rpc = {.kind = INSPECT_FUNCTION_LIST, .arg = which}};
	struct function_probes *list = &plan->lists[which];
	struct function_list_facts facts;
	int rc = inspect(sandbox, &call, err);

	*list = (struct function_probes){.fd = call.fd};
	plan->nlists++;
	if (rc == 0)
		rc = inspection_read(sandbox, &call, &facts, sizeof(facts), err);
	if (rc)
		return rc;
	if (!answer_list_is_good(&facts))
		return sandbox_fail(sandbox, -EBADMSG, err);
	list->site = (uint8_t)facts.site;
	list->n = facts.n;
	return take_probes(sandbox, &call, plan, list, err);
}

/* Takes what the probes read of arguments. */
static int remote_take_values(struct sandbox *sandbox, struct function_plan *plan, struct error *err)
{
	struct inspection call = {.rpc = {.kind = INSPECT_FUNCTION_VALUES}};
	int rc = inspect(sandbox, &call, err);
	uint64_t size = call.rpc.left;

	inspection_close_fd(&call);
	if (rc || !size)
		return rc;
	if (size % sizeof(*plan->values) || size / sizeof(*plan->values) > VALUE_SETS)
		return sandbox_fail(sandbox, -EBADMSG, err);
	plan->values = malloc(size);
	if (!plan->values)
		return sandbox_fail(sandbox, -ENOMEM, err); /* the rest of the answer stays unread */
	plan->nvalues = (unsigned)(size / sizeof(*plan->values));
	rc = inspection_read(sandbox, &call, plan->values, size, err);
	if (rc == 0 && !answer_values_are_good(plan->values, plan->nvalues, plan->nwanted))
		rc = sandbox_fail(sandbox, -EBADMSG, err);
	return rc;
}

/* Takes the report of which requests are traced. */
static int take_report(struct sandbox *sandbox, struct function_plan *plan, struct error *err)
{
	struct inspection call = {.rpc = {.kind = INSPECT_REQUEST_REPORT}};
	int rc = inspect(sandbox, &call, err);
	size_t size = call.rpc.left;

	inspection_close_fd(&call);
	if (rc)
		return rc;
	if (size >= sizeof(plan->report))
		return sandbox_fail(sandbox, -EBADMSG, err);
	rc = inspection_read(sandbox, &call, plan->report, size, err);
	plan->report[rc ? 0 : size] = '\0';
	return rc;
}

static bool has_requests(const struct function_want *wanted, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (wanted[i].kind == FUNCTION_REQUEST)
			return true;
	}
	return false;
}

int remote_functions_plan(struct sandbox *sandbox, pid_t pid, const char *exe,
			  const struct function_want *wanted, unsigned n, struct function_plan *plan,
			  struct error *err)
{
	struct inspection call = {.rpc = {.kind = INSPECT_FUNCTIONS}};
	char *bytes;
	int rc;

	*plan = (struct function_plan){.nwanted = n};
	if (n > MAX_FUNCTIONS)
		return error_set(err, EINVAL, "more than %u functions", MAX_FUNCTIONS);
	memcpy(plan->wanted, wanted, n * sizeof(*wanted));
	bytes = make_question(pid, exe, wanted, n, &call.rpc.size);
	if (!bytes)
		return error_set(err, ENOMEM, "out of memory");
	call.rpc.bytes = bytes;
	rc = inspect_for(sandbox, &call, NULL, 0, err);
	inspection_close_fd(&call);
	free(bytes);
	if (rc == 0 && call.rpc.code > MAX_LISTS)
		rc = sandbox_fail(sandbox, -EBADMSG, err);
	if (rc == 0 && n)
		rc = remote_take_values(sandbox, plan, err);
	if (rc == 0 && has_requests(wanted, n))
		rc = take_report(sandbox, plan, err);
	if (rc == 0 && call.rpc.code) {
		plan->lists = calloc((size_t)call.rpc.code, sizeof(*plan->lists));
		rc = plan->lists ? 0 : error_set(err, ENOMEM, "out of memory");
	}
	for (int i = 0; rc == 0 && i < call.rpc.code; i++)
		rc = remote_take_list(sandbox, plan, (unsigned)i, err);
	if (rc)
		functions_free(plan);
	return rc;
}

int remote_functions_list(struct sandbox *sandbox, pid_t pid, struct function_list *list, struct error *err)
{
	struct inspection call = {.rpc = {.kind = INSPECT_FUNCTION_NAMES,
					  .arg = (uint64_t)pid,
					  .bytes = list->prefix,
					  .size = strlen(list->prefix)}};
	int rc = inspect(sandbox, &call, err);

	inspection_close_fd(&call);
	if (rc)
		return rc;
	if (call.rpc.code > 1 || call.rpc.left > FUNCTION_LIST_MAX)
		return sandbox_fail(sandbox, -EBADMSG, err);
	list->text = malloc(call.rpc.left + 1);
	if (!list->text)
		return sandbox_fail(sandbox, -ENOMEM, err); /* the rest of the answer stays unread */
	list->cut = call.rpc.code == 1;
	list->len = call.rpc.left;
	rc = inspection_read(sandbox, &call, list->text, list->len, err);
	list->text[list->len] = '\0';
	return rc;
}
