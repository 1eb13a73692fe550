/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/symbol/library.h"
#include "util/text.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

static const char *const library_packages[] = {
	"runtime", "sync",    "internal", "syscall", "os",      "net",    "time", "io",
	"bufio",   "reflect", "fmt",      "log",     "context", "crypto", "iter",
};
/* Beginnings of names of C and C++ libraries, and "[page fault]". */
static const char *const library_prefixes[] = {
	"pthread_",
	"__",
	"lll_",
	"futex_",
	"std::",
	"_IO_",
	"epoll_",
	"[",
	"…",
	"<std::",
	"core::",
	"<core::",
	"alloc::",
	"<alloc::",
	"libgomp.so",
	"gomp_",
	"GOMP_",
	"omp_",
	"libomp.so",
	"absl::",
	"AbslInternal",
	"boost::",
	"g_mutex_",
	"g_cond_",
	"g_rec_mutex_",
	"g_rw_lock_",
	"QBasicMutex::",
	"QMutex::",
	"QMutexLocker",
	"QRecursiveMutex::",
	"QReadWriteLock::",
	"QWaitCondition::",
	"QSemaphore::",
};
/* Functions of the C library that wait. */
static const char *const library_functions[] = {
	"sem_wait",   "sem_timedwait", "sem_clockwait", "sem_post",  "futex",
	"syscall",    "start_thread",  "usleep",        "nanosleep", "clock_nanosleep",
	"sleep",      "new_do_write",  "fwrite",        "fread",     "fflush",
	"fsync",      "fdatasync",     "write",         "writev",    "pwrite",
	"pwrite64",   "pwritev",       "read",          "readv",     "pread",
	"pread64",    "preadv",        "poll",          "ppoll",     "select",
	"pselect",    "recv",          "recvfrom",      "recvmsg",   "recvmmsg",
	"send",       "sendto",        "sendmsg",       "sendmmsg",  "sendfile",
	"sendfile64", "open",          "open64",        "openat",    "openat64",
	"accept",     "accept4",       "connect",       "wait4",     "waitpid",
	"waitid",
};

bool library_in_package(const char *func, const char *package)
{
	size_t n = strlen(package);

	return strncmp(func, package, n) == 0 &&
	       (func[n] == '.' || (func[n] == '/' && strcmp(package, "net")));
}

/*
 * isSystemGoroutine, Go 1.26 runtime/traceback.go, without its check for a running finalizer; and Go's own
 * tracer, which is as little the program's.
 */
bool library_is_system(const char *func)
{
	static const char *const others[] = {"runtime.main", "runtime.handleAsyncEvent", "runtime.corostart"};

	if (library_in_package(func, "runtime/trace"))
		return true;
	if (strncmp(func, "runtime.", strlen("runtime.")) != 0)
		return false;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (strcmp(func, others[i]) == 0)
			return false;
	}
	return true;
}

/* The length of a C name without what compilers and linkers append: "f.part.0", "f@plt", "f(int)". */
static size_t c_name_length(const char *func)
{
	return strcspn(func, ".@(");
}

/* "f.constprop.0": a copy or a part of a C function; a Go name has no number behind a point. */
static bool is_compiler_copy(const char *func)
{
	const char *last = strrchr(func, '.');

	return last && last[1] && last[1 + strspn(last + 1, "0123456789")] == '\0';
}

bool library_is_address(const char *func)
{
	return strstr(func, "+0x") != NULL;
}

static bool library_is_go(const char *func)
{
	if (strstr(func, ".("))
		return true;
	if (library_is_address(func))
		return false;
	return strchr(func, '.') && !strstr(func, "::") && !strchr(func, '(') && !is_compiler_copy(func);
}

static bool is_c_library(const char *func)
{
	size_t len = c_name_length(func);

	/* Of Rust's std. A thread's closure is mostly inlined in it. */
	if (strstr(func, "__rust_begin_short_backtrace"))
		return false;
	if (text_begins_with_one_of(func, library_prefixes,
				    sizeof(library_prefixes) / sizeof(library_prefixes[0])))
		return true;
	for (size_t i = 0; i < sizeof(library_functions) / sizeof(library_functions[0]); i++) {
		if (strlen(library_functions[i]) == len && memcmp(func, library_functions[i], len) == 0)
			return true;
	}
	return false;
}

/* Whether one of the words, which end with NULL, is that of n bytes, in any case. */
static bool is_one_of(const char *word, size_t n, const char *const *words)
{
	for (; *words; words++) {
		if (strlen(*words) == n && strncasecmp(*words, word, n) == 0)
			return true;
	}
	return false;
}

