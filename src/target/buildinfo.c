/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/buildinfo.h"

#include <errno.h>
#include <string.h>

/*
 * Go 1.26 debug/buildinfo/buildinfo.go: magic, pointer size, flags; then a length and the version, or from
 * 1.13 to 1.17 the address of a Go string (runtime.buildVersion).
 */
#define POINTER_SIZE 14
#define FLAGS        15
#define INLINE       2 /* flag: strings follow, 1.18 and later */
#define POINTER      16
#define HEADER       32
#define ALIGNMENT    16
#define MAX_VERSION  256u

#define LAST_WITHOUT_RECORD 12

/* Split, so that gotrace's own binary does not contain the magic. */
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
	/* From 1.21 on, a first release is called x.0. Any other suffix here is not a release. */
	version->development |= text < end && *text != ' ';
	return true;
}

static bool read_inline(const uint8_t *bytes, size_t size, struct go_version *version)
{
	size_t len, at = HEADER;

	if (size < HEADER + 2)
		return false;
	/* A varint of at most two bytes, which is enough for any version. */
	len = bytes[at] & 0x7f;
	if (bytes[at++] & 0x80)
		len |= (size_t)bytes[at++] << 7;
	if (len > MAX_VERSION || len > size - at)
		return false;
	return go_version_parse((const char *)bytes + at, len, version);
}

static bool buildinfo_read_string(const struct image *image, uint64_t address, struct go_version *version)
{
	const uint8_t *bytes;
	uint64_t text, len;

	if (!image_pointer(image, address, &text) || !image_pointer(image, address + 8, &len) ||
	    len > MAX_VERSION)
		return false;
	bytes = image_bytes(image, text, len);
	return bytes && go_version_parse((const char *)bytes, len, version);
}

static bool buildinfo_read_record(const struct image *image, const uint8_t *bytes, size_t size,
				  struct go_version *version)
{
	uint64_t pointer;

	if (!has_magic(bytes))
		return false;
	if (bytes[FLAGS] & INLINE)
		return read_inline(bytes, size, version);
	memcpy(&pointer, bytes + POINTER, sizeof(pointer));
	return bytes[POINTER_SIZE] == sizeof(pointer) && buildinfo_read_string(image, pointer, version);
}

/* The linker aligns the record's address. The start of a segment need not be aligned. */
static bool search(const struct image *image, uint64_t address, struct go_version *version)
{
	size_t size;
	const uint8_t *bytes = image_rest(image, address, &size);

	for (size_t at = -address % ALIGNMENT; at < size && size - at >= HEADER; at += ALIGNMENT) {
		if (buildinfo_read_record(image, bytes + at, size - at, version))
			return true;
	}
	return false;
}

/* --- up to 1.12: no record, only the variable runtime.buildVersion, a Go string --- */

/* Accepts "go1.9.7", "go1.9" and "go1.9rc2" without additions. */
static bool is_plain_version(const char *text, uint64_t len)
{
	for (uint64_t i = 0; i < len; i++) {
		if (text[i] != '.' && (text[i] < '0' || text[i] > '9') && (text[i] < 'a' || text[i] > 'z'))
			return false;
	}
	return len > 4;
}

/* Reads a Go string at the address. It must be the version of a release without a record. */
static bool read_variable(const struct image *image, uint64_t address, struct go_version *version)
{
	uint64_t text, len;
	const uint8_t *bytes;

	if (!image_pointer(image, address, &text) || !image_pointer(image, address + 8, &len) || len < 5 ||
	    len > sizeof(version->text) - 1)
		return false;
	bytes = image_bytes(image, text, len);
	return bytes && memcmp(bytes, "go1.", 4) == 0 && is_plain_version((const char *)bytes, len) &&
	       go_version_parse((const char *)bytes, len, version) && version->minor <= LAST_WITHOUT_RECORD;
}

static bool same_version(const struct go_version *one, const struct go_version *two)
{
	return strcmp(one->text, two->text) == 0;
}

/* Returns the number of different versions in the program's variables, and stores the first two. */
static int search_variables(const struct image *image, struct go_version found[2])
{
	struct go_version version;
	int n = 0;

	for (unsigned i = 0; i < image->n; i++) {
		const struct segment *segment = &image->segments[i];
		uint64_t end = segment->address + segment->file_size;

		if (!segment->writable)
			continue;
		for (uint64_t at = (segment->address + 7) & ~7ull; at < end && end - at >= 16; at += 8) {
			if (!read_variable(image, at, &version) || (n && same_version(&version, &found[0])) ||
			    (n > 1 && same_version(&version, &found[1])))
				continue;
			if (n < 2)
				found[n] = version;
			n++;
		}
	}
	return n;
}

static int variable_version(const struct image *image, struct go_version *version, struct error *err)
{
	struct go_version found[2];
	int n = search_variables(image, found);

	if (n == 0)
		return error_set(err, ENOEXEC, "is not a Go program: it does not record a Go release");
	if (n > 1)
		return error_set(err, ENOTSUP,
				 "may have been built by %s or %s%s: it contains the names of several "
				 "releases and does not record its own",
				 found[0].text, found[1].text, n > 2 ? " or another" : "");
	*version = found[0];
	return 0;
}

/* Garble (tried: 0.16) writes "unknown" into the record, and encrypts the function table. */
static bool hides_version(const struct image *image, const struct image_section *section)
{
	const uint8_t *bytes = image_bytes(image, section->address, HEADER);

	return bytes && has_magic(bytes);
}

int buildinfo_version(const struct image *image, struct go_version *version, struct error *err)
{
	struct image_section section;
	bool has_section = image_section(image, ".go.buildinfo", &section);

	if (has_section && search(image, section.address, version))
		return 0;
	for (unsigned i = 0; i < image->n; i++) {
		if (search(image, image->segments[i].address, version))
			return 0;
	}
	if (has_section && hides_version(image, &section))
		return error_set(err, ENOTSUP,
				 "is a Go program that hides its release (was it built by garble?): trace it "
				 "as threads (--as c)");
	return variable_version(image, version, err);
}
