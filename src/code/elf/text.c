/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/elf/text.h"

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "code/elf/rust.h"

/* --- readable names --- */

#define MAX_MANGLED 16384

/*
 * A mangled name of a hundred bytes may expand to gigabytes through references to references, all of which
 * the library writes out. So a bound is computed first: the text that a reference stands for was written
 * before it, and before every earlier reference to something newer. Of 75,000 names in LLVM and libstdc++,
 * none exceeds 2^23.
 */
#define MAX_WRITTEN (16u << 20)
#define MAX_REFS    64 /* tracked; with more, the bound is only less tight */

struct demangler_reference {
	unsigned index;
	uint64_t size;
};

struct demangler_references {
	struct demangler_reference list[MAX_REFS];
	unsigned n;
};

/* S_, S0_, ... or T_, T0_, ...: <substitution> and <template-param> of the ABI. Advances *at if it is one. */
static bool take_reference(const char **at, unsigned *index)
{
	const char *p = *at + 1;
	unsigned n = 0;

	for (; ((*p >= '0' && *p <= '9') || (*p >= 'A' && *p <= 'Z')) && n < 1u << 20; p++)
		n = n * 36 + (unsigned)(*p <= '9' ? *p - '0' : *p - 'A' + 10) + 1;
	if (*p != '_')
		return false;
	*index = n;
	*at = p + 1;
	return true;
}

static uint64_t reference_size(struct demangler_references *refs, unsigned index, uint64_t total)
{
	uint64_t size = total;

	for (unsigned i = 0; i < refs->n; i++) {
		if (refs->list[i].index >= index && refs->list[i].size < size)
			size = refs->list[i].size;
	}
	if (refs->n < MAX_REFS)
		refs->list[refs->n++] = (struct demangler_reference){index, size};
	return size;
}

/* <source-name>: a length, and that many bytes. */
static const char *skip_identifier(const char *p, uint64_t *total)
{
	size_t len = 0;

	for (; *p >= '0' && *p <= '9' && len < MAX_MANGLED; p++)
		len = len * 10 + (size_t)(*p - '0');
	len = strnlen(p, len);
	*total += len + 2;
	return p + len;
}

static uint64_t written_length(const char *mangled)
{
	struct demangler_references substitutions = {.n = 0}, params = {.n = 0};
	uint64_t total = 0;
	unsigned index;

	for (const char *p = mangled; *p && total <= MAX_WRITTEN;) {
		if (*p >= '0' && *p <= '9') {
			p = skip_identifier(p, &total);
		} else if (*p == 'S' && take_reference(&p, &index)) {
			total += reference_size(&substitutions, index, total) + 2;
		} else if (*p == 'T' && take_reference(&p, &index)) {
			total += reference_size(&params, index, total) + 2;
		} else if (p[0] == 'D' && p[1] == 'p') { /* repeated for each element of a pack */
			total *= 4;
			p += 2;
		} else { /* "unsigned long long", "std::basic_ostream<char, ..." */
			total += *p == 'S' ? 64 : 20;
			p++;
		}
	}
	return total;
}

static size_t cut(const char *name, size_t len, char readable[NATIVE_FUNCTION_MAX])
{
	if (len <= NATIVE_FUNCTION_MAX) {
		memcpy(readable, name, len);
		return len;
	}
	memcpy(readable, name, NATIVE_FUNCTION_MAX - 3);
	memcpy(readable + NATIVE_FUNCTION_MAX - 3, "...", 3);
	return NATIVE_FUNCTION_MAX;
}

static char *cxx_readable(const char *name)
{
	return name[1] == 'Z' && written_length(name) <= MAX_WRITTEN
		       ? cplus_demangle_v3(name, DMGL_PARAMS | DMGL_TYPES | DMGL_RET_DROP)
		       : NULL;
}

size_t native_readable(const char *name, char readable[NATIVE_FUNCTION_MAX])
{
	/* pthread_cond_wait@@GLIBC_2.3.2 in .symtab */
	size_t len = strcspn(name, "@");
	char *plain = NULL;

	if (name[0] == '_' && strlen(name) <= MAX_MANGLED) {
		size_t rust = rust_readable(name, readable);

		if (rust)
			return rust;
		plain = cxx_readable(name);
	}
	len = plain ? cut(plain, strlen(plain), readable) : cut(name, len ? len : strlen(name), readable);
	free(plain);
	return len;
}

/* --- hints --- */

/* Names without leading underscores and suffixes such as _impl, from glibc 2.17 to 2.41 and musl 1.2. */
struct hint_name {
	const char *name;
	uint8_t hint;
	bool libc; /* only in the C library: programs may define the name themselves */
};

