/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sandbox/looker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "native/functions.h"
#include "sandbox/protocol.h"

struct looker {
	struct channel *channel;
	struct target *target;
	struct target_snapshot *snapshot;
	struct function_plan functions;
	struct log_m *ms;
};

/* What was asked. */
struct question {
	uint32_t ask;
	uint64_t arg;
	size_t size;
	char *bytes; /* owned; ended by a NUL that does not count */
	int fd;      /* owned; -1 = none */
};

static int answer(struct looker *looker, int code, const void *bytes, size_t size)
{
	const struct message message = {.kind = REPLY_RESULT, .code = code, .size = size};
	int rc = channel_put(looker->channel, &message, bytes);

	return rc ? rc : channel_flush(looker->channel);
}

/* A failure and its line, or these bytes. */
static int conclude(struct looker *looker, int code, const struct error *err, const void *bytes, size_t size)
{
	return code < 0 ? answer(looker, code, err, sizeof(*err)) : answer(looker, code, bytes, size);
}

static int send_record(void *ctx, const struct log_record *record)
{
	struct looker *looker = ctx;
	const struct message message = {
		.kind = REPLY_RECORD, .code = (int32_t)record->type, .size = record->size};

	return channel_put(looker->channel, &message, record->data);
}

static int refuse(struct looker *looker, const char *why)
{
	struct error err;
	int code = error_set(&err, EINVAL, "%s", why);

	return answer(looker, code, &err, sizeof(err));
}

/* --- targets --- */

