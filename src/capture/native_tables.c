/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/native_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/map_array.h"
#include "capture/native_modules.h"
#include "code/symbol/native_walk.h"
#include "target/names/jit.h"
#include "util/clock.h"

#define SPACES        64u              /* distinct lists of mappings, if there are several processes */
#define RULE_CACHE    (1u << 16)       /* UNWIND_RULE_CACHE in bpf/unwind.bpf.h */
#define CACHED_SPACES 16u              /* only the first ones have a rule cache */
#define MAX_ROWS      EHFRAME_ROWS_MAX /* of all files */
#define MAX_PAGES     (2u << 20)       /* 16 MiB, for 512 MiB of code */
#define SPARE_ROWS    (256u << 10)     /* minimum, for libraries that are loaded later */
#define SPARE_PAGES   (64u << 10)      /* the same: 16 MiB of code */
#define SPARE_LIST    256u
#define MAX_NOTES     16u /* messages about files */

/* Reading files delays draining, so its time is limited: to READING_NS at once, and later to one part in
 * READING_PART of the time. */
#define READING_NS   2000000000ull
#define READING_PART 8

enum { ROWS, PAGES, MAPPINGS, SPACE_LISTS, CACHED_RULES, ARRAYS };

static const struct map_array empty_arrays[ARRAYS] = {
	[ROWS] = {.map = "unwind_rows", .size = sizeof(struct unwind_row)},
	[PAGES] = {.map = "unwind_pages", .size = sizeof(struct unwind_page)},
	[MAPPINGS] = {.map = "unwind_mappings", .size = sizeof(struct unwind_mapping)},
	[SPACE_LISTS] = {.map = "unwind_spaces", .size = sizeof(struct unwind_space)},
	[CACHED_RULES] = {.map = "unwind_rule_cache", .size = sizeof(uint64_t)},
};

_Static_assert(sizeof(struct unwind_mapping) % 8 == 0, "the stride in the map");

struct list {
	struct unwind_mapping *mappings;
	struct native_module **modules; /* of each mapping; NULL: none */
	uint32_t n, capacity;
};

struct space {
	unsigned users; /* number of processes */
	struct list list;
	bool second; /* the list is in the second half of the space's mappings */
	uint16_t version;
};

struct table_process {
	pid_t pid;
	uint32_t space;
};

struct native_tables {
	struct map_array arrays[ARRAYS];
	bool several;
	bool reported;     /* missing space has been reported */
	unsigned left_out; /* number of mappings and lists */
	unsigned skipped;  /* number of files */
	struct error note; /* about a file; not yet fetched by the caller */
	unsigned notes;
	uint32_t half; /* mappings per half; 0 until native_tables_prepare() */
	struct native_modules modules;
	/* Time for reading files: wall time, because reading waits for another process. */
	struct budget reading;
	uint64_t earned_ns;
	bool wanting; /* there was no space for a file of the list being read */
	bool behind;  /* files are waiting to be read */
	struct space spaces[SPACES];
	struct table_process *processes;
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
	tables->reading.cpu_ns = READING_NS;
	tables->earned_ns = now_ns();
	return tables;
}

void native_tables_use(struct native_tables *tables, const struct module_reader *reader)
{
	tables->reader = *reader;
}

static void free_list(struct native_tables *tables, struct list *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		if (list->modules[i])
			native_modules_release(&tables->modules, list->modules[i]);
	}
	free(list->mappings);
	free((void *)list->modules);
	*list = (struct list){.n = 0};
}

void native_tables_free(struct native_tables *tables)
{
	if (!tables)
		return;
	for (unsigned i = 0; i < ARRAYS; i++)
		map_array_free(&tables->arrays[i]);
	for (unsigned i = 0; i < SPACES; i++)
		free_list(tables, &tables->spaces[i].list);
	native_modules_free(&tables->modules);
	free(tables->processes);
	free(tables);
}

static struct unwind_page *pages_of(const struct native_tables *tables)
{
	return (struct unwind_page *)tables->arrays[PAGES].at;
}

