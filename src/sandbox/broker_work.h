/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the broker process. */
#ifndef GOTRACE_SANDBOX_BROKER_WORK_H
#define GOTRACE_SANDBOX_BROKER_WORK_H

#include "sandbox/broker_messages.h"

/* control, reads: the broker's ends of the two sockets. Does not return. */
_Noreturn void broker_work(int control, int reads, struct broker_shared *shared);

#endif
