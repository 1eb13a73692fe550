/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/native_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "symbol/native_walk.h"
#include "native/modules.h"

#define SPACES      64u          /* different lists of mappings, where there are several processes */
#define KEPT        (1u << 16)   /* UNWIND_KEPT in bpf/unwind.bpf.h */
#define KEPT_SPACES 16u          /* the first ones keep their rules, too */
#define MAX_ROWS    (32u << 20)  /* 256 MiB: libLLVM has one million */
#define ROOM_ROWS   (256u << 10) /* at least, for libraries that come later */
#define ROOM_PAGES  (64u << 10)  /* 16 MiB of code */
#define ROOM_LIST   256u

/* An array that moves into a BPF map of the same layout. */
struct array {
	const char *map;
	size_t size; /* of an element: a multiple of 8 */
	char *at;
	uint32_t n, capacity;
	bool placed; /* at is the map's memory */
};

enum { ROWS, PAGES, MAPPINGS, SPACE_LISTS, KEPT_RULES, ARRAYS };

static const struct array empty_arrays[ARRAYS] = {
	[ROWS] = {.map = "unwind_rows", .size = sizeof(struct unwind_row)},
	[PAGES] = {.map = "unwind_pages", .size = sizeof(struct unwind_page)},
	[MAPPINGS] = {.map = "unwind_mappings", .size = sizeof(struct unwind_mapping)},
	[SPACE_LISTS] = {.map = "unwind_spaces", .size = sizeof(struct unwind_space)},
	[KEPT_RULES] = {.map = "unwind_kept", .size = sizeof(uint64_t)},
};

_Static_assert(sizeof(struct unwind_mapping) % 8 == 0, "the stride in the map");

struct module {
	struct module_key key;
	bool readable;
	bool placed; /* its rows are in the arrays */
	struct module_code code;
	size_t damaged; /* descriptions of frames */
	uint32_t page, pages;
};

struct list {
	struct unwind_mapping *mappings;
	uint32_t n;
};

struct space {
	unsigned users; /* processes */
	struct list list;
	bool second; /* which half of its part of the mappings holds the list */
};

struct process {
	pid_t pid;
	uint32_t space;
};

struct native_tables {
	struct array arrays[ARRAYS];
	bool several;
	bool told; /* that room is wanting */
	unsigned left_out;
	struct error damage; /* what has not been told yet */
	uint32_t room;       /* mappings of a half; 0 until native_tables_prepare */
	struct module **modules;
	size_t nmodules;
	struct space spaces[SPACES];
	struct process *processes;
	size_t nprocesses;
	int process_map; /* -1: none */
	struct module_reader reader;
};

static int read_here(void *ctx, int fd, const char *bytes, size_t size, struct module_code *code)
{
	(void)ctx;
	return fd >= 0 ? module_read(fd, code) : module_read_bytes(bytes, size, code);
}

struct native_tables *native_tables_new(bool several)
{
	struct native_tables *tables = calloc(1, sizeof(*tables));

	if (!tables)
		return NULL;
	memcpy(tables->arrays, empty_arrays, sizeof(empty_arrays));
	tables->several = several;
	tables->process_map = -1;
	tables->reader.read = read_here;
	return tables;
}

void native_tables_use(struct native_tables *tables, const struct module_reader *reader)
{
	tables->reader = *reader;
}

static size_t mapped_size(const struct array *array)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (array->capacity * array->size + page - 1) & ~(page - 1);
}

static void free_array(struct array *array)
{
	if (array->placed)
		munmap(array->at, mapped_size(array));
	else
		free(array->at);
	array->at = NULL;
}

void native_tables_free(struct native_tables *tables)
{
	if (!tables)
		return;
	for (unsigned i = 0; i < ARRAYS; i++)
		free_array(&tables->arrays[i]);
	for (size_t i = 0; i < tables->nmodules; i++) {
		module_free(&tables->modules[i]->code);
		free(tables->modules[i]);
	}
	for (unsigned i = 0; i < SPACES; i++)
		free(tables->spaces[i].list.mappings);
	free(tables->modules);
	free(tables->processes);
	free(tables);
}