static int tell_facts(struct looker *looker, int code, const struct error *err)
{
	const struct target *target = looker->target;
	struct target_facts facts;

	memset(&facts, 0, sizeof(facts));
	if (code == 0) {
		facts = (struct target_facts){
			.go_minor = target->go_minor,
			.go_patch = target->go_patch,
			.cgo = target->cgo,
			.pie = target->pie,
			.stripped = target->stripped,
			.alloc = (uint8_t)target->alloc,
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
	return conclude(looker, code, err, &facts, sizeof(facts));
}

static void forget_target(struct looker *looker)
{
	target_snapshot_free(looker->snapshot);
	looker->snapshot = NULL;
	target_free(looker->target);
	looker->target = NULL;
}

static int open_target(struct looker *looker, const struct question *question)
{
	struct error err = {""};
	int rc;

	forget_target(looker);
	rc = question->ask == ASK_OPEN ? target_open((pid_t)question->arg, &looker->target, &err)
				       : target_open_file(question->bytes, &looker->target, &err);
	return tell_facts(looker, rc, &err);
}

static int log_info(struct looker *looker, const struct question *question)
{
	struct target *target = looker->target;
	struct ask_log_info asked = {0};
	struct error err = {""};
	pid_t bound = target->pid;
	int rc;

	if (question->size == sizeof(asked))
		memcpy(&asked, question->bytes, sizeof(asked));
	if (!bound)
		target->pid = (pid_t)asked.pid; /* it ended before it could be looked at */
	rc = target_log_info(target, asked.flags, send_record, looker, &err);
	target->pid = bound;
	return conclude(looker, rc, &err, NULL, 0);
}

/* In memory that nobody can change or cut any more. */
static int seal_functab(const struct log_record *record, int *fd, struct error *err)
{
	size_t done = 0;

	*fd = memfd_create("gotrace-functab", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd < 0)
		return error_set(err, errno, "out of memory for the function table: %s", strerror(errno));
	while (done < record->size) {
		ssize_t n = write(*fd, (const char *)record->data + done, record->size - done);

		if (n <= 0)
			break;
		done += (size_t)n;
	}
	if (done < record->size || fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)) {
		close(*fd);
		return error_set(err, ENOMEM, "out of memory for the function table");
	}
	return 0;
}

static int tell_functab(struct looker *looker)
{
	const struct message message = {.kind = REPLY_RESULT};
	struct error err = {""};
	struct log_record record;
	int fd, rc = target_functab(looker->target, &record, &err);

	if (rc == 0)
		rc = seal_functab(&record, &fd, &err);
	if (rc)
		return conclude(looker, rc, &err, NULL, 0);
	rc = channel_put_fd(looker->channel, &message, NULL, fd);
	close(fd);
	return rc;
}

static int tell_plan(struct looker *looker)
{
	struct probe_plan *plan = calloc(1, sizeof(*plan));
	struct error err = {"out of memory"};
	int rc = plan ? target_plan(looker->target, plan, &err) : -ENOMEM;

	rc = conclude(looker, rc, &err, plan, sizeof(*plan));
	free(plan);
	return rc;
}

static int tell_other_go(struct looker *looker)
{
	char path[256] = "";
	bool found = target_other_go(looker->target, path, sizeof(path));

	return answer(looker, 0, path, found ? strlen(path) : 0);
}

static int tell_ms(struct looker *looker, const struct question *question)
{
	size_t max = question->arg < 1u << 16 ? question->arg : 1u << 16;
	struct error err = {"out of memory"};
	struct log_m *bigger = realloc(looker->ms, max * sizeof(*bigger) + 1);
	int n = -ENOMEM;

	if (bigger) {
		looker->ms = bigger;
		n = target_read_ms(looker->target, bigger, (unsigned)max, &err);
	}
	return conclude(looker, n, &err, looker->ms, n > 0 ? (size_t)n * sizeof(*bigger) : 0);
}

static int tell_heap_live(struct looker *looker)
{
	struct error err = {""};
	uint64_t bytes = 0;
	int rc = target_heap_live(looker->target, &bytes);

	return conclude(looker, rc, &err, &bytes, sizeof(bytes));
}

/* --- snapshots --- */

static int begin_snapshot(struct looker *looker)
{
	struct error err = {""};
	int rc;

	target_snapshot_free(looker->snapshot);
	looker->snapshot = NULL;
	rc = target_snapshot_begin(looker->target, send_record, looker, &looker->snapshot, &err);
	return conclude(looker, rc, &err, NULL, 0);
}

static int go_on_with_snapshot(struct looker *looker, const struct question *question)
{
	struct error err = {""};
	uint32_t markers[2] = {0};
	int rc = 0;

	if (question->ask == ASK_SNAPSHOT_FREE) {
		target_snapshot_free(looker->snapshot);
		looker->snapshot = NULL;
	} else if (!looker->snapshot) {
		return refuse(looker, "there is no snapshot");
	} else if (question->ask == ASK_SNAPSHOT_READ) {
		rc = target_snapshot_read(looker->snapshot, &err);
	} else {
		if (question->size == sizeof(markers))
			memcpy(markers, question->bytes, sizeof(markers));
		rc = target_snapshot_put(looker->snapshot, markers);
	}
	return conclude(looker, rc, &err, NULL, 0);
}

/* --- code of files --- */

static int tell_module(struct looker *looker, const struct question *question)
{
	struct module_code code;
	struct error err = {""};
	struct module_facts facts = {.n = 0};
	const struct message head = {.kind = REPLY_RESULT, .size = sizeof(facts)};
	struct message message = head;
	int rc = question->fd >= 0 ? module_read(question->fd, &code)
				   : module_read_bytes(question->bytes, question->size, &code);

	if (rc) {
		module_free(&code);
		return conclude(looker, rc, &err, NULL, 0);
	}
	memcpy(facts.segments, code.segments, sizeof(facts.segments));
	facts.n = code.n;
	facts.base = code.base;
	facts.size = code.size;
	facts.rows = code.rows.n;
	facts.functions = code.rows.functions;
	facts.damaged = code.rows.damaged;
	message.size += code.rows.n * sizeof(*code.rows.rows);
	rc = channel_put_parts(looker->channel, &message, &facts, sizeof(facts), code.rows.rows);
	module_free(&code);
	return rc ? rc : channel_flush(looker->channel);
}

/* The question's texts, for as long as the question is there. False if it makes no sense. */
static bool read_wants(struct question *question, struct ask_functions *asked, char **path,
		       struct function_want *wanted)
{
	size_t at = sizeof(*asked);

	if (question->size < at)
		return false;
	memcpy(asked, question->bytes, sizeof(*asked));
	if (asked->n > MAX_FUNCTIONS || asked->path_len >= question->size - at)
		return false;
	*path = question->bytes + at;
	at += asked->path_len + 1u;
	for (uint32_t i = 0; i < asked->n; i++) {
		struct ask_function one;

		if (question->size - at < sizeof(one))
			return false;
		memcpy(&one, question->bytes + at, sizeof(one));
		at += sizeof(one);
		if (one.len >= question->size - at)
			return false;
		wanted[i] = (struct function_want){.text = question->bytes + at,
						   .kind = (enum log_function_kind)one.kind};
		at += one.len + 1u;
	}
	return true;
}

static int plan_functions(struct looker *looker, struct question *question)
{
	struct function_want wanted[MAX_FUNCTIONS];
	struct ask_functions asked;
	struct error err = {""};
	char *path;
	int rc;

	if (!read_wants(question, &asked, &path, wanted))
		return refuse(looker, "the question makes no sense");
	functions_free(&looker->functions);
	rc = functions_plan((pid_t)asked.pid, path, wanted, asked.n, &looker->functions, &err);
	return conclude(looker, rc ? rc : (int)looker->functions.nlists, &err, NULL, 0);
}

static int tell_list(struct looker *looker, const struct question *question)
{
	const struct function_probes *list;
	struct function_list_facts facts;
	struct message message = {.kind = REPLY_RESULT, .size = sizeof(facts)};
	char *bytes;
	size_t size;
	int rc;

	if (question->arg >= looker->functions.nlists)
		return refuse(looker, "there is no such list");
	list = &looker->functions.lists[question->arg];
	facts = (struct function_list_facts){.site = list->site, .n = list->n};
	size = list->n * sizeof(*list->probes);
	bytes = malloc(sizeof(facts) + size);
	if (!bytes)
		return refuse(looker, "out of memory");
	memcpy(bytes, &facts, sizeof(facts));
	memcpy(bytes + sizeof(facts), list->probes, size);
	message.size += size;
	rc = channel_put_fd(looker->channel, &message, bytes, list->fd);
	free(bytes);
	return rc;
}

/* --- all questions --- */

static int answer_of_target(struct looker *looker, const struct question *question)
{
	struct error err = {""};
	int rc;

	switch (question->ask) {
	case ASK_BIND:
		rc = target_bind(looker->target, (pid_t)question->arg, &err);
		return tell_facts(looker, rc, &err);
	case ASK_WANT_ALLOC:
		rc = target_want_alloc(looker->target, (enum alloc_look)question->arg, &err);
		return tell_facts(looker, rc, &err);
	case ASK_PLAN:
		return tell_plan(looker);
	case ASK_LOG_INFO:
		return log_info(looker, question);
	case ASK_FUNCTAB:
		return tell_functab(looker);
	case ASK_OTHER_GO:
		return tell_other_go(looker);
	case ASK_SNAPSHOT_BEGIN:
		return begin_snapshot(looker);
	case ASK_SNAPSHOT_READ:
	case ASK_SNAPSHOT_PUT:
	case ASK_SNAPSHOT_FREE:
		return go_on_with_snapshot(looker, question);
	case ASK_READ_MS:
		return tell_ms(looker, question);
	case ASK_HEAP_LIVE:
		return tell_heap_live(looker);
	default:
		return refuse(looker, "there is no such question");
	}
}

static int answer_question(struct looker *looker, struct question *question)
{
	switch (question->ask) {
	case ASK_OPEN:
	case ASK_OPEN_FILE:
		return open_target(looker, question);
	case ASK_MODULE:
		return tell_module(looker, question);
	case ASK_FUNCTIONS:
		return plan_functions(looker, question);
	case ASK_FUNCTION_LIST:
		return tell_list(looker, question);
	default:
		return looker->target ? answer_of_target(looker, question)
				      : refuse(looker, "there is no target");
	}
}

static int take_question(struct channel *channel, struct question *question)
{
	int fds[CHANNEL_FDS];
	struct message message;
	int rc = channel_take(channel, &message, fds);

	if (rc)
		return rc;
	*question = (struct question){
		.ask = message.kind, .arg = message.arg, .size = message.size, .fd = fds[0]};
	if (message.size > MOST_QUESTION)
		return -EBADMSG;
	question->bytes = calloc(1, message.size + 1);
	return question->bytes ? channel_read(channel, question->bytes, message.size) : -ENOMEM;
}

void looker_work(struct channel *channel, void *unused)
{
	struct looker looker = {.channel = channel};
	struct question question;

	(void)unused;
	while (take_question(channel, &question) == 0) {
		int rc = answer_question(&looker, &question);

		if (question.fd >= 0)
			close(question.fd);
		free(question.bytes);
		if (rc)
			break;
	}
}
