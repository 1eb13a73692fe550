/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sandbox/inspector.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/functions/function_list.h"
#include "target/functions/functions.h"
#include "target/functions/go_functions.h"
#include "sandbox/protocol.h"
#include "sandbox/rpc.h"
#include "target/layout_text.h"
#include "target/load.h"
#include "util/array.h"

struct inspector {
	struct channel *channel;
	struct layout_table given;
	bool has_given;
	struct target *target;
	struct target_snapshot *snapshot;
	struct function_plan functions;
	struct log_m *ms;
	size_t ms_capacity;
};

static int inspector_answer(struct inspector *inspector, int code, const struct error *err, const void *bytes,
			    size_t size)
{
	return rpc_answer(inspector->channel, code, err, bytes, size);
}

static int send_record(void *ctx, const struct log_record *record)
{
	struct inspector *inspector = ctx;

	return rpc_record(inspector->channel, (int32_t)record->type, record->data, record->size);
}

static int inspector_refuse(struct inspector *inspector, const char *why)
{
	struct error err;
	int code = error_set(&err, EINVAL, "%s", why);

	return inspector_answer(inspector, code, &err, NULL, 0);
}

static int refuse_code(struct inspector *inspector, int code)
{
	struct error err;

	error_set(&err, -code, "%s", strerror(-code));
	return inspector_answer(inspector, code, &err, NULL, 0);
}

/* --- targets --- */

static int answer_facts(struct inspector *inspector, int code, const struct error *err)
{
	const struct target *target = inspector->target;
	struct target_facts facts;

	memset(&facts, 0, sizeof(facts));
	if (code == 0) {
		facts = (struct target_facts){
			.go_minor = target->go_minor,
			.go_patch = target->go_patch,
			.nearest = target->nearest,
			.given = target->given,
			.cgo = target->cgo,
			.pie = target->pie,
			.stripped = target->stripped,
			.alloc = (uint8_t)target->alloc,
			.file = (uint8_t)target->file,
			.bias = target->bias,
			.device = target->device,
			.inode = target->inode,
			.layout = target->layout,
			.places = target->places,
			.alloc_layout = target->alloc_layout,
		};
		memcpy(facts.go_version, target->go_version, sizeof(facts.go_version));
		target_park_skips(target, facts.park_skips);
		target_wait_texts(target, facts.wait_texts);
	}
	return inspector_answer(inspector, code, err, &facts, sizeof(facts));
}

static void forget_target(struct inspector *inspector)
{
	target_snapshot_free(inspector->snapshot);
	inspector->snapshot = NULL;
	target_free(inspector->target);
	inspector->target = NULL;
}

static int take_layout(struct inspector *inspector, const struct rpc_request *request)
{
	struct error err = {""};
	int rc;

	forget_target(inspector);
	release_free(&inspector->given.release);
	rc = layout_text_parse(request->bytes, request->size, &inspector->given, &err);
	inspector->has_given = rc == 0;
	return inspector_answer(inspector, rc, &err, NULL, 0);
}

static int inspector_open_target(struct inspector *inspector, const struct rpc_request *request)
{
	const struct layout_table *given = inspector->has_given ? &inspector->given : NULL;
	struct error err = {""};
	int rc;

	forget_target(inspector);
	rc = request->kind == INSPECT_OPEN
		     ? target_open((pid_t)request->arg, given, &inspector->target, &err)
		     : target_open_file(request->bytes, given, &inspector->target, &err);
	return answer_facts(inspector, rc, &err);
}

static int inspector_log_info(struct inspector *inspector, const struct rpc_request *request)
{
	struct target *target = inspector->target;
	struct inspect_log_info asked = {0};
	struct error err = {""};
	pid_t bound = target->pid;
	int rc;

	if (request->size == sizeof(asked))
		memcpy(&asked, request->bytes, sizeof(asked));
	if (!bound)
		target->pid = (pid_t)asked.pid; /* it ended before it could be inspected */
	rc = target_log_info(target, asked.flags, send_record, inspector, &err);
	target->pid = bound;
	return inspector_answer(inspector, rc, &err, NULL, 0);
}

