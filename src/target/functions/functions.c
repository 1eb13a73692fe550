/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/functions/functions.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/record.h"
#include "target/functions/function_file.h"
#include "target/functions/function_list.h"
#include "target/maps.h"
#include "target/names/modules.h"
#include "target/functions/value_debug.h"
#include "target/functions/value_plan.h"
#include "util/machine.h"
#include "util/files.h"
#include "util/utf8.h"
#include "util/window.h"

#define MAX_FILES  1024
#define MAX_COPIES 64 /* compiler-made copies of one function */
#define WORD       8

struct mapped { /* a mapped file */
	char path[PATH_MAX];
	struct module_key key;
	struct function_file file;
	struct value_debug debug;
};

struct function_search {
	struct mapped *files; /* the executable first */
	unsigned n;
	struct native_search debug; /* for debug files */
	struct function_plan *plan;
	struct error *err;
};

/* The function that a name refers to, possibly in several copies. */
struct found {
	struct mapped *in;
	const struct function_symbol *copies[MAX_COPIES];
	unsigned n;
	char names[4][FUNCTION_NAME_MAX]; /* names that distinguish different functions */
	unsigned different;
	bool global;
};

/* --- the process's files --- */

static int add_file(struct function_search *search, int fd, const char *path, size_t len,
		    const struct module_key *key)
{
	struct mapped *file = &search->files[search->n];

	if (search->n == MAX_FILES || len >= sizeof(file->path)) {
		close(fd);
		return 0;
	}
	memcpy(file->path, path, len);
	file->path[len] = '\0';
	file->key = *key;
	search->debug.path = file->path;
	if (function_file_open(&file->file, fd, &search->debug) == 0)
		search->n++;
	return 0;
}

static bool function_search_is_open(const struct function_search *search, const struct proc_mapping *mapping)
{
	for (unsigned i = 0; i < search->n; i++) {
		const char *path = search->files[i].path;

		if (strlen(path) == mapping->path_len && memcmp(path, mapping->path, mapping->path_len) == 0)
			return true;
	}
	return false;
}

static void put_first(struct function_search *search, pid_t pid)
{
	char link[64];
	struct stat st;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	if (window_stat(link, &st))
		return;
	for (unsigned i = 1; i < search->n; i++) {
		struct mapped exe = search->files[i];

		if (exe.key.device != st.st_dev || exe.key.inode != st.st_ino)
			continue;
		search->files[i] = search->files[0];
		search->files[0] = exe;
		return;
	}
}

/* A debug file of another build is skipped. target/names/names.c reports it. */
static void report_nothing(void *ctx, const char *line)
{
	(void)ctx;
	(void)line;
}

static void open_roots(struct function_search *search, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	search->debug = (struct native_search){
		.roots = {pid ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1,
			  open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)},
		.report = report_nothing,
	};
}

static void close_roots(struct function_search *search)
{
	for (unsigned i = 0; i < 2; i++) {
		if (search->debug.roots[i] >= 0)
			close(search->debug.roots[i]);
	}
}

static void function_search_close(struct function_search *search)
{
	while (search->n) {
		value_debug_close(&search->files[--search->n].debug);
		function_file_close(&search->files[search->n].file);
	}
	free(search->files);
	close_roots(search);
}

static int function_search_open_mapped(struct function_search *search, pid_t pid)
{
	struct maps maps;
	struct proc_mapping mapping;
	size_t at = 0;
	int rc = maps_read(pid, &maps, search->err);

	if (rc)
		return rc;
	while (rc == 0 && maps_next(maps.text, maps.len, &at, &mapping)) {
		struct module_key key;
		int fd;

		if (!mapping.executable || function_search_is_open(search, &mapping))
			continue;
		fd = module_open(pid, &mapping, &key);
		if (fd >= 0)
			rc = add_file(search, fd, mapping.path, mapping.path_len, &key);
	}
	maps_free(&maps);
	put_first(search, pid);
	return rc;
}

static int function_search_open_path(struct function_search *search, const char *path)
{
	int fd = file_open(path);
	unsigned before = search->n;

	if (fd < 0)
		return error_set(search->err, -fd, "cannot open %.*s: %s", text_fit(path, 200), path,
				 strerror(-fd));
	add_file(search, fd, path, strlen(path), &(struct module_key){0});
	if (search->n > before)
		return 0;
	return error_set(search->err, ENOEXEC, "%.*s is not a program or library for this machine",
			 text_fit(path, 200), path);
}

