/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/image.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#define MAX_PROGRAM_HEADERS 256u
#define MAX_DYNAMIC         1024u

/* Copies, because data in an untrusted file need not be aligned. */
static bool image_take(const struct image *image, uint64_t offset, void *to, size_t size)
{
	if (size > image->size || offset > image->size - size)
		return false;
	memcpy(to, image->data + offset, size);
	return true;
}

static int check_kind(const Elf64_Ehdr *header, struct error *err)
{
	if (memcmp(header->e_ident, ELFMAG, SELFMAG))
		return error_set(err, ENOEXEC, "not an ELF executable");
	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
	    (header->e_machine != EM_X86_64 && header->e_machine != EM_AARCH64))
		return error_set(err, ENOEXEC, "not an executable for x86-64 or arm64 (machine %u)",
				 header->e_machine);
	if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
		return error_set(err, ENOEXEC, "not an executable (ELF type %u)", header->e_type);
	if (header->e_phentsize != sizeof(Elf64_Phdr) || !header->e_phnum ||
	    header->e_phnum > MAX_PROGRAM_HEADERS)
		return error_set(err, EBADMSG, "damaged ELF header: %u program headers of %u bytes",
				 header->e_phnum, header->e_phentsize);
	return 0;
}

/* No process has memory above it (TASK_SIZE_MAX with five levels of pages). So an address can be rounded up.
 */
#define END_OF_ADDRESSES ((uint64_t)1 << 56)

static int image_add_segment(struct image *image, const Elf64_Phdr *header, struct error *err)
{
	if (header->p_filesz > image->size || header->p_offset > image->size - header->p_filesz ||
	    header->p_filesz > header->p_memsz || header->p_memsz > END_OF_ADDRESSES ||
	    header->p_vaddr > END_OF_ADDRESSES - header->p_memsz)
		return error_set(err, EBADMSG, "damaged executable: a segment is not within its %zu bytes",
				 image->size);
	if (image->n == MAX_SEGMENTS)
		return error_set(err, EBADMSG, "damaged executable: more than %d segments", MAX_SEGMENTS);
	image->segments[image->n++] = (struct segment){
		.address = header->p_vaddr,
		.offset = header->p_offset,
		.file_size = header->p_filesz,
		.memory_size = header->p_memsz,
		.writable = header->p_flags & PF_W,
		.executable = header->p_flags & PF_X,
	};
	return 0;
}

/* Finds the relocations through the dynamic section, which a loaded program must have. */
static void find_relocations(struct image *image, uint64_t dynamic, uint64_t size)
{
	uint64_t table = 0, bytes = 0;

	for (size_t i = 0; i < MAX_DYNAMIC && i < size / sizeof(Elf64_Dyn); i++) {
		Elf64_Dyn entry;

		if (!image_take(image, dynamic + i * sizeof(entry), &entry, sizeof(entry)) ||
		    entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_RELA)
			table = entry.d_un.d_ptr;
		if (entry.d_tag == DT_RELASZ)
			bytes = entry.d_un.d_val;
	}
	image->rela = image_bytes(image, table, bytes);
	image->nrela = image->rela ? bytes / sizeof(Elf64_Rela) : 0;
}

static int image_read_segments(struct image *image, const Elf64_Ehdr *header, struct error *err)
{
	uint64_t dynamic = 0, dynamic_size = 0;

	for (unsigned i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr program;

		if (header->e_phoff > image->size ||
		    !image_take(image, header->e_phoff + i * sizeof(program), &program, sizeof(program)))
			return error_set(err, EBADMSG, "damaged executable: program headers are truncated");
		if (program.p_type == PT_LOAD && image_add_segment(image, &program, err))
			return -EBADMSG;
		image->has_interpreter |= program.p_type == PT_INTERP;
		if (program.p_type == PT_DYNAMIC && program.p_offset <= image->size) {
			dynamic = program.p_offset;
			dynamic_size = program.p_filesz;
		}
	}
	if (dynamic_size)
		find_relocations(image, dynamic, dynamic_size);
	return 0;
}

static bool image_read_section(const struct image *image, unsigned i, Elf64_Shdr *section)
{
	return image_take(image, image->section_table + i * sizeof(*section), section, sizeof(*section));
}

