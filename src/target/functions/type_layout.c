/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/functions/type_layout.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "bpf/record.h"

enum {
	WORD = 8,
	MOST_TYPEDEFS = 16,
	MOST_MEMBERS = 4096,
	MOST_DEPTH = 8,       /* nesting of structs */
	MOST_NESTED = 4,      /* nesting of structs without a name of their own */
	MOST_STRUCTS = 64,    /* searched for a member */
	MOST_LEAVES = 64,     /* numbers in a value that is passed in registers */
	LARGEST = 1 << 24,    /* bytes of a value */
	C_IN_REGISTERS = 16,  /* bytes */
	GO_KIND = 0x2900,     /* DW_AT_go_kind: cmd/internal/dwarf/dwarf.go */
	GO_EMBEDDED = 0x2903, /* DW_AT_go_embedded_field */
	GO_KIND_SLICE = 23,
	GO_KIND_STRING = 24,
	PASS_BY_VALUE = 5, /* DW_AT_calling_convention of a class, DWARF 5, 5.7.1.2 */
	PASS_BY_REFERENCE = 4,
};

bool type_of_entry(Dwarf_Die *entry, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Die at = *entry;

	for (unsigned i = 0; i < MOST_TYPEDEFS; i++) {
		if (!dwarf_attr_integrate(&at, DW_AT_type, &attribute) || !dwarf_formref_die(&attribute, &at))
			return false;
		switch (dwarf_tag(&at)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			continue;
		default:
			*type = at;
			return true;
		}
	}
	return false;
}

