/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The table of layouts without some releases, as if they were not known yet; to be linked in place of
 * src/target/layout.c. WITHOUT is a bit mask of minor releases. MOVED moves g.goid of all others.
 */
#define release_find table_find
#define release_last table_last
#include "src/target/layout.c"
#undef release_find
#undef release_last

#ifndef MOVED
#define MOVED 0
#endif

const struct release *release_find(unsigned minor)
{
	static struct release moved[64];
	const struct release *row = minor < 64 && !(WITHOUT >> minor & 1) ? table_find(minor) : NULL;

	if (!row || !MOVED)
		return row;
	moved[minor] = *row;
	moved[minor].layout.go.g_goid += MOVED;
	return &moved[minor];
}

unsigned release_last(void)
{
	unsigned minor = table_last();

	while (!release_find(minor))
		minor--;
	return minor;
}
