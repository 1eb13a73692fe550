/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/prove.h"

#include <errno.h>
#include <string.h>

#include "code/isa/field_access.h"
#include "target/code_rules.h"
#include "target/reasons.h"

/* What is known of a field in some code: nothing if the code is not there, or cannot be decoded. */
enum evidence { EVIDENCE_NONE, EVIDENCE_AGAINST, EVIDENCE_FOR };

/* Whether the instruction belongs to the function itself, where the code of a host contains a copy of it. */
static bool proof_is_of(const struct target *target, const char *function, uint64_t address)
{
	struct logical_place place;

	target_logical_place(target, address, &place);
	return logical_index(&place, function) >= 0;
}

/*
 * Bytes of code that one proof decodes, of a program that may claim to have copies of everything everywhere.
 * Go's runtime has less than 1 MiB; what is beyond the limit says nothing.
 */
#define MOST_CODE (128ull << 20)

struct proof {
	const struct target *target;
	uint64_t left; /* of MOST_CODE */
};

static enum evidence proof_look_at(struct proof *proof, const struct code_rule *rule, int32_t displacement,
				   const struct code *code, bool is_copy)
{
	/* Without inlining, methods of atomic types get the address of the field. */
	const unsigned uses = rule->use | USE_ADDRESS;
	struct field_access access;
	size_t at = 0;
	int rc;

	if (code->size > proof->left)
		return EVIDENCE_NONE;
	proof->left -= code->size;
	while ((rc = code_next_field(code, &at, &access)) > 0) {
		if (field_access_is(&access, displacement, rule->size, uses) &&
		    (!is_copy || proof_is_of(proof->target, rule->function, code->address + access.offset)))
			return EVIDENCE_FOR;
	}
	return rc < 0 ? EVIDENCE_NONE : EVIDENCE_AGAINST;
}

/* The compiler may have moved the access to any copy of the function. */
static enum evidence look_everywhere(struct proof *proof, const struct code_rule *rule, int32_t displacement)
{
	const struct target *target = proof->target;
	struct copy_search search = copies_begin(target, rule->function);
	enum evidence evidence = EVIDENCE_NONE;
	struct code code;
	uint64_t entry, end;
	const char *host;

	if (target_code(target, rule->function, &code) == 0)
		evidence = proof_look_at(proof, rule, displacement, &code, false);
	while (evidence != EVIDENCE_FOR && copies_next(target, &search, &entry, &end, &host)) {
		if (target_code_at(target, entry, end, &code) == 0) {
			enum evidence more = proof_look_at(proof, rule, displacement, &code, true);

			evidence = more == EVIDENCE_NONE ? evidence : more;
		}
	}
	return evidence;
}

static const struct layout_field *field_of(const struct code_rule *rule)
{
	unsigned i = 0;

	while (layout_fields[i].offset != rule->field)
		i++;
	return &layout_fields[i];
}

static int proof_refuse(const struct code_rule *rule, uint32_t offset, struct error *err)
{
	const struct layout_field *field = field_of(rule);
	const char *dot = strchr(field->type, '.');

	return error_set(err, EBADMSG, "%s.%s is not at 0x%x (%s)", dot ? dot + 1 : field->type, field->path,
			 offset, rule->function);
}

static int prove_fields(const struct target *target, const struct layout *layout,
			const struct code_rule *list, size_t n, struct error *err)
{
	struct proof proof = {.target = target, .left = MOST_CODE};

	for (size_t i = 0; i < n; i++) {
		const struct code_rule *rule = &list[i];
		uint32_t offset = layout_get(layout, field_of(rule));

		if (target->go_minor < rule->first || target->go_minor > rule->last ||
		    offset == LAYOUT_ABSENT)
			continue;
		if (look_everywhere(&proof, rule, (int32_t)offset) == EVIDENCE_AGAINST)
			return proof_refuse(rule, offset, err);
	}
	return 0;
}

/* --- wait reasons --- */

#define MAX_REFERENCES 64

/* Gets a Go string of the image. Returns false if it is not one. */
static bool text_at(const struct image *image, uint64_t address, const char **text, uint64_t *len)
{
	uint64_t pointer;

	if (!image_bytes(image, address, 16) || !image_pointer(image, address, &pointer) ||
	    !image_pointer(image, address + 8, len) || *len > LAYOUT_MOST_REASON)
		return false;
	*text = *len ? (const char *)image_bytes(image, pointer, *len) : "";
	return *text != NULL;
}

/* A patch release may append some reasons: Go 1.23.0 has one less than 1.23.8. */
#define LATE_REASONS 3u

/*
 * Compares an array of strings with the reasons. Returns the index of the first difference, or reasons->n if
 * there is none, or if the array is not that of wait reasons, which has most of the known texts somewhere.
 */
static unsigned first_difference(const struct image *image, uint64_t array, const struct reasons *reasons)
{
	unsigned different = reasons->n, known = 0;

	for (unsigned i = 0; i < reasons->n; i++) {
		const char *expected = reasons->texts[i] ? reasons->texts[i] : "", *text;
		uint64_t len;

		if (!text_at(image, array + 16ull * i, &text, &len))
			break;
		known += reasons_index(reasons, text, len) > 0;
		if ((len != strlen(expected) || memcmp(text, expected, len)) && different == reasons->n)
			different = i;
	}
	return known > reasons->n / 2 ? different : reasons->n;
}

/*
 * The function that prints a wait reason takes the address of their array (Go 1.11 to 1.27
 * runtime/runtime2.go, waitReason.String).
 */
static int prove_reasons(const struct target *target, const struct release *release, struct error *err)
{
	static const char function[] = "runtime.waitReason.String";
	const struct reasons *reasons = &release->reasons[REASON_WAIT];
	struct reference found[MAX_REFERENCES];
	struct code code;
	int n = target_code(target, function, &code) ? 0 : code_references(&code, found, MAX_REFERENCES);

	for (int i = 0; i < n && i < MAX_REFERENCES; i++) {
		unsigned different = found[i].use & USE_ADDRESS ? first_difference(&target->image->elf,
										   found[i].address, reasons)
								: reasons->n;

		if (different + LATE_REASONS < reasons->n)
			return error_set(err, EBADMSG, "wait reason %u is not \"%s\" (%s)", different,
					 reasons->texts[different] ? reasons->texts[different] : "",
					 function);
	}
	return 0;
}

int prove_code(const struct target *target, const struct release *release, struct error *err)
{
	int rc = prove_fields(target, &release->layout, code_rules, code_rule_count, err);

	return rc ? rc : prove_reasons(target, release, err);
}

int prove_code_of_heap(const struct target *target, const struct release *release, struct error *err)
{
	return prove_fields(target, &release->layout, heap_rules, heap_rule_count, err);
}