/* --- one function --- */

/* Distinguishes functions of the same name: by parameters, or by source file. */
static void qualified_name(const struct function_symbol *symbol, const char *readable, char *to)
{
	if (symbol->local && symbol->source && !strchr(readable, '('))
		snprintf(to, FUNCTION_NAME_MAX, "%.*s:%.*s", text_fit(symbol->source, 200), symbol->source,
			 text_fit(readable, 300), readable);
	else
		snprintf(to, FUNCTION_NAME_MAX, "%.*s", text_fit(readable, 500), readable);
}

static void function_search_keep_copy(struct found *found, struct mapped *in,
				      const struct function_symbol *symbol, const char *readable)
{
	char name[FUNCTION_NAME_MAX];

	if (!symbol->local && !found->global) { /* a global function takes precedence over local ones */
		*found = (struct found){.global = true};
	} else if (symbol->local && found->global) {
		return;
	}
	for (unsigned i = 0; i < found->n; i++) {
		if (found->in == in && found->copies[i]->address == symbol->address)
			return;
	}
	qualified_name(symbol, readable, name);
	for (unsigned i = 0; i < found->different; i++) {
		if (strcmp(found->names[i], name) == 0)
			name[0] = '\0';
	}
	if (name[0] && found->different < sizeof(found->names) / sizeof(found->names[0]))
		strcpy(found->names[found->different++], name);
	found->in = in;
	if (found->n < MAX_COPIES)
		found->copies[found->n++] = symbol;
}

static void find_in(struct mapped *in, const struct function_spec *spec, const char *source,
		    struct found *found)
{
	char readable[FUNCTION_NAME_MAX];

	*found = (struct found){.n = 0};
	for (size_t i = 0; i < in->file.n; i++) {
		const struct function_symbol *symbol = &in->file.symbols[i];

		if (source && (!symbol->source || strcmp(symbol->source, source) != 0))
			continue;
		if (function_matches(spec, symbol->name, readable))
			function_search_keep_copy(found, in, symbol, readable);
	}
}

static int refuse_several(const struct function_search *search, const struct function_want *want,
			  const struct found *found)
{
	char list[384];
	size_t len = 0;

	for (unsigned i = 0; i < found->different; i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%.*s%s", i ? ", " : "",
					text_fit(found->names[i], 90), found->names[i],
					found->names[i][text_fit(found->names[i], 90)] ? "..." : "");
	return error_set(search->err, EEXIST, "%.*s is the name of several functions: %s",
			 text_fit(want->text, 100), want->text, list);
}

static int function_search_refuse_unknown(const struct function_search *search,
					  const struct function_want *want, const struct function_spec *spec,
					  bool in_file)
{
	struct similar_functions similar = {.n = 0};
	char list[400] = "";
	size_t len = 0;

	for (unsigned i = 0; i < search->n; i++) {
		const struct mapped *in = &search->files[i];

		if (in_file && !function_is_in(spec->where, in->path))
			continue;
		for (size_t j = 0; j < in->file.n; j++)
			similar_functions_offer(&similar, spec, in->file.symbols[j].name);
	}
	for (unsigned i = 0; i < similar.n && len < 300; i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%.*s",
					i ? ", " : "; similar names: ", text_fit(similar.names[i], 90),
					similar.names[i]);
	return error_set(search->err, ENOENT, "no function %.*s%s%s", text_fit(want->text, 100), want->text,
			 in_file ? " in that file" : " in the program or its libraries", list);
}

/*
 * Searches the libraries. A name found in two of them is ambiguous, but a local function does not conflict
 * with a global one.
 */
static int find_in_others(struct function_search *search, const struct function_want *want,
			  const struct function_spec *spec, struct found *found)
{
	struct found other;

	for (unsigned i = 1; i < search->n; i++) {
		find_in(&search->files[i], spec, NULL, &other);
		if (!other.n)
			continue;
		if (!found->n || (other.global && !found->global)) {
			*found = other;
			continue;
		}
		if (found->global && !other.global)
			continue;
		return error_set(search->err, EEXIST,
				 "%.*s is the name of several functions: in %.*s and in %.*s; give FILE:FUNC",
				 text_fit(want->text, 100), want->text, text_fit(found->in->path, 120),
				 found->in->path, text_fit(other.in->path, 120), other.in->path);
	}
	return 0;
}

