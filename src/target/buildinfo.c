/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/buildinfo.h"

#include <errno.h>
#include <string.h>

/*
 * Go 1.26 debug/buildinfo/buildinfo.go: magic, size of a pointer, flags; then a
 * length and the version, or from 1.13 to 1.17 the address of a Go string
 * (runtime.buildVersion).
 */
#define MAGIC_SIZE   14
#define POINTER_SIZE 14
#define FLAGS        15
#define INLINE       2 /* flag: strings follow, 1.18 and later */
#define POINTER      16
#define HEADER       32
#define ALIGNMENT    16
#define MAX_VERSION  256u

/* Not written as one string, lest our own code be found as a record. */
static const char magic[2][8] = {"\xff Go bu", "ildinf:"};

static bool has_magic(const uint8_t *bytes)
{
	return memcmp(bytes, magic[0], 7) == 0 && memcmp(bytes + 7, magic[1], 7) == 0;
}

static bool digits(const char **text, const char *end, unsigned *number)
{
	const char *start = *text;

	*number = 0;
	while (*text < end && **text >= '0' && **text <= '9' && *number < 100000)
		*number = *number * 10 + (unsigned)(*(*text)++ - '0');
	return *text > start;
}

bool go_version_parse(const char *text, size_t len, struct go_version *version)
{
	const char *end = text + len;
	size_t keep;

	*version = (struct go_version){.minor = 0};
	if (len > 6 && memcmp(text, "devel ", 6) == 0) {
		version->development = true;
		text += 6;
	}
	keep = (size_t)(end - text);
	if (keep < 5 || memcmp(text, "go1.", 4))
		return false;
	for (size_t i = 0; i < keep && i < sizeof(version->text) - 1 && text[i] > ' ' && text[i] < 0x7f; i++)
		version->text[i] = text[i];
	text += 4;
	if (!digits(&text, end, &version->minor))
		return false;
	if (text < end && *text == '.') {
		text++;
		return digits(&text, end, &version->patch);
	}
	/* 1.21 and later call their first release x.0, so anything else here is not a release. */
	version->development |= text < end && *text != ' ';
	return true;
}

static bool read_inline(const uint8_t *bytes, size_t size, struct go_version *version)
{
	size_t len, at = HEADER;

	if (size < HEADER + 2)
		return false;
	/* A varint; no version is longer than two bytes of it can say. */
	len = bytes[at] & 0x7f;
	if (bytes[at++] & 0x80)
		len |= (size_t)bytes[at++] << 7;
	if (len > MAX_VERSION || len > size - at)
		return false;
	return go_version_parse((const char *)bytes + at, len, version);
}

static bool read_string(const struct image *image, uint64_t address, struct go_version *version)
{
	const uint8_t *bytes;
	uint64_t text, len;

	if (!image_pointer(image, address, &text) || !image_pointer(image, address + 8, &len) ||
	    len > MAX_VERSION)
		return false;
	bytes = image_bytes(image, text, len);
	return bytes && go_version_parse((const char *)bytes, len, version);
}

static bool read_record(const struct image *image, const uint8_t *bytes, size_t size,
			struct go_version *version)
{
	uint64_t pointer;

	if (!has_magic(bytes))
		return false;
	if (bytes[FLAGS] & INLINE)
		return read_inline(bytes, size, version);
	memcpy(&pointer, bytes + POINTER, sizeof(pointer));
	return bytes[POINTER_SIZE] == sizeof(pointer) && read_string(image, pointer, version);
}

/* The linker aligns the record by its address, which a segment's start need not be. */
static bool search(const struct image *image, uint64_t address, struct go_version *version)
{
	size_t size;
	const uint8_t *bytes = image_rest(image, address, &size);

	for (size_t at = -address % ALIGNMENT; at < size && size - at >= HEADER; at += ALIGNMENT) {
		if (read_record(image, bytes + at, size - at, version))
			return true;
	}
	return false;
}

int buildinfo_version(const struct image *image, struct go_version *version, struct error *err)
{
	struct section section;

	if (image_section(image, ".go.buildinfo", &section) && search(image, section.address, version))
		return 0;
	for (unsigned i = 0; i < image->n; i++) {
		if (search(image, image->segments[i].address, version))
			return 0;
	}
	return error_set(err, ENOEXEC, "is not a Go program: it has no record of a Go release");
}
