/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/with_inspector.h"

#include <errno.h>
#include <unistd.h>

#include "cli/layout_file.h"
#include "sandbox/broker.h"
#include "sandbox/inspector.h"
#include "target/memory.h"
#include "target/process.h"
#include "target/reads.h"

static int with_inspector_start(struct sandbox *inspector, struct broker **broker, struct error *err)
{
	int rc = sandbox_start(inspector, &inspector_plan, err);

	if (rc)
		return rc;
	*broker = broker_new(err);
	if (!*broker)
		return -EPERM;
	target_reads_set_delegate(broker_reads(*broker));
	return sandbox_attend(inspector, *broker, err);
}

/* From here on this process can only talk to the others. */
static int confine(const struct sandbox *inspector, const struct broker *broker, struct error *err)
{
	const pid_t children[] = {inspector->pid, broker_pid(broker)};

	memory_how_to_be_allowed(); /* depends on the present privileges */
	return sandbox_confine_parent(children, sizeof(children) / sizeof(children[0]), err);
}

static int with_inspector_run(const struct inspector_job *job, struct sandbox *inspector,
			      struct broker *broker, struct error *err)
{
	int layout = -1, rc;

	broker_allow(broker, job->pid);
	rc = process_check("/proc", job->pid, err);
	if (rc == 0 && job->layout)
		rc = layout = layout_file_open(job->layout, err);
	if (rc >= 0)
		rc = confine(inspector, broker, err);
	if (rc == 0 && layout >= 0)
		rc = layout_file_give(inspector, layout, job->layout, err);
	if (layout >= 0)
		close(layout);
	return rc ? rc : job->work(inspector, job->ctx, err);
}

int with_inspector(const struct inspector_job *job, struct error *err)
{
	struct sandbox inspector;
	struct broker *broker = NULL;
	int rc = with_inspector_start(&inspector, &broker, err);

	if (rc == 0)
		rc = with_inspector_run(job, &inspector, broker, err);
	target_reads_set_delegate(NULL);
	sandbox_end(&inspector);
	broker_free(broker);
	return rc;
}