static int find_in_file(struct function_search *search, const struct function_spec *spec, struct found *found,
			bool *is_file)
{
	unsigned i = 0;

	while (i < search->n && !function_is_in(spec->where, search->files[i].path))
		i++;
	if (i == search->n && spec->where[0] == '/') {
		int rc = function_search_open_path(search, spec->where);

		if (rc)
			return rc;
	}
	*is_file = i < search->n;
	if (*is_file)
		find_in(&search->files[i], spec, NULL, found);
	else if (search->n)
		find_in(&search->files[0], spec, spec->where, found);
	return 0;
}

static int function_search_find_function(struct function_search *search, const struct function_want *want,
					 struct found *found)
{
	struct function_spec spec;
	bool is_file = false;
	int rc = function_spec_parse(want->text, &spec, search->err);

	*found = (struct found){.n = 0};
	if (rc == 0 && spec.where[0]) {
		rc = find_in_file(search, &spec, found, &is_file);
	} else if (rc == 0 && search->n) {
		find_in(&search->files[0], &spec, NULL, found);
		if (!found->n)
			rc = find_in_others(search, want, &spec, found);
	}
	if (rc == 0 && !found->n)
		rc = function_search_refuse_unknown(search, want, &spec, is_file);
	if (rc == 0 && found->different > 1)
		rc = refuse_several(search, want, found);
	return rc;
}

/* A function to find, and the arguments to read. */
struct wanted_function {
	struct found found;
	struct value_list list;
	struct function_want want;
	char name[sizeof(((struct function_spec *)NULL)->where) + FUNCTION_NAME_MAX];
};

static int name_without_list(struct wanted_function *wanted, const char *text, size_t len, struct error *err)
{
	if (len >= sizeof(wanted->name))
		return error_set(err, EINVAL, "the name '%.*s...' is too long", text_fit(text, 200), text);
	memcpy(wanted->name, text, len);
	wanted->name[len] = '\0';
	wanted->want.text = wanted->name;
	return 0;
}

/* Text that is not certainly a list may be the parameters of a C++ function, which is looked up first. */
static int find_wanted(struct function_search *search, const struct function_want *want,
		       struct wanted_function *wanted)
{
	struct value_list *list = &wanted->list;
	int rc = value_list_parse(want->text, list, search->err);

	wanted->want = *want;
	if (rc)
		return rc;
	if (!list->certain && strlen(want->text) < FUNCTION_NAME_MAX) {
		rc = function_search_find_function(search, want, &wanted->found);
		if (rc != -ENOENT || !list->n) {
			list->n = 0;
			return rc;
		}
	}
	rc = name_without_list(wanted, want->text, list->name_len, search->err);
	return rc ? rc : function_search_find_function(search, &wanted->want, &wanted->found);
}

/* --- its probes --- */

static int function_search_add_probe(struct function_search *search, struct mapped *in, uint8_t site,
				     const struct probe_point *point, uint32_t number, uint64_t flags)
{
	uint64_t cookie = FUNCTION_COOKIE(number, point->distance / WORD, point->condition) | flags;
	uint64_t offset;

	if (!native_elf_offset(&in->file.elf, point->address, &offset))
		return error_set(search->err, EBADMSG, "its code at 0x%llx is not in the file",
				 (unsigned long long)point->address);
	return function_plan_add(search->plan, in->file.elf.fd, site, offset, cookie, search->err);
}

/* Go passes arguments in other registers. The names of its functions include a package. */
static bool is_go_function(const struct mapped *in, const struct function_symbol *symbol)
{
	GElf_Shdr header;

	return strchr(symbol->name, '.') &&
	       (native_elf_section(&in->file.elf, ".gopclntab", &header) ||
		native_elf_section(&in->file.elf, ".data.rel.ro.gopclntab", &header));
}

/*
 * Plans what the probe at the start of a copy reads of its arguments. Returns the number of the values, 0 if
 * nothing is read, or a negative errno.
 */
