/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Prints rows of src/target/layouts.inc: `layout TOOLCHAIN FILE ...`, the file
 * built by the toolchain from tools/layout/program. Run by make.sh.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/buildinfo.h"
#include "target/debuginfo.h"
#include "target/load.h"

static const struct {
	enum log_reason_table table;
	const char *name, *symbol;
} tables[] = {
	{REASON_BLOCK, "block", "REASON_BLOCK"},
	{REASON_WAIT, "wait", "REASON_WAIT"},
	{REASON_STW, "stw", "REASON_STW"},
	{REASON_STOP, "stop", "REASON_STOP"},
};

struct row {
	struct go_version version;
	struct release release;
};

static int read_row(const char *file, struct row *row, struct error *err)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC), rc;
	struct loaded loaded;
	struct image image;

	if (fd < 0)
		return error_set(err, 2, "cannot open it");
	rc = load_file(fd, &loaded, err);
	if (rc == 0)
		rc = image_parse(&image, loaded.data, loaded.size, err);
	if (rc == 0)
		image_relocate(&image, loaded.data);
	if (rc == 0)
		rc = buildinfo_version(&image, &row->version, err);
	row->release.minor = row->version.minor;
	if (rc == 0)
		rc = debuginfo_release(fd, &image, &row->release, err);
	close(fd);
	return rc;
}

static void print_reasons(const struct row *row)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		const struct reasons *reasons = &row->release.reasons[tables[i].table];

		if (!reasons->n)
			continue;
		printf("static const char *const %s_%u[] = {\n", tables[i].name, row->version.minor);
		for (unsigned k = 0; k < reasons->n; k++) {
			if (reasons->texts[k])
				printf("\t[%u] = \"%s\",\n", k, reasons->texts[k]);
		}
		printf("};\n");
	}
}

static void print_row(const struct row *row)
{
	printf("\t{\n\t\t/* %s */\n\t\t.minor = %u,\n\t\t.patch = %u,\n", row->version.text,
	       row->version.minor, row->version.patch);
	for (unsigned i = 0; i < layout_field_count; i++) {
		uint32_t value = layout_get(&row->release.layout, &layout_fields[i]);

		if (layout_field_goes_on(i))
			continue;
		if (value == LAYOUT_ABSENT)
			printf("\t\t.layout.%s = LAYOUT_ABSENT,\n", layout_fields[i].name);
		else
			printf("\t\t.layout.%s = 0x%x,\n", layout_fields[i].name, value);
	}
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		if (row->release.reasons[tables[i].table].n)
			printf("\t\t.reasons[%s] = {%s_%u, sizeof(%s_%u) / sizeof(%s_%u[0])},\n",
			       tables[i].symbol, tables[i].name, row->version.minor, tables[i].name,
			       row->version.minor, tables[i].name, row->version.minor);
	}
	printf("\t},\n");
}

int main(int argc, char **argv)
{
	struct row *rows = calloc((size_t)argc, sizeof(*rows));
	struct error err;

	if (!rows || argc < 2) {
		fprintf(stderr, "usage: layout FILE ...\n");
		return 2;
	}
	printf("/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */\n"
	       "/* Made by tools/layout/make.sh from the toolchains' DWARF: do not edit. Oldest release "
	       "first. */\n");
	for (int i = 1; i < argc; i++) {
		if (read_row(argv[i], &rows[i], &err)) {
			fprintf(stderr, "%s: %s\n", argv[i], err.text);
			return 1;
		}
		print_reasons(&rows[i]);
	}
	printf("static const struct release releases[] = {\n");
	for (int i = 1; i < argc; i++)
		print_row(&rows[i]);
	printf("};\n");
	return 0;
}