/* The length of the word that a name begins with: "cond" of "cond_wait", "Cond" of "CondWaitUntil". */
static size_t word_length(const char *name, size_t len)
{
	size_t n = 0;

	while (n < len && isalnum((unsigned char)name[n]) &&
	       !(n && isupper((unsigned char)name[n]) && islower((unsigned char)name[n - 1])))
		n++;
	return n;
}

bool library_wraps_lock(const char *func)
{
	static const char *const things[] = {"mutex",   "mtx",       "lck",       "cond",
					     "condvar", "condition", "semaphore", "sem",
					     "monitor", "spinlock",  "rwlock",    NULL};
	static const char *const verbs[] = {"lock",      "unlock",  "trylock", "wait",  "timedwait",
					    "acquire",   "release", "enter",   "leave", "signal",
					    "broadcast", "notify",  "post",    NULL};
	enum { MOST_WORDS = 5 }; /* what has more does something else, too */
	size_t len = c_name_length(func), words = 0;
	bool thing = false, verb = false;

	if (library_is_go(func))
		return false;
	while (len) {
		size_t n = word_length(func, len);

		thing |= is_one_of(func, n, things);
		verb |= is_one_of(func, n, verbs);
		words += n > 0;
		n += n == 0;
		func += n;
		len -= n;
	}
	return thing && verb && words <= MOST_WORDS;
}

bool library_is_call(const char *func)
{
	const char *bracket = strchr(func, '(');

	return bracket && bracket[1] >= '0' && bracket[1] <= '9';
}

bool library_has(const char *func)
{
	if (!library_is_go(func))
		return !*func || library_is_call(func) || is_c_library(func);
	for (size_t i = 0; i < sizeof(library_packages) / sizeof(library_packages[0]); i++) {
		if (library_in_package(func, library_packages[i]))
			return true;
	}
	return false;
}

/* First elements of the import paths of Go's standard library, beside library_packages. */
static const char *const standard_packages[] = {
	"archive", "bytes",  "cmp",     "compress", "container", "database", "debug",   "embed",   "encoding",
	"errors",  "expvar", "flag",    "hash",     "html",      "image",    "index",   "maps",    "math",
	"mime",    "path",   "plugin",  "regexp",   "slices",    "sort",     "strconv", "strings", "structs",
	"testing", "text",   "unicode", "unique",   "vendor",    "weak",
};

static bool is_standard(const char *func)
{
	/* "go.etcd.io/…" is a module. The last ones are Java's. */
	static const char *const begins[] = {"net/", "go/", "java.", "javax.", "jdk.", "sun."};

	if (text_begins_with_one_of(func, begins, sizeof(begins) / sizeof(begins[0])))
		return true;
	for (size_t i = 0; i < sizeof(standard_packages) / sizeof(standard_packages[0]); i++) {
		if (library_in_package(func, standard_packages[i]))
			return true;
	}
	return false;
}

/* "/root/go/pkg/mod/golang.org/x/sync@v0.7.0/semaphore/semaphore.go", with -trimpath without what is before
 * the module; or in the folder vendor. */
static bool is_of_module(const char *file)
{
	for (const char *at = strstr(file, "@v"); at; at = strstr(at + 1, "@v")) {
		if (at[2] >= '0' && at[2] <= '9' && strchr(at, '/'))
			return true;
	}
	return strstr(file, "/vendor/") || strstr(file, "/node_modules/");
}

/* "node:internal/timers": JavaScript that is a part of node. */
static bool is_of_node(const char *file)
{
	return strncmp(file, "node:", 5) == 0;
}

/* A machine that runs another program: the JVM, V8 and what node adds to it. */
static bool is_of_machine(const char *func, const char *file)
{
	static const char *const begins[] = {"v8::",     "node::",           "Builtins_",
					     "Builtin:", "BytecodeHandler:", "StubRoutines ("};

	if (text_begins_with_one_of(func, begins, sizeof(begins) / sizeof(begins[0])))
		return true;
	/* HotSpot's stubs for what compiled code calls: _new_array_Java (src/hotspot/share/opto/runtime.cpp).
	 */
	return strcmp(file, "libjvm.so") == 0 || strcmp(func, "Interpreter") == 0 ||
	       (func[0] == '_' && strlen(func) > 5 && strcmp(func + strlen(func) - 5, "_Java") == 0);
}

/*
 * "/rustc/59807616e/library/std/src/sys/sync/mutex/futex.rs", and sources of crates: that of Cargo is
 * "~/.cargo/registry/src/index.crates.io-6f17d22bba15001f/tokio-1.44.1/src/lib.rs", Debian's
 * "/usr/share/cargo/registry", those that the standard library is built with
 * "/rust/deps/hashbrown-0.16.1/src/map.rs".
 */