static int function_search_plan_values(struct function_search *search, struct mapped *in,
				       const struct function_symbol *symbol, struct probe_points *points,
				       const struct value_list *list, uint32_t number)
{
	struct function_values values = {.number = number, .site = SITE_FUNCTION_BEGIN};
	struct call_facts facts = {
		.abi = {.arm64 = OWN_MACHINE == EM_AARCH64},
		.entry = symbol->address,
		.begin = points->begin.address,
		.written = points->written,
		.is_copy = symbol->name[function_base(symbol->name)] == '.',
	};
	int rc;

	if (!list->n)
		return 0;
	if (is_go_function(in, symbol))
		return error_set(
			search->err, EINVAL,
			"it is a Go function, whose arguments can be read only if goroutines are traced");
	search->debug.path = in->path;
	facts.dwarf = value_debug_open(&in->debug, &in->file.elf, &in->file.symbols_of, &search->debug);
	rc = values_plan(list, &facts, &values, search->err);
	if (rc == -EAGAIN && points->first.address) {
		points->begin = points->first;
		facts.written = 0;
		rc = values_plan(list, &facts, &values, search->err);
	}
	return rc ? rc : function_plan_read(search->plan, &values, search->err);
}

static int function_search_plan_copy(struct function_search *search, const struct wanted_function *wanted,
				     unsigned copy, uint32_t number, struct probe_points *points)
{
	const struct found *found = &wanted->found;
	const struct function_symbol *symbol = found->copies[copy];
	int values = 0, rc = function_file_probe_points(&found->in->file, symbol, points, search->err);

	if (rc == 0) {
		values =
			function_search_plan_values(search, found->in, symbol, points, &wanted->list, number);
		rc = values < 0 ? values : 0;
	}
	if (rc == 0)
		rc = function_search_add_probe(search, found->in, SITE_FUNCTION_BEGIN, &points->begin, number,
					       (points->ends_there ? FUNCTION_ENDS_THERE : 0) |
						       FUNCTION_READS(values));
	for (unsigned i = 0; i < points->n && rc == 0; i++)
		rc = function_search_add_probe(search, found->in, SITE_FUNCTION_END, &points->ends[i], number,
					       0);
	return rc;
}

static int function_search_plan_one(struct function_search *search, const struct function_want *want,
				    uint32_t number)
{
	struct probe_points *points = malloc(sizeof(*points));
	struct wanted_function *wanted = calloc(1, sizeof(*wanted));
	struct error why = {""};
	int rc = -ENOMEM;

	if (points && wanted)
		rc = find_wanted(search, want, wanted);
	for (unsigned i = 0; rc == 0 && i < wanted->found.n; i++) {
		rc = function_search_plan_copy(search, wanted, i, number, points);
		if (rc && search->err)
			why = *search->err;
	}
	if (why.text[0])
		error_set(search->err, -rc, "%s %.*s: %.*s",
			  rc == -ENOTSUP ? "cannot find the returns of" : "cannot trace",
			  text_fit(want->text, 100), want->text, text_fit(why.text, 300), why.text);
	free(wanted);
	free(points);
	return rc == -ENOMEM ? error_set(search->err, ENOMEM, "out of memory") : rc;
}

int functions_plan(pid_t pid, const char *exe, const struct function_want *wanted, unsigned n,
		   struct function_plan *plan, struct error *err)
{
	struct error line = {""};
	struct function_search search = {.plan = plan, .err = err ? err : &line};
	int rc = 0;

	*plan = (struct function_plan){.nwanted = n};
	if (n == 0)
		return 0;
	if (n > MAX_FUNCTIONS)
		return error_set(err, EINVAL, "more than %u functions", MAX_FUNCTIONS);
	memcpy(plan->wanted, wanted, n * sizeof(*wanted));
	search.files = calloc(MAX_FILES, sizeof(*search.files));
	open_roots(&search, pid);
	if (!search.files)
		rc = error_set(err, ENOMEM, "out of memory");
	else
		rc = pid ? function_search_open_mapped(&search, pid)
			 : function_search_open_path(&search, exe);
	for (unsigned i = 0; rc == 0 && i < n; i++)
		rc = function_search_plan_one(&search, &wanted[i], i + 1);
	function_search_close(&search);
	if (rc)
		functions_free(plan);
	return rc;
}

