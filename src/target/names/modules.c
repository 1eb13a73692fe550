/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/names/modules.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "code/elf/elf.h"
#include "code/symbol/depth_amd64.h"
#include "code/symbol/plt_arm64.h"
#include "code/symbol/vdso_arm64.h"
#include "target/memory.h"
#include "util/files.h"
#include "util/machine.h"
#include "util/safe_elf.h"

#define MAX_VDSO    (64u << 10)   /* two pages in Linux 6.18 */
#define MAX_SECTION (128u << 20)  /* Chromium's .eh_frame has 25 MB */
#define READ_NS     1000000000ull /* of CPU time for one file; Chromium takes half of it */
#define MAX_PLT     (16u << 20)   /* a million entries */
#define MAX_PLTS    4u
#define MAX_CODE    (1ull << 30) /* of one file; Chromium has a fifth of it */

/* Bytes of code without a description: shorter pieces (padding, .init, the linker's stubs) are in every
 * library, and the rows need not be made again for them. */
#define LEAST_UNKNOWN 256u

static bool is_named(const struct proc_mapping *mapping, const char *name)
{
	return mapping->path_len == strlen(name) && !memcmp(mapping->path, name, mapping->path_len);
}

bool module_is_code(const struct proc_mapping *mapping)
{
	return mapping->executable && !is_named(mapping, "[vsyscall]");
}

int module_open(pid_t pid, const struct proc_mapping *mapping, struct module_key *key)
{
	struct stat st;
	int fd;

	if (!mapping->inode || !mapping->path_len || mapping->path[0] != '/')
		return -ENOENT;
	fd = maps_open_file(pid, mapping);
	if (fd < 0)
		return fd;
	if (file_stat(fd, &st)) {
		close(fd);
		return -ENOENT;
	}
	*key = (struct module_key){
		.device = st.st_dev,
		.inode = st.st_ino,
		.size = (uint64_t)st.st_size,
		.changed = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec,
	};
	return fd;
}

struct link_range {
	uint64_t start, size;
};

/* The input for the rows, as libelf returns it. libelf owns the bytes. */
struct source {
	Elf *elf;
	uint64_t size; /* of the file */
	struct ehframe_input input;
	bool is_go;        /* some functions have no description, but all have frame pointers */
	uint64_t hdr_at;   /* PT_GNU_EH_FRAME: link-time address */
	uint64_t hdr_file; /* its offset in the file */
	uint64_t hdr_size;
	uint64_t load_offset[32], load_size[32], load_address[32]; /* PT_LOAD */
	unsigned loads;
	struct link_range plts[MAX_PLTS]; /* link-time addresses, from sections */
	unsigned nplts;
};

static void module_source_add_segment(const struct source *source, struct module_code *code,
				      const GElf_Phdr *header)
{
	if (code->n == MODULE_SEGMENTS || !header->p_filesz || header->p_vaddr > INT64_MAX ||
	    header->p_filesz > source->size || header->p_offset > source->size - header->p_filesz)
		return;
	code->segments[code->n++] =
		(struct module_segment){header->p_offset, header->p_filesz, header->p_vaddr};
}

static int module_source_read_segments(struct source *source, struct module_code *code)
{
	size_t n = 0;

	if (elf_getphdrnum(source->elf, &n))
		return -EBADMSG;
	for (size_t i = 0; i < n && i < 256; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(source->elf, (int)i, &header))
			return -EBADMSG;
		if (header.p_type == PT_GNU_EH_FRAME) {
			source->hdr_at = header.p_vaddr;
			source->hdr_file = header.p_offset;
			source->hdr_size = header.p_filesz;
		}
		if (header.p_type != PT_LOAD)
			continue;
		if (header.p_flags & PF_X)
			module_source_add_segment(source, code, &header);
		if (source->loads < 32) {
			source->load_offset[source->loads] = header.p_offset;
			source->load_size[source->loads] = header.p_filesz;
			source->load_address[source->loads++] = header.p_vaddr;
		}
	}
	return code->n ? 0 : -ENOEXEC;
}

/* Finds the range of all code. Segments far beyond the first are left out. */
static int find_range(struct module_code *code)
{
	uint64_t base = UINT64_MAX, end = 0;

	for (unsigned i = 0; i < code->n; i++) {
		if (code->segments[i].address < base)
			base = code->segments[i].address;
	}
	base &= ~(uint64_t)(UNWIND_PAGE - 1);
	for (unsigned i = 0; i < code->n; i++) {
		uint64_t to = code->segments[i].address + code->segments[i].size;

		if (to - base <= MAX_CODE && to > end)
			end = to;
	}
	if (end <= base)
		return -EBADMSG;
	code->base = base;
	code->size = end - base;
	return 0;
}