static int answer_functab(struct inspector *inspector, const struct rpc_request *request)
{
	struct error err = {""};
	struct log_record record = {.type = LOG_FUNCTAB};
	int rc = request->kind == INSPECT_FUNCTAB
			 ? target_functab(inspector->target, &record, &err)
			 : target_plugin_functab(inspector->target, (unsigned)request->arg, &record, &err);

	return inspector_answer(inspector, rc, &err, record.data, record.size);
}

static int answer_plan(struct inspector *inspector)
{
	struct probe_plan *plan = calloc(1, sizeof(*plan));
	struct error err = {"out of memory"};
	int rc = plan ? target_plan(inspector->target, plan, &err) : -ENOMEM;

	rc = inspector_answer(inspector, rc, &err, plan, sizeof(*plan));
	free(plan);
	return rc;
}

static int answer_plugins(struct inspector *inspector, const struct rpc_request *request)
{
	struct error err = {""};
	int n = request->kind == INSPECT_PLUGINS ? target_plugins(inspector->target, &err)
						 : target_may_have_plugins(inspector->target);

	return inspector_answer(inspector, n, &err, NULL, 0);
}

static int answer_plugin(struct inspector *inspector, const struct rpc_request *request)
{
	struct plugin_facts *facts = calloc(1, sizeof(*facts));
	struct target_plugin *plugin = calloc(1, sizeof(*plugin));
	struct probe_plan *plan = calloc(1, sizeof(*plan));
	struct plan_constants constants = {0};
	struct error err = {"out of memory"};
	int rc = facts && plugin && plan ? 0 : -ENOMEM;

	if (request->size == sizeof(constants))
		memcpy(&constants, request->bytes, sizeof(constants));
	if (rc == 0) {
		plan->task_key_type = constants.task_key_type;
		plan->task_type = constants.task_type;
		plan->region_flag_register = constants.region_flag_register;
		rc = target_plugin_read(inspector->target, (unsigned)request->arg, plan, plugin, &err);
	}
	if (rc == 0) {
		memcpy(facts->name, plugin->name, sizeof(facts->name));
		facts->places = plugin->places;
		facts->plan = plugin->plan;
		rc = rpc_answer_fds(inspector->channel, facts, sizeof(*facts), &plugin->fd, 1);
		close(plugin->fd);
	} else {
		rc = inspector_answer(inspector, rc, &err, NULL, 0);
	}
	free(facts);
	free(plugin);
	free(plan);
	return rc;
}

static int answer_other_go(struct inspector *inspector)
{
	char path[256] = "";
	bool found = target_other_go(inspector->target, path, sizeof(path));

	return inspector_answer(inspector, 0, NULL, path, found ? strlen(path) : 0);
}

static int answer_ms(struct inspector *inspector, const struct rpc_request *request)
{
	size_t max = request->arg < 1u << 16 ? request->arg : 1u << 16;
	struct error err = {"out of memory"};
	int n = array_grow(&inspector->ms, &inspector->ms_capacity, max + 1, sizeof(*inspector->ms));

	if (n == 0)
		n = target_read_ms(inspector->target, inspector->ms, (unsigned)max, &err);
	return inspector_answer(inspector, n, &err, inspector->ms,
				n > 0 ? (size_t)n * sizeof(*inspector->ms) : 0);
}

static int answer_heap_live(struct inspector *inspector)
{
	struct error err = {""};
	uint64_t bytes = 0;
	int rc = target_heap_live(inspector->target, &bytes);

	return inspector_answer(inspector, rc, &err, &bytes, sizeof(bytes));
}

/* --- snapshots --- */

static int inspector_begin_snapshot(struct inspector *inspector, const struct rpc_request *request)
{
	uint32_t most = (uint32_t)request->arg;
	struct error err = {""};
	int rc;

	target_snapshot_free(inspector->snapshot);
	inspector->snapshot = NULL;
	rc = most ? target_snapshot_begin_detailed(inspector->target, most, send_record, inspector,
						   &inspector->snapshot, &err)
		  : target_snapshot_begin(inspector->target, request->arg & SNAPSHOT_LABELLED, send_record,
					  inspector, &inspector->snapshot, &err);
	return inspector_answer(inspector, rc, &err, NULL, 0);
}

