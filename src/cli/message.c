/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/message.h"

#include <stdio.h>

void message_error(const struct error *err)
{
	fprintf(stderr, "gotrace: %s\n", err->text);
}