/* Loaded sections are never compressed (System V ABI, 4: SHF_COMPRESSED); .debug_frame may be. */
static bool unpack(Elf_Scn *scn, const GElf_Shdr *header)
{
	GElf_Chdr packed;

	if (!(header->sh_flags & SHF_COMPRESSED))
		return true;
	return !(header->sh_flags & SHF_ALLOC) && gelf_getchdr(scn, &packed) &&
	       packed.ch_size <= MAX_SECTION && elf_compress(scn, 0, 0) >= 0;
}

/* Of several sections with the same name, uses the first. */
static void section_bytes(Elf_Scn *scn, const GElf_Shdr *header, struct ehframe_section *section)
{
	Elf_Data *data;

	if (section->data || header->sh_type == SHT_NOBITS || header->sh_size > MAX_SECTION ||
	    !unpack(scn, header))
		return;
	data = elf_rawdata(scn, NULL);
	if (data && data->d_buf && data->d_size)
		*section = (struct ehframe_section){data->d_buf, data->d_size, header->sh_addr};
}

/* .plt is written by all linkers, .iplt by lld (ELF/SyntheticSections.cpp), .plt.got by mold, and .plt.got
 * and .plt.sec by ld for amd64. */
static bool is_plt(const char *name)
{
	return !strcmp(name, ".plt") || !strcmp(name, ".iplt") || !strcmp(name, ".plt.got") ||
	       !strcmp(name, ".plt.sec");
}

/* Sections may be stripped or wrong, but they are tried first. */
static void read_sections(struct source *source)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(source->elf, &names))
		return;
	while ((scn = elf_nextscn(source->elf, scn))) {
		GElf_Shdr header;
		const char *name;

		if (!gelf_getshdr(scn, &header))
			continue;
		name = safe_elf_name(source->elf, names, &header);
		if (!name)
			continue;
		if (!strcmp(name, ".eh_frame"))
			section_bytes(scn, &header, &source->input.eh_frame);
		else if (!strcmp(name, ".debug_frame"))
			section_bytes(scn, &header, &source->input.debug_frame);
		else if (is_plt(name) && source->nplts < MAX_PLTS)
			source->plts[source->nplts++] = (struct link_range){header.sh_addr, header.sh_size};
		else if (!strcmp(name, ".gopclntab") || !strcmp(name, ".data.rel.ro.gopclntab"))
			source->is_go = true;
	}
}

/*
 * Without sections, finds .eh_frame through .eh_frame_hdr, which begins with its address (LSB Core 5.0,
 * 10.6.2; always encoded as sdata4 pcrel). Its size is unknown, so it extends to the end of its segment; a
 * terminating entry ends it.
 */
static void read_by_header(struct source *source)
{
	Elf_Data *hdr = NULL, *data;
	uint64_t at, rest;
	int32_t distance;

	if (source->hdr_size >= 8 && source->hdr_size <= MAX_SECTION)
		hdr = elf_getdata_rawchunk(source->elf, (int64_t)source->hdr_file, 8, ELF_T_BYTE);
	if (!hdr || ((uint8_t *)hdr->d_buf)[0] != 1 || ((uint8_t *)hdr->d_buf)[1] != 0x1b)
		return;
	memcpy(&distance, (uint8_t *)hdr->d_buf + 4, sizeof(distance));
	at = source->hdr_at + 4 + (uint64_t)(int64_t)distance;
	for (unsigned i = 0; i < source->loads; i++) {
		uint64_t skip = at - source->load_address[i];

		if (skip >= source->load_size[i])
			continue;
		rest = source->load_size[i] - skip;
		if (rest > MAX_SECTION)
			return;
		data = elf_getdata_rawchunk(source->elf, (int64_t)(source->load_offset[i] + skip), rest,
					    ELF_T_BYTE);
		if (data && data->d_buf)
			source->input.eh_frame = (struct ehframe_section){data->d_buf, data->d_size, at};
		return;
	}
}

static int module_source_by_address(const void *a, const void *b)
{
	const struct link_range *one = a, *two = b;

	return one->start < two->start ? -1 : one->start > two->start;
}

