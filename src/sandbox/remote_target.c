/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A Go program that is inspected in the sandbox. */
#include "sandbox/remote.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/answers.h"
#include "sandbox/inspection.h"
#include "target/maps.h"
#include "target/remote.h"
#include "util/files.h"
#include "util/utf8.h"

struct remote_target {
	struct target target;
	struct sandbox *sandbox;
	int exe; /* the executable, for probes: a path that cannot be redirected, and needs no privilege */
	struct target_facts facts;
	void *functab;
	size_t functab_size;
	void *plugin_functab; /* of the plugin whose table was requested last */
	unsigned reads;       /* number of reads in the snapshot */
	log_sink sink;        /* of the snapshot */
	void *ctx;
};

static struct remote_target *remote_of(const struct target *target)
{
	return (struct remote_target *)(uintptr_t)((const char *)target -
						   offsetof(struct remote_target, target));
}

static struct inspection remote_request(uint32_t kind, uint64_t arg)
{
	return (struct inspection){.rpc = {.kind = kind, .arg = arg}};
}

/* Sends a request whose answer has exactly this size. */
static int ask_for(const struct target *target, struct inspection *call, void *to, size_t size,
		   struct error *err)
{
	int rc = inspect_for(remote_of(target)->sandbox, call, to, size, err);

	inspection_close_fd(call);
	return rc ? rc : call->rpc.code;
}

/* Sets only what a request can change. The caller knows the process. */
static int take_facts(struct remote_target *remote, struct inspection *call, struct error *err)
{
	struct target *target = &remote->target;
	struct target_facts facts;
	int rc = ask_for(target, call, &facts, sizeof(facts), err);

	if (rc)
		return rc < 0 ? rc : sandbox_fail(remote->sandbox, -EBADMSG, err);
	if (!answer_facts_are_good(&facts))
		return sandbox_fail(remote->sandbox, -EBADMSG, err);
	remote->facts = facts;
	target->go_minor = facts.go_minor;
	target->go_patch = facts.go_patch;
	snprintf(target->go_version, sizeof(target->go_version), "%s", facts.go_version);
	text_make_printable(target->go_version);
	target->nearest = facts.nearest;
	target->given = facts.given;
	target->cgo = facts.cgo;
	target->pie = facts.pie;
	target->stripped = facts.stripped;
	target->file = (enum go_file)facts.file;
	target->bias = facts.bias;
	target->device = facts.device;
	target->inode = facts.inode;
	target->layout = facts.layout;
	target->places = facts.places;
	target->alloc = (enum alloc_level)facts.alloc;
	target->alloc_layout = facts.alloc_layout;
	return 0;
}

static void remote_free(struct target *target)
{
	struct remote_target *remote = remote_of(target);

	free(remote->functab);
	free(remote->plugin_functab);
	if (remote->exe >= 0)
		close(remote->exe);
	free(remote);
}

/* Checks that this is the file that was inspected, and not one that has replaced it. */
static int take_exe(struct remote_target *remote, pid_t pid, int fd, const char *what, struct error *err)
{
	struct stat st;

	remote->exe = fd;
	if (pid && (fd == -ENOENT || fd == -ESRCH))
		return error_set(err, ESRCH, "PID %d is gone", (int)pid);
	if (fd < 0)
		return error_set(err, -fd, "cannot open %s: %s", what, strerror(-fd));
	if (file_stat(fd, &st) || st.st_dev != remote->target.device || st.st_ino != remote->target.inode)
		return error_set(err, EAGAIN, "%s has just been replaced by another file: try again", what);
	snprintf(remote->target.exe, sizeof(remote->target.exe), "/proc/self/fd/%d", remote->exe);
	return 0;
}

static int remote_bind(struct target *target, pid_t pid, struct error *err)
{
	struct inspection call = remote_request(INSPECT_BIND, (uint64_t)pid);
	int rc = take_facts(remote_of(target), &call, err);

	if (rc == 0)
		target->pid = pid;
	return rc;
}

static bool remote_other_go(const struct target *target, char *path, size_t size)
{
	struct sandbox *sandbox = remote_of(target)->sandbox;
	struct inspection call = remote_request(INSPECT_OTHER_GO, 0);
	char text[256];
	struct error err;

	if (inspect(sandbox, &call, &err) || !call.rpc.left)
		return false;
	inspection_close_fd(&call);
	if (call.rpc.left >= sizeof(text)) {
		sandbox_fail(sandbox, -EBADMSG, &err);
		return false;
	}
	text[call.rpc.left] = '\0';
	if (inspection_read(sandbox, &call, text, call.rpc.left, &err))
		return false;
	text_make_printable(text);
	snprintf(path, size, "%s", text);
	return true;
}

