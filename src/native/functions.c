/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "native/functions.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/record.h"
#include "native/function_file.h"
#include "target/maps.h"
#include "native/modules.h"
#include "util/files.h"
#include "util/window.h"

#define MAX_FILES  1024
#define MAX_COPIES 64 /* compiler-made copies of one function */
#define WORD       8

struct mapped { /* a mapped file */
	char path[PATH_MAX];
	struct module_key key;
	struct function_file file;
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
	char names[4][FUNCTION_NAME_MAX]; /* of different functions, in a form that distinguishes them */
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

static bool is_open(const struct function_search *search, const struct proc_mapping *mapping)
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

/* A debug file of another build is skipped. native/names.c reports it. */
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

static int open_mapped(struct function_search *search, pid_t pid)
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

		if (!mapping.executable || is_open(search, &mapping))
			continue;
		fd = module_open(pid, &mapping, &key);
		if (fd >= 0)
			rc = add_file(search, fd, mapping.path, mapping.path_len, &key);
	}
	maps_free(&maps);
	put_first(search, pid);
	return rc;
}

static int open_path(struct function_search *search, const char *path)
{
	int fd = file_open(path);
	unsigned before = search->n;

	if (fd < 0)
		return error_set(search->err, -fd, "cannot open %.200s: %s", path, strerror(-fd));
	add_file(search, fd, path, strlen(path), &(struct module_key){0});
	if (search->n > before)
		return 0;
	return error_set(search->err, ENOEXEC, "%.200s is not a program or library for this machine", path);
}

/* --- one function --- */

/* Distinguishes functions of the same name: by parameters, or by source file. */
static void name_apart(const struct function_symbol *symbol, const char *readable, char *to)
{
	if (symbol->local && symbol->source && !strchr(readable, '('))
		snprintf(to, FUNCTION_NAME_MAX, "%.200s:%.300s", symbol->source, readable);
	else
		snprintf(to, FUNCTION_NAME_MAX, "%.500s", readable);
}

static void keep_copy(struct found *found, struct mapped *in, const struct function_symbol *symbol,
		      const char *readable)
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
	name_apart(symbol, readable, name);
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
			keep_copy(found, in, symbol, readable);
	}
}

static int refuse_several(const struct function_search *search, const struct function_want *want,
			  const struct found *found)
{
	char list[384];
	size_t len = 0;

	for (unsigned i = 0; i < found->different; i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%.90s", i ? ", " : "",
					found->names[i]);
	return error_set(search->err, EEXIST, "%.100s is the name of several functions: %s", want->text,
			 list);
}

static int refuse_unknown(const struct function_search *search, const struct function_want *want,
			  const struct function_spec *spec, bool in_file)
{
	struct function_near near = {.n = 0};
	char list[400] = "";
	size_t len = 0;

	for (unsigned i = 0; i < search->n; i++) {
		const struct mapped *in = &search->files[i];

		if (in_file && !function_is_in(spec->where, in->path))
			continue;
		for (size_t j = 0; j < in->file.n; j++)
			function_near_offer(&near, spec, in->file.symbols[j].name);
	}
	for (unsigned i = 0; i < near.n && len < 300; i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%.90s",
					i ? ", " : "; near: ", near.names[i]);
	return error_set(search->err, ENOENT, "no function %.100s%s%s", want->text,
			 in_file ? " in that file" : " in the program or its libraries", list);
}

/* Searches the libraries. A name that two of them have is ambiguous, but a local function does not conflict
 * with a global one. */
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
		return error_set(
			search->err, EEXIST,
			"%.100s is the name of several functions: in %.120s and in %.120s; give FILE:FUNC",
			want->text, found->in->path, other.in->path);
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
		int rc = open_path(search, spec->where);

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

static int find_function(struct function_search *search, const struct function_want *want,
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
		rc = refuse_unknown(search, want, &spec, is_file);
	if (rc == 0 && found->different > 1)
		rc = refuse_several(search, want, found);
	return rc;
}

/* --- its probes --- */

static int add_probe(struct function_search *search, struct mapped *in, uint8_t site,
		     const struct probe_point *point, uint32_t number, bool ends_there)
{
	uint64_t cookie = FUNCTION_COOKIE(number, point->distance / WORD, point->condition) |
			  (ends_there ? FUNCTION_ENDS_THERE : 0);
	uint64_t offset;

	if (!native_elf_offset(&in->file.elf, point->address, &offset))
		return error_set(search->err, EBADMSG, "its code at 0x%llx is not in the file",
				 (unsigned long long)point->address);
	return function_plan_add(search->plan, in->file.elf.fd, site, offset, cookie, search->err);
}

static int plan_copy(struct function_search *search, const struct found *found, unsigned copy,
		     uint32_t number, struct probe_points *points)
{
	int rc = function_file_probe_points(&found->in->file, found->copies[copy], points, search->err);

	if (rc == 0)
		rc = add_probe(search, found->in, SITE_FUNCTION_BEGIN, &points->begin, number,
			       points->ends_there);
	for (unsigned i = 0; i < points->n && rc == 0; i++)
		rc = add_probe(search, found->in, SITE_FUNCTION_END, &points->ends[i], number, false);
	return rc;
}

static int plan_one(struct function_search *search, const struct function_want *want, uint32_t number)
{
	struct probe_points *points = malloc(sizeof(*points));
	struct found *found = malloc(sizeof(*found));
	struct error why = {""};
	int rc = -ENOMEM;

	if (points && found)
		rc = find_function(search, want, found);
	for (unsigned i = 0; rc == 0 && i < found->n; i++) {
		rc = plan_copy(search, found, i, number, points);
		if (rc && search->err)
			why = *search->err;
	}
	if (why.text[0])
		error_set(search->err, -rc, "cannot find the returns of %.100s: %.300s", want->text,
			  why.text);
	free(found);
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
		rc = pid ? open_mapped(&search, pid) : open_path(&search, exe);
	for (unsigned i = 0; rc == 0 && i < n; i++)
		rc = plan_one(&search, &wanted[i], i + 1);
	while (search.n)
		function_file_close(&search.files[--search.n].file);
	free(search.files);
	close_roots(&search);
	if (rc)
		functions_free(plan);
	return rc;
}

/* Parses the text again to skip FILE; it has been accepted before. */
const char *functions_shown(const struct function_want *want)
{
	struct function_spec spec;

	if (function_spec_parse(want->text, &spec, NULL) || !spec.where[0])
		return want->text;
	return want->text + strlen(spec.where) + 1;
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
			.len = (uint16_t)strnlen(name, FUNCTION_NAME_MAX),
		};
		struct log_record record = {
			.type = LOG_FUNCTION, .size = sizeof(function) + function.len, .data = payload};

		memcpy(payload, &function, sizeof(function));
		memcpy(payload + sizeof(function), name, function.len);
		rc = sink(ctx, &record);
	}
	return rc;
}