/* Returns the bytes mapped at these addresses, whatever offset the section header gives. */
static const uint8_t *code_bytes(const struct source *source, const struct module_code *code,
				 struct link_range at)
{
	for (unsigned i = 0; i < code->n; i++) {
		const struct module_segment *segment = &code->segments[i];
		uint64_t skip = at.start - segment->address;
		Elf_Data *data;

		if (at.start < segment->address || skip > segment->size || at.size > segment->size - skip)
			continue;
		data = elf_getdata_rawchunk(source->elf, (int64_t)(segment->offset + skip), at.size,
					    ELF_T_BYTE);
		return data ? data->d_buf : NULL;
	}
	return NULL;
}

/* Reads arm64's procedure linkage tables, which .eh_frame mostly does not cover. */
static int read_plts(struct source *source, const struct module_code *code, struct ehframe_spans *spans)
{
	uint64_t end = 0; /* of the previous one */
	int rc = 0;

	qsort(source->plts, source->nplts, sizeof(source->plts[0]), module_source_by_address);
	for (unsigned i = 0; i < source->nplts && rc == 0; i++) {
		struct link_range at = source->plts[i];
		const uint8_t *bytes;

		if (at.start < end || !at.size || at.size > MAX_PLT)
			continue;
		bytes = code_bytes(source, code, at);
		if (!bytes)
			continue;
		rc = plt_arm64_add(spans, bytes, at.size, at.start);
		end = at.start + at.size;
	}
	source->input.spans = spans->list;
	source->input.nspans = spans->n;
	return rc;
}

/* The code from a row to the next. */
static struct link_range range_of(const struct source *source, const struct module_code *code, size_t row)
{
	const struct unwind_row *rows = code->rows.rows;
	uint64_t end = row + 1 < code->rows.n ? code->base + rows[row + 1].start : source->input.end;

	return (struct link_range){code->base + rows[row].start, end - code->base - rows[row].start};
}

static bool is_unknown(const struct source *source, const struct module_code *code, size_t row)
{
	return code->rows.rows[row].rule == UNWIND_RULE(source->input.between, 0, 0) &&
	       range_of(source, code, row).size >= LEAST_UNKNOWN;
}

/* Functions that have symbols; of a stripped library, those that it exports. */
static int read_starts(const struct source *source, struct depth_starts *starts)
{
	const struct native_elf file = {.elf = source->elf, .fd = -1};
	struct native_symbols symbols = {.n = 0};
	int rc = native_symbols_add(&symbols, &file);

	starts->list = rc == 0 ? calloc(symbols.n + 1, sizeof(*starts->list)) : NULL;
	starts->n = starts->list ? symbols.n : 0;
	for (size_t i = 0; i < starts->n; i++)
		starts->list[i] = symbols.list[i].address;
	native_symbols_free(&symbols);
	return starts->list ? 0 : -ENOMEM;
}

/* Adds rules for the code without a description, from the first row that is such code. */
static int add_depths(const struct source *source, const struct module_code *code, size_t first,
		      struct ehframe_spans *spans)
{
	struct depth_starts starts;
	int rc = read_starts(source, &starts);

	for (size_t i = first; i < code->rows.n && rc == 0; i++) {
		struct link_range at = range_of(source, code, i);
		const uint8_t *bytes = is_unknown(source, code, i) ? code_bytes(source, code, at) : NULL;

		if (bytes)
			rc = depth_amd64_add(spans, bytes, at.size, at.start, &starts, source->input.budget);
	}
	free(starts.list);
	return rc;
}

/* Reads the frames of code without a description from the code itself, and makes the rows again. */
static int read_depths(struct source *source, struct module_code *code)
{
	struct ehframe_spans spans = {.n = 0};
	struct ehframe_rows rows;
	size_t first = 0;
	int rc;

	while (first < code->rows.n && !is_unknown(source, code, first))
		first++;
	if (first == code->rows.n)
		return 0;
	rc = add_depths(source, code, first, &spans);
	source->input.spans = spans.list;
	source->input.nspans = spans.n;
	if (rc == 0 && spans.n)
		rc = ehframe_parse(&source->input, &rows);
	if (rc == 0 && spans.n) {
		ehframe_free(&code->rows);
		code->rows = rows;
	}
	ehframe_spans_free(&spans);
	return rc == -ETIME ? 0 : rc; /* the rows of the descriptions are there */
}

