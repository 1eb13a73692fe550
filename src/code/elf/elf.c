/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/elf/elf.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/array.h"
#include "util/safe_elf.h"

#define MAX_SYMBOLS  (4u << 20)
#define MAX_SECTION  (128u << 20)
#define MAX_UNPACKED (64u << 20) /* of .gnu_debugdata; the symbols of large programs take some megabytes */
#define LZMA_MEMORY  (64u << 20)

/* --- files --- */

/* Accepts loadable files and their debug files. The files that dwz writes are marked as object files. */
static bool elf_is_own_machine(Elf *elf)
{
	GElf_Ehdr header;

	return elf && gelf_getehdr(elf, &header) &&
	       (header.e_type == ET_EXEC || header.e_type == ET_DYN || header.e_type == ET_REL);
}

static int elf_check(struct native_elf *file)
{
	if (elf_is_own_machine(file->elf))
		return 0;
	native_elf_close(file);
	return -ENOEXEC;
}

int native_elf_open(struct native_elf *file, int fd)
{
	*file = (struct native_elf){.fd = fd, .elf = safe_elf_file(fd)};
	return elf_check(file);
}

int native_elf_memory(struct native_elf *file, const void *bytes, size_t size)
{
	*file = (struct native_elf){.fd = -1, .elf = safe_elf_memory(bytes, size)};
	return elf_check(file);
}

void native_elf_close(struct native_elf *file)
{
	elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	free(file->unpacked);
	*file = (struct native_elf){.fd = -1};
}

Elf_Scn *native_elf_section(const struct native_elf *file, const char *name, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(file->elf, &names))
		return NULL;
	while ((section = elf_nextscn(file->elf, section))) {
		const char *found;

		if (!gelf_getshdr(section, header))
			continue;
		found = safe_elf_name(file->elf, names, header);
		if (found && strcmp(found, name) == 0 && header->sh_type != SHT_NOBITS)
			return section;
	}
	return NULL;
}

/* True for sections that are read in addition to debug information. */
static bool is_read(const GElf_Shdr *header, const char *name)
{
	return header->sh_type == SHT_STRTAB || header->sh_type == SHT_NOTE ||
	       (name && (!strcmp(name, ".eh_frame") || !strcmp(name, ".eh_frame_hdr") ||
			 !strcmp(name, ".gnu_debugdata") || !strncmp(name, ".gnu_debug", 10)));
}

uint64_t native_elf_size(const struct native_elf *file)
{
	Elf_Scn *section = NULL;
	uint64_t total = 0;
	size_t names;

	if (elf_getshdrstrndx(file->elf, &names))
		return 0;
	while ((section = elf_nextscn(file->elf, section))) {
		GElf_Shdr header;
		uint64_t size;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		/* A symbol takes 24 bytes in the file and 32 in the list, which may have unused capacity. */
		if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
			size = header.sh_size < MAX_SECTION ? 3 * header.sh_size : UINT64_MAX;
		else
			size = is_read(&header, safe_elf_name(file->elf, names, &header)) ? header.sh_size
											  : 0;
		total = total + size < total ? UINT64_MAX : total + size;
	}
	return total;
}

static bool find_header(const struct native_elf *file, uint32_t type, GElf_Phdr *found)
{
	size_t n;

	if (elf_getphdrnum(file->elf, &n))
		return false;
	for (size_t i = 0; i < n && i < 0xffff; i++) {
		if (gelf_getphdr(file->elf, (int)i, found) && found->p_type == type)
			return true;
	}
	return false;
}

/* DF_1_PIE distinguishes a static PIE from a library: binutils 2.26 and later. */
static bool is_pie(const struct native_elf *file)
{
	GElf_Phdr header;
	Elf_Data *data;
	GElf_Dyn entry;

	if (!find_header(file, PT_DYNAMIC, &header))
		return false;
	data = elf_getdata_rawchunk(file->elf, (int64_t)header.p_offset, header.p_filesz, ELF_T_DYN);
	for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
		if (entry.d_tag == DT_FLAGS_1)
			return entry.d_un.d_val & DF_1_PIE;
	}
	return false;
}

enum native_elf_kind native_elf_kind(const struct native_elf *file)
{
	GElf_Ehdr header;
	GElf_Phdr found;

	if (find_header(file, PT_INTERP, &found))
		return ELF_PROGRAM;
	if (!gelf_getehdr(file->elf, &header))
		return ELF_LIBRARY;
	return header.e_type == ET_EXEC || is_pie(file) ? ELF_STATIC : ELF_LIBRARY;
}

