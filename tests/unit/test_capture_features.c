/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Features read from a machine's files, with directories that imitate its /proc and /sys, and the lines
 * reported. */
#include "unit.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/btf.h>

#include "capture/features_probes.h"
#include "capture/kernel.h"
#include "capture/thread_detail.h"

static char root[] = "/tmp/test-features-XXXXXX";

static int make_root(void **state)
{
	(void)state;
	strcpy(root + strlen(root) - 6, "XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	return remove(path);
}

static int remove_root(void **state)
{
	(void)state;
	return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Writes a file below the root, and creates its directories. */
static void put(const char *name, const void *bytes, size_t size)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s%s", root, name);
	for (char *slash = strchr(path + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

static void put_text(const char *name, const char *text)
{
	put(name, text, strlen(text));
}

static void capable(const char *mask, const char *seccomp)
{
	char status[256];

	snprintf(status, sizeof(status), "Name:\tgotrace\nCapEff:\t%s\nSeccomp:\t%s\n", mask, seccomp);
	put_text("/proc/self/status", status);
}

#define ALL    "000001ffffffffff"
#define BPF    "000000c000080000" /* CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE */
#define ADMIN  "0000000000200000" /* CAP_SYS_ADMIN */
#define NO_CAP "0000000000000000"

static const struct feature *last(const struct features *features)
{
	assert_true(features->n > 0);
	return &features->list[features->n - 1];
}

static void expect(const struct features *features, enum feature_state state, unsigned needs,
		   const char *line)
{
	const struct feature *feature = last(features);

	assert_string_equal(features_line(feature).text, line);
	assert_int_equal(feature->state, state);
	assert_int_equal(feature->needs, needs);
}

static void test_capabilities(void **state)
{
	struct features features = {.n = 0};

	(void)state;
	capable(ALL, "0");
	probe_privileges(&features, root);
	expect(&features, FEATURE_AVAILABLE, 0,
	       "capabilities: CAP_SYS_ADMIN CAP_BPF CAP_PERFMON CAP_SYS_PTRACE");
	capable(BPF, "0");
	probe_privileges(&features, root);
	expect(&features, FEATURE_AVAILABLE, 0, "capabilities: CAP_BPF CAP_PERFMON CAP_SYS_PTRACE");
	capable(ADMIN, "0");
	probe_privileges(&features, root);
	expect(&features, FEATURE_MISSING, NEED_GO | NEED_C,
	       "capabilities: CAP_SYS_ADMIN; the memory of a process cannot be read (CAP_SYS_PTRACE); use "
	       "sudo, or grant CAP_SYS_PTRACE");
	capable(NO_CAP, "0");
	probe_privileges(&features, root);
	expect(&features, FEATURE_MISSING, NEED_GO | NEED_C,
	       "capabilities: none; nothing can be traced; use sudo, or grant CAP_SYS_ADMIN, or CAP_BPF and "
	       "CAP_PERFMON; and CAP_SYS_PTRACE");
}

static void test_btf(void **state)
{
	const uint16_t magic = BTF_MAGIC, other = 0x4321;
	struct features features = {.n = 0};

	(void)state;
	capable(ALL, "0");
	probe_btf(&features, root, NULL);
	assert_false(features.own_btf);
	expect(&features, FEATURE_MISSING, NEED_GO | NEED_C,
	       "BTF: the kernel has none (/sys/kernel/btf/vmlinux): it was built without "
	       "CONFIG_DEBUG_INFO_BTF; nothing can be traced; give --btf FILE: the BTF of the running "
	       "kernel, or its vmlinux file");
	put("/sys/kernel/btf/vmlinux", &other, sizeof(other));
	probe_btf(&features, root, NULL);
	assert_false(features.own_btf);
	put("/sys/kernel/btf/vmlinux", &magic, sizeof(magic));
	probe_btf(&features, root, NULL);
	assert_true(features.own_btf);
	assert_null(features.btf);
	expect(&features, FEATURE_AVAILABLE, 0, "BTF: /sys/kernel/btf/vmlinux");
	capable(BPF, "0"); /* without CAP_SYS_ADMIN, libbpf must not look into modules */
	probe_btf(&features, root, NULL);
	assert_string_equal(features.btf, "/sys/kernel/btf/vmlinux");
}

static void test_btf_file(void **state)
{
	struct features features = {.n = 0};
	char path[512];

	(void)state;
	capable(ALL, "0");
	put_text("/no.btf", "this is none");
	snprintf(path, sizeof(path), "%s/no.btf", root);
	probe_btf(&features, root, path);
	assert_int_equal(last(&features)->state, FEATURE_MISSING);
	assert_int_equal(last(&features)->needs, NEED_GO | NEED_C);
	assert_non_null(strstr(last(&features)->found, "no.btf cannot be read: "));
	assert_null(strstr(last(&features)->found, "Unknown error"));
	snprintf(path, sizeof(path), "%s/nothing", root);
	probe_btf(&features, root, path);
	assert_non_null(strstr(last(&features)->found, "cannot be read: No such file"));
}

static void test_lockdown(void **state)
{
	struct features features = {.n = 0};

	(void)state;
	probe_lockdown(&features, root);
	expect(&features, FEATURE_AVAILABLE, 0, "lockdown: none");
	put_text("/sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	probe_lockdown(&features, root);
	expect(&features, FEATURE_AVAILABLE, 0, "lockdown: confidentiality");
	put_text("/sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
	probe_lockdown(&features, root);
	expect(&features, FEATURE_AVAILABLE, 0, "lockdown: none");
}

static void test_yama(void **state)
{
	struct features features = {.n = 0};

	(void)state;
	probe_yama(&features, root);
	expect(&features, FEATURE_AVAILABLE, 0, "ptrace_scope: no Yama");
	put_text("/proc/sys/kernel/yama/ptrace_scope", "1\n");
	probe_yama(&features, root);
	expect(&features, FEATURE_AVAILABLE, 0, "ptrace_scope: 1 (does not limit gotrace)");
	put_text("/proc/sys/kernel/yama/ptrace_scope", "3\n");
	probe_yama(&features, root);
	assert_int_equal(last(&features)->state, FEATURE_MISSING);
	assert_int_equal(last(&features)->needs, NEED_GO | NEED_C);
}

static void test_proc(void **state)
{
	struct features features = {.n = 0};

	(void)state;
	probe_proc(&features, root);
	expect(&features, FEATURE_MISSING, NEED_GO | NEED_C,
	       "/proc: not mounted; nothing can be traced; mount -t proc proc /proc");
	put_text("/proc/self/mounts", "proc /proc proc rw,nosuid,relatime,hidepid=invisible 0 0\n");
	capable(ALL, "0");
	probe_proc(&features, root);
	expect(&features, FEATURE_AVAILABLE, 0, "/proc: hides processes, but not from gotrace");
	capable("000000c000000000", "0");
	probe_proc(&features, root);
	assert_int_equal(last(&features)->state, FEATURE_REPLACED);
	put_text("/proc/self/mounts", "proc /proc proc rw,nosuid,relatime 0 0\n");
	probe_proc(&features, root);
	expect(&features, FEATURE_AVAILABLE, 0, "/proc: shows all processes");
}

static void test_clock(void **state)
{
	struct features features = {.n = 0};

	(void)state;
	probe_clock(&features, root); /* before Linux 5.6 */
	expect(&features, FEATURE_AVAILABLE, 0, "clock: the kernel's");
	put_text("/proc/self/timens_offsets",
		 "monotonic           0         0\nboottime        86400         0\n");
	probe_clock(&features, root);
	expect(&features, FEATURE_AVAILABLE, 0, "clock: the kernel's");
	put_text("/proc/self/timens_offsets",
		 "monotonic       -1000         5\nboottime            0         0\n");
	probe_clock(&features, root);
	expect(&features, FEATURE_MISSING, NEED_GO | NEED_C,
	       "clock: -1000 s from the kernel's, because of a time namespace; nothing can be traced; run "
	       "gotrace outside that namespace");
}

static void test_tracefs(void **state)
{
	struct features features = {.n = 0};

	(void)state;
	probe_tracefs(&features, root);
	expect(&features, FEATURE_AVAILABLE, 0, "tracefs: not mounted, and not needed");
	put_text("/sys/kernel/tracing/events/header_page", "");
	probe_tracefs(&features, root);
	expect(&features, FEATURE_AVAILABLE, 0, "tracefs: mounted (not needed)");
}

static void why(int error, const char *capabilities, const char *begin)
{
	char text[192];

	feature_why_refused(root, error, capabilities, text, sizeof(text));
	assert_int_equal(strncmp(text, begin, strlen(begin)), 0);
}

static void test_why_refused(void **state)
{
	(void)state;
	capable(ALL, "2");
	why(EPERM, NULL, "a seccomp filter is active");
	capable(NO_CAP, "2");
	why(EPERM, NULL, "use sudo, or grant CAP_BPF and CAP_PERFMON");
	capable(BPF, "0");
	why(EACCES, "CAP_SYS_ADMIN", "use sudo, or grant CAP_SYS_ADMIN");
	capable(ALL, "0");
	why(ENOSYS, NULL, "the kernel was built without it");
	why(EPERM, NULL, "a security module");
}

/* Without bpf(2) the rest is not tried, and the first needed feature is reported. */
static void test_miss(void **state)
{
	struct features features = {.n = 0};

	(void)state;
	feature_available(feature_add(&features, "one"), "there");
	feature_missing(feature_add(&features, "two"), NEED_FUNCTIONS, "none", "no --region", "");
	assert_null(features_find_missing(&features, NEED_GO | NEED_C | NEED_SAMPLES));
	probe_cookies(&features);
	expect(&features, FEATURE_MISSING, 0, "attach cookies: not tested: it needs bpf(2)");
#if defined(__x86_64__)
	probe_register_writes(&features);
	expect(&features, FEATURE_MISSING, 0, "register writes: not tested: it needs bpf(2)");
#endif
	feature_missing(feature_add(&features, "three"), NEED_C, "none", "", "");
	feature_missing(feature_add(&features, "four"), NEED_GO | NEED_C, "none", "", "");
	assert_string_equal(features_find_missing(&features, NEED_C)->name, "three");
	assert_string_equal(features_find_missing(&features, NEED_GO)->name, "four");
	assert_string_equal(features_find_missing(&features, NEED_FUNCTIONS | NEED_GO)->name, "two");
	for (int i = 0; i < 2 * MAX_FEATURES; i++)
		feature_add(&features, "many");
	assert_true(features.n < MAX_FEATURES);
}

static void test_target(void **state)
{
	struct error err;
	char name[64];

	(void)state;
	assert_int_equal(features_check_target(root, getpid(), &err), -ESRCH);
	assert_non_null(strstr(err.text, "hidden (hidepid)"));
	snprintf(name, sizeof(name), "/proc/%d/status", (int)getpid());
	put_text(name, "");
	assert_int_equal(features_check_target(root, getpid(), &err), 0);
}

static void test_stat(void **state)
{
	struct raw_thread thread = {.tgid = 7};

	(void)state;
	assert_true(proc_threads_parse_stat("71 (a) R (b) c) S 1 70 70 0 -1 4194368 1 2 3 4 5 6 7 8 20 0 3 0 "
					    "4242 100 200 18446744073709551615 1 "
					    "2 3 4 5 6 7 8 9 10 11 0 17 3 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
					    100, &thread));
	assert_int_equal(thread.tid, 71);
	assert_string_equal(thread.comm, "a) R (b) c");
	assert_int_equal(thread.left, LEFT_ASLEEP);
	assert_int_equal(thread.start_ns, 42420000000ull);
	assert_int_equal(thread.cpu, 3);
	assert_false(thread.exiting);
	assert_false(proc_threads_parse_stat("71 (a S 1 70", 100, &thread));
	assert_false(proc_threads_parse_stat("71 (a) S 1 70", 100, &thread));
	assert_false(proc_threads_parse_stat("", 100, &thread));
}

static void test_syscall(void **state)
{
	struct raw_thread thread = {.tid = 1}, fresh = thread;

	(void)state;
	assert_false(proc_threads_parse_syscall("running\n", &thread));
	assert_true(
		proc_threads_parse_syscall("202 0x7f1 0x80 0x0 0x0 0x0 0x0 0x7ffd1000 0x7f2000\n", &thread));
	assert_int_equal(thread.call, 203);
	assert_int_equal(thread.sp, 0x7ffd1000);
	assert_int_equal(thread.ip, 0x7f2000);
	thread = fresh;
	assert_true(proc_threads_parse_syscall("-1 0x7ffd1000 0x7f2000\n", &thread));
	assert_int_equal(thread.call, 0);
	assert_int_equal(thread.ip, 0x7f2001);
	assert_false(proc_threads_parse_syscall("202 0x1 0x2\n", &thread));
	assert_false(proc_threads_parse_syscall("", &thread));
}

static void test_symbols(void **state)
{
	static char text[] =
		"0000000000000000 A fixed_percpu_data\n0000000000000000 A __per_cpu_start\n"
		"000000000001ec80 A __preempt_count\n0000000000031b00 A runqueues\n"
		"ffffffff81000000 T softnet_data\n000000000002b000 d hrtimer_bases\t[some_module]\n"
		"garbage\n";
	struct cpu_places places = {.wheels = 5};
	FILE *symbols = fmemopen(text, sizeof(text) - 1, "r");

	(void)state;
	kernel_places_by_symbols(symbols, &places);
	fclose(symbols);
	assert_int_equal(places.preempt_count, 0x1ec80);
	assert_int_equal(places.run_queue, 0x31b00);
	assert_int_equal(places.network, 0);
	assert_int_equal(places.hrtimers, 0);
	assert_int_equal(places.wheels, 5);
	kernel_places_by_symbols(NULL, &places);
}

/* Older releases may have later changes (RHEL's 5.14), so their types must be read. */
static void test_switch_form(void **state)
{
	(void)state;
	assert_true(kernel_has_last_switch_form("5.18.0-1-amd64"));
	assert_true(kernel_has_last_switch_form("6.1.0-44-cloud-amd64"));
	assert_true(kernel_has_last_switch_form("10.0.0"));
	assert_false(kernel_has_last_switch_form("5.17.15"));
	assert_false(kernel_has_last_switch_form("5.14.0-503.el9"));
	assert_false(kernel_has_last_switch_form("4.19.0"));
	assert_false(kernel_has_last_switch_form(""));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_capabilities, make_root, remove_root),
	cmocka_unit_test_setup_teardown(test_btf, make_root, remove_root),
	cmocka_unit_test_setup_teardown(test_btf_file, make_root, remove_root),
	cmocka_unit_test_setup_teardown(test_lockdown, make_root, remove_root),
	cmocka_unit_test_setup_teardown(test_yama, make_root, remove_root),
	cmocka_unit_test_setup_teardown(test_proc, make_root, remove_root),
	cmocka_unit_test_setup_teardown(test_clock, make_root, remove_root),
	cmocka_unit_test_setup_teardown(test_tracefs, make_root, remove_root),
	cmocka_unit_test_setup_teardown(test_why_refused, make_root, remove_root),
	cmocka_unit_test(test_miss),
	cmocka_unit_test_setup_teardown(test_target, make_root, remove_root),
	cmocka_unit_test(test_stat),
	cmocka_unit_test(test_syscall),
	cmocka_unit_test(test_switch_form),
	cmocka_unit_test(test_symbols),
};

UNIT_TESTS(tests, NULL, NULL);
