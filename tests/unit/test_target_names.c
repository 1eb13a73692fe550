/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names of native code, in files and processes built here: from DWARF, symbols, separate debug files, and
 * none of these. Compared with addr2line.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/names/names.h"
#include "code/elf/file.h"

#define SOURCES "tests/fixtures/names"

struct world {
	char sources[PATH_MAX];
	char dir[32];
	char reported[8][1024]; /* lines about debug files */
	unsigned nreported;
	int roots[2];
};

static struct world world;

static void report(void *ctx, const char *line)
{
	(void)ctx;
	if (world.nreported < 8)
		snprintf(world.reported[world.nreported++], sizeof(world.reported[0]), "%s", line);
}

static void run(const char *fmt, ...)
{
	char command[PATH_MAX + 1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(command, sizeof(command), fmt, args);
	va_end(args);
	if (system(command))
		fail_msg("failed: %s", command);
}

static int enter(void **state)
{
	(void)state;
	strcpy(world.dir, "/tmp/test-names-XXXXXX");
	if (!realpath(SOURCES, world.sources) || !mkdtemp(world.dir) || chdir(world.dir))
		return -1;
	/* Many programs are built with relative paths. */
	run("cp %s/prog.cc . && mkdir -p build && cd build && g++ -g -O2 -o ../prog ../prog.cc",
	    world.sources);
	run("gcc -shared -fPIC -O2 -o extra.so %s/extra.c", world.sources);
	if (mkdir("root", 0755))
		return -1;
	world.roots[0] = open("root", O_PATH | O_DIRECTORY);
	world.roots[1] = open("/", O_PATH | O_DIRECTORY);
	return world.roots[0] < 0 || world.roots[1] < 0 ? -1 : 0;
}

static int leave(void **state)
{
	char command[64];

	(void)state;
	close(world.roots[0]);
	close(world.roots[1]);
	snprintf(command, sizeof(command), "rm -rf '%s'", world.dir);
	return chdir("/") || system(command) ? -1 : 0;
}

/* --- one file --- */

struct opened {
	struct native_file *file;
	struct native_elf elf; /* for finding offsets */
	struct native_search search;
	char path[64];
	struct symbol_draft draft;
	struct budget budget;
};

static struct opened *open_it(const char *name)
{
	struct opened *it = calloc(1, sizeof(*it));
	struct native_source source = {.fd = open(name, O_RDONLY | O_CLOEXEC), .path = it->path};

	snprintf(it->path, sizeof(it->path), "%s/%s", world.dir, name);
	it->search = (struct native_search){
		.roots = {world.roots[0], world.roots[1]}, .report = report, .budget = &it->budget};
	it->budget = (struct budget){.bytes = 100u << 20, .cpu_ns = 1000000000};
	assert_true(source.fd >= 0);
	assert_int_equal(native_elf_open(&it->elf, open(name, O_RDONLY | O_CLOEXEC)), 0);
	it->file = native_file_new(&source);
	assert_non_null(it->file);
	world.nreported = 0;
	return it;
}

static void close_it(struct opened *it)
{
	native_file_free(it->file);
	native_elf_close(&it->elf);
	free(it);
}

static enum native_found look(struct opened *it, uint64_t address)
{
	uint64_t offset;

	assert_true(native_elf_offset(&it->elf, address, &offset));
	draft_begin(&it->draft, address + 1);
	return native_file_frames(it->file, &it->search, offset, &it->draft);
}

struct line {
	char function[NATIVE_FUNCTION_MAX + 1], file[NATIVE_FILE_MAX + 1];
	uint32_t line;
};

static struct line frame_of(const struct log_symbol *symbol, unsigned index)
{
	const char *at = (const char *)(symbol + 1);
	struct line line = {.line = 0};

	assert_true(index < symbol->nframes);
	for (unsigned i = 0; i <= index; i++) {
		struct log_symbol_frame frame;

		memcpy(&frame, at, sizeof(frame));
		at += sizeof(frame);
		if (i == index) {
			memcpy(line.function, at, frame.function_len);
			memcpy(line.file, at + frame.function_len, frame.file_len);
			line.line = frame.line;
		}
		at += frame.function_len + frame.file_len;
	}
	return line;
}

static unsigned long ask(const char *fmt, ...)
{
	char command[1024];
	unsigned long answer = 0;
	va_list args;
	FILE *pipe;

	va_start(args, fmt);
	vsnprintf(command, sizeof(command), fmt, args);
	va_end(args);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_int_equal(fscanf(pipe, "%lx", &answer), 1);
	pclose(pipe);
	return answer;
}

static uint64_t address_of(const char *name, const char *symbol)
{
	return ask("nm %s | awk '$3 == \"%s\" { print $1 }'", name, symbol);
}

/* Returns the number of the source line that ends in a mark. */
static uint32_t line_of(const char *mark)
{
	return (uint32_t)ask("grep -n '// %s$' %s/prog.cc | cut -d: -f1 | xargs printf %%x", mark,
			     world.sources);
}

/* Returns the first instruction that stores to `sink` in a function: it is within all calls inlined there. */
static uint64_t store_in(const char *name, const char *symbol)
{
	return ask("objdump -d --disassemble=%s --no-show-raw-insn %s | grep -m1 '<sink>' | sed "
		   "'s/^ *//;s/:.*//'",
		   symbol, name);
}

#define RUN "_ZN3app6Worker3runEi"

static void assert_line(struct opened *it, unsigned index, const char *function, uint32_t number)
{
	struct line line = frame_of(&it->draft.head, index);

	assert_string_equal(line.function, function);
	assert_int_equal(line.line, number);
	if (number)
		assert_string_equal(strrchr(line.file, '/'), "/prog.cc");
}

static void test_inlined_callers(void **state)
{
	struct opened *it = open_it("prog");

	(void)state;
	assert_int_equal(look(it, store_in("prog", RUN)), NATIVE_NAMED);
	assert_int_equal(it->draft.head.nframes, 3);
	assert_line(it, 0, "inner", line_of("in inner"));
	assert_line(it, 1, "middle", line_of("calls inner"));
	assert_line(it, 2, "app::Worker::run(int)", line_of("calls middle"));
	assert_int_equal(look(it, store_in("prog", "plain")), NATIVE_NAMED);
	assert_int_equal(it->draft.head.nframes, 1);
	assert_line(it, 0, "plain", line_of("in plain"));
	assert_int_equal(world.nreported, 0);
	close_it(it);
}

/* --- separate debug files --- */

/*
 * Asserts that an address in a stripped file has no name. The file keeps one symbol in .dynsym, which is not
 * one of ours.
 */
static void assert_unnamed(struct opened *it, uint64_t address, uint64_t function)
{
	char wanted[64];

	snprintf(wanted, sizeof(wanted), "%s+0x%llx", strrchr(it->path, '/') + 1,
		 (unsigned long long)function);
	assert_int_equal(look(it, address), NATIVE_NOTHING);
	assert_int_equal(it->draft.head.nframes, 1);
	assert_line(it, 0, wanted, 0);
}

static void test_no_symbols(void **state)
{
	struct opened *it;

	(void)state;
	run("strip -o bare prog && objcopy -R .gnu_debuglink bare");
	it = open_it("bare");
	assert_unnamed(it, address_of("prog", "plain") + 3, address_of("prog", "plain"));
	assert_int_equal(world.nreported, 0);
	/* The header shows where the program starts. */
	assert_int_equal(look(it, address_of("prog", "_start") + 4), NATIVE_NAMED);
	assert_line(it, 0, "_start", 0);
	assert_int_equal(it->draft.head.hint, HINT_START);
	close_it(it);
}

static void test_symbols_alone(void **state)
{
	struct opened *it;

	(void)state;
	run("strip -g -o symbols prog");
	it = open_it("symbols");
	assert_int_equal(look(it, store_in("prog", RUN)), NATIVE_NAMED);
	assert_int_equal(it->draft.head.nframes, 1);
	assert_line(it, 0, "app::Worker::run(int)", 0);
	close_it(it);
}

static void assert_whole(const char *name, const char *original)
{
	struct opened *it = open_it(name);

	assert_int_equal(look(it, store_in(original, RUN)), NATIVE_NAMED);
	assert_int_equal(it->draft.head.nframes, 3);
	assert_line(it, 0, "inner", line_of("in inner"));
	assert_line(it, 2, "app::Worker::run(int)", line_of("calls middle"));
	assert_int_equal(world.nreported, 0);
	close_it(it);
}

/*
 * The debug file is only in the target's root directory. The link to it is absolute, relative to that root.
 */
static void test_debug_file_by_build_id(void **state)
{
	char path[PATH_MAX] = "";
	FILE *pipe;

	(void)state;
	run("strip -o by-id prog && objcopy -R .gnu_debuglink by-id");
	pipe = popen("readelf -n prog | sed -n 's/.*Build ID: \\(..\\)\\(.*\\)/\\1\\/\\2/p'", "r");
	assert_non_null(pipe);
	assert_int_equal(fscanf(pipe, "%128s", path), 1);
	pclose(pipe);
	run("mkdir -p root/usr/lib/debug/.build-id/%.2s root/elsewhere", path);
	run("objcopy --only-keep-debug --compress-debug-sections prog root/elsewhere/debug");
	run("ln -s /elsewhere/debug root/usr/lib/debug/.build-id/%s.debug", path);
	assert_whole("by-id", "prog");
	/* A debug file of another build is reported, and not used. */
	run("g++ -g -O1 -o other %s/prog.cc && objcopy --only-keep-debug other root/elsewhere/debug",
	    world.sources);
	struct opened *it = open_it("by-id");
	assert_unnamed(it, store_in("prog", RUN), address_of("prog", RUN));
	assert_int_equal(world.nreported, 1);
	assert_non_null(strstr(world.reported[0], "another build of /tmp/test-names-"));
	assert_unnamed(it, store_in("prog", "plain"), address_of("prog", "plain"));
	assert_int_equal(world.nreported, 1);
	close_it(it);
	run("rm -r root/usr root/elsewhere");
}

static void test_debug_file_by_link(void **state)
{
	struct opened *it;

	(void)state;
	run("objcopy --only-keep-debug prog linked.debug");
	run("strip -o linked prog && objcopy --add-gnu-debuglink=linked.debug linked");
	assert_whole("linked", "prog");
	run("mkdir -p .debug && mv linked.debug .debug");
	assert_whole("linked", "prog");
	run("mkdir -p root%s && mv .debug/linked.debug root%s/", world.dir, world.dir);
	assert_whole("linked", "prog");
	run("mkdir -p root/usr/lib/debug%s && mv root%s/linked.debug root/usr/lib/debug%s/", world.dir,
	    world.dir, world.dir);
	assert_whole("linked", "prog");
	run("rm -r root/usr && objcopy --only-keep-debug other linked.debug");
	it = open_it("linked");
	assert_unnamed(it, store_in("prog", RUN), address_of("prog", RUN));
	assert_int_equal(world.nreported, 1);
	close_it(it);
	run("rm linked.debug");
}

/* Without build ids the checksum decides. */
static void test_debug_file_by_checksum(void **state)
{
	struct opened *it;

	(void)state;
	run("g++ -g -O2 -Wl,--build-id=none -o whole %s/prog.cc && objcopy --only-keep-debug whole "
	    "no-id.debug",
	    world.sources);
	run("strip -o no-id whole && objcopy --add-gnu-debuglink=no-id.debug no-id");
	assert_whole("no-id", "whole");
	run("echo >> no-id.debug");
	it = open_it("no-id");
	assert_unnamed(it, store_in("whole", RUN), address_of("whole", RUN));
	assert_int_equal(world.nreported, 1);
	close_it(it);
}

/* Memory for debug information is limited. Symbols are still available. */
static void test_too_much_debug_information(void **state)
{
	struct opened *it = open_it("prog");

	(void)state;
	it->budget.bytes = 100u << 10;
	assert_int_equal(look(it, store_in("prog", RUN)), NATIVE_NAMED);
	assert_int_equal(it->draft.head.nframes, 1);
	assert_line(it, 0, "app::Worker::run(int)", 0);
	assert_int_equal(world.nreported, 1);
	assert_true(it->budget.bytes <= 100u << 10);
	close_it(it);
}

/* .gnu_debugdata, as in Fedora's packages. */
static void test_compressed_symbols(void **state)
{
	struct opened *it;

	(void)state;
	run("strip -g -o mini prog && objcopy -S -R .gnu_debuglink --add-section .none=/dev/null prog "
	    "minimal");
	run("cp mini minimal && objcopy -R .comment minimal && xz -k -f minimal");
	run("strip -o mini prog && objcopy --add-section .gnu_debugdata=minimal.xz mini");
	it = open_it("mini");
	assert_int_equal(look(it, store_in("prog", RUN)), NATIVE_NAMED);
	assert_int_equal(it->draft.head.nframes, 1);
	assert_line(it, 0, "app::Worker::run(int)", 0);
	close_it(it);
	run("head -c 2000 minimal.xz > torn.xz && strip -o torn prog && objcopy --add-section "
	    ".gnu_debugdata=torn.xz torn");
	it = open_it("torn");
	assert_unnamed(it, store_in("prog", RUN), address_of("prog", RUN));
	close_it(it);
}

static void test_no_elf_at_all(void **state)
{
	struct native_source source = {.fd = -1, .bytes = "hello", .size = 5, .path = "/x/y/strange"};
	struct native_file *file = native_file_new(&source);
	struct budget budget = {.cpu_ns = 1000000000};
	struct native_search search = {.roots = {-1, -1}, .report = report, .budget = &budget};
	static struct symbol_draft draft;

	(void)state;
	draft_begin(&draft, 0x1235);
	assert_int_equal(native_file_frames(file, &search, 0x1234, &draft), NATIVE_NOTHING);
	assert_string_equal(frame_of(&draft.head, 0).function, "strange+0x1234");
	native_file_free(file);
}

/* --- against addr2line --- */

static void read_text(uint64_t *from, uint64_t *size)
{
	*from = ask("readelf -SW prog | sed 's/\\[ */[/' | awk '$2 == \".text\" { print $4 }'");
	*size = ask("readelf -SW prog | sed 's/\\[ */[/' | awk '$2 == \".text\" { print $6 }'");
}

/* The address's location according to addr2line: "file:line" of each frame, innermost first. */
static unsigned read_places(FILE *pipe, char places[64][PATH_MAX], char *next, size_t size)
{
	unsigned n = 0;

	while (fgets(next, (int)size, pipe) && strncmp(next, "0x", 2) != 0) {
		char place[PATH_MAX];

		if (!fgets(place, sizeof(place), pipe))
			break;
		place[strcspn(place, " \n")] = '\0'; /* " (discriminator 1)" */
		if (n < 64)
			strcpy(places[n++], place);
	}
	return n;
}

static bool same_places(struct opened *it, char places[64][PATH_MAX], unsigned n)
{
	if (n != it->draft.head.nframes)
		return false;
	for (unsigned i = 0; i < n; i++) {
		struct line line = frame_of(&it->draft.head, i);
		char ours[NATIVE_FILE_MAX + 16];

		snprintf(ours, sizeof(ours), line.line ? "%s:%u" : "%s:?", line.file, line.line);
		if (strcmp(ours, places[i]) != 0)
			return false;
	}
	return true;
}

static void test_as_addr2line(void **state)
{
	struct opened *it = open_it("prog");
	static char places[64][PATH_MAX], next[8192];
	uint64_t from, size, seed = 1;
	unsigned asked = 0, same = 0;
	FILE *file = fopen("addresses", "w"), *pipe;

	(void)state;
	read_text(&from, &size);
	for (unsigned i = 0; i < 1000; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		fprintf(file, "%lx\n", (unsigned long)(from + (seed >> 33) % size));
	}
	fclose(file);
	pipe = popen("addr2line -a -i -f -e prog < addresses", "r");
	assert_true(fgets(next, sizeof(next), pipe));
	while (strncmp(next, "0x", 2) == 0) {
		uint64_t address = strtoull(next, NULL, 16);
		unsigned n;

		next[0] = '\0';
		n = read_places(pipe, places, next, sizeof(next));
		/* Between functions there is nothing, and the C library's own code has no lines. */
		if (look(it, address) == NATIVE_NOTHING || strncmp(places[0], "??", 2) == 0)
			continue;
		asked++;
		if (same_places(it, places, n))
			same++;
		else
			print_message("not the same: 0x%llx\n", (unsigned long long)address);
	}
	pclose(pipe);
	close_it(it);
	print_message("the same as addr2line's: %u of %u\n", same, asked);
	assert_true(asked > 700);
	assert_int_equal(same, asked);
}

/* --- processes --- */

struct child {
	pid_t pid;
	FILE *to, *from;
	uint64_t plain; /* its address */
};

static uint64_t read_address(struct child *child)
{
	unsigned long address;

	assert_int_equal(fscanf(child->from, "%lx", &address), 1);
	return address;
}

/*
 * Becomes the program. If hide is not NULL, it gets its own mount namespace, with a tmpfs over that
 * directory.
 */
static void be_child(const char *path, const char *hide, int in, int out)
{
	dup2(in, 0);
	dup2(out, 1);
	if (hide && (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		     mount("none", hide, "tmpfs", 0, NULL)))
		_exit(77);
	if (hide && system("cp prog debug-here linked-here.debug inside 2>/dev/null"))
		_exit(78);
	execl(path, path, NULL);
	_exit(79);
}

static struct child start(const char *path, const char *hide)
{
	struct child child;
	int in[2], out[2];

	assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
	child.pid = fork();
	if (child.pid == 0)
		be_child(path, hide, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	child.to = fdopen(in[1], "w");
	child.from = fdopen(out[0], "r");
	child.plain = read_address(&child);
	return child;
}

static void stop(struct child *child)
{
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
	fclose(child->to);
	fclose(child->from);
}

enum { MAX_SEEN = 64 };

/* The output of names_put(). */
struct seen {
	uint32_t types[MAX_SEEN];
	unsigned n;
	uint64_t pcs[MAX_SEEN]; /* of LOG_SYMBOL */
	uint8_t hints[MAX_SEEN];
	struct line outermost[MAX_SEEN];
};

static int see(void *ctx, const struct log_record *record)
{
	struct seen *seen = ctx;
	const struct log_symbol *symbol = record->data;

	assert_int_equal(rawlog_check_record(record, NULL), 0);
	assert_true(seen->n < MAX_SEEN);
	seen->types[seen->n] = record->type;
	if (record->type == LOG_SYMBOL) {
		seen->pcs[seen->n] = symbol->pc;
		seen->hints[seen->n] = symbol->hint;
		if (symbol->nframes)
			seen->outermost[seen->n] = frame_of(symbol, symbol->nframes - 1);
	}
	seen->n++;
	return 0;
}

static void put_stack(void *names, const uint64_t *pcs, uint32_t n, uint16_t flags)
{
	struct {
		struct raw_stack head;
		uint64_t pcs[16];
	} stack = {.head = {.n = n, .site = SITE_STACK, .flags = flags, .hash = 1}};
	struct log_record record = {
		.type = LOG_STACK, .size = (uint32_t)(sizeof(stack.head) + n * sizeof(*pcs)), .data = &stack};

	memcpy(stack.pcs, pcs, n * sizeof(*pcs));
	assert_int_equal(names_put(names, &record), 0);
}

static void put_site(void *names, uint8_t site)
{
	struct raw_record raw = {.site = site};
	struct log_record record = {.type = LOG_RECORDS, .size = sizeof(raw), .data = &raw};

	assert_int_equal(names_put(names, &record), 0);
}

static void *name_it(pid_t pid, struct seen *seen)
{
	struct error err = {""};
	void *names = NULL;

	*seen = (struct seen){.n = 0};
	if (names_new(pid, see, seen, &names, &err))
		fail_msg("%s", err.text);
	return names;
}

static void assert_seen(const struct seen *seen, unsigned i, uint64_t pc, const char *function)
{
	assert_true(i < seen->n);
	assert_int_equal(seen->types[i], LOG_SYMBOL);
	assert_int_equal(seen->pcs[i], pc);
	assert_string_equal(seen->outermost[i].function, function);
}

/* Each address is named once, before the first stack with it. Go stacks and kernel functions get no names. */
static void test_names_come_before_stacks(void **state)
{
	struct child child = start("./prog", NULL);
	struct seen seen;
	void *names = name_it(child.pid, &seen);
	const uint64_t pcs[] = {child.plain + 2, 0x1234, child.plain + 2, 0, LOG_KERNEL_PC | 1};

	(void)state;
	put_stack(names, pcs, 5, 0);
	assert_int_equal(seen.n, 1);
	put_stack(names, pcs, 5, RAW_STACK_NATIVE);
	put_stack(names, pcs, 5, RAW_STACK_NATIVE);
	put_site(names, SITE_SWITCH);
	assert_int_equal(seen.n, 6);
	assert_seen(&seen, 1, pcs[0], "plain");
	assert_seen(&seen, 2, 0x1234, "");
	assert_int_equal(seen.types[3], LOG_STACK);
	assert_int_equal(seen.types[4], LOG_STACK);
	assert_int_equal(seen.types[5], LOG_RECORDS);
	names_free(names);
	stop(&child);
}

/* The program may be replaced on disk, and may have exited before it is inspected. */
static void test_processes_that_are_gone(void **state)
{
	struct child child;
	struct seen seen;
	void *names;
	uint64_t pc;

	(void)state;
	run("cp prog gone");
	child = start("./gone", NULL);
	pc = child.plain + 2;
	run("rm gone && cp extra.so gone");
	names = name_it(child.pid, &seen);
	stop(&child);
	put_site(names, SITE_MAPPED);
	put_stack(names, &pc, 1, RAW_STACK_NATIVE);
	assert_int_equal(seen.n, 3);
	assert_seen(&seen, 1, pc, "plain");
	assert_string_equal(strrchr(seen.outermost[1].file, '/'), "/prog.cc");
	names_free(names);
	names = NULL;
	assert_true(names_new(child.pid, see, &seen, &names, NULL) < 0);
	assert_null(names);
}

static uint64_t vdso_function(uint64_t base)
{
	struct native_elf elf;
	struct native_symbols symbols = {.n = 0};
	uint64_t found = 0;

	uint64_t own = getauxval(AT_SYSINFO_EHDR);
	uint64_t end = ask("sed -n 's/.*-\\([0-9a-f]*\\) .*vdso.*/\\1/p' /proc/%d/maps", (int)getpid());

	/* The same kernel has the same vDSO. */
	assert_int_equal(native_elf_memory(&elf, (const void *)own, end - own), 0);
	assert_int_equal(native_symbols_add(&symbols, &elf), 0);
	for (size_t i = 0; i < symbols.n; i++) {
		if (strcmp(symbols.list[i].name, "__vdso_clock_gettime") == 0)
			found = base + symbols.list[i].address;
	}
	native_symbols_free(&symbols);
	native_elf_close(&elf);
	assert_true(found != 0);
	return found;
}

static void test_vdso(void **state)
{
	struct child child = start("./prog", NULL);
	struct seen seen;
	void *names = name_it(child.pid, &seen);
	uint64_t pc = vdso_function(ask("grep vdso /proc/%d/maps", (int)child.pid)) + 3;

	(void)state;
	put_stack(names, &pc, 1, RAW_STACK_NATIVE);
	assert_seen(&seen, 0, pc, "clock_gettime");
	names_free(names);
	stop(&child);
}

/* An address that was not code when it was first seen gets its name once it is mapped. */
static void test_libraries_that_come_later(void **state)
{
	struct child child = start("./prog", NULL);
	struct seen seen;
	void *names = name_it(child.pid, &seen);
	uint64_t pc;

	(void)state;
	fprintf(child.to, "%s/extra.so\n", world.dir);
	fflush(child.to);
	pc = read_address(&child) + 2;
	put_stack(names, &pc, 1, RAW_STACK_NATIVE);
	/* Even without a record: the address is in no known file. */
	assert_seen(&seen, 0, pc, "");
	assert_seen(&seen, 1, pc, "extra");
	assert_int_equal(seen.types[2], LOG_STACK);
	put_site(names, SITE_MAPPED);
	assert_int_equal(seen.n, 4);
	names_free(names);
	stop(&child);
}

static uint64_t map_code(struct child *child, const char *name)
{
	fprintf(child->to, "@%s/%s\n", world.dir, name);
	fflush(child->to);
	return read_address(child);
}

/* Another file at the same place: its names replace the earlier ones. */
static void test_libraries_that_are_replaced(void **state)
{
	struct child child = start("./prog", NULL);
	struct seen seen;
	void *names = name_it(child.pid, &seen);
	uint64_t pcs[2];

	(void)state;
	/* The same offsets have other functions: there is one more in front. */
	run("(echo 'int before(int n) { return n * 3; }'; sed 's/extra/other/' %s/extra.c) > other.c",
	    world.sources);
	run("gcc -shared -fPIC -O2 -o other.so other.c");
	pcs[0] = map_code(&child, "extra.so") + address_of("extra.so", "extra") + 2;
	pcs[1] = child.plain + 2;
	put_site(names, SITE_MAPPED);
	put_stack(names, pcs, 2, RAW_STACK_NATIVE);
	assert_seen(&seen, 1, pcs[0], "extra");
	assert_seen(&seen, 2, pcs[1], "plain");
	assert_int_equal(seen.n, 4);
	map_code(&child, "other.so");
	do { /* the mappings are not reread every time */
		usleep(100000);
		put_site(names, SITE_MAPPED);
	} while (seen.types[seen.n - 2] != LOG_SYMBOL && seen.n < MAX_SEEN - 2);
	assert_seen(&seen, seen.n - 2, pcs[0], "before");
	assert_int_equal(seen.types[seen.n - 1], LOG_RECORDS);
	names_free(names);
	stop(&child);
}

/* A binary and a debug file that exist only in the process's mount namespace. */
static void test_other_mount_namespace(void **state)
{
	struct child child;
	struct seen seen;
	void *names;
	uint64_t pc;

	(void)state;
	if (geteuid() != 0) {
		print_message("SKIP: needs root\n");
		skip();
	}
	run("mkdir -p inside && objcopy --only-keep-debug prog linked-here.debug");
	run("strip -o debug-here prog && objcopy --add-gnu-debuglink=linked-here.debug debug-here");
	child = start("inside/debug-here", "inside");
	run("rm linked-here.debug && test -z \"$(ls inside)\"");
	names = name_it(child.pid, &seen);
	pc = child.plain + 2;
	put_stack(names, &pc, 1, RAW_STACK_NATIVE);
	assert_seen(&seen, 0, pc, "plain");
	assert_string_equal(strrchr(seen.outermost[0].file, '/'), "/prog.cc");
	names_free(names);
	stop(&child);
}

/* A program that is started by a link, and another one that only calls itself so. */
static void test_names_of_a_program(void **state)
{
	static const char *const names[][2] = {{"server", "server+0x"}, {"bare", "bare+0x"}};

	(void)state;
	run("ln -s bare server");
	for (size_t i = 0; i < 2; i++) {
		char path[32];
		struct child child;
		struct seen seen;
		void *to;
		uint64_t pc;

		snprintf(path, sizeof(path), "./%s", names[i][0]);
		child = start(path, NULL);
		to = name_it(child.pid, &seen);
		pc = child.plain + 2;
		put_stack(to, &pc, 1, RAW_STACK_NATIVE);
		assert_int_equal(seen.types[0], LOG_SYMBOL);
		if (strncmp(seen.outermost[0].function, names[i][1], strlen(names[i][1])))
			fail_msg("%s", seen.outermost[0].function);
		names_free(to);
		stop(&child);
	}
	run("rm server");
}

static void write_map(pid_t pid, const char *mode, const char *text)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
	file = fopen(path, mode);
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* A program names the code that it generates, while it runs, in a file that others could make, too. */
static void test_generated_code(void **state)
{
	struct child child = start("./prog", NULL);
	struct seen seen;
	void *names = name_it(child.pid, &seen);
	const uint64_t pcs[] = {0x1011, 0x1021, 0x1031, child.plain + 2};

	(void)state;
	write_map(child.pid, "w", "1000 20 JS:*parse /srv/app.js:12:3\n");
	put_stack(names, pcs, 1, RAW_STACK_NATIVE);
	assert_seen(&seen, 0, pcs[0], "parse");
	assert_string_equal(seen.outermost[0].file, "/srv/app.js");
	usleep(150000); /* it is not looked at again at once */
	write_map(child.pid, "a", "1020 10 int Shop.sum(int)\n");
	put_stack(names, pcs + 1, 1, RAW_STACK_NATIVE);
	assert_seen(&seen, 2, pcs[1], "Shop.sum");
	usleep(150000);
	write_map(child.pid, "a", "1030 10 by another\n");
	if (geteuid() == 0)
		run("chown 12345 /tmp/perf-%d.map", (int)child.pid);
	else
		run("rm /tmp/perf-%d.map; ln -s /etc/passwd /tmp/perf-%d.map", (int)child.pid,
		    (int)child.pid);
	put_stack(names, pcs + 2, 2, RAW_STACK_NATIVE);
	assert_seen(&seen, 4, pcs[2], "");
	assert_seen(&seen, 5, pcs[3], "plain");
	run("rm /tmp/perf-%d.map", (int)child.pid);
	names_free(names);
	stop(&child);
}

/* The caller of main is not part of the program. */
static void test_start_code(void **state)
{
	struct child child = start("./prog", NULL);
	struct seen seen;
	void *names = name_it(child.pid, &seen);
	uint64_t main_at = child.plain - address_of("prog", "plain") + address_of("prog", "main");
	uint64_t start_at = child.plain - address_of("prog", "plain") + address_of("prog", "_start");
	const uint64_t pcs[] = {main_at + 9, start_at + 34};

	(void)state;
	put_stack(names, pcs, 2, RAW_STACK_NATIVE);
	assert_seen(&seen, 0, pcs[0], "main");
	assert_int_equal(seen.hints[0], HINT_NONE);
	assert_seen(&seen, 1, pcs[1], "_start");
	assert_int_equal(seen.hints[1], HINT_START);
	names_free(names);
	stop(&child);
}

/* The same if libc and the program are stripped: recognized by their callers. */
static void test_start_code_without_names(void **state)
{
	struct child child;
	struct seen seen;
	void *names;
	uint64_t pcs[3], base;

	(void)state;
	run("gcc -shared -fPIC -O2 -o start.so %s/start.c && strip -o libc.so.test start.so", world.sources);
	child = start("./bare", NULL);
	names = name_it(child.pid, &seen);
	fprintf(child.to, "%s/libc.so.test\n", world.dir);
	fflush(child.to);
	base = read_address(&child) - address_of("start.so", "extra");
	put_site(names, SITE_MAPPED);
	pcs[0] = child.plain + 2;
	pcs[1] = base + address_of("start.so", "call_main") + 2;
	pcs[2] = base + address_of("start.so", "__libc_start_main") + 2;
	put_stack(names, pcs, 1, RAW_STACK_NATIVE);
	assert_int_equal(seen.n, 3);
	assert_true(strncmp(seen.outermost[1].function, "bare+0x", 7) == 0);
	put_stack(names, pcs, 3, RAW_STACK_NATIVE);
	assert_int_equal(seen.n, 8);
	assert_true(strncmp(seen.outermost[3].function, "libc.so.test+0x", 15) == 0);
	assert_int_equal(seen.hints[3], HINT_NONE);
	assert_seen(&seen, 4, pcs[2], "__libc_start_main");
	assert_int_equal(seen.hints[4], HINT_START);
	assert_seen(&seen, 5, pcs[1], seen.outermost[3].function);
	assert_int_equal(seen.hints[5], HINT_START);
	assert_seen(&seen, 6, pcs[0], "main");
	assert_int_equal(seen.hints[6], HINT_NONE);
	assert_int_equal(seen.types[7], LOG_STACK);
	put_stack(names, pcs, 3, RAW_STACK_NATIVE);
	assert_int_equal(seen.n, 9);
	names_free(names);
	stop(&child);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_inlined_callers),
	cmocka_unit_test(test_no_symbols),
	cmocka_unit_test(test_symbols_alone),
	cmocka_unit_test(test_debug_file_by_build_id),
	cmocka_unit_test(test_debug_file_by_link),
	cmocka_unit_test(test_debug_file_by_checksum),
	cmocka_unit_test(test_too_much_debug_information),
	cmocka_unit_test(test_compressed_symbols),
	cmocka_unit_test(test_no_elf_at_all),
	cmocka_unit_test(test_as_addr2line),
	cmocka_unit_test(test_names_come_before_stacks),
	cmocka_unit_test(test_processes_that_are_gone),
	cmocka_unit_test(test_vdso),
	cmocka_unit_test(test_libraries_that_come_later),
	cmocka_unit_test(test_libraries_that_are_replaced),
	cmocka_unit_test(test_other_mount_namespace),
	cmocka_unit_test(test_names_of_a_program),
	cmocka_unit_test(test_generated_code),
	cmocka_unit_test(test_start_code),
	cmocka_unit_test(test_start_code_without_names),
};

UNIT_TESTS(tests, enter, leave);