static int remote_want_alloc(struct target *target, enum alloc_level level, struct error *err)
{
	struct inspection call = remote_request(INSPECT_WANT_ALLOC, level);

	return take_facts(remote_of(target), &call, err);
}

static int remote_plan(const struct target *target, struct probe_plan *plan, struct error *err)
{
	struct remote_target *remote = remote_of(target);
	struct inspection call = remote_request(INSPECT_PLAN, 0);
	struct stat st;
	int rc = ask_for(target, &call, plan, sizeof(*plan), err);

	if (rc == 0 && (file_stat(remote->exe, &st) || !answer_plan_is_good(plan, (uint64_t)st.st_size)))
		rc = sandbox_fail(remote->sandbox, -EBADMSG, err);
	if (rc) {
		*plan = (struct probe_plan){.n = 0};
		return rc;
	}
	/* The texts are printed. */
	text_make_printable(plan->left_out);
	for (unsigned i = 0; i < plan->n; i++)
		text_make_printable(plan->probes[i].name);
	return 0;
}

static void remote_park_skips(const struct target *target, uint8_t skips[PARK_SKIPS])
{
	memcpy(skips, remote_of(target)->facts.park_skips, PARK_SKIPS);
}

static void remote_wait_texts(const struct target *target, struct wait_text texts[WAIT_TEXTS])
{
	memcpy(texts, remote_of(target)->facts.wait_texts, WAIT_TEXTS * sizeof(*texts));
}

static int remote_log_info(const struct target *target, unsigned extra_flags, log_sink sink, void *ctx,
			   struct error *err)
{
	const struct inspect_log_info asked = {.pid = (uint32_t)target->pid, .flags = extra_flags};
	struct inspection call = remote_request(INSPECT_LOG_INFO, 0);

	call.rpc.bytes = &asked;
	call.rpc.size = sizeof(asked);
	call.sink = sink;
	call.ctx = ctx;
	return ask_for(target, &call, NULL, 0, err);
}

/* Takes a function table, and allocates it as *bytes. */
static int remote_take_functab(struct remote_target *remote, struct inspection *call, uint32_t type,
			       void **bytes, size_t *size, struct error *err)
{
	struct log_record record = {.type = type};
	int rc;

	if (call->rpc.left < sizeof(struct log_functab) || call->rpc.left > MAX_FUNCTAB)
		return sandbox_fail(remote->sandbox, -EBADMSG, err);
	record.size = (uint32_t)call->rpc.left;
	*bytes = malloc(record.size);
	if (!*bytes)
		return sandbox_fail(remote->sandbox, -ENOMEM, err);
	rc = inspection_read(remote->sandbox, call, *bytes, record.size, err);
	record.data = *bytes;
	if (rc == 0 && rawlog_check_record(&record, NULL))
		rc = sandbox_fail(remote->sandbox, -EBADMSG, err);
	if (rc == 0) {
		*size = record.size;
		return 0;
	}
	free(*bytes);
	*bytes = NULL;
	return rc;
}

static int remote_functab(struct target *target, struct log_record *record, struct error *err)
{
	struct remote_target *remote = remote_of(target);
	struct inspection call = remote_request(INSPECT_FUNCTAB, 0);
	int rc = 0;

	if (!remote->functab) {
		rc = inspect(remote->sandbox, &call, err);
		inspection_close_fd(&call);
		if (rc == 0)
			rc = remote_take_functab(remote, &call, LOG_FUNCTAB, &remote->functab,
						 &remote->functab_size, err);
	}
	*record = (struct log_record){
		.type = LOG_FUNCTAB, .size = (uint32_t)remote->functab_size, .data = remote->functab};
	return rc;
}

static void remote_functab_drop(struct target *target)
{
	struct remote_target *remote = remote_of(target);

	free(remote->functab);
	remote->functab = NULL;
}

/* --- plugins --- */

static bool remote_may_have_plugins(const struct target *target)
{
	struct inspection call = remote_request(INSPECT_MAY_HAVE_PLUGINS, 0);
	struct error err;

	return ask_for(target, &call, NULL, 0, &err) == 1;
}