/* Room for n more; before it is placed, an array grows. -ENOMEM, -ENOSPC. */
static int reserve(struct array *array, uint32_t n)
{
	uint32_t capacity = array->capacity ? array->capacity : 1024;
	char *bigger;

	if (n <= array->capacity - array->n)
		return 0;
	if (array->placed || n > MAX_ROWS - array->n)
		return -ENOSPC;
	while (capacity - array->n < n)
		capacity *= 2;
	bigger = realloc(array->at, capacity * array->size);
	if (!bigger)
		return -ENOMEM;
	array->at = bigger;
	array->capacity = capacity;
	return 0;
}

static struct unwind_page *pages_of(const struct native_tables *tables)
{
	return (struct unwind_page *)tables->arrays[PAGES].at;
}

/* Moves a module's rows into the arrays, once and for all. */
static int place_module(struct native_tables *tables, struct module *module)
{
	struct array *rows = &tables->arrays[ROWS], *pages = &tables->arrays[PAGES];
	const struct ehframe_rows *own = &module->code.rows;
	uint32_t count = ehframe_page_count(module->code.size);
	int rc;

	if (module->placed || !module->readable)
		return 0;
	rc = own->n > MAX_ROWS ? -ENOSPC : reserve(rows, (uint32_t)own->n);
	if (rc == 0)
		rc = reserve(pages, count);
	if (rc)
		return rc;
	memcpy(rows->at + rows->n * rows->size, own->rows, own->n * rows->size);
	ehframe_pages(own->rows, own->n, rows->n, pages_of(tables) + pages->n, count);
	module->page = pages->n;
	module->pages = count;
	module->placed = true;
	rows->n += (uint32_t)own->n;
	pages->n += count;
	module_free(&module->code);
	return 0;
}

static struct module *add_module(struct native_tables *tables, const struct module_key *key)
{
	struct module **bigger = realloc(tables->modules, (tables->nmodules + 1) * sizeof(struct module *));
	struct module *module = bigger ? calloc(1, sizeof(*module)) : NULL;

	if (bigger)
		tables->modules = bigger;
	if (!module)
		return NULL;
	module->key = *key;
	tables->modules[tables->nmodules++] = module;
	return module;
}

static struct module *known_module(const struct native_tables *tables, const struct module_key *key)
{
	for (size_t i = 0; i < tables->nmodules; i++) {
		if (!memcmp(&tables->modules[i]->key, key, sizeof(*key)))
			return tables->modules[i];
	}
	return NULL;
}

static bool is_vdso(const struct mapping *mapping)
{
	return mapping->path_len == 6 && !memcmp(mapping->path, "[vdso]", 6);
}

static void read_new(struct native_tables *tables, struct module *module, const struct mapping *mapping,
		     int rc)
{
	const struct ehframe_rows *rows = &module->code.rows;

	module->readable = rc == 0;
	module->damaged = rc == -EBADMSG ? 1 : module->readable ? rows->damaged : 0;
	if (module->damaged && !tables->damage.text[0])
		error_set(&tables->damage, EBADMSG,
			  "%.*s is damaged: %zu descriptions of stack frames make no sense (%zu do); stacks "
			  "end where they need them",
			  (int)mapping->path_len, mapping->path, module->damaged, rows->functions);
}

static int read_vdso(struct native_tables *tables, pid_t pid, const struct mapping *mapping,
		     struct module_code *code)
{
	char *bytes;
	ssize_t size = module_vdso(pid, mapping, &bytes);
	int rc;

	if (size < 0)
		return (int)size;
	rc = tables->reader.read(tables->reader.ctx, -1, bytes, (size_t)size, code);
	free(bytes);
	return rc;
}

/* The module of a mapping, read if it is new. *module = NULL: it is no file's, or cannot be opened. */
static int module_of(struct native_tables *tables, pid_t pid, const struct mapping *mapping,
		     struct module **module)
{
	struct module_key key = {0};
	bool vdso = is_vdso(mapping);
	int fd = vdso ? -1 : module_open(pid, mapping, &key), rc;

	*module = NULL;
	if (!vdso && fd < 0)
		return fd == -ENOMEM ? fd : 0;
	*module = known_module(tables, &key);
	if (!*module) {
		*module = add_module(tables, &key);
		rc = !*module ? -ENOMEM
		     : vdso   ? read_vdso(tables, pid, mapping, &(*module)->code)
			      : tables->reader.read(tables->reader.ctx, fd, NULL, 0, &(*module)->code);
		if (*module)
			read_new(tables, *module, mapping, rc);
	}
	if (fd >= 0)
		close(fd);
	return *module ? 0 : -ENOMEM;
}