/* Finds the code segment that contains the byte at an offset or address. */
static bool elf_find_segment(const struct native_elf *file, bool by_address, uint64_t at, GElf_Phdr *found)
{
	size_t n;

	if (elf_getphdrnum(file->elf, &n))
		return false;
	for (size_t i = 0; i < n && i < 0xffff; i++) {
		uint64_t start;

		if (!gelf_getphdr(file->elf, (int)i, found))
			return false;
		start = by_address ? found->p_vaddr : found->p_offset;
		if (found->p_type == PT_LOAD && found->p_flags & PF_X && at >= start &&
		    at - start < found->p_filesz)
			return true;
	}
	return false;
}

bool native_elf_address(const struct native_elf *file, uint64_t offset, uint64_t *address)
{
	GElf_Phdr segment;

	if (!elf_find_segment(file, false, offset, &segment))
		return false;
	*address = offset - segment.p_offset + segment.p_vaddr;
	return true;
}

bool native_elf_offset(const struct native_elf *file, uint64_t address, uint64_t *offset)
{
	GElf_Phdr segment;

	if (!elf_find_segment(file, true, address, &segment))
		return false;
	*offset = address - segment.p_vaddr + segment.p_offset;
	return true;
}

/* --- functions without symbols --- */

/* Linux Standard Base Core 5.0, 10.6.2, in the encoding that linkers use: signed 4 bytes relative to the
 * section. */
struct eh_header {
	uint8_t version, frame_encoding, count_encoding, table_encoding;
	int32_t frame;
	uint32_t count;
};

struct eh_entry {
	int32_t start, description; /* relative to the section's address */
};

/* The relevant fields of an FDE, in the matching encoding. */
struct eh_description {
	uint32_t size, cie;
	int32_t start; /* relative to this field */
	uint32_t bytes;
};

struct bytes {
	const uint8_t *at;
	size_t size;
	uint64_t address;
};

static bool elf_section_bytes(const struct native_elf *file, const char *name, struct bytes *bytes)
{
	GElf_Shdr header;
	Elf_Scn *section = native_elf_section(file, name, &header);
	Elf_Data *data = section && header.sh_size <= MAX_SECTION ? elf_rawdata(section, NULL) : NULL;

	if (!data || !data->d_buf)
		return false;
	*bytes = (struct bytes){data->d_buf, data->d_size, header.sh_addr};
	return true;
}

static struct eh_entry entry_at(const struct bytes *table, size_t index)
{
	struct eh_entry entry;

	memcpy(&entry, table->at + sizeof(struct eh_header) + index * sizeof(entry), sizeof(entry));
	return entry;
}

/* Finds the last entry that begins at or before the address. */
static bool find_entry(const struct bytes *table, uint64_t address, struct eh_entry *entry)
{
	struct eh_header header;
	size_t low = 0, high;

	if (table->size < sizeof(header))
		return false;
	memcpy(&header, table->at, sizeof(header));
	if (header.version != 1 || header.count_encoding != 0x03 || header.table_encoding != 0x3b)
		return false;
	high = (table->size - sizeof(header)) / sizeof(*entry);
	high = header.count < high ? header.count : high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		*entry = entry_at(table, middle);
		if (table->address + (uint64_t)(int64_t)entry->start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0)
		*entry = entry_at(table, low - 1);
	return low > 0;
}

bool native_elf_function(const struct native_elf *file, uint64_t address, uint64_t *start)
{
	struct bytes table, frames;
	struct eh_description description;
	struct eh_entry entry;
	uint64_t at;

	if (!elf_section_bytes(file, ".eh_frame_hdr", &table) ||
	    !elf_section_bytes(file, ".eh_frame", &frames) || !find_entry(&table, address, &entry))
		return false;
	at = table.address + (uint64_t)(int64_t)entry.description - frames.address;
	if (frames.size < sizeof(description) || at > frames.size - sizeof(description))
		return false;
	memcpy(&description, frames.at + at, sizeof(description));
	*start = table.address + (uint64_t)(int64_t)entry.start;
	return frames.address + at + 8 + (uint64_t)(int64_t)description.start == *start &&
	       address - *start < description.bytes;
}

/* --- .gnu_debugdata --- */

struct unpacking {
	uint8_t *bytes;
	size_t size, capacity;
};

static int unpacking_make_space(struct unpacking *out)
{
	size_t capacity = out->capacity ? out->capacity * 2 : 1u << 20;
	uint8_t *bigger;

	if (out->size < out->capacity)
		return 0;
	if (capacity > MAX_UNPACKED)
		return -EFBIG;
	bigger = realloc(out->bytes, capacity);
	if (!bigger)
		return -ENOMEM;
	out->bytes = bigger;
	out->capacity = capacity;
	return 0;
}