static int remote_plugins(struct target *target, struct error *err)
{
	struct inspection call = remote_request(INSPECT_PLUGINS, 0);
	int rc = ask_for(target, &call, NULL, 0, err);

	return rc > MAX_PLUGINS ? sandbox_fail(remote_of(target)->sandbox, -EBADMSG, err) : rc;
}

/* Takes the answer, whose descriptor plugin->fd is. */
static int remote_take_plugin(struct remote_target *remote, struct inspection *call,
			      struct target_plugin *plugin, struct error *err)
{
	struct plugin_facts *facts = calloc(1, sizeof(*facts));
	struct stat st;
	int rc;

	if (!facts || call->rpc.left != sizeof(*facts) || plugin->fd < 0 || file_stat(plugin->fd, &st) ||
	    !S_ISREG(st.st_mode)) {
		free(facts);
		return sandbox_fail(remote->sandbox, facts ? -EBADMSG : -ENOMEM, err);
	}
	rc = inspection_read(remote->sandbox, call, facts, sizeof(*facts), err);
	if (rc == 0 && !answer_plugin_is_good(facts, (uint64_t)st.st_size))
		rc = sandbox_fail(remote->sandbox, -EBADMSG, err);
	if (rc == 0) {
		memcpy(plugin->name, facts->name, sizeof(plugin->name));
		plugin->places = facts->places;
		plugin->plan = facts->plan;
	}
	free(facts);
	return rc;
}

static int remote_plugin(struct target *target, unsigned i, const struct probe_plan *plan,
			 struct target_plugin *plugin, struct error *err)
{
	struct remote_target *remote = remote_of(target);
	const struct plan_constants constants = {
		.task_key_type = plan->task_key_type,
		.task_type = plan->task_type,
		.region_flag_register = plan->region_flag_register,
	};
	struct inspection call = remote_request(INSPECT_PLUGIN, i);
	int rc;

	*plugin = (struct target_plugin){.fd = -1};
	call.rpc.bytes = &constants;
	call.rpc.size = sizeof(constants);
	rc = inspect(remote->sandbox, &call, err);
	if (rc)
		return rc;
	plugin->fd = call.fd;
	rc = remote_take_plugin(remote, &call, plugin, err);
	if (rc && plugin->fd >= 0)
		close(plugin->fd);
	if (rc)
		*plugin = (struct target_plugin){.fd = -1};
	return rc;
}

static int remote_plugin_functab(struct target *target, unsigned i, struct log_record *record,
				 struct error *err)
{
	struct remote_target *remote = remote_of(target);
	struct inspection call = remote_request(INSPECT_PLUGIN_FUNCTAB, i);
	size_t size = 0;
	int rc = inspect(remote->sandbox, &call, err);

	inspection_close_fd(&call);
	free(remote->plugin_functab);
	remote->plugin_functab = NULL;
	if (rc == 0)
		rc = remote_take_functab(remote, &call, LOG_PLUGIN_FUNCTAB, &remote->plugin_functab, &size,
					 err);
	*record = (struct log_record){
		.type = LOG_PLUGIN_FUNCTAB, .size = (uint32_t)size, .data = remote->plugin_functab};
	return rc;
}

/* --- snapshots --- */

static int ask_of_snapshot(const struct target *target, struct inspection *call, struct error *err)
{
	struct remote_target *remote = remote_of(target);

	call->sink = remote->sink;
	call->ctx = remote->ctx;
	return ask_for(target, call, NULL, 0, err);
}

static int remote_snapshot_begin(const struct target *target, uint32_t most, bool labelled, log_sink sink,
				 void *ctx, struct error *err)
{
	struct remote_target *remote = remote_of(target);
	struct inspection call =
		remote_request(INSPECT_SNAPSHOT_BEGIN, most | (labelled ? SNAPSHOT_LABELLED : 0));

	remote->sink = sink;
	remote->ctx = ctx;
	remote->reads = 0;
	return ask_of_snapshot(target, &call, err);
}

static int remote_snapshot_read(const struct target *target, struct error *err)
{
	struct inspection call = remote_request(INSPECT_SNAPSHOT_READ, 0);
	struct remote_target *remote = remote_of(target);
	int rc = ask_of_snapshot(target, &call, err);

	if (rc > 0 && ++remote->reads > MAX_READS)
		return sandbox_fail(remote->sandbox, -EBADMSG, err);
	return rc > 0 ? 1 : rc;
}

static int remote_snapshot_put(const struct target *target, const uint32_t markers[2])
{
	struct inspection call = remote_request(INSPECT_SNAPSHOT_PUT, 0);
	struct error err;

	call.rpc.bytes = markers;
	call.rpc.size = 2 * sizeof(*markers);
	return ask_of_snapshot(target, &call, &err);
}