/* One more entry of a list, which is in the order of addresses, as maps is. */
static int add_mapping(struct native_tables *tables, pid_t pid, const struct mapping *mapping,
		       struct list *list)
{
	struct unwind_mapping *bigger, entry = {.start = mapping->start, .end = mapping->end};
	struct module *module;
	uint64_t bias;
	int rc = module_of(tables, pid, mapping, &module), full = 0;

	if (rc)
		return rc;
	if (module && module->readable && module_bias(&module->code, mapping, &bias)) {
		full = place_module(tables, module);
		if (full == -ENOMEM)
			return full;
		if (module->placed) {
			entry.base = bias + module->code.base;
			entry.page = module->page;
			entry.pages = module->pages;
		}
	}
	bigger = realloc(list->mappings, (list->n + 1) * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	list->mappings = bigger;
	list->mappings[list->n++] = entry;
	return full;
}

static int read_list(struct native_tables *tables, pid_t pid, struct list *list, struct error *err)
{
	struct mapping mapping;
	struct maps maps;
	size_t at = 0;
	int rc = maps_read(pid, &maps, err);

	*list = (struct list){.n = 0};
	if (rc)
		return rc;
	while (rc == 0 && maps_next(maps.text, maps.len, &at, &mapping)) {
		uint32_t limit = tables->room ? tables->room : UNWIND_MAPPINGS_A_SPACE;

		if (!module_is_code(&mapping))
			continue;
		rc = list->n < limit ? add_mapping(tables, pid, &mapping, list) : -ENOSPC;
		if (rc == -ENOSPC) {
			tables->left_out++;
			rc = 0;
		}
	}
	maps_free(&maps);
	if (rc == -ENOMEM)
		error_set(err, ENOMEM, "out of memory for the tables of PID %d's code", (int)pid);
	return rc;
}

static bool same_list(const struct list *one, const struct list *two)
{
	return one->n == two->n &&
	       (!one->n || !memcmp(one->mappings, two->mappings, one->n * sizeof(*one->mappings)));
}

/* Whether what held for code by the old list holds by the new one, too. */
static bool extends(const struct list *old, const struct list *new)
{
	uint32_t j = 0;

	for (uint32_t i = 0; i < old->n; i++) {
		while (j < new->n &&new->mappings[j].start < old->mappings[i].start)
			j++;
		if (j == new->n || memcmp(&new->mappings[j], &old->mappings[i], sizeof(*new->mappings)))
			return false;
	}
	return true;
}

static uint64_t *space_word(const struct native_tables *tables, uint32_t space)
{
	return (uint64_t *)(void *)tables->arrays[SPACE_LISTS].at + space;
}

/*
 * A list is written where no walk looks, and then shown as one word: a walk sees
 * the old list or the new one. Rules kept by the old one go after
 * that; a walk that keeps another meanwhile looks at the word again (search_rule).
 */
static void show_list(struct native_tables *tables, uint32_t which, bool forget)
{
	struct space *space = &tables->spaces[which];
	struct array *mappings = &tables->arrays[MAPPINGS], *kept = &tables->arrays[KEPT_RULES];
	union {
		struct unwind_space list;
		uint64_t word;
	} shown = {.list = {.count = space->list.n}};

	if (!mappings->placed)
		return;
	space->second = !space->second;
	shown.list.first = (2 * which + space->second) * tables->room;
	if (space->list.n)
		memcpy(mappings->at + shown.list.first * mappings->size, space->list.mappings,
		       space->list.n * mappings->size);
	__atomic_store_n(space_word(tables, which), shown.word, __ATOMIC_SEQ_CST);
	if (forget && (which + 1) * KEPT <= kept->capacity)
		memset(kept->at + (size_t)which * KEPT * kept->size, 0, KEPT * kept->size);
}

static struct process *process_of(const struct native_tables *tables, pid_t pid)
{
	for (size_t i = 0; i < tables->nprocesses; i++) {
		if (tables->processes[i].pid == pid)
			return &tables->processes[i];
	}
	return NULL;
}

static void tell_process(const struct native_tables *tables, const struct process *process)
{
	uint32_t pid = (uint32_t)process->pid;

	if (tables->process_map >= 0)
		bpf_map_update_elem(tables->process_map, &pid, &process->space, BPF_ANY);
}

/* One with such a list, or a free one; SPACES if there is none. */
static uint32_t space_for(const struct native_tables *tables, const struct list *list)
{
	uint32_t free_one = SPACES, n = tables->several ? SPACES : 1;

	for (uint32_t i = 0; i < n; i++) {
		if (!tables->spaces[i].users)
			free_one = free_one < n ? free_one : i;
		else if (same_list(&tables->spaces[i].list, list))
			return i;
	}
	return free_one;
}

static void set_list(struct native_tables *tables, uint32_t which, struct list list)
{
	struct space *space = &tables->spaces[which];
	bool forget = !extends(&space->list, &list);

	free(space->list.mappings);
	space->list = list;
	show_list(tables, which, forget);
}

static struct process *add_process(struct native_tables *tables, pid_t pid)
{
	struct process *bigger = realloc(tables->processes, (tables->nprocesses + 1) * sizeof(*bigger));