static int elf_unpack_lzma(lzma_stream *stream, struct unpacking *out)
{
	for (;;) {
		int rc = unpacking_make_space(out);
		lzma_ret ret;

		if (rc)
			return rc;
		stream->next_out = out->bytes + out->size;
		stream->avail_out = out->capacity - out->size;
		ret = lzma_code(stream, LZMA_FINISH);
		out->size = out->capacity - stream->avail_out;
		if (ret == LZMA_STREAM_END)
			return 0;
		if (ret != LZMA_OK)
			return -EBADMSG;
	}
}

static int unpack_section(const Elf_Data *data, struct unpacking *out)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	int rc;

	if (lzma_stream_decoder(&stream, LZMA_MEMORY, 0) != LZMA_OK)
		return -ENOMEM;
	stream.next_in = data->d_buf;
	stream.avail_in = data->d_size;
	rc = elf_unpack_lzma(&stream, out);
	lzma_end(&stream);
	return rc;
}

int native_elf_debugdata(const struct native_elf *outer, struct native_elf *file)
{
	GElf_Shdr header;
	Elf_Scn *section = native_elf_section(outer, ".gnu_debugdata", &header);
	Elf_Data *data = section && header.sh_size <= MAX_UNPACKED ? elf_rawdata(section, NULL) : NULL;
	struct unpacking out = {.size = 0};
	int rc;

	*file = (struct native_elf){.fd = -1};
	if (!data || !data->d_buf)
		return -ENOENT;
	rc = unpack_section(data, &out);
	if (rc == 0)
		rc = native_elf_memory(file, out.bytes, out.size);
	if (rc) {
		free(out.bytes);
		return rc;
	}
	file->unpacked = out.bytes;
	file->unpacked_size = out.capacity;
	return 0;
}

/* --- symbols --- */

static int elf_add_symbol(struct native_symbols *symbols, const struct native_symbol *symbol)
{
	if (array_grow(&symbols->list, &symbols->capacity, symbols->n + 1, sizeof(*symbols->list)))
		return -ENOMEM;
	symbols->list[symbols->n++] = *symbol;
	return 0;
}

/* Among aliases, prefers global symbols to local ones, and names without the underscores that a library
 * prepends to its own. */
static uint8_t rank_of(const GElf_Sym *symbol, const char *name)
{
	unsigned bind = GELF_ST_BIND(symbol->st_info);
	unsigned rank = bind == STB_GLOBAL || bind == STB_WEAK;
	size_t underscores = strspn(name, "_");

	return (uint8_t)(rank * 4 + 3 - (underscores < 3 ? underscores : 3));
}

static bool elf_is_function(const GElf_Sym *symbol)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) &&
	       symbol->st_shndx != SHN_UNDEF && symbol->st_size > 0;
}

static int add_table(struct native_symbols *symbols, const struct native_elf *file, Elf_Scn *section,
		     const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t n = data ? data->d_size / sizeof(Elf64_Sym) : 0;

	for (size_t i = 1; i < n && i <= 0x7fffffff && symbols->n < MAX_SYMBOLS; i++) {
		GElf_Sym raw;
		const char *name;
		struct native_symbol symbol;

		if (!gelf_getsym(data, (int)i, &raw))
			return 0;
		name = elf_is_function(&raw) ? elf_strptr(file->elf, header->sh_link, raw.st_name) : NULL;
		if (!name || !name[0])
			continue;
		symbol = (struct native_symbol){raw.st_value, raw.st_size, name, rank_of(&raw, name)};
		if (elf_add_symbol(symbols, &symbol))
			return -ENOMEM;
	}
	return 0;
}

int native_symbols_add(struct native_symbols *symbols, const struct native_elf *file)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int rc = 0;

	while (rc == 0 && (section = elf_nextscn(file->elf, section))) {
		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
			rc = add_table(symbols, file, section, &header);
	}
	return rc;
}

static int elf_compare_symbols(const void *a, const void *b)
{
	const struct native_symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return strcmp(y->name, x->name); /* makes the choice deterministic */
}

void native_symbols_sort(struct native_symbols *symbols)
{
	if (symbols->n)
		qsort(symbols->list, symbols->n, sizeof(*symbols->list), elf_compare_symbols);
}

/* Maximum number of symbols to search backwards for one that encloses the address. */
#define MAX_BACK 256

const struct native_symbol *native_symbols_find(const struct native_symbols *symbols, uint64_t address)
{
	size_t n = array_upto(symbols->list, symbols->n, sizeof(*symbols->list), address);

	for (size_t i = n; i > 0 && n - i < MAX_BACK; i--) {
		const struct native_symbol *symbol = &symbols->list[i - 1];

		if (address - symbol->address < symbol->size)
			return symbol;
	}
	return NULL;
}

void native_symbols_free(struct native_symbols *symbols)
{
	free(symbols->list);
	*symbols = (struct native_symbols){.n = 0};
}