/* Evicts unmapped files until there is space. */
static bool find_space(struct native_tables *tables, struct native_module *module)
{
	uint32_t most_rows = map_array_most(&tables->arrays[ROWS], MAX_ROWS);
	uint32_t most_pages = map_array_most(&tables->arrays[PAGES], MAX_PAGES);

	if (module->rows.n > most_rows || module->pages.n > most_pages)
		return false;
	do {
		module->rows.first =
			native_modules_gap(&tables->modules, NATIVE_ROWS, module->rows.n, most_rows);
		module->pages.first =
			native_modules_gap(&tables->modules, NATIVE_PAGES, module->pages.n, most_pages);
		if (module->rows.first != UINT32_MAX && module->pages.first != UINT32_MAX)
			return true;
	} while (native_modules_evict(&tables->modules, module));
	return false;
}

static int fill_space(struct native_tables *tables, struct native_module *module)
{
	struct map_array *rows = &tables->arrays[ROWS], *pages = &tables->arrays[PAGES];
	const struct ehframe_rows *own = &module->code.rows;
	uint32_t rows_end = module->rows.first + module->rows.n;
	uint32_t pages_end = module->pages.first + module->pages.n;
	int rc = map_array_reserve(rows, rows_end);

	if (rc == 0)
		rc = map_array_reserve(pages, pages_end);
	if (rc)
		return rc;
	memcpy(rows->at + module->rows.first * rows->size, own->rows, own->n * rows->size);
	ehframe_pages(own->rows, own->n, module->rows.first, pages_of(tables) + module->pages.first,
		      module->pages.n);
	rows->n = rows_end > rows->n ? rows_end : rows->n;
	pages->n = pages_end > pages->n ? pages_end : pages->n;
	module->placed = true;
	return 0;
}

/* Moves a module's rows into the arrays; no other copy is kept. Returns 0, -ENOMEM or -ENOSPC. */
static int place_module(struct native_tables *tables, struct native_module *module)
{
	int rc;

	module->rows.n = (uint32_t)module->code.rows.n;
	module->pages.n = ehframe_page_count(module->code.size);
	rc = find_space(tables, module) ? fill_space(tables, module) : -ENOSPC;
	module->full = rc == -ENOSPC;
	module->full_at = tables->modules.releases;
	module_free(&module->code);
	return rc;
}

static bool native_tables_is_vdso(const struct proc_mapping *mapping)
{
	return mapping->path_len == 6 && !memcmp(mapping->path, "[vdso]", 6);
}

/* Records one message per file, and not more than MAX_NOTES in all. */
static void native_tables_note_module(struct native_tables *tables, struct native_module *module,
				      const struct proc_mapping *mapping, const char *what)
{
	if (module->noted || tables->note.text[0] || tables->notes == MAX_NOTES)
		return;
	module->noted = true;
	tables->notes++;
	error_set(&tables->note, ENOSPC, "%.*s %s", (int)mapping->path_len, mapping->path, what);
}

static void note_damage(struct native_tables *tables, struct native_module *module,
			const struct proc_mapping *mapping)
{
	char what[160];

	if (!module->damaged)
		return;
	snprintf(what, sizeof(what),
		 "is damaged: %zu frame descriptions are invalid, %zu are valid; stacks end where they need "
		 "an invalid one",
		 module->damaged, module->code.rows.functions);
	native_tables_note_module(tables, module, mapping, what);
}

/* Says which of the two arrays has no space. */
static void print_limit(const struct native_tables *tables, const struct native_module *module, char *why,
			size_t size)
{
	const struct map_array *rows = &tables->arrays[ROWS];
	uint32_t most_rows = map_array_most(rows, MAX_ROWS);
	uint32_t most_pages = map_array_most(&tables->arrays[PAGES], MAX_PAGES);

	if (native_modules_gap(&tables->modules, NATIVE_ROWS, module->rows.n, most_rows) == UINT32_MAX)
		snprintf(why, size, "the limit of %zu MB for all files is reached",
			 most_rows * rows->size >> 20);
	else
		snprintf(why, size, "the limit of %zu MB of code in all files is reached",
			 (size_t)most_pages << UNWIND_PAGE_SHIFT >> 20);
}