static const struct hint_name hint_names[] = {
	{"libc_start_main", HINT_START, false},
	{"libc_start_call_main", HINT_START, false},
	{"libc_start_main_stage2", HINT_START, false}, /* musl */
	{"generic_start_main", HINT_START, false},     /* static, up to glibc 2.33 */
	{"clone", HINT_START, true},
	{"clone3", HINT_START, true},
	{"start_thread", HINT_START, true},
	{"thread_start", HINT_START, true}, /* a label in clone.S */
	{"start", HINT_START, true},        /* musl */
	{"start_c11", HINT_START, true},
	{"start_c", HINT_START, true},
	{"dl_start_user", HINT_START, false},
	{"execute_native_thread_routine", HINT_START, false}, /* libstdc++ */
	{"execute_native_thread_routine_compat", HINT_START, false},
	{"runtime.goexit", HINT_START, false}, /* Go: below a goroutine's function */
	{"pthread_mutex_lock", HINT_MUTEX, false},
	{"pthread_mutex_lock_full", HINT_MUTEX, false},
	{"pthread_mutex_timedlock", HINT_MUTEX, false},
	{"pthread_mutex_clocklock", HINT_MUTEX, false},
	{"pthread_mutex_clocklock_common", HINT_MUTEX, false},
	{"pthread_mutex_cond_lock", HINT_MUTEX, false},
	{"pthread_mutex_cond_lock_full", HINT_MUTEX, false},
	{"lll_lock_wait", HINT_MUTEX, false},
	{"lll_lock_wait_private", HINT_MUTEX, false},
	{"lll_timedlock_wait", HINT_MUTEX, false},
	{"lll_clocklock_wait", HINT_MUTEX, false},
	{"mtx_lock", HINT_MUTEX, false},
	{"mtx_timedlock", HINT_MUTEX, false},
	{"pthread_cond_wait", HINT_COND, false},
	{"pthread_cond_timedwait", HINT_COND, false},
	{"pthread_cond_clockwait", HINT_COND, false},
	{"pthread_cond_wait_common", HINT_COND, false},
	{"cnd_wait", HINT_COND, false},
	{"cnd_timedwait", HINT_COND, false},
	{"pthread_rwlock_rdlock", HINT_RWLOCK, false},
	{"pthread_rwlock_wrlock", HINT_RWLOCK, false},
	{"pthread_rwlock_timedrdlock", HINT_RWLOCK, false},
	{"pthread_rwlock_timedwrlock", HINT_RWLOCK, false},
	{"pthread_rwlock_clockrdlock", HINT_RWLOCK, false},
	{"pthread_rwlock_clockwrlock", HINT_RWLOCK, false},
	{"pthread_rwlock_rdlock_full", HINT_RWLOCK, false},
	{"pthread_rwlock_wrlock_full", HINT_RWLOCK, false},
	{"pthread_join", HINT_JOIN, false},
	{"pthread_timedjoin_np", HINT_JOIN, false},
	{"pthread_clockjoin_np", HINT_JOIN, false},
	{"pthread_timedjoin_ex", HINT_JOIN, false},
	{"pthread_clockjoin_ex", HINT_JOIN, false},
	{"thrd_join", HINT_JOIN, false},
	{"sem_wait", HINT_SEM, false},
	{"sem_timedwait", HINT_SEM, false},
	{"sem_clockwait", HINT_SEM, false},
	{"new_sem_wait", HINT_SEM, false},
	{"new_sem_wait_slow", HINT_SEM, false},
	{"pthread_barrier_wait", HINT_BARRIER, false},
	{"nanosleep", HINT_SLEEP, false},
	{"clock_nanosleep", HINT_SLEEP, false},
	{"sleep", HINT_SLEEP, true},
	{"usleep", HINT_SLEEP, true},
	{"thrd_sleep", HINT_SLEEP, false},
};

/*
 * Frames between a thread and the function given to std::thread: libstdc++ 12, libc++ 14. Some begin with a
 * return type. And those of Rust 1.63 to 1.95, down to a closure.
 */
static const char *const thread_plumbing[] = {
	"std::thread::_State_impl<",
	"std::thread::_Invoker<",
	"std::__invoke_impl<",
	"std::__invoke<",
	"std::__1::__thread_proxy",
	"std::__1::__thread_execute",
	RUST_CLOSURE,
	"core::ops::function::FnOnce",
	"std::panicking::",
	"std::panic::catch_unwind",
	"std::thread::lifecycle::spawn_unchecked",
	"std::thread::Builder::spawn_unchecked",
};

/* Files that define these functions: in some programs, the inlined ones have short names. */
static const char *const plumbing_files[] = {"/bits/std_thread.h", "/bits/invoke.h"};

static bool ends_in(const char *text, size_t *len, const char *ending)
{
	size_t n = strlen(ending);

	if (*len <= n || memcmp(text + *len - n, ending, n) != 0)
		return false;
	*len -= n;
	return true;
}

static bool is_plumbing(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(thread_plumbing) / sizeof(thread_plumbing[0]); i++) {
		if (memmem(name, len, thread_plumbing[i], strlen(thread_plumbing[i])))
			return true;
	}
	return false;
}