static int read_elf(Elf *elf, uint64_t size, uint16_t machine, struct module_code *code)
{
	struct source source = {.elf = elf, .size = size};
	struct budget budget = {.cpu_ns = READ_NS};
	struct ehframe_spans spans = {.n = 0};
	GElf_Ehdr header;
	int rc;

	*code = (struct module_code){.n = 0};
	if (!elf || !gelf_getehdr(elf, &header) || header.e_machine != machine)
		return -ENOEXEC;
	budget_start(&budget);
	rc = module_source_read_segments(&source, code);
	if (rc == 0)
		rc = find_range(code);
	if (rc)
		return rc;
	read_sections(&source);
	if (!source.input.eh_frame.data)
		read_by_header(&source);
	source.input.budget = &budget;
	source.input.arm64 = header.e_machine == EM_AARCH64;
	source.input.base = code->base;
	source.input.end = code->base + code->size;
	/* Go also describes its functions in .debug_frame, but without the place of rbp. */
	if (source.is_go)
		source.input.debug_frame.data = NULL;
	if (source.is_go || (!source.input.eh_frame.data && !source.input.debug_frame.data))
		source.input.between = UNWIND_CHAIN;
	if (source.input.arm64)
		rc = read_plts(&source, code, &spans);
	if (rc == 0)
		rc = ehframe_parse(&source.input, &code->rows);
	ehframe_spans_free(&spans);
	if (rc == 0 && !source.is_go && !source.input.arm64)
		rc = read_depths(&source, code);
	return rc;
}

int module_read(int fd, struct module_code *code)
{
	struct stat st;
	Elf *elf;
	int rc;

	*code = (struct module_code){.n = 0};
	if (fstat(fd, &st))
		return -errno;
	elf = safe_elf_file(fd);
	rc = read_elf(elf, (uint64_t)st.st_size, OWN_MACHINE, code);
	elf_end(elf);
	return rc;
}

/* For code without descriptions: arm64's vDSO. */
static int describe_vdso(const char *image, size_t size, struct module_code *code)
{
	const struct module_segment *segment = &code->segments[0];
	struct ehframe_rows rows;
	int rc;

	if (!code->n || segment->offset > size || segment->size > size - segment->offset ||
	    segment->address - code->base > code->size ||
	    segment->size > code->size - (segment->address - code->base))
		return -EBADMSG;
	rc = vdso_arm64_rows((const uint8_t *)image + segment->offset, segment->size, segment->address,
			     code->base, &rows);
	if (rc)
		return rc;
	ehframe_free(&code->rows);
	code->rows = rows;
	return 0;
}

int module_read_image(const char *image, size_t size, uint16_t machine, struct module_code *code)
{
	Elf *elf;
	int rc;

	*code = (struct module_code){.n = 0};
	elf = safe_elf_memory(image, size);
	rc = read_elf(elf, size, machine, code);
	elf_end(elf);
	if (rc == 0 && machine == EM_AARCH64 && !code->rows.functions)
		rc = describe_vdso(image, size, code);
	return rc;
}

int module_read_bytes(const char *image, size_t size, struct module_code *code)
{
	return module_read_image(image, size, OWN_MACHINE, code);
}

ssize_t module_vdso(pid_t pid, const struct proc_mapping *mapping, char **image)
{
	uint64_t size = mapping->end - mapping->start;
	int rc;

	*image = size <= MAX_VDSO ? malloc(size) : NULL;
	if (!*image)
		return size <= MAX_VDSO ? -ENOMEM : -EBADMSG;
	rc = memory_read(pid, mapping->start, *image, size);
	if (rc == 0)
		return (ssize_t)size;
	free(*image);
	*image = NULL;
	return rc;
}

void module_free(struct module_code *code)
{
	ehframe_free(&code->rows);
}

bool module_bias(const struct module_code *code, const struct proc_mapping *mapping, uint64_t *bias)
{
	const uint64_t in_page = page_bytes() - 1;

	for (unsigned i = 0; i < code->n; i++) {
		const struct module_segment *segment = &code->segments[i];
		uint64_t skip = mapping->offset - (segment->offset & ~in_page);

		/* The kernel maps whole pages, and mprotect may have split a mapping. */
		if (mapping->offset < (segment->offset & ~in_page) ||
		    skip >= (segment->offset & in_page) + segment->size)
			continue;
		*bias = mapping->start - skip - (segment->address & ~in_page);
		return true;
	}
	return false;
}
