/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/layout_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/remote.h"
#include "target/layout_text.h"
#include "util/files.h"
#include "util/message.h"
#include "util/rights.h"
#include "util/text.h"

int layout_file_open(const char *path, struct error *err)
{
	struct rights before = rights_as_user();
	int fd = file_open(path);

	rights_restore(&before);
	return fd < 0 ? error_set(err, -fd, "cannot open %s: %s", text_path(path).bytes, strerror(-fd)) : fd;
}

/* Reads up to `most` bytes. Returns their number or a negative errno. */
static ssize_t read_up_to(int fd, char *bytes, size_t most)
{
	size_t size = 0;

	while (size < most) {
		ssize_t n = read(fd, bytes + size, most - size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : (ssize_t)size;
		size += (size_t)n;
	}
	return (ssize_t)size;
}

int layout_file_give(struct sandbox *inspector, int fd, const char *path, struct error *err)
{
	char *text = malloc(LAYOUT_TEXT_MOST + 1);
	struct error inner = {""};
	ssize_t size = text ? read_up_to(fd, text, LAYOUT_TEXT_MOST + 1) : -ENOMEM;
	int rc = size < 0 ? (int)size : 0;

	if (rc)
		error_set(err, -rc, "cannot read %s: %s", text_path(path).bytes, strerror(-rc));
	else if (size > (ssize_t)LAYOUT_TEXT_MOST)
		rc = error_set(err, EFBIG, "--layout: %s is too large for a gotrace layout table",
			       text_path(path).bytes);
	else
		rc = remote_target_layout(inspector, text, (size_t)size, &inner);
	if (rc && inner.text[0])
		error_set(err, -rc, "--layout: %s: %s", text_path(path).bytes, inner.text);
	free(text);
	return rc;
}

const char *layout_source(const struct target *target, const char *path)
{
	static char text[PATH_MAX + 64];

	text[0] = '\0';
	if (target->nearest && target->given && path)
		snprintf(text, sizeof(text), "layout from %s", text_path(path).bytes);
	else if (target->nearest)
		snprintf(text, sizeof(text), "layouts of Go 1.%u, not verified with this release",
			 target->nearest);
	return text;
}

void layout_report(const struct target *target, const char *path)
{
	if (target->nearest && target->given && path)
		message("this release (%s) is not verified: layout from %s, which fits the "
			"process",
			target->go_version, text_path(path).bytes);
	else if (target->nearest)
		message("this release (%s) is not verified: the layouts of Go 1.%u fit the "
			"process",
			target->go_version, target->nearest);
	else if (path)
		message("--layout is ignored: the layout of this program (%s) is known", target->go_version);
}