bool type_is_reference(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

bool type_is_pointer(Dwarf_Die *type)
{
	return dwarf_tag(type) == DW_TAG_pointer_type || type_is_reference(type);
}

static bool is_struct(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

bool type_is_scalar(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_base_type || tag == DW_TAG_enumeration_type || type_is_pointer(type);
}

static bool type_layout_number_of(Dwarf_Die *die, unsigned name, uint64_t *value)
{
	Dwarf_Attribute attribute;
	Dwarf_Word word;

	if (!dwarf_attr_integrate(die, name, &attribute) || dwarf_formudata(&attribute, &word))
		return false;
	*value = word;
	return true;
}

/* Parses DW_OP_plus_uconst N, as Go's linker wrote it up to 1.10. */
static bool offset_in_block(Dwarf_Attribute *attribute, uint64_t *offset)
{
	Dwarf_Block block;

	*offset = 0;
	if (dwarf_formblock(attribute, &block) || block.length < 2 || block.length > 5 ||
	    block.data[0] != DW_OP_plus_uconst)
		return false;
	for (unsigned i = 1; i < block.length; i++)
		*offset |= (uint64_t)(block.data[i] & 0x7f) << 7 * (i - 1);
	return true;
}

/* Gets a member's offset. Members of a union are at 0. Returns false if the offset is not in whole bytes. */
static bool type_layout_member_offset(Dwarf_Die *member, uint64_t *offset)
{
	Dwarf_Attribute attribute;

	*offset = 0;
	if (dwarf_hasattr(member, DW_AT_bit_size))
		return false;
	if (!dwarf_attr(member, DW_AT_data_member_location, &attribute))
		return !dwarf_hasattr(member, DW_AT_data_bit_offset);
	return (type_layout_number_of(member, DW_AT_data_member_location, offset) ||
		offset_in_block(&attribute, offset)) &&
	       *offset < LARGEST;
}

static uint32_t type_layout_size_of(Dwarf_Die *type)
{
	uint64_t size = 0;

	if (type_is_pointer(type) || dwarf_tag(type) == DW_TAG_subroutine_type)
		return WORD;
	return type_layout_number_of(type, DW_AT_byte_size, &size) && size < LARGEST ? (uint32_t)size : 0;
}

/* --- values that are passed --- */

struct leaves {
	const struct call_abi *abi;
	struct value_part list[MOST_LEAVES];
	unsigned n;
	unsigned visited; /* entries */
	uint32_t align;
	bool in_memory; /* Go: contains an array of two or more */
};

static bool type_layout_add_leaf(struct leaves *leaves, uint32_t offset, uint32_t size, bool is_float)
{
	if (leaves->n == MOST_LEAVES)
		return false;
	leaves->list[leaves->n++] = (struct value_part){.offset = offset, .size = size, .is_float = is_float};
	if (size > leaves->align)
		leaves->align = size;
	return true;
}

static bool add_base(struct leaves *leaves, Dwarf_Die *type, uint32_t offset)
{
	uint64_t encoding = 0;
	uint32_t size = type_layout_size_of(type);

	if (!type_layout_number_of(type, DW_AT_encoding, &encoding))
		return false;
	if (encoding == DW_ATE_complex_float)
		return leaves->abi->go && size <= 16 &&
		       type_layout_add_leaf(leaves, offset, size / 2, true) &&
		       type_layout_add_leaf(leaves, offset + size / 2, size / 2, true);
	if (size != 1 && size != 2 && size != 4 && size != WORD)
		return false; /* long double, __int128 */
	return type_layout_add_leaf(leaves, offset, size, encoding == DW_ATE_float);
}

static bool type_layout_add_type(struct leaves *leaves, Dwarf_Die *type, uint32_t offset, unsigned depth);

static bool add_members(struct leaves *leaves, Dwarf_Die *type, uint32_t base, unsigned depth)
{
	Dwarf_Die member, of;
	uint64_t offset;

	if (dwarf_child(type, &member))
		return true; /* an empty struct */
	do {
		int tag = dwarf_tag(&member);

		if (++leaves->visited > MOST_MEMBERS)
			return false;
		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    dwarf_hasattr(&member, DW_AT_external) || dwarf_hasattr(&member, DW_AT_declaration))
			continue;
		if (!type_of_entry(&member, &of) || !type_layout_member_offset(&member, &offset) ||
		    !type_layout_add_type(leaves, &of, base + (uint32_t)offset, depth + 1))
			return false;
	} while (dwarf_siblingof(&member, &member) == 0);
	return true;
}

static bool array_count(Dwarf_Die *type, uint64_t *count)
{
	Dwarf_Die range;

	if (dwarf_child(type, &range) || dwarf_tag(&range) != DW_TAG_subrange_type)
		return false;
	if (type_layout_number_of(&range, DW_AT_count, count))
		return true;
	if (!type_layout_number_of(&range, DW_AT_upper_bound, count))
		return false;
	++*count;
	return true;
}

static bool add_array(struct leaves *leaves, Dwarf_Die *type, uint32_t offset, unsigned depth)
{
	uint64_t count;
	Dwarf_Die of;

	if (!type_of_entry(type, &of) || !array_count(type, &count))
		return false;
	if (leaves->abi->go && count > 1) {
		leaves->in_memory = true;
		count = 1; /* for its alignment */
	}
	if (count > C_IN_REGISTERS)
		return false;
	for (uint64_t i = 0; i < count; i++) {
		if (!type_layout_add_type(leaves, &of, offset + (uint32_t)(i * type_layout_size_of(&of)),
					  depth + 1))
			return false;
	}
	return true;
}

static bool type_layout_add_type(struct leaves *leaves, Dwarf_Die *type, uint32_t offset, unsigned depth)
{
	if (depth > MOST_DEPTH || ++leaves->visited > MOST_MEMBERS)
		return false;
	switch (dwarf_tag(type)) {
	case DW_TAG_base_type:
		return add_base(leaves, type, offset);
	case DW_TAG_enumeration_type:
		return type_layout_add_leaf(leaves, offset, type_layout_size_of(type), false);
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
	case DW_TAG_subroutine_type: /* in Go a func, which is a pointer */
		return type_layout_add_leaf(leaves, offset, WORD, false);
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return add_members(leaves, type, offset, depth);
	case DW_TAG_array_type:
		return add_array(leaves, type, offset, depth);
	default:
		return false;
	}
}

static bool layout_of_go(Dwarf_Die *type, const struct leaves *leaves, struct value_layout *layout)
{
	layout->align = leaves->align ? leaves->align : 1;
	layout->in_memory = leaves->in_memory || leaves->n > VALUE_PARTS;
	layout->nparts = layout->in_memory ? 0 : leaves->n;
	memcpy(layout->parts, leaves->list, layout->nparts * sizeof(layout->parts[0]));
	return layout->size || !leaves->n || dwarf_tag(type) != DW_TAG_structure_type;
}

/*
 * Numbers in the same eight bytes share a register, a general one unless all are floating-point. Structs of
 * more than C_IN_REGISTERS bytes are in memory; no other type is larger.
 */
static bool layout_of_c(const struct leaves *leaves, struct value_layout *layout)
{
	if (layout->size > C_IN_REGISTERS)
		return false;
	layout->align = leaves->align;
	layout->nparts = (layout->size + WORD - 1) / WORD;
	for (unsigned i = 0; i < layout->nparts; i++)
		layout->parts[i] = (struct value_part){.offset = i * WORD, .size = WORD, .is_float = true};
	for (unsigned i = 0; i < leaves->n; i++) {
		const struct value_part *leaf = &leaves->list[i];

		if (!leaf->size || leaf->offset % leaf->size || leaf->offset + leaf->size > layout->size)
			return false; /* packed structs are in memory; their place is not guessed */
		layout->parts[leaf->offset / WORD].is_float &= leaf->is_float;
	}
	return leaves->n > 0;
}

static bool is_c(Dwarf_Die *type)
{
	Dwarf_Die unit;
	int language = dwarf_diecu(type, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1;

	return language == DW_LANG_C || language == DW_LANG_C89 || language == DW_LANG_C99 ||
	       language == DW_LANG_C11 || language == 0x3e; /* DW_LANG_C17 */
}

/* A C++ class with its own copy constructor is passed by reference, as DW_AT_calling_convention shows. */
static bool struct_of_c(Dwarf_Die *type, struct value_layout *layout)
{
	uint64_t convention = 0;

	type_layout_number_of(type, DW_AT_calling_convention, &convention);
	layout->by_reference = convention == PASS_BY_REFERENCE;
	layout->in_memory = layout->size > C_IN_REGISTERS;
	layout->align = WORD; /* type_layout() rejects types with another alignment */
	return layout->by_reference || convention == PASS_BY_VALUE || is_c(type);
}

static void make_pointer(struct value_layout *layout)
{
	layout->in_memory = false;
	layout->nparts = 1;
	layout->size = layout->align = WORD;
	layout->parts[0] = (struct value_part){.size = WORD};
}

bool type_layout(Dwarf_Die *type, const struct call_abi *abi, struct value_layout *layout)
{
	struct leaves leaves = {.abi = abi};

	*layout = (struct value_layout){.size = type_layout_size_of(type)};
	if (!abi->go && is_struct(type)) {
		if (!layout->size || !struct_of_c(type, layout))
			return false;
		if (layout->by_reference)
			make_pointer(layout);
		if (layout->by_reference || layout->in_memory)
			return !dwarf_hasattr(type, DW_AT_alignment);
	}
	if (!type_layout_add_type(&leaves, type, 0, 0))
		return false;
	return abi->go ? layout_of_go(type, &leaves, layout) : layout_of_c(&leaves, layout);
}

/* --- members --- */

static bool is_without_name(Dwarf_Die *member)
{
	const char *name = dwarf_diename(member);
	Dwarf_Attribute attribute;
	bool embedded = false;

	if (dwarf_attr(member, GO_EMBEDDED, &attribute))
		dwarf_formflag(&attribute, &embedded);
	return !name || !*name || embedded || dwarf_tag(member) == DW_TAG_inheritance;
}

/* Finds a direct member of a struct. Returns 0, -ENOENT if there is none, or -ENOTDIR. */
static int type_layout_find_member(Dwarf_Die *type, const char *name, Dwarf_Die *member)
{
	if (!is_struct(type))
		return -ENOTDIR;
	if (dwarf_child(type, member))
		return -ENOENT;
	for (unsigned i = 0; i < MOST_MEMBERS; i++) {
		const char *found = dwarf_tag(member) == DW_TAG_member ? dwarf_diename(member) : NULL;

		if (found && strcmp(found, name) == 0)
			return 0;
		if (dwarf_siblingof(member, member))
			break;
	}
	return -ENOENT;
}

/* A search for a member. `left` is the number of structs that may still be entered. */
struct member_search {
	const char *name;
	Dwarf_Die *type;
	uint64_t *offset;
	unsigned left;
};

static int search_type(struct member_search *search, Dwarf_Die *type, unsigned levels);

/* Searches a member that is a struct without a name of its own. */
static int search_nested(struct member_search *search, Dwarf_Die *member, unsigned levels)
{
	int rc, tag = dwarf_tag(member);
	Dwarf_Die of;
	uint64_t base;
	bool known;

	if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || !is_without_name(member) ||
	    !type_of_entry(member, &of) || !is_struct(&of))
		return -ENOENT;
	known = type_layout_member_offset(member, &base) && !dwarf_hasattr(member, DW_AT_virtuality);
	rc = search_type(search, &of, levels - 1);
	if (rc == 0 && !known)
		return -ENOTSUP;
	*search->offset += rc == 0 ? base : 0;
	return rc;
}

static int search_type(struct member_search *search, Dwarf_Die *type, unsigned levels)
{
	Dwarf_Die member;
	int rc;

	if (search->left == 0)
		return -ENOENT;
	search->left--;
	rc = type_layout_find_member(type, search->name, &member);
	if (rc == 0)
		return type_layout_member_offset(&member, search->offset) &&
				       type_of_entry(&member, search->type)
			       ? 0
			       : -ENOTSUP;
	if (rc != -ENOENT || !levels || dwarf_child(type, &member))
		return rc;
	for (unsigned i = 0; i < MOST_MEMBERS && rc == -ENOENT; i++) {
		rc = search_nested(search, &member, levels);
		if (rc == -ENOENT && dwarf_siblingof(&member, &member))
			break;
	}
	return rc;
}

int type_member(Dwarf_Die *type, const char *name, Dwarf_Die *member_type, uint64_t *offset)
{
	struct member_search search = {
		.name = name, .type = member_type, .offset = offset, .left = MOST_STRUCTS};
	Dwarf_Die in = *type;

	return search_type(&search, &in, MOST_NESTED);
}

/* --- meanings --- */

static bool is_char(Dwarf_Die *type)
{
	uint64_t encoding = 0;

	return dwarf_tag(type) == DW_TAG_base_type && type_layout_size_of(type) == 1 &&
	       type_layout_number_of(type, DW_AT_encoding, &encoding) &&
	       (encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char || encoding == DW_ATE_UTF);
}

static uint8_t kind_of_number(Dwarf_Die *type)
{
	uint64_t encoding = 0;

	type_layout_number_of(type, DW_AT_encoding, &encoding);
	switch (encoding) {
	case DW_ATE_boolean:
		return VALUE_BOOL;
	case DW_ATE_float:
		return VALUE_FLOAT;
	case DW_ATE_signed:
	case DW_ATE_signed_char:
		return VALUE_SIGNED;
	default:
		return VALUE_UNSIGNED;
	}
}

/* An enumeration may have an underlying type, which determines whether it is signed. */
static void shape_number(Dwarf_Die *type, struct type_shape *shape)
{
	Dwarf_Die base;
	bool enumeration = dwarf_tag(type) == DW_TAG_enumeration_type;

	shape->size = type_layout_size_of(type);
	shape->value_kind = enumeration ? type_of_entry(type, &base) ? kind_of_number(&base) : VALUE_SIGNED
					: kind_of_number(type);
	shape->kind = shape->value_kind == VALUE_FLOAT ? SHAPE_FLOAT : SHAPE_NUMBER;
	shape->words = shape->kind == SHAPE_FLOAT ? "a floating-point number" : "a number";
	if (shape->size != 1 && shape->size != 2 && shape->size != 4 && shape->size != WORD)
		*shape = (struct type_shape){.words = "a number of an unusual size"};
	if (shape->kind == SHAPE_FLOAT && shape->size < 4)
		*shape = (struct type_shape){.words = "a short floating-point number"};
}

static void shape_array(Dwarf_Die *type, struct type_shape *shape)
{
	Dwarf_Die of;
	uint64_t count;

	shape->words = "an array";
	if (!type_of_entry(type, &of) || !is_char(&of) || !array_count(type, &count) || count > LARGEST)
		return;
	*shape = (struct type_shape){
		.kind = SHAPE_CHARS, .size = (uint32_t)count, .words = "an array of char"};
}

static void shape_pointer(Dwarf_Die *type, bool go, struct type_shape *shape)
{
	Dwarf_Die of;

	*shape = (struct type_shape){.kind = SHAPE_POINTER, .size = WORD, .words = "a pointer"};
	if (!go && type_of_entry(type, &of) && is_char(&of))
		*shape = (struct type_shape){
			.kind = SHAPE_CHAR_POINTER, .size = WORD, .words = "a pointer to char"};
}

static bool is_of_bytes(Dwarf_Die *slice)
{
	Dwarf_Die member, array, of;

	return type_layout_find_member(slice, "array", &member) == 0 && type_of_entry(&member, &array) &&
	       type_of_entry(&array, &of) && dwarf_tag(&of) == DW_TAG_base_type &&
	       type_layout_size_of(&of) == 1;
}

static void shape_go_struct(Dwarf_Die *type, struct type_shape *shape)
{
	uint64_t kind = 0;
	Dwarf_Die member;

	type_layout_number_of(type, GO_KIND, &kind);
	shape->words = "a struct, an interface or another composite value";
	if (kind == GO_KIND_STRING && type_layout_find_member(type, "len", &member) == 0)
		*shape = (struct type_shape){.kind = SHAPE_STRING, .size = 2 * WORD, .words = "a string"};
	if (kind == GO_KIND_SLICE && type_layout_find_member(type, "cap", &member) == 0)
		*shape = (struct type_shape){.kind = SHAPE_SLICE,
					     .size = 3 * WORD,
					     .of_bytes = is_of_bytes(type),
					     .words = "a slice"};
}

/* std::string of libstdc++: a pointer, followed by the length. */
static void shape_struct(Dwarf_Die *type, struct type_shape *shape)
{
	const char *name = dwarf_diename(type);
	Dwarf_Die member;
	uint64_t offset;

	shape->words = "a struct";
	if (name && strncmp(name, "basic_string<char", 17) == 0 &&
	    type_layout_find_member(type, "_M_string_length", &member) == 0 &&
	    type_layout_member_offset(&member, &offset) && offset == WORD)
		*shape = (struct type_shape){.kind = SHAPE_STRING, .size = 2 * WORD, .words = "a string"};
}

void type_shape(Dwarf_Die *type, bool go, struct type_shape *shape)
{
	*shape = (struct type_shape){.words = "a value of another kind"};
	switch (dwarf_tag(type)) {
	case DW_TAG_base_type:
	case DW_TAG_enumeration_type:
		shape_number(type, shape);
		break;
	case DW_TAG_array_type:
		shape_array(type, shape);
		break;
	case DW_TAG_pointer_type:
	case DW_TAG_subroutine_type:
		shape_pointer(type, go, shape);
		break;
	default:
		if (go && is_struct(type))
			shape_go_struct(type, shape);
		else if (is_struct(type))
			shape_struct(type, shape);
	}
}
