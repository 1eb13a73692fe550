/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Prints the offsets of the fields of src/target/request_presets.c in a Go program, from its type
 * descriptors: `fields FILE`. Each line has type, path and offsets; a pointer is followed at each comma. With
 * --names it prints only type and path. Run by check.sh.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/buildinfo.h"
#include "target/load.h"
#include "target/module.h"
#include "target/request_presets.h"
#include "target/type_descriptors.h"

enum { MOST = 256 };

static unsigned list_fields(struct type_field *fields)
{
	unsigned n = 0;

	for (unsigned i = 0; i < request_preset_count; i++) {
		for (const struct request_probe *probe = request_presets[i].probes; probe->function; probe++) {
			for (const struct request_value *value = probe->values; value->role && n < MOST; value++) {
				if (value->path)
					fields[n++] = (struct type_field){.type = value->type, .path = value->path};
				if (value->given_path && n < MOST)
					fields[n++] = (struct type_field){.type = value->given_type, .path = value->given_path};
			}
		}
	}
	return n;
}

static int read_fields(int fd, struct type_field *fields, unsigned n, struct error *err)
{
	static struct loaded loaded;
	struct image image;
	struct go_version version;
	struct module module;
	struct type_places places;
	const struct release *release;
	int rc = load_file(fd, &loaded, err);

	if (rc == 0)
		rc = image_parse(&image, loaded.data, loaded.size, err);
	if (rc)
		return rc;
	image_relocate(&image, loaded.data);
	rc = buildinfo_version(&image, &version, err);
	release = rc ? NULL : release_find(version.minor);
	if (!release)
		return rc ? rc : error_set(err, 95, "not a known release");
	rc = module_find(&image, release, &module, err);
	if (rc)
		return rc;
	if (!type_places_find(&image, module.address, release, version.minor, &places))
		return error_set(err, 95, "no type descriptors");
	return type_fields_find(&image, &places, fields, n);
}

int main(int argc, char **argv)
{
	static struct type_field fields[MOST];
	unsigned n = list_fields(fields);
	bool names = argc > 1 && strcmp(argv[1], "--names") == 0;
	struct error err = {""};
	int fd = argc > 1 && !names ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;

	if (!names && (fd < 0 || read_fields(fd, fields, n, &err))) {
		fprintf(stderr, "%s: %s\n", argc > 1 ? argv[1] : "fields FILE", err.text);
		return 1;
	}
	for (unsigned i = 0; i < n; i++) {
		if (!names && !fields[i].n)
			continue;
		printf("%s %s", fields[i].type, fields[i].path);
		for (unsigned k = 0; k < fields[i].n; k++)
			printf("%s%u", k ? "," : " ", fields[i].offsets[k]);
		putchar('\n');
	}
	return 0;
}