static void note_left_out(struct native_tables *tables, struct native_module *module,
			  const struct proc_mapping *mapping, int rc)
{
	char what[160], why[80];

	if (rc == -ENOSPC || rc == -EFBIG)
		print_limit(tables, module, why, sizeof(why));
	else if (rc == -ETIME)
		snprintf(why, sizeof(why), "reading them takes too much CPU time");
	else if (rc == -ENOMEM)
		snprintf(why, sizeof(why), "out of memory");
	else
		return;
	tables->skipped++;
	snprintf(what, sizeof(what), "has unwind tables that are left out: %s; stacks end in its code", why);
	native_tables_note_module(tables, module, mapping, what);
}

/* Handles the result of reading. Rows that cannot be placed are discarded. */
static void settle_module(struct native_tables *tables, struct native_module *module,
			  const struct proc_mapping *mapping, int rc)
{
	module->readable = rc == 0;
	module->damaged = rc == -EBADMSG ? 1 : module->readable ? module->code.rows.damaged : 0;
	note_damage(tables, module, mapping);
	if (rc == 0)
		rc = place_module(tables, module);
	if (rc)
		note_left_out(tables, module, mapping, rc);
}

static int native_tables_read_vdso(struct native_tables *tables, pid_t pid,
				   const struct proc_mapping *mapping, struct module_code *code)
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

static bool may_read(struct native_tables *tables)
{
	uint64_t now = now_ns();

	budget_earn(&tables->reading, (now - tables->earned_ns) / READING_PART, READING_NS);
	tables->earned_ns = now;
	return tables->reading.cpu_ns > 0;
}

static void native_tables_read_module(struct native_tables *tables, pid_t pid,
				      const struct proc_mapping *mapping, int fd,
				      struct native_module *module)
{
	uint64_t begin = now_ns(), took;
	int rc = fd < 0 ? native_tables_read_vdso(tables, pid, mapping, &module->code)
			: tables->reader.read(tables->reader.ctx, fd, NULL, 0, &module->code);

	took = now_ns() - begin;
	tables->reading.cpu_ns -= took < tables->reading.cpu_ns ? took : tables->reading.cpu_ns;
	settle_module(tables, module, mapping, rc);
}

/* Returns the module of an open file, or NULL if it is left out. Reads it if it is new, or if it did not fit
 * before and there may be space now. */
static struct native_module *known_or_read(struct native_tables *tables, pid_t pid,
					   const struct proc_mapping *mapping, int fd,
					   const struct module_key *key)
{
	struct native_module *module = native_modules_find(&tables->modules, key);

	if (module && (!module->full || module->full_at == tables->modules.releases)) {
		tables->wanting |= module->full;
		return module;
	}
	if (!may_read(tables)) {
		tables->behind = true;
		return module;
	}
	if (!module)
		module = native_modules_add(&tables->modules, key);
	if (module)
		native_tables_read_module(tables, pid, mapping, fd, module);
	else
		tables->skipped++;
	tables->wanting |= !module || module->full;
	return module;
}

/* Returns the module of a mapping, or NULL if the mapping is not of a file, or the file cannot be opened or
 * is left out. */
static struct native_module *module_of(struct native_tables *tables, pid_t pid,
				       const struct proc_mapping *mapping)
{
	struct module_key key = {0};
	struct native_module *module;
	int fd;

	if (native_tables_is_vdso(mapping))
		return known_or_read(tables, pid, mapping, -1, &key);
	fd = module_open(pid, mapping, &key);
	if (fd < 0)
		return NULL;
	module = known_or_read(tables, pid, mapping, fd, &key);
	close(fd);
	return module;
}

/* Memory without a file, or with one that only has a name: .NET's memfd:doublemapper. */
static bool is_generated(const struct proc_mapping *mapping)
{
	if (mapping->inode)
		return mapping->path_len > 7 && memcmp(mapping->path, "/memfd:", 7) == 0;
	return !mapping->path_len || (mapping->path_len > 5 && memcmp(mapping->path, "[anon", 5) == 0);
}

