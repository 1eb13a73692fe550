/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/owner.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static bool owner_read_id(const char *name, unsigned *id)
{
	const char *text = getenv(name);
	unsigned long value;
	char *end;

	if (!text || !isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	value = strtoul(text, &end, 10);
	/* For chown and setuid, (uid_t)-1 means "unchanged". */
	if (errno || *end || value >= (uid_t)-1)
		return false;
	*id = (unsigned)value;
	return true;
}

bool owner_behind_sudo(struct owner *owner)
{
	return geteuid() == 0 && owner_read_id("SUDO_UID", &owner->uid) &&
	       owner_read_id("SUDO_GID", &owner->gid);
}
