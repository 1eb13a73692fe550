/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "analysis/words.h"

#include "analysis/figures.h"

const struct words *words_of(const struct analysis *a)
{
	static const struct words goroutines = {"goroutine", "goroutines", "P",
						"Ps",        "GOMAXPROCS", "--detail=light"},
				  threads = {"thread", "threads", "CPU", "CPUs", "CPUs", "--no-syscalls"};

	return is_of_threads(a) ? &threads : &goroutines;
}