static int grow_list(struct list *list)
{
	uint32_t capacity = list->capacity ? 2 * list->capacity : 64;
	struct unwind_mapping *mappings;
	struct native_module **modules;

	if (list->n < list->capacity)
		return 0;
	mappings = realloc(list->mappings, capacity * sizeof(*mappings));
	list->mappings = mappings ? mappings : list->mappings;
	modules = (struct native_module **)realloc((void *)list->modules, capacity * sizeof(*modules));
	list->modules = modules ? modules : list->modules;
	if (!mappings || !modules)
		return -ENOMEM;
	list->capacity = capacity;
	return 0;
}

/*
 * Appends an entry to a list. Lists are ordered by address, like /proc/PID/maps. A program that names the
 * code that it generates is prepared to be profiled: perf, too, takes it that this code keeps frame pointers.
 */
static int add_mapping(struct native_tables *tables, pid_t pid, const struct proc_mapping *mapping,
		       bool is_named, struct list *list)
{
	struct unwind_mapping entry = {.start = mapping->start, .end = mapping->end};
	struct native_module *module = module_of(tables, pid, mapping);
	uint64_t bias;
	int rc = grow_list(list);

	if (rc)
		return rc;
	if (module && module->placed && module_bias(&module->code, mapping, &bias)) {
		entry.base = bias + module->code.base;
		entry.page = module->pages.first;
		entry.pages = module->pages.n;
	} else if (is_named && is_generated(mapping)) {
		entry.pages = UNWIND_CHAINED;
	}
	if (module)
		native_modules_use(&tables->modules, module);
	list->modules[list->n] = module;
	list->mappings[list->n++] = entry;
	return 0;
}

static int native_tables_read_list(struct native_tables *tables, pid_t pid, struct list *list,
				   struct error *err)
{
	struct proc_mapping mapping;
	struct maps maps;
	size_t at = 0;
	int rc = maps_read(pid, &maps, err);
	bool is_named = native_jit_is_named(pid);

	*list = (struct list){.n = 0};
	tables->behind = tables->wanting = false;
	if (rc)
		return rc;
	while (rc == 0 && maps_next(maps.text, maps.len, &at, &mapping)) {
		uint32_t limit = tables->half ? tables->half : UNWIND_MAPPINGS_A_SPACE;

		if (!module_is_code(&mapping))
			continue;
		rc = list->n < limit ? add_mapping(tables, pid, &mapping, is_named, list) : -ENOSPC;
		if (rc == -ENOSPC) {
			tables->left_out++;
			rc = 0;
		}
	}
	maps_free(&maps);
	if (rc == -ENOMEM)
		error_set(err, ENOMEM, "out of memory for the unwind tables of PID %d", (int)pid);
	return rc;
}

static bool same_list(const struct list *one, const struct list *two)
{
	return one->n == two->n &&
	       (!one->n || !memcmp(one->mappings, two->mappings, one->n * sizeof(*one->mappings)));
}

/* Returns whether rules cached for the old list are valid for the new one. */
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
 * Writes a list to the unused half, then publishes it with a single store: a walk sees the old list or the
 * new one. Then clears the rules cached for the old list; a walk that caches one meanwhile checks the word
 * again (search_rule()).
 */
static void show_list(struct native_tables *tables, uint32_t which, bool forget)
{
	struct space *space = &tables->spaces[which];
	struct map_array *mappings = &tables->arrays[MAPPINGS], *cache = &tables->arrays[CACHED_RULES];
	union {
		struct unwind_space list;
		uint64_t word;
	} shown = {.list = {.count = (uint16_t)space->list.n}};

	if (!mappings->placed)
		return;
	space->second = !space->second;
	space->version += forget;
	shown.list.version = space->version;
	shown.list.first = (2 * which + space->second) * tables->half;
	if (space->list.n)
		memcpy(mappings->at + shown.list.first * mappings->size, space->list.mappings,
		       space->list.n * mappings->size);
	__atomic_store_n(space_word(tables, which), shown.word, __ATOMIC_SEQ_CST);
	if (forget && (which + 1) * RULE_CACHE <= cache->capacity)
		memset(cache->at + (size_t)which * RULE_CACHE * cache->size, 0, RULE_CACHE * cache->size);
}