static bool is_plumbing_file(const char *file, size_t len)
{
	for (size_t i = 0; i < sizeof(plumbing_files) / sizeof(plumbing_files[0]); i++) {
		size_t rest = len;

		if (ends_in(file, &rest, plumbing_files[i]))
			return true;
	}
	return false;
}

static enum log_symbol_hint find_hint(const char *name, size_t len, bool libc)
{
	for (size_t i = 0; i < sizeof(hint_names) / sizeof(hint_names[0]); i++) {
		const struct hint_name *known = &hint_names[i];

		if (strlen(known->name) == len && memcmp(known->name, name, len) == 0)
			return known->libc && !libc ? HINT_NONE : known->hint;
	}
	return HINT_NONE;
}

enum log_symbol_hint native_hint(const char *readable, size_t len, bool libc)
{
	static const char *const endings[] = {"_impl", "_alias_1", "64", "_time", ".cold", ".part.0"};
	const char *name = readable;

	if ((len == 6 && memcmp(name, "_start", 6) == 0) || is_plumbing(name, len))
		return HINT_START;
	while (len > 0 && *name == '_') {
		name++;
		len--;
	}
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		ends_in(name, &len, endings[i]);
	return find_hint(name, len, libc);
}

/* --- the record --- */

void draft_begin(struct symbol_draft *draft, uint64_t pc)
{
	draft->head = (struct log_symbol){.pc = pc};
	draft->begins[0] = 0;
	draft->size = sizeof(draft->head);
}

void draft_add(struct symbol_draft *draft, const char *function, const char *file, uint32_t line)
{
	uint8_t *at = draft->frames + draft->begins[draft->head.nframes];
	struct log_symbol_frame frame = {.line = line};
	char *text = (char *)at + sizeof(frame);
	size_t file_len = file ? strlen(file) : 0;

	if (draft->head.nframes >= SYMBOL_DEPTH)
		return;
	frame.function_len = (uint16_t)native_readable(function, text);
	/* The end of a path is more useful. */
	frame.file_len = (uint16_t)(file_len < NATIVE_FILE_MAX ? file_len : NATIVE_FILE_MAX);
	if (file)
		memcpy(text + frame.function_len, file + file_len - frame.file_len, frame.file_len);
	memcpy(at, &frame, sizeof(frame));
	draft->head.nframes++;
	draft->begins[draft->head.nframes] =
		(uint32_t)(text - (char *)draft->frames) + frame.function_len + frame.file_len;
	draft->size = (uint32_t)sizeof(draft->head) + draft->begins[draft->head.nframes];
}

static const char *draft_name(const struct symbol_draft *draft, unsigned i, struct log_symbol_frame *frame)
{
	const uint8_t *at = draft->frames + draft->begins[i];

	memcpy(frame, at, sizeof(*frame));
	return (const char *)at + sizeof(*frame);
}

bool draft_outermost_is(const struct symbol_draft *draft, const char *beginning)
{
	size_t len = strlen(beginning);
	struct log_symbol_frame frame;
	const char *name;

	if (draft->head.nframes == 0)
		return false;
	name = draft_name(draft, draft->head.nframes - 1U, &frame);
	return frame.function_len >= len && memcmp(name, beginning, len) == 0;
}

static bool frame_is_plumbing(const struct symbol_draft *draft, unsigned i)
{
	struct log_symbol_frame frame;
	const char *name = draft_name(draft, i, &frame);

	return is_plumbing(name, frame.function_len) ||
	       is_plumbing_file(name + frame.function_len, frame.file_len);
}

/* The number of outermost frames that are std::thread's; 0 if the outermost is not. */
static unsigned count_plumbing(const struct symbol_draft *draft)
{
	unsigned n = draft->head.nframes;

	while (n > 0 && frame_is_plumbing(draft, n - 1))
		n--;
	return draft->head.nframes - n;
}

void draft_finish(struct symbol_draft *draft, bool libc)
{
	unsigned n = draft->head.nframes, plumbing = count_plumbing(draft);
	struct log_symbol_frame frame;
	const char *name;

	if (n == 0)
		return;
	if (plumbing > 0 && plumbing < n) {
		draft->head.nframes = (uint16_t)(n - plumbing);
		draft->size = (uint32_t)sizeof(draft->head) + draft->begins[n - plumbing];
		return; /* the outermost is the program's own: no hint */
	}
	name = draft_name(draft, n - 1, &frame);
	/* Rust inlines a thread's closure, and without debugging information that is not seen. */
	if (n == 1 && !frame.file_len && memmem(name, frame.function_len, RUST_CLOSURE, strlen(RUST_CLOSURE)))
		return;
	draft->head.hint = (uint8_t)(plumbing ? HINT_START : native_hint(name, frame.function_len, libc));
	if (draft->head.hint == HINT_NONE)
		draft->head.hint = (uint8_t)rust_hint(name, frame.function_len, name + frame.function_len,
						      frame.file_len);
}
