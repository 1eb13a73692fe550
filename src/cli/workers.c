/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/workers.h"

#include <errno.h>
#include <stdio.h>

#include "sandbox/inspector.h"
#include "sandbox/privilege.h"
#include "sandbox/remote.h"
#include "target/reads.h"
#include "util/available_memory.h"
#include "util/message.h"
#include "util/utf8.h"

enum { MOST_URGENT = -20 }; /* niceness */

/* Bytes of log that may wait to be encoded: at most a tenth of the free memory, but at least 4 MiB. */
static size_t buffer_size(size_t wanted)
{
	const size_t most = 128u << 20, least = 4u << 20;
	uint64_t tenth = available_memory("") / 10;
	size_t size = wanted ? wanted : most;

	size = size > tenth ? (size_t)tenth : size;
	return size < least ? least : size;
}

int workers_open(struct workers *workers, pid_t pid, const struct flight_plan *flight, size_t buffer,
		 const struct workers_end *end, struct error *err)
{
	int rc;

	workers->broker = broker_new(err);
	if (!workers->broker)
		return -EPERM;
	if (pid)
		broker_allow(workers->broker, pid);
	target_reads_set_delegate(broker_reads(workers->broker));
	rc = sandbox_start(&workers->inspector, &inspector_plan, err);
	if (rc)
		return rc;
	sandbox_until(&workers->inspector, end->must_end, end->ctx);
	workers->writer = writer_new(flight, buffer_size(buffer), err);
	if (!workers->writer)
		return -EPERM;
	rc = sandbox_attend(&workers->inspector, workers->broker, err);
	return rc ? rc : writer_attend(workers->writer, workers->broker, err);
}

/* Reports reads that were abandoned, whose data is missing from the trace. */
static void report_stalls(const struct broker *broker)
{
	unsigned n = broker ? broker_stalls(broker) : 0;

	if (n)
		message("%u reads of the target's memory and files were abandoned because a file "
			"system did not answer; stacks and names may be missing",
			n);
}

void workers_close(struct workers *workers)
{
	report_stalls(workers->broker);
	target_reads_set_delegate(NULL);
	writer_free(workers->writer);
	if (workers->inspector.what)
		sandbox_end(&workers->inspector);
	broker_free(workers->broker);
	*workers = (struct workers){.broker = NULL};
}

static int read_module(void *sandbox, int fd, const char *bytes, size_t size, struct module_code *code)
{
	return remote_module_read(sandbox, fd, bytes, size, code);
}

/*
 * Beside the threads of a busy program, each with the same weight, the writer would get too little CPU time
 * to keep up, and the draining thread would wait for the inspector's answers.
 */
void workers_hurry(struct workers *workers)
{
	sandbox_set_niceness(&workers->inspector, MOST_URGENT);
	writer_set_niceness(workers->writer, MOST_URGENT);
}

struct module_reader workers_reader(struct workers *workers)
{
	return (struct module_reader){.read = read_module, .ctx = &workers->inspector};
}

struct log_outlet workers_outlet(struct workers *workers)
{
	return (struct log_outlet){
		.put = writer_put, .flush = writer_flush, .fill = writer_fill, .ctx = workers->writer};
}

/* Names are needed when the first generation is encoded, so the table must come early. */
void workers_functab(struct workers *workers, struct target *target)
{
	struct error err = {""};
	struct log_record record;
	int rc = target_functab(target, &record, &err);

	if (rc == 0)
		rc = writer_functab(workers->writer, &record);
	target_functab_drop(target);
	if (rc == 0)
		return;
	text_make_printable(err.text);
	message("stacks will show addresses instead of names: %s",
		err.text[0] ? err.text : "the function table is not readable");
}

int workers_reduce(struct workers *workers, struct capture *capture, uint64_t *needed, struct error *err)
{
	*needed = capture_capabilities(capture);
	return broker_keep(workers->broker, *needed, err);
}

bool workers_are_stopped(struct workers *workers)
{
	return sandbox_is_stopped(&workers->inspector) || writer_is_stopped(workers->writer);
}

bool workers_have_exited(struct workers *workers, struct error *err)
{
	if (broker_has_exited(workers->broker))
		error_set(err, EPIPE, "the broker process has ended");
	else if (writer_has_exited(workers->writer) || sandbox_has_exited(&workers->inspector))
		*err = workers->inspector.why;
	else
		return false;
	return true;
}