static struct table_process *process_of(const struct native_tables *tables, pid_t pid)
{
	for (size_t i = 0; i < tables->nprocesses; i++) {
		if (tables->processes[i].pid == pid)
			return &tables->processes[i];
	}
	return NULL;
}

static void notify_process(const struct native_tables *tables, const struct table_process *process)
{
	uint32_t pid = (uint32_t)process->pid;

	if (tables->process_map >= 0)
		bpf_map_update_elem(tables->process_map, &pid, &process->space, BPF_ANY);
}

/* Returns a space with the same list, or a free one; SPACES if there is neither. */
static uint32_t native_tables_space_for(const struct native_tables *tables, const struct list *list)
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
	struct list before = space->list;
	bool forget = !extends(&before, &list);

	space->list = list;
	show_list(tables, which, forget);
	free_list(tables, &before);
}

static struct table_process *add_process(struct native_tables *tables, pid_t pid)
{
	struct table_process *bigger = realloc(tables->processes, (tables->nprocesses + 1) * sizeof(*bigger));

	if (!bigger)
		return NULL;
	tables->processes = bigger;
	bigger[tables->nprocesses] = (struct table_process){.pid = pid};
	return &bigger[tables->nprocesses++];
}

static void drop_process(struct native_tables *tables, pid_t pid)
{
	struct table_process *process = process_of(tables, pid);

	if (!process)
		return;
	/* Files that no process maps can be evicted. */
	if (--tables->spaces[process->space].users == 0)
		set_list(tables, process->space, (struct list){.n = 0});
	*process = tables->processes[--tables->nprocesses];
}