static int go_on_with_snapshot(struct inspector *inspector, const struct rpc_request *request)
{
	struct error err = {""};
	uint32_t markers[2] = {0};
	int rc = 0;

	if (request->kind == INSPECT_SNAPSHOT_FREE) {
		target_snapshot_free(inspector->snapshot);
		inspector->snapshot = NULL;
	} else if (!inspector->snapshot) {
		return inspector_refuse(inspector, "there is no snapshot");
	} else if (request->kind == INSPECT_SNAPSHOT_READ) {
		rc = target_snapshot_read(inspector->snapshot, &err);
	} else {
		if (request->size == sizeof(markers))
			memcpy(markers, request->bytes, sizeof(markers));
		rc = target_snapshot_put(inspector->snapshot, markers);
	}
	return inspector_answer(inspector, rc, &err, NULL, 0);
}

/* --- code files --- */

static int answer_module(struct inspector *inspector, const struct rpc_request *request)
{
	struct module_code code;
	struct error err = {""};
	struct module_facts facts = {.n = 0};
	int rc = request->fds[0] >= 0 ? module_read(request->fds[0], &code)
				      : module_read_bytes(request->bytes, request->size, &code);

	if (rc) {
		module_free(&code);
		return inspector_answer(inspector, rc, &err, NULL, 0);
	}
	memcpy(facts.segments, code.segments, sizeof(facts.segments));
	facts.n = code.n;
	facts.base = code.base;
	facts.size = code.size;
	facts.rows = code.rows.n;
	facts.functions = code.rows.functions;
	facts.damaged = code.rows.damaged;
	rc = rpc_answer_parts(inspector->channel, &facts, sizeof(facts), code.rows.rows,
			      code.rows.n * sizeof(*code.rows.rows));
	module_free(&code);
	return rc;
}

/* Gets the request's texts, valid as long as the request. Returns false if it is malformed. */
static bool read_wants(struct rpc_request *request, struct inspect_functions *asked, char **path,
		       struct function_want *wanted)
{
	size_t at = sizeof(*asked);

	if (request->size < at)
		return false;
	memcpy(asked, request->bytes, sizeof(*asked));
	if (asked->n > MAX_FUNCTIONS || asked->path_len >= request->size - at)
		return false;
	*path = request->bytes + at;
	at += asked->path_len + 1u;
	for (uint32_t i = 0; i < asked->n; i++) {
		struct inspect_function one;

		if (request->size - at < sizeof(one))
			return false;
		memcpy(&one, request->bytes + at, sizeof(one));
		at += sizeof(one);
		if (one.len >= request->size - at)
			return false;
		wanted[i] = (struct function_want){.text = request->bytes + at,
						   .kind = (enum log_function_kind)one.kind};
		at += one.len + 1u;
	}
	return true;
}

static int inspector_plan_functions(struct inspector *inspector, struct rpc_request *request)
{
	struct function_want wanted[MAX_FUNCTIONS];
	struct inspect_functions asked;
	struct error err = {""};
	char *path;
	int rc;

	if (!read_wants(request, &asked, &path, wanted))
		return inspector_refuse(inspector, "the request is malformed");
	functions_free(&inspector->functions);
	if (asked.pid || *path)
		rc = functions_plan((pid_t)asked.pid, path, wanted, asked.n, &inspector->functions, &err);
	else
		rc = inspector->target ? go_functions_plan(inspector->target, wanted, asked.n,
							   &inspector->functions, &err)
				       : error_set(&err, EINVAL, "no program has been opened");
	return inspector_answer(inspector, rc ? rc : (int)inspector->functions.nlists, &err, NULL, 0);
}

static int answer_names(struct inspector *inspector, const struct rpc_request *request)
{
	struct function_list list = {.prefix = request->bytes};
	struct error err = {""};
	int rc;

	if (request->arg)
		rc = functions_list((pid_t)request->arg, &list, &err);
	else if (inspector->target)
		rc = go_functions_list(inspector->target, &list);
	else
		rc = error_set(&err, EINVAL, "no program has been opened");
	rc = inspector_answer(inspector, rc ? rc : list.cut, &err, list.text, list.len);
	function_list_free(&list);
	return rc;
}

static int answer_values(struct inspector *inspector)
{
	const struct function_plan *plan = &inspector->functions;
	struct error none = {""};

	return inspector_answer(inspector, 0, &none, plan->values, plan->nvalues * sizeof(*plan->values));
}

