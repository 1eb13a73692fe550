/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/message.h"

#include <stdio.h>

void message_error(const struct error *err)
{
	fprintf(stderr, "gotrace: %s\n", err->text);
}