static bool is_rust_library(const char *file)
{
	static const char *const folders[] = {"/library/std/src/", "/library/core/src/",
					      "/library/alloc/src/", "cargo/registry/", "/rust/deps/"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		if (strstr(file, folders[i]))
			return true;
	}
	return false;
}

/* Functions that are only in headers are compiled into the program: Boost, Eigen, Abseil in part. */
static bool is_header_of_system(const char *file)
{
	return strncmp(file, "/usr/include/", 13) == 0 || strncmp(file, "/usr/local/include/", 19) == 0 ||
	       strncmp(file, "/usr/lib/gcc/", 13) == 0 || strncmp(file, "/usr/lib/llvm-", 14) == 0;
}

static bool is_shared_library(const char *file)
{
	const char *so = strstr(file, ".so");

	return so && (so[3] == '\0' || so[3] == '.' || so[3] == '+');
}

/* Folders of glibc's source (but those that programs have, too: ./io/, ./string/, ./time/), and allocators
 * whose functions the library lists do not have. */
static bool is_c_standard(const char *func, const char *file)
{
	static const char *const folders[] = {
		"../sysdeps/",     "./sysdeps/", "./nptl/",   "./malloc/",  "./libio/",  "./elf/",
		"./stdio-common/", "./posix/",   "./misc/",   "./nss/",     "./resolv/", "./wcsmbs/",
		"./sunrpc/",       "./stdlib/",  "./setjmp/", "./csu/",     "./iconv/",  "./dlfcn/",
		"./inet/",         "../nss/",    "nss_dns/",  "nss_files/",
	};
	static const char *const begins[] = {
		"operator new", "operator delete", "_int_",   "je_",     "tc_",
		"mi_",          "sysmalloc",       "systrim", "__vdso_",
	};
	/* The last four are of the vDSO, whose functions have no file. */
	static const char *const whole[] = {
		"malloc",         "calloc",        "realloc",      "free",   "cfree",   "memalign",
		"posix_memalign", "aligned_alloc", "reallocarray", "mmap",   "mmap64",  "munmap",
		"mremap",         "mprotect",      "madvise",      "brk",    "sbrk",    "memcpy",
		"memmove",        "memset",        "memcmp",       "strdup", "strndup", "malloc_consolidate",
		"clock_gettime",  "clock_getres",  "gettimeofday", "getcpu",
	};
	size_t len = c_name_length(func);

	if (text_begins_with_one_of(file, folders, sizeof(folders) / sizeof(folders[0])) ||
	    text_begins_with_one_of(func, begins, sizeof(begins) / sizeof(begins[0])))
		return true;
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
		if (strlen(whole[i]) == len && memcmp(func, whole[i], len) == 0)
			return true;
	}
	return false;
}

enum code_owner library_owner(const char *func, const char *file)
{
	if (is_of_machine(func, file))
		return CODE_OF_MACHINE;
	if (library_has(func))
		return CODE_OF_LIBRARY;
	if (is_of_node(file))
		return CODE_OF_STANDARD;
	if (!library_is_go(func)) {
		if (is_c_standard(func, file))
			return CODE_OF_LIBRARY;
		return is_of_module(file) || is_shared_library(library_is_address(func) ? func : file) ||
				       is_rust_library(file) || is_header_of_system(file)
			       ? CODE_OF_MODULE
			       : CODE_OF_PROGRAM;
	}
	if (is_standard(func))
		return CODE_OF_STANDARD;
	return is_of_module(file) ? CODE_OF_MODULE : CODE_OF_PROGRAM;
}

bool library_is_lock(const char *func)
{
	if (!library_is_go(func))
		return library_has(func);
	return library_in_package(func, "runtime") || library_in_package(func, "sync") ||
	       library_in_package(func, "internal");
}

const char *library_idle_loop(unsigned i)
{
	static const char *const loops[] = {
		"net.(*TCPListener).Accept",        "net.(*UnixListener).Accept",
		"net/http.(*conn).serve",           "net/http.(*connReader).backgroundRead",
		"net/http.(*persistConn).readLoop", "net/http.(*persistConn).writeLoop",
	};

	return i < sizeof(loops) / sizeof(loops[0]) ? loops[i] : NULL;
}

bool library_is_idle_loop(const char *func)
{
	const char *loop;

	for (unsigned i = 0; (loop = library_idle_loop(i)); i++) {
		if (strcmp(func, loop) == 0)
			return true;
	}
	return false;
}

/* A name without code is its own file: "[page fault]". */
bool library_is_kernel(const char *func, const char *file)
{
	return file[0] == '[' && strcmp(func, file) != 0;
}