int native_tables_fork(struct native_tables *tables, pid_t parent, pid_t child)
{
	const struct table_process *from;
	struct table_process *process;
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

/* Assigns the list to the process. Takes ownership of it. */
static int settle(struct native_tables *tables, pid_t pid, struct list list)
{
	struct table_process *process = process_of(tables, pid);
	uint32_t which;

	if (process && same_list(&tables->spaces[process->space].list, &list)) {
		free_list(tables, &list);
		return 0;
	}
	if (process && tables->spaces[process->space].users == 1) {
		set_list(tables, process->space, list);
		return 0;
	}
	which = native_tables_space_for(tables, &list);
	if (which == SPACES) {
		free_list(tables, &list);
		return -ENOSPC;
	}
	if (!process) {
		process = add_process(tables, pid);
		if (!process) {
			free_list(tables, &list);
			return -ENOMEM;
		}
	} else {
		tables->spaces[process->space].users--;
	}
	if (tables->spaces[which].users++)
		free_list(tables, &list);
	else
		set_list(tables, which, list);
	process->space = which;
	notify_process(tables, process);
	return 0;
}

int native_tables_refresh(struct native_tables *tables, pid_t pid, struct error *err)
{
	unsigned left_out = tables->left_out;
	uint64_t releases;
	struct list list;
	int rc = native_tables_read_list(tables, pid, &list, err);

	if (rc) {
		free_list(tables, &list);
		return rc;
	}
	releases = tables->modules.releases;
	rc = settle(tables, pid, list);
	tables->behind |= tables->wanting && tables->modules.releases != releases;
	if (rc == -ENOMEM)
		return error_set(err, ENOMEM, "out of memory for the unwind tables of PID %d", (int)pid);
	if (rc == -ENOSPC)
		tables->left_out++;
	if (tables->left_out == left_out || tables->reported)
		return 0;
	tables->reported = true;
	return error_set(err, ENOSPC,
			 "PID %d has mapped more code than the unwind tables can hold: stacks end at code "
			 "that was left out",
			 (int)pid);
}

bool native_tables_note(struct native_tables *tables, struct error *line)
{
	*line = tables->note;
	tables->note.text[0] = '\0';
	return line->text[0];
}

bool native_tables_behind(const struct native_tables *tables)
{
	return tables->behind;
}

void native_tables_forget(struct native_tables *tables, pid_t pid)
{
	uint32_t key = (uint32_t)pid;

	if (tables->process_map >= 0)
		bpf_map_delete_elem(tables->process_map, &key);
	drop_process(tables, pid);
}

/* Returns the length of the longest list. */
static uint32_t longest_list(const struct native_tables *tables)
{
	uint32_t most = 0;

	for (unsigned i = 0; i < SPACES; i++) {
		if (tables->spaces[i].list.n > most)
			most = tables->spaces[i].list.n;
	}
	return most;
}

/* A program that is not started yet is unknown, so leave space for a large one. */
#define SPARE_UNKNOWN 8u

static uint32_t with_margin(uint32_t n, uint32_t least, uint32_t most)
{
	uint64_t wanted = (uint64_t)n + (n > least ? n : least);

	return wanted < most ? (uint32_t)wanted : most;
}

int native_tables_prepare(struct native_tables *tables, struct bpf_object *object, struct error *err)
{
	uint32_t spaces = tables->several ? SPACES : 1, entries[ARRAYS];
	uint32_t more = tables->nprocesses ? 1 : SPARE_UNKNOWN;

	tables->half = with_margin(longest_list(tables), more * SPARE_LIST, UNWIND_MAPPINGS_A_SPACE);
	entries[ROWS] = with_margin(tables->arrays[ROWS].n, more * SPARE_ROWS, MAX_ROWS);
	/* A program in one file of 160 MB: Debian's pandoc. */
	entries[PAGES] =
		tables->nprocesses ? with_margin(tables->arrays[PAGES].n, SPARE_PAGES, MAX_PAGES) : MAX_PAGES;
	entries[MAPPINGS] = 2 * spaces * tables->half;
	entries[SPACE_LISTS] = spaces;
	entries[CACHED_RULES] = RULE_CACHE * (spaces < CACHED_SPACES ? spaces : CACHED_SPACES);
	for (unsigned i = 0; i < ARRAYS; i++) {
		int rc = map_array_size_map(&tables->arrays[i], object, entries[i], err);

		if (rc)
			return rc;
	}
	return 0;
}

int native_tables_place(struct native_tables *tables, const struct bpf_object *object, struct error *err)
{
	struct bpf_map *processes = bpf_object__find_map_by_name(object, "unwind_processes");

	for (unsigned i = 0; i < ARRAYS; i++) {
		int rc = map_array_place(&tables->arrays[i], object, err);

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
		notify_process(tables, &tables->processes[i]);
	return 0;
}

struct thread_memory {
	pid_t pid;
	const struct memory_piece *known; /* has been read already; NULL = none */
};

static size_t native_tables_read_memory(void *ctx, uint64_t address, void *to, size_t size)
{
	const struct thread_memory *memory = ctx;
	const struct memory_piece *known = memory->known;
	uint64_t skip = known ? address - known->address : 0;
	ssize_t n;

	if (known && known->bytes && skip < known->size) {
		size = size < known->size - skip ? size : known->size - skip;
		memcpy(to, known->bytes + skip, size);
		return size;
	}
	n = memory_read_some(memory->pid, address, to, size);
	return n < 0 ? 0 : (size_t)n;
}

size_t native_tables_walk(const struct native_tables *tables, pid_t pid, struct unwind_regs regs,
			  const struct memory_piece *known, uint64_t *pcs, size_t max, uint16_t *flags)
{
	struct thread_memory memory = {pid, known};
	const struct table_process *process = process_of(tables, pid);
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
	return native_walk(&walked, (struct unwind_space){.count = (uint16_t)list->n}, regs,
			   native_tables_read_memory, &memory, pcs, max, flags);
}

void native_tables_stats(const struct native_tables *tables, struct native_tables_stats *stats)
{
	*stats = (struct native_tables_stats){.modules = (unsigned)tables->modules.n,
					      .left_out = tables->left_out + tables->skipped,
					      .rows = tables->arrays[ROWS].n};
	for (size_t i = 0; i < tables->modules.n; i++) {
		stats->unreadable += !tables->modules.list[i]->readable;
		stats->damaged += tables->modules.list[i]->damaged != 0;
	}
	for (unsigned i = 0; i < ARRAYS; i++)
		stats->bytes += (uint64_t)tables->arrays[i].capacity * tables->arrays[i].size;
}
