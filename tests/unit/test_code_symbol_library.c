/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */

#include "unit.h"

#include "code/symbol/library.h"

static void go_packages(void **state)
{
	(void)state;
	assert_true(library_has("runtime.chanrecv1"));
	assert_true(library_has("internal/poll.(*FD).Read"));
	assert_true(library_has("net.(*conn).Read"));
	assert_false(library_has("net/http.(*conn).serve"));
	assert_false(library_has("main.read"));
	assert_false(library_has("runtimex.f"));
	assert_true(library_is_system("runtime.gcBgMarkWorker"));
	assert_true(library_is_system("runtime/trace.Start.func1"));
	assert_false(library_is_system("runtime.main"));
	assert_false(library_is_system("runtime.corostart"));
	assert_false(library_is_system("main.main"));
	assert_true(library_is_lock("sync.(*Mutex).Lock"));
	assert_false(library_is_lock("os.(*File).Read"));
}

static void c_library(void **state)
{
	(void)state;
	assert_true(library_has("pthread_mutex_lock"));
	assert_true(library_has("__lll_lock_wait"));
	assert_true(library_has("std::this_thread::sleep_for"));
	assert_true(library_has("read"));
	assert_true(library_has("pread64"));
	assert_true(library_has("epoll_wait"));
	assert_true(library_has("[page fault]"));
	assert_true(library_has("read(7: /data/x)"));
	assert_true(library_has(""));
}

/* The program's own functions may begin like those of the C library. */
static void c_program(void **state)
{
	(void)state;
	assert_false(library_has("read_config"));
	assert_false(library_has("open_database"));
	assert_false(library_has("send_request"));
	assert_false(library_has("poll_loop"));
	assert_false(library_has("write_log"));
	assert_false(library_has("sleepy"));
	assert_false(library_has("sync_all(int)"));
}

/* Compiler-made copies of functions have a dot in their names, as Go's functions do. */
static void compiler_copies(void **state)
{
	(void)state;
	assert_true(library_has("__lll_lock_wait.part.0"));
	assert_true(library_has("read.constprop.0"));
	assert_false(library_has("handle.isra.0"));
	assert_false(library_has("runtime_init.part.0"));
}

