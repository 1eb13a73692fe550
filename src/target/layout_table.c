/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/layout_table.h"

#include <errno.h>

#include "target/debuginfo.h"
#include "target/load.h"

static int layout_table_read_file(int fd, const struct loaded *loaded, struct layout_table *table,
				  struct error *err)
{
	struct error inner = {""};
	struct image image;
	int rc = image_parse(&image, loaded->data, loaded->size, err);

	if (rc)
		return rc;
	image_relocate(&image, loaded->data, false);
	rc = buildinfo_version(&image, &table->version, err);
	if (rc)
		return rc;
	table->arm64 = image.arm64;
	table->release.minor = table->version.minor;
	table->release.patch = table->version.patch;
	rc = debuginfo_release(fd, &image, &table->release, &inner);
	return rc ? error_set(err, -rc, "cannot be used to make a layout table: %s", inner.text) : 0;
}

int layout_table_read(int fd, struct layout_table *table, struct error *err)
{
	struct loaded loaded;
	int rc = load_file(fd, &loaded, err);

	*table = (struct layout_table){.arm64 = false};
	if (rc)
		return rc;
	rc = layout_table_read_file(fd, &loaded, table, err);
	load_free(&loaded);
	if (rc)
		release_free(&table->release);
	return rc;
}