static int answer_list(struct inspector *inspector, const struct rpc_request *request)
{
	const struct function_probes *list;
	struct function_list_facts facts;
	char *bytes;
	size_t size;
	int rc;

	if (request->arg >= inspector->functions.nlists)
		return inspector_refuse(inspector, "there is no such list");
	list = &inspector->functions.lists[request->arg];
	facts = (struct function_list_facts){.site = list->site, .n = list->n};
	size = list->n * sizeof(*list->probes);
	bytes = malloc(sizeof(facts) + size);
	if (!bytes)
		return inspector_refuse(inspector, "out of memory");
	memcpy(bytes, &facts, sizeof(facts));
	memcpy(bytes + sizeof(facts), list->probes, size);
	rc = rpc_answer_fds(inspector->channel, bytes, sizeof(facts) + size, &list->fd, 1);
	free(bytes);
	return rc;
}

/* --- all requests --- */

static int answer_of_target(struct inspector *inspector, const struct rpc_request *request)
{
	struct error err = {""};
	int rc;

	switch (request->kind) {
	case INSPECT_BIND:
		rc = target_bind(inspector->target, (pid_t)request->arg, &err);
		return answer_facts(inspector, rc, &err);
	case INSPECT_WANT_ALLOC:
		rc = target_want_alloc(inspector->target, (enum alloc_level)request->arg, &err);
		return answer_facts(inspector, rc, &err);
	case INSPECT_PLAN:
		return answer_plan(inspector);
	case INSPECT_LOG_INFO:
		return inspector_log_info(inspector, request);
	case INSPECT_FUNCTAB:
	case INSPECT_PLUGIN_FUNCTAB:
		return answer_functab(inspector, request);
	case INSPECT_MAY_HAVE_PLUGINS:
	case INSPECT_PLUGINS:
		return answer_plugins(inspector, request);
	case INSPECT_PLUGIN:
		return answer_plugin(inspector, request);
	case INSPECT_OTHER_GO:
		return answer_other_go(inspector);
	case INSPECT_SNAPSHOT_BEGIN:
		return inspector_begin_snapshot(inspector, request);
	case INSPECT_SNAPSHOT_READ:
	case INSPECT_SNAPSHOT_PUT:
	case INSPECT_SNAPSHOT_FREE:
		return go_on_with_snapshot(inspector, request);
	case INSPECT_READ_MS:
		return answer_ms(inspector, request);
	case INSPECT_HEAP_LIVE:
		return answer_heap_live(inspector);
	default:
		return inspector_refuse(inspector, "there is no such request");
	}
}

static int answer_request(struct inspector *inspector, struct rpc_request *request)
{
	switch (request->kind) {
	case INSPECT_LAYOUT:
		return take_layout(inspector, request);
	case INSPECT_OPEN:
	case INSPECT_OPEN_FILE:
		return inspector_open_target(inspector, request);
	case INSPECT_MODULE:
		return answer_module(inspector, request);
	case INSPECT_MODULE_FILE:
		request->fds[0] = open(request->bytes, O_RDONLY | O_CLOEXEC);
		return request->fds[0] < 0 ? refuse_code(inspector, -errno)
					   : answer_module(inspector, request);
	case INSPECT_FUNCTIONS:
		return inspector_plan_functions(inspector, request);
	case INSPECT_FUNCTION_NAMES:
		return answer_names(inspector, request);
	case INSPECT_FUNCTION_VALUES:
		return answer_values(inspector);
	case INSPECT_REQUEST_REPORT:
		return inspector_answer(inspector, 0, &(struct error){""}, inspector->functions.report,
					strlen(inspector->functions.report));
	case INSPECT_FUNCTION_LIST:
		return answer_list(inspector, request);
	default:
		return inspector->target ? answer_of_target(inspector, request)
					 : inspector_refuse(inspector, "there is no target");
	}
}

static void inspector_work(struct channel *channel, void *unused)
{
	struct inspector inspector = {.channel = channel};
	struct rpc_request request;
	int rc = 0;

	(void)unused;
	while (rc == 0) {
		rc = rpc_take(channel, &request, MAX_REQUEST);
		if (rc == 0)
			rc = answer_request(&inspector, &request);
		rpc_request_free(&request);
	}
}

const struct sandbox_plan inspector_plan = {
	.what = "the inspector process",
	.work = inspector_work,
	.bytes = SANDBOX_BYTES,
	.addresses = LOAD_MAX_FILE,
};
