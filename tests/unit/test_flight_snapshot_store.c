/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Files of a recorder, written by an untrusted process into a directory that may belong to another user. */

#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flight/snapshot_store.h"

enum { MAX_BYTES = 1000 };

static struct snapshot_store store;
static char top[32], dir[64];

static int enter(void **state)
{
	(void)state;
	strcpy(top, "/tmp/test-store-XXXXXX");
	if (!mkdtemp(top) || chdir(top))
		return -1;
	snprintf(dir, sizeof(dir), "%s/dir", top);
	return snapshot_store_open(&store, dir, 2, MAX_BYTES, NULL);
}

static int leave(void **state)
{
	char command[64];

	(void)state;
	snapshot_store_close(&store);
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	return chdir("/") || system(command) ? -1 : 0;
}

static int count_files(const char *path)
{
	DIR *entries = opendir(path);
	int n = 0;

	assert_non_null(entries);
	while (readdir(entries))
		n++;
	closedir(entries);
	return n - 2; /* . and .. */
}

/* A writer that keeps its descriptor. */
struct writer {
	size_t bytes;
	int kept;
	int code;
	unsigned asked;
};

static int fill(void *ctx, int fd, size_t max_bytes, struct error *err)
{
	struct writer *writer = ctx;
	char byte = 'x';

	(void)max_bytes;
	writer->asked++;
	if (fd < 0)
		return 0;
	writer->kept = dup(fd);
	if (writer->bytes)
		assert_int_equal(pwrite(fd, &byte, 1, (off_t)writer->bytes - 1), 1);
	return writer->code ? error_set(err, writer->code, "it failed") : 0;
}

/* Writes a snapshot, one second after the previous one. */
static int write_of(const struct snapshot_origin *origin, struct writer *writer, struct snapshot_entry *entry,
		    struct error *err)
{
	const struct snapshot_source source = {.write = fill, .ctx = writer};
	static time_t now = 1795235400;

	return snapshot_store_write(&store, &source, origin, now++, entry, err);
}

static int write_one(struct writer *writer, struct snapshot_entry *entry, struct error *err)
{
	return write_of(&(struct snapshot_origin){.pid = 77}, writer, entry, err);
}

static off_t size_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_size;
}

static void writer_cannot_change_what_is_published(void **state)
{
	struct writer writer = {.bytes = 500};
	struct snapshot_entry entry;
	char byte;
	int fd;

	(void)state;
	assert_int_equal(write_one(&writer, &entry, NULL), 0);
	assert_int_equal(entry.bytes, 500);
	assert_int_equal(size_of(entry.path), 500);
	assert_int_equal(pwrite(writer.kept, "yy", 2, 499), 2);
	assert_int_equal(ftruncate(writer.kept, 100000), 0);
	assert_int_equal(size_of(entry.path), 500);
	fd = open(entry.path, O_RDONLY);
	assert_int_equal(pread(fd, &byte, 1, 499), 1);
	assert_int_equal(byte, 'x');
	close(fd);
	close(writer.kept);
	assert_int_equal(count_files(dir), 1);
}

static void what_is_no_snapshot_leaves_nothing(void **state)
{
	struct writer none = {.bytes = 0}, big = {.bytes = MAX_BYTES + 1}, fails = {.bytes = 5, .code = EIO};
	struct snapshot_entry entry;
	struct error err;

	(void)state;
	assert_int_equal(write_one(&none, &entry, &err), -EBADMSG);
	assert_int_equal(write_one(&big, &entry, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "unexpected size of 1001 bytes"));
	assert_int_equal(write_one(&fails, &entry, &err), -EIO);
	assert_int_equal(count_files(dir), 0);
	close(none.kept);
	close(big.kept);
	close(fails.kept);
}