static void remote_snapshot_free(const struct target *target)
{
	struct inspection call = remote_request(INSPECT_SNAPSHOT_FREE, 0);
	struct error err;

	ask_for(target, &call, NULL, 0, &err);
}

/* --- periodic requests --- */

static int remote_read_ms(const struct target *target, struct log_m *ms, unsigned max, struct error *err)
{
	struct sandbox *sandbox = remote_of(target)->sandbox;
	struct inspection call = remote_request(INSPECT_READ_MS, max);
	int rc = inspect(sandbox, &call, err);

	inspection_close_fd(&call);
	if (rc)
		return rc;
	if (call.rpc.code < 0 || (unsigned)call.rpc.code > max ||
	    call.rpc.left != (uint64_t)call.rpc.code * sizeof(*ms))
		return sandbox_fail(sandbox, -EBADMSG, err);
	rc = inspection_read(sandbox, &call, ms, (size_t)call.rpc.left, err);
	return rc ? rc : call.rpc.code;
}

static int remote_heap_live(const struct target *target, uint64_t *bytes)
{
	struct inspection call = remote_request(INSPECT_HEAP_LIVE, 0);
	struct error err;

	return ask_for(target, &call, bytes, sizeof(*bytes), &err);
}

static const struct target_remote calls = {
	.free = remote_free,
	.bind = remote_bind,
	.may_have_plugins = remote_may_have_plugins,
	.plugins = remote_plugins,
	.plugin = remote_plugin,
	.plugin_functab = remote_plugin_functab,
	.other_go = remote_other_go,
	.want_alloc = remote_want_alloc,
	.plan = remote_plan,
	.park_skips = remote_park_skips,
	.wait_texts = remote_wait_texts,
	.log_info = remote_log_info,
	.functab = remote_functab,
	.functab_drop = remote_functab_drop,
	.snapshot_begin = remote_snapshot_begin,
	.snapshot_read = remote_snapshot_read,
	.snapshot_put = remote_snapshot_put,
	.snapshot_free = remote_snapshot_free,
	.read_ms = remote_read_ms,
	.heap_live = remote_heap_live,
};

/* Opens the file that the inspector has read. Its owner may have replaced it. */
static int open_inspected(const struct target *target, pid_t pid, const char *exe)
{
	if (!pid)
		return file_open(exe);
	return target->file == GO_EXECUTABLE ? maps_open_exe(pid)
					     : maps_open_inode(pid, target->device, target->inode);
}

/* pid 0: opens `exe` by its path. */
static int open_remote(struct sandbox *sandbox, struct inspection *call, pid_t pid, const char *exe,
		       struct target **out, struct error *err)
{
	struct remote_target *remote = calloc(1, sizeof(*remote));
	int rc;

	if (!remote)
		return error_set(err, ENOMEM, "out of memory");
	remote->target.remote = &calls;
	remote->sandbox = sandbox;
	remote->exe = -1;
	rc = take_facts(remote, call, err);
	if (rc == 0)
		rc = take_exe(remote, pid, open_inspected(&remote->target, pid, exe), exe, err);
	if (rc) {
		remote_free(&remote->target);
		return rc;
	}
	*out = &remote->target;
	return 0;
}

int remote_target_layout(struct sandbox *sandbox, const char *text, size_t size, struct error *err)
{
	struct inspection call = remote_request(INSPECT_LAYOUT, 0);
	int rc;

	call.rpc.bytes = text;
	call.rpc.size = size;
	rc = inspect_for(sandbox, &call, NULL, 0, err);
	inspection_close_fd(&call);
	return rc;
}

int remote_target_open(struct sandbox *sandbox, pid_t pid, struct target **out, struct error *err)
{
	struct inspection call = remote_request(INSPECT_OPEN, (uint64_t)pid);
	char exe[64];
	int rc;

	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)pid);
	rc = open_remote(sandbox, &call, pid, exe, out, err);
	if (rc == 0)
		(*out)->pid = pid;
	return rc;
}

int remote_target_open_file(struct sandbox *sandbox, const char *path, struct target **out, struct error *err)
{
	struct inspection call = remote_request(INSPECT_OPEN_FILE, 0);

	call.rpc.bytes = path;
	call.rpc.size = strlen(path);
	return open_remote(sandbox, &call, 0, path, out, err);
}