/* Sections are optional: if anything about them is wrong, they are ignored. */
static void find_sections(struct image *image, const Elf64_Ehdr *header)
{
	Elf64_Shdr section;

	if (!header->e_shoff || header->e_shoff > image->size || header->e_shentsize != sizeof(section))
		return;
	image->section_table = header->e_shoff;
	if (!image_read_section(image, header->e_shstrndx, &section) || section.sh_offset > image->size ||
	    section.sh_size > image->size - section.sh_offset)
		return;
	image->names = section.sh_offset;
	image->names_size = section.sh_size;
	image->nsections = header->e_shnum;
	for (unsigned i = 0; i < image->nsections && image_read_section(image, i, &section); i++)
		image->has_symbols |= section.sh_type == SHT_SYMTAB;
}

int image_parse(struct image *image, const uint8_t *data, size_t size, struct error *err)
{
	Elf64_Ehdr header;
	int rc;

	*image = (struct image){.data = data, .size = size};
	if (!image_take(image, 0, &header, sizeof(header)))
		return error_set(err, ENOEXEC, "not an ELF executable: only %zu bytes", size);
	rc = check_kind(&header, err);
	if (rc == 0)
		rc = image_read_segments(image, &header, err);
	if (rc)
		return rc;
	image->pie = header.e_type == ET_DYN;
	image->arm64 = header.e_machine == EM_AARCH64;
	find_sections(image, &header);
	return 0;
}

static const struct segment *find_segment(const struct image *image, uint64_t address)
{
	for (unsigned i = 0; i < image->n; i++) {
		const struct segment *segment = &image->segments[i];

		if (address >= segment->address && address - segment->address < segment->file_size)
			return segment;
	}
	return NULL;
}

const uint8_t *image_rest(const struct image *image, uint64_t address, size_t *size)
{
	const struct segment *segment = find_segment(image, address);
	uint64_t skip;

	*size = 0;
	if (!segment)
		return NULL;
	skip = address - segment->address;
	*size = segment->file_size - skip;
	return image->data + segment->offset + skip;
}

const uint8_t *image_bytes(const struct image *image, uint64_t address, size_t size)
{
	size_t available;
	const uint8_t *bytes = image_rest(image, address, &available);

	return size <= available ? bytes : NULL;
}

bool image_pointer(const struct image *image, uint64_t address, uint64_t *value)
{
	const uint8_t *bytes = image_bytes(image, address, sizeof(*value));

	if (bytes)
		memcpy(value, bytes, sizeof(*value));
	return bytes;
}

/* Relocations in DT_RELR need no work: the file contains their values. */
void image_relocate(const struct image *image, uint8_t *data, bool code)
{
	uint32_t relative = image->arm64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE;

	for (size_t i = 0; i < image->nrela; i++) {
		const struct segment *segment;
		const uint8_t *bytes;
		uint64_t addend;
		Elf64_Rela rela;

		memcpy(&rela, image->rela + i * sizeof(rela), sizeof(rela));
		segment = find_segment(image, rela.r_offset);
		bytes = image_bytes(image, rela.r_offset, sizeof(uint64_t));
		if (ELF64_R_TYPE(rela.r_info) != relative || !bytes || segment->executable != code)
			continue;
		addend = (uint64_t)rela.r_addend;
		memcpy(data + (bytes - image->data), &addend, sizeof(addend));
	}
}

static bool image_section_has_name(const struct image *image, uint32_t offset, const char *name)
{
	size_t size = strlen(name) + 1;

	return offset < image->names_size && size <= image->names_size - offset &&
	       memcmp(image->data + image->names + offset, name, size) == 0;
}

bool image_section(const struct image *image, const char *name, struct image_section *section)
{
	Elf64_Shdr header;

	for (unsigned i = 0; i < image->nsections && image_read_section(image, i, &header); i++) {
		if (header.sh_type == SHT_NOBITS || !image_section_has_name(image, header.sh_name, name) ||
		    !image_bytes(image, header.sh_addr, header.sh_size))
			continue;
		*section = (struct image_section){.address = header.sh_addr, .size = header.sh_size};
		return true;
	}
	return false;
}

bool image_is_variable(const struct image *image, uint64_t address, size_t size)
{
	for (unsigned i = 0; i < image->n; i++) {
		const struct segment *segment = &image->segments[i];

		if (segment->writable && size <= segment->memory_size && address >= segment->address &&
		    address - segment->address <= segment->memory_size - size)
			return true;
	}
	return false;
}

bool image_code_offset(const struct image *image, uint64_t address, uint64_t *offset)
{
	const struct segment *segment = find_segment(image, address);

	if (!segment || !segment->executable)
		return false;
	*offset = segment->offset + (address - segment->address);
	return true;
}