static void only_its_own_files_are_removed(void **state)
{
	struct snapshot_entry entries[4];
	struct stat st;

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct writer writer = {.bytes = 10};

		assert_int_equal(write_one(&writer, &entries[i], NULL), 0);
		close(writer.kept);
		/* Another file takes the second name. */
		if (i == 1) {
			assert_int_equal(rename(entries[1].path, "kept"), 0);
			close(open(entries[1].path, O_WRONLY | O_CREAT, 0600));
		}
	}
	assert_int_equal(lstat(entries[0].path, &st), -1);
	assert_int_equal(size_of(entries[1].path), 0);
	assert_int_equal(size_of("kept"), 10);
	assert_int_equal(size_of(entries[3].path), 10);
	assert_non_null(strstr(entries[3].path, "dir/gotrace-77-20261121T0430"));
}

static void a_directory_that_went_is_made_again(void **state)
{
	struct writer writer = {.bytes = 10};
	struct snapshot_entry entry;

	(void)state;
	assert_int_equal(rename(dir, "rotated"), 0);
	assert_int_equal(write_one(&writer, &entry, NULL), 0);
	assert_true(entry.made_dir);
	assert_int_equal(size_of(entry.path), 10);
	assert_int_equal(count_files("rotated"), 0);
	close(writer.kept);
}

/* The directory is replaced by a link of another user. */
static void a_link_in_its_place_is_refused(void **state)
{
	struct snapshot_store other;

	(void)state;
	if (geteuid() != 0)
		skip(); /* only root can change a link's owner */
	assert_int_equal(rename(dir, "elsewhere"), 0);
	assert_int_equal(symlink("elsewhere", dir), 0);
	assert_int_equal(lchown(dir, 12345, 12345), 0);
	assert_int_equal(snapshot_store_open(&other, dir, 0, MAX_BYTES, NULL), -ELOOP);
	assert_int_equal(count_files("elsewhere"), 0);
}

/* --- whose files go --- */

enum { SERVER = 1000, OTHER = 2000 };

static void keep_files(unsigned keep)
{
	snapshot_store_close(&store);
	assert_int_equal(snapshot_store_open(&store, dir, keep, MAX_BYTES, NULL), 0);
}

static struct snapshot_entry put(struct snapshot_origin origin)
{
	struct writer writer = {.bytes = 10};
	struct snapshot_entry entry;

	origin.pid = 77;
	assert_int_equal(write_of(&origin, &writer, &entry, NULL), 0);
	assert_int_equal(writer.asked, 1); /* also if there is no file: the source discards its snapshot */
	if (entry.path[0])
		close(writer.kept);
	return entry;
}

static bool is_there(const struct snapshot_entry *entry)
{
	struct stat st;

	return entry->path[0] && stat(entry->path, &st) == 0;
}

static void an_end_does_not_evict_what_was_asked_for(void **state)
{
	struct snapshot_entry asked[2], end;

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		asked[i] = put((struct snapshot_origin){.uid = SERVER, .start = 1});
	end = put((struct snapshot_origin){.uid = SERVER, .start = 1, .of_end = true});
	assert_string_equal(end.path, "");
	end = put((struct snapshot_origin){.uid = OTHER, .start = 2, .of_end = true});
	assert_string_equal(end.path, "");
	assert_true(is_there(&asked[0]) && is_there(&asked[1]));
	assert_int_equal(count_files(dir), 2);
	/* The other way round it does. */
	assert_int_equal(unlink(asked[0].path), 0);
	end = put((struct snapshot_origin){.uid = SERVER, .start = 1, .of_end = true});
	assert_true(is_there(&end));
	asked[0] = put((struct snapshot_origin){.uid = SERVER, .start = 3});
	assert_false(is_there(&end));
	assert_true(is_there(&asked[0]) && is_there(&asked[1]));
}

