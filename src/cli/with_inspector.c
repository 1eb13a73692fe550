/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/with_inspector.h"

#include <errno.h>

#include "sandbox/broker.h"
#include "sandbox/inspector.h"
#include "target/reads.h"

int with_inspector(pid_t pid, int (*work)(struct sandbox *inspector, void *ctx, struct error *err), void *ctx,
		   struct error *err)
{
	struct sandbox inspector;
	struct broker *broker = NULL;
	int rc = sandbox_start(&inspector, &inspector_plan, err);

	if (rc == 0) {
		broker = broker_new(err);
		if (broker)
			target_reads_set_delegate(broker_reads(broker));
		rc = broker ? sandbox_attend(&inspector, broker, err) : -EPERM;
	}
	if (rc == 0) {
		broker_allow(broker, pid);
		rc = work(&inspector, ctx, err);
	}
	target_reads_set_delegate(NULL);
	sandbox_end(&inspector);
	broker_free(broker);
	return rc;
}
