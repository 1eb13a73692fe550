/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Inside the sandbox that looks at targets: answers questions until the channel ends. */
#ifndef GOTRACE_SANDBOX_LOOKER_H
#define GOTRACE_SANDBOX_LOOKER_H

#include "sandbox/channel.h"

void looker_work(struct channel *channel, void *unused);

#endif