static int list_file(const struct mapped *in, struct function_list *list)
{
	char plain[FUNCTION_NAME_MAX];
	int rc = 0;

	for (size_t i = 0; i < in->file.n && rc == 0; i++) {
		size_t len = function_name_plain(in->file.symbols[i].name, plain);

		rc = function_list_add(list, plain, len);
	}
	return rc;
}

int functions_list(pid_t pid, struct function_list *list, struct error *err)
{
	struct function_search search = {.err = err};
	int rc;

	search.files = calloc(MAX_FILES, sizeof(*search.files));
	if (!search.files)
		return error_set(err, ENOMEM, "out of memory");
	open_roots(&search, pid);
	rc = function_search_open_mapped(&search, pid);
	for (unsigned i = 0; rc == 0 && i < search.n; i++) {
		rc = list_file(&search.files[i], list);
		if (i == 0 && list->len)
			break;
	}
	function_search_close(&search);
	return rc == -ENOMEM ? error_set(err, ENOMEM, "out of memory") : rc;
}

/* A function's copies are read in different ways, but their values have the same names. */
static const struct function_values *values_of(const struct function_plan *plan, uint32_t number,
					       uint8_t site)
{
	for (unsigned i = 0; i < plan->nvalues; i++) {
		if (plan->values[i].number == number && plan->values[i].site == site)
			return &plan->values[i];
	}
	return NULL;
}

const char *functions_shown(const struct function_want *want)
{
	return want->kind == FUNCTION_REQUEST ? want->text : function_without_file(want->text);
}

size_t functions_shown_len(const struct function_plan *plan, uint32_t number)
{
	const char *name = functions_shown(&plan->wanted[number - 1]);
	struct value_list list = {.name_len = 0};

	if (plan->wanted[number - 1].kind == FUNCTION_REQUEST)
		return strcspn(name, "/");
	if (!values_of(plan, number, SITE_FUNCTION_BEGIN) || value_list_parse(name, &list, NULL))
		return strnlen(name, FUNCTION_NAME_MAX);
	return list.name_len < FUNCTION_NAME_MAX ? list.name_len : FUNCTION_NAME_MAX;
}

static int function_values_log(const struct function_values *values, log_sink sink, void *ctx)
{
	_Alignas(8) char payload[sizeof(struct log_values) + VALUES_MAX * VALUE_LABEL_MAX];
	struct log_values head = {
		.number = values->number, .n = (uint16_t)values->rules.n, .site = values->site};
	struct log_record record = {.type = LOG_VALUES, .data = payload};
	char *to = payload + sizeof(head);

	memcpy(payload, &head, sizeof(head));
	for (uint32_t i = 0; i < values->rules.n && i < VALUES_MAX; i++) {
		size_t len = strnlen(values->labels[i], VALUE_LABEL_MAX - 1);

		*to++ = (char)len;
		memcpy(to, values->labels[i], len);
		to += len;
	}
	record.size = (uint32_t)(to - payload);
	return sink(ctx, &record);
}

static int log_all_values(const struct function_plan *plan, uint32_t number, log_sink sink, void *ctx)
{
	int rc = 0;

	static const uint8_t sites[] = {SITE_FUNCTION_BEGIN, SITE_FUNCTION_END, SITE_REQUEST_BEGIN,
					SITE_REQUEST_END};

	for (size_t i = 0; i < sizeof(sites) && rc == 0; i++) {
		const struct function_values *values = values_of(plan, number, sites[i]);

		rc = values ? function_values_log(values, sink, ctx) : 0;
	}
	return rc;
}

int functions_log(const struct function_plan *plan, log_sink sink, void *ctx)
{
	int rc = 0;

	for (unsigned i = 0; i < plan->nwanted && rc == 0; i++) {
		_Alignas(8) char payload[sizeof(struct log_function) + FUNCTION_NAME_MAX];
		const char *name = functions_shown(&plan->wanted[i]);
		struct log_function function = {
			.number = i + 1,
			.kind = (uint16_t)plan->wanted[i].kind,
			.len = (uint16_t)functions_shown_len(plan, i + 1),
		};
		struct log_record record = {
			.type = LOG_FUNCTION, .size = sizeof(function) + function.len, .data = payload};

		memcpy(payload, &function, sizeof(function));
		memcpy(payload + sizeof(function), name, function.len);
		rc = sink(ctx, &record);
		if (rc == 0)
			rc = log_all_values(plan, i + 1, sink, ctx);
	}
	return rc;
}
