/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/boxes.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>

#include "sandbox/looker.h"
#include "sandbox/privilege.h"
#include "sandbox/remote.h"
#include "util/utf8.h"

/* The relay's thread steps back and comes forward again: as far as this (20 - nice) without privilege. */
static void allow_pace(void)
{
	const struct rlimit pace = {20, 20};

	setrlimit(RLIMIT_NICE, &pace);
}

int boxes_open(struct boxes *boxes, pid_t pid, const struct flight_plan *flight, struct error *err)
{
	int rc = sandbox_start(&boxes->looker, "the process that reads the target's files and memory",
			       looker_work, NULL, err);

	if (rc)
		return rc;
	boxes->writer = writer_new(flight, err);
	boxes->broker = boxes->writer ? broker_new(err) : NULL;
	if (!boxes->broker)
		return -EPERM;
	allow_pace();
	if (pid)
		broker_allow(boxes->broker, pid);
	rc = sandbox_attend(&boxes->looker, boxes->broker, err);
	return rc ? rc : writer_attend(boxes->writer, boxes->broker, err);
}

void boxes_close(struct boxes *boxes)
{
	writer_free(boxes->writer);
	if (boxes->looker.what)
		sandbox_end(&boxes->looker);
	broker_free(boxes->broker);
	*boxes = (struct boxes){.broker = NULL};
}

static int read_module(void *sandbox, int fd, const char *bytes, size_t size, struct module_code *code)
{
	return remote_module_read(sandbox, fd, bytes, size, code);
}

struct module_reader boxes_reader(struct boxes *boxes)
{
	return (struct module_reader){.read = read_module, .ctx = &boxes->looker};
}

int boxes_put(void *ctx, const struct log_record *record)
{
	struct boxes *boxes = ctx;
	struct error err;

	if (!boxes->relay_reduced && privilege_keep(0, &err))
		return -EPERM;
	boxes->relay_reduced = true;
	return writer_put(boxes->writer, record);
}

/* Names are needed when the first generation is encoded, so the table must come early. */
void boxes_functab(struct boxes *boxes, struct target *target)
{
	struct error err = {""};
	struct log_record record;
	int rc = target_functab(target, &record, &err);

	/* The relay has just been flushed: past it, for the table can be large. */
	if (rc == 0)
		rc = writer_functab(boxes->writer, &record);
	if (rc == 0)
		return;
	text_make_printable(err.text);
	fprintf(stderr, "gotrace: stacks will have addresses without names: %s\n",
		err.text[0] ? err.text : "the function table is not readable");
}

int boxes_reduce(struct boxes *boxes, struct capture *capture, uint64_t *needed, struct error *err)
{
	*needed = capture_capabilities(capture);
	return broker_keep(boxes->broker, *needed, err);
}

bool boxes_have_gone(struct boxes *boxes, struct error *err)
{
	if (!writer_has_gone(boxes->writer) && !sandbox_has_gone(&boxes->looker))
		return false;
	*err = boxes->looker.why;
	return true;
}