	if (!bigger)
		return NULL;
	tables->processes = bigger;
	bigger[tables->nprocesses] = (struct process){.pid = pid};
	return &bigger[tables->nprocesses++];
}

static void drop_process(struct native_tables *tables, pid_t pid)
{
	struct process *process = process_of(tables, pid);

	if (!process)
		return;
	tables->spaces[process->space].users--;
	*process = tables->processes[--tables->nprocesses];
}

int native_tables_fork(struct native_tables *tables, pid_t parent, pid_t child)
{
	const struct process *from;
	struct process *process;
	uint32_t space;

	drop_process(tables, child);
	from = process_of(tables, parent);
	if (!from)
		return 0;
	space = from->space;
	process = add_process(tables, child);
	if (!process)
		return -ENOMEM;
	process->space = space;
	tables->spaces[space].users++;
	return 0;
}

/* Takes over the list. */
static int settle(struct native_tables *tables, pid_t pid, struct list list)
{
	struct process *process = process_of(tables, pid);
	uint32_t which;

	if (process && same_list(&tables->spaces[process->space].list, &list)) {
		free(list.mappings);
		return 0;
	}
	if (process && tables->spaces[process->space].users == 1) {
		set_list(tables, process->space, list);
		return 0;
	}
	which = space_for(tables, &list);
	if (which == SPACES) {
		free(list.mappings);
		return -ENOSPC;
	}
	if (!process) {
		process = add_process(tables, pid);
		if (!process) {
			free(list.mappings);
			return -ENOMEM;
		}
	} else {
		tables->spaces[process->space].users--;
	}
	if (tables->spaces[which].users++)
		free(list.mappings);
	else
		set_list(tables, which, list);
	process->space = which;
	tell_process(tables, process);
	return 0;
}

int native_tables_refresh(struct native_tables *tables, pid_t pid, struct error *err)
{
	unsigned left_out = tables->left_out;
	struct list list;
	int rc = read_list(tables, pid, &list, err);

	if (rc) {
		free(list.mappings);
		return rc;
	}
	rc = settle(tables, pid, list);
	if (rc == -ENOMEM)
		return error_set(err, ENOMEM, "out of memory for the tables of PID %d's code", (int)pid);
	if (rc == -ENOSPC)
		tables->left_out++;
	if (tables->left_out == left_out || tables->told)
		return 0;
	tables->told = true;
	return error_set(
		err, ENOSPC,
		"PID %d has mapped more code than there is room for: stacks end where they come to it",
		(int)pid);
}

bool native_tables_note(struct native_tables *tables, struct error *line)
{
	*line = tables->damage;
	tables->damage.text[0] = '\0';
	return line->text[0];
}

void native_tables_forget(struct native_tables *tables, pid_t pid)
{
	uint32_t key = (uint32_t)pid;

	if (tables->process_map >= 0)
		bpf_map_delete_elem(tables->process_map, &key);
	drop_process(tables, pid);
}

/* The most mappings that a list has. */
static uint32_t longest_list(const struct native_tables *tables)
{
	uint32_t most = 0;

	for (unsigned i = 0; i < SPACES; i++) {
		if (tables->spaces[i].list.n > most)
			most = tables->spaces[i].list.n;
	}
	return most;
}

/* Of a program that is to be started nothing is known: there is room for large ones. */
#define ROOM_UNKNOWN 8u

static uint32_t with_room(uint32_t n, uint32_t least, uint32_t most)
{
	uint64_t wanted = (uint64_t)n + (n > least ? n : least);

	return wanted < most ? (uint32_t)wanted : most;
}

int native_tables_prepare(struct native_tables *tables, struct bpf_object *object, struct error *err)
{
	uint32_t spaces = tables->several ? SPACES : 1, entries[ARRAYS];
	uint32_t more = tables->nprocesses ? 1 : ROOM_UNKNOWN;

	tables->room = with_room(longest_list(tables), more * ROOM_LIST, UNWIND_MAPPINGS_A_SPACE);
	entries[ROWS] = with_room(tables->arrays[ROWS].n, more * ROOM_ROWS, MAX_ROWS);
	entries[PAGES] = with_room(tables->arrays[PAGES].n, more * ROOM_PAGES, MAX_ROWS);
	entries[MAPPINGS] = 2 * spaces * tables->room;
	entries[SPACE_LISTS] = spaces;
	entries[KEPT_RULES] = KEPT * (spaces < KEPT_SPACES ? spaces : KEPT_SPACES);
	for (unsigned i = 0; i < ARRAYS; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(object, tables->arrays[i].map);
		int rc = map ? bpf_map__set_max_entries(map, entries[i]) : -ENOENT;

		if (rc)
			return error_set(err, -rc, "cannot size the BPF map %s: %s", tables->arrays[i].map,
					 strerror(-rc));
	}
	return 0;
}

static int place_array(struct array *array, const struct bpf_object *object, struct error *err)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, array->map);
	struct array placed = *array;

	if (!map)
		return error_set(err, ENOENT, "the BPF object has no map %s", array->map);
	placed.capacity = bpf_map__max_entries(map);
	placed.at = mmap(NULL, mapped_size(&placed), PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (placed.at == MAP_FAILED)
		return error_set(err, errno, "cannot map the BPF map %s: %s", array->map, strerror(errno));
	placed.placed = true;
	if (array->n)
		memcpy(placed.at, array->at, array->n * array->size);
	free(array->at);
	*array = placed;
	return 0;
}