static void brief_processes_evict_only_one_another(void **state)
{
	struct snapshot_entry server, decoys[4];

	(void)state;
	keep_files(3);
	server = put((struct snapshot_origin){.uid = SERVER, .start = 1, .of_end = true});
	for (unsigned i = 0; i < 4; i++)
		decoys[i] = put((struct snapshot_origin){
			.uid = SERVER, .start = 2 + i, .of_end = true, .brief = true});
	assert_true(is_there(&server));
	assert_false(is_there(&decoys[0]) || is_there(&decoys[1]));
	assert_true(is_there(&decoys[2]) && is_there(&decoys[3]));
	for (unsigned i = 0; i < 2; i++)
		put((struct snapshot_origin){.uid = SERVER, .start = 7, .of_end = true});
	assert_true(is_there(&server));
	decoys[0] = put((struct snapshot_origin){.uid = OTHER, .start = 8, .of_end = true, .brief = true});
	assert_string_equal(decoys[0].path, "");
	assert_int_equal(count_files(dir), 3);
}

static void each_user_has_a_share(void **state)
{
	struct snapshot_entry server[4];
	unsigned left = 0;

	(void)state;
	keep_files(4);
	for (unsigned i = 0; i < 4; i++)
		server[i] = put((struct snapshot_origin){.uid = SERVER, .start = 1});
	for (unsigned i = 0; i < 9; i++) {
		struct snapshot_entry entry = put((struct snapshot_origin){.uid = OTHER, .start = 2 + i});

		assert_true(is_there(&entry));
	}
	for (unsigned i = 0; i < 4; i++)
		left += is_there(&server[i]);
	assert_int_equal(left, 2);
	assert_true(is_there(&server[2]) && is_there(&server[3]));
	assert_int_equal(count_files(dir), 4);
}

static void each_process_has_a_share(void **state)
{
	struct snapshot_entry first, last = {.path = ""};

	(void)state;
	keep_files(3);
	first = put((struct snapshot_origin){.uid = SERVER, .start = 1});
	for (unsigned i = 0; i < 5; i++)
		last = put((struct snapshot_origin){.uid = SERVER, .start = 2});
	assert_true(is_there(&first) && is_there(&last));
	assert_int_equal(count_files(dir), 3);
}

/* Files of a request are a share, too. */
static void a_noisy_trigger_does_not_evict_what_another_wrote(void **state)
{
	struct snapshot_entry asked, rare, last = {.path = ""};

	(void)state;
	keep_files(4);
	asked = put((struct snapshot_origin){.uid = SERVER, .start = 1});
	rare = put((struct snapshot_origin){.uid = SERVER, .start = 1, .trigger = 2});
	for (unsigned i = 0; i < 7; i++)
		last = put((struct snapshot_origin){.uid = SERVER, .start = 1, .trigger = 1});
	assert_true(is_there(&asked) && is_there(&rare) && is_there(&last));
	assert_int_equal(count_files(dir), 4);
}

/* Recorders of one node are processes that were forked while the store was open. */
static void recorders_share_the_files(void **state)
{
	struct snapshot_entry here;
	int status;
	pid_t pid;

	(void)state;
	keep_files(2);
	for (unsigned i = 0; i < 3; i++) {
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			put((struct snapshot_origin){.uid = SERVER, .start = 1});
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	assert_int_equal(count_files(dir), 2);
	here = put((struct snapshot_origin){.uid = SERVER, .start = 2});
	assert_true(is_there(&here));
	assert_int_equal(count_files(dir), 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

static const struct CMUnitTest tests[] = {
	TEST(writer_cannot_change_what_is_published),
	TEST(what_is_no_snapshot_leaves_nothing),
	TEST(only_its_own_files_are_removed),
	TEST(a_directory_that_went_is_made_again),
	TEST(a_link_in_its_place_is_refused),
	TEST(an_end_does_not_evict_what_was_asked_for),
	TEST(brief_processes_evict_only_one_another),
	TEST(each_user_has_a_share),
	TEST(each_process_has_a_share),
	TEST(a_noisy_trigger_does_not_evict_what_another_wrote),
	TEST(recorders_share_the_files),
};

UNIT_TESTS(tests, NULL, NULL);