/* The reader knows the main module best, then other modules, then the standard library. */
static void owners(void **state)
{
	(void)state;
	assert_int_equal(library_owner("main.get", "/home/u/shop/main.go"), CODE_OF_PROGRAM);
	assert_int_equal(library_owner("shop/store.Get", "shop/store/get.go"), CODE_OF_PROGRAM);
	assert_int_equal(library_owner("example.com/shop/store.(*DB).Get", "/src/store/get.go"),
			 CODE_OF_PROGRAM);
	assert_int_equal(library_owner("golang.org/x/sync/semaphore.(*Weighted).Acquire",
				       "/root/go/pkg/mod/golang.org/x/sync@v0.7.0/semaphore/semaphore.go"),
			 CODE_OF_MODULE);
	assert_int_equal(library_owner("example.com/x.F", "/src/shop/vendor/example.com/x/f.go"),
			 CODE_OF_MODULE);
	assert_int_equal(library_owner("go.etcd.io/etcd/raft.(*node).run", "/src/a@b/raft/node.go"),
			 CODE_OF_PROGRAM);
	assert_int_equal(library_owner("go/parser.ParseFile", "/go/src/go/parser/interface.go"),
			 CODE_OF_STANDARD);
	assert_int_equal(library_owner("database/sql.(*DB).conn", "/go/src/database/sql/sql.go"),
			 CODE_OF_STANDARD);
	assert_int_equal(library_owner("net/http.(*conn).serve", "/go/src/net/http/server.go"),
			 CODE_OF_STANDARD);
	assert_int_equal(library_owner("bytes.growSlice", ""), CODE_OF_STANDARD);
	assert_int_equal(library_owner("park", "/rustc/59807616e/library/std/src/thread/thread.rs"),
			 CODE_OF_MODULE);
	assert_int_equal(library_owner("std::thread::park", ""), CODE_OF_LIBRARY);
	assert_int_equal(
		library_owner("tokio::runtime::park",
			      "/root/.cargo/registry/src/index.crates.io-6f17d22/tokio-1.44.1/src/park.rs"),
		CODE_OF_MODULE);
	assert_int_equal(library_owner("pool::main::{{closure}}", "/src/pool.rs"), CODE_OF_PROGRAM);
	/* A thread's closure is inlined in it. */
	assert_int_equal(library_owner("std::sys::backtrace::__rust_begin_short_backtrace", ""),
			 CODE_OF_PROGRAM);
	assert_int_equal(library_owner("sync.(*Mutex).Lock", ""), CODE_OF_LIBRARY);
	assert_int_equal(library_owner("parse_message", "parse.c"), CODE_OF_PROGRAM);
	assert_int_equal(library_owner("malloc", "./malloc/malloc.c"), CODE_OF_LIBRARY);
	assert_int_equal(library_owner("tcache_init", "./malloc/malloc.c"), CODE_OF_LIBRARY);
	assert_int_equal(library_owner("malloc_stats_page", "page.c"), CODE_OF_PROGRAM);
	assert_int_equal(library_owner("java.lang.Thread.sleep", ""), CODE_OF_STANDARD);
	assert_int_equal(library_owner("Shop.parse", ""), CODE_OF_PROGRAM);
	assert_int_equal(library_owner("Parker::park(bool, long)", "libjvm.so"), CODE_OF_MACHINE);
	assert_int_equal(library_owner("v8::internal::Invoke", ""), CODE_OF_MACHINE);
	assert_int_equal(library_owner("Interpreter", ""), CODE_OF_MACHINE);
	assert_int_equal(library_owner("Interpreter::run()", ""), CODE_OF_PROGRAM);
	assert_int_equal(library_owner("StubRoutines (1)", ""), CODE_OF_MACHINE);
	assert_int_equal(library_owner("Builtins_JSEntryTrampoline", ""), CODE_OF_MACHINE);
	assert_int_equal(library_owner("listOnTimeout", "node:internal/timers"), CODE_OF_STANDARD);
	assert_int_equal(library_owner("parse", "/srv/node_modules/csv/index.js"), CODE_OF_MODULE);
	assert_int_equal(library_owner("parse", "/srv/app.js"), CODE_OF_PROGRAM);
	assert_int_equal(library_owner("SSL_read", "/usr/lib/libssl.so.3"), CODE_OF_MODULE);
}

/* A loop of the server or of the client waits; a function that it calls need not. */
static void idle_loops(void **state)
{
	(void)state;
	assert_true(library_is_idle_loop("net.(*TCPListener).Accept"));
	assert_true(library_is_idle_loop("net/http.(*persistConn).writeLoop"));
	assert_false(library_is_idle_loop("net/http.(*conn).serve.func1"));
	assert_false(library_is_idle_loop(LIBRARY_HTTP_HANDLER));
	assert_false(library_is_idle_loop(""));
}

/* Seen in varnish, Ruby, HotSpot, LevelDB and QEMU; a function that does more than that keeps its name. */
static void lock_wrappers(void **state)
{
	(void)state;
	assert_true(library_wraps_lock("Lck__Lock"));
	assert_true(library_wraps_lock("Lck_CondWaitUntil"));
	assert_true(library_wraps_lock("rb_native_cond_wait"));
	assert_true(library_wraps_lock("os::PlatformMonitor::wait(long)"));
	assert_true(library_wraps_lock("leveldb::port::Mutex::Lock()"));
	assert_true(library_wraps_lock("qemu_cond_wait_impl"));
	assert_false(library_wraps_lock("lock_account"));
	assert_false(library_wraps_lock("wait_a_second"));
	assert_false(library_wraps_lock("send_all_and_then_signal_cond"));
	assert_false(library_wraps_lock("main.(*Mutex).Lock"));
	assert_false(library_wraps_lock(""));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(go_packages),     cmocka_unit_test(c_library), cmocka_unit_test(c_program),
	cmocka_unit_test(compiler_copies), cmocka_unit_test(owners),    cmocka_unit_test(idle_loops),
	cmocka_unit_test(lock_wrappers),
};

UNIT_TESTS(tests, NULL, NULL);
