/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/reads.h"

static const struct target_reads *chosen;

void target_reads_set_delegate(const struct target_reads *reads)
{
	chosen = reads;
}

const struct target_reads *target_reads(void)
{
	return chosen;
}