int native_tables_place(struct native_tables *tables, const struct bpf_object *object, struct error *err)
{
	struct bpf_map *processes = bpf_object__find_map_by_name(object, "unwind_processes");

	for (unsigned i = 0; i < ARRAYS; i++) {
		int rc = place_array(&tables->arrays[i], object, err);

		if (rc)
			return rc;
	}
	if (tables->several && processes)
		tables->process_map = bpf_map__fd(processes);
	for (uint32_t i = 0; i < tables->arrays[SPACE_LISTS].capacity; i++) {
		if (tables->spaces[i].users)
			show_list(tables, i, false);
	}
	for (size_t i = 0; i < tables->nprocesses; i++)
		tell_process(tables, &tables->processes[i]);
	return 0;
}

/* process_vm_readv may give less than was asked for. */
static size_t read_memory(void *ctx, uint64_t address, void *to, size_t size)
{
	struct iovec local = {.iov_base = to, .iov_len = size};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};
	ssize_t n = process_vm_readv(*(const pid_t *)ctx, &local, 1, &remote, 1, 0);

	return n < 0 ? 0 : (size_t)n;
}

size_t native_tables_walk(const struct native_tables *tables, pid_t pid, struct unwind_regs regs,
			  uint64_t *pcs, size_t max, uint16_t *flags)
{
	const struct process *process = process_of(tables, pid);
	const struct list *list = process ? &tables->spaces[process->space].list : NULL;
	const struct unwind_tables walked = {
		.rows = (const struct unwind_row *)tables->arrays[ROWS].at,
		.pages = pages_of(tables),
		.mappings = list ? list->mappings : NULL,
		.nrows = tables->arrays[ROWS].n,
		.npages = tables->arrays[PAGES].n,
		.nmappings = list ? list->n : 0,
	};

	*flags = RAW_STACK_NATIVE | RAW_STACK_BROKEN;
	if (!list)
		return 0;
	return native_walk(&walked, (struct unwind_space){0, list->n}, regs, read_memory, &pid, pcs, max,
			   flags);
}

void native_tables_stats(const struct native_tables *tables, struct native_tables_stats *stats)
{
	*stats = (struct native_tables_stats){.modules = (unsigned)tables->nmodules,
					      .left_out = tables->left_out,
					      .rows = tables->arrays[ROWS].n};
	for (size_t i = 0; i < tables->nmodules; i++) {
		stats->unreadable += !tables->modules[i]->readable;
		stats->damaged += tables->modules[i]->damaged != 0;
	}
	for (unsigned i = 0; i < ARRAYS; i++)
		stats->bytes += (uint64_t)tables->arrays[i].capacity * tables->arrays[i].size;
}
