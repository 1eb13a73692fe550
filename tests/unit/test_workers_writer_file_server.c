/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Files that a process without rights writes: the server opens, names and removes them. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/descriptors.h"
#include "workers/writer/file_server.h"

struct served {
	char dir[32];
	struct file_server *server;
	struct channel client;
};

static int enter(void **state)
{
	struct served *served = calloc(1, sizeof(*served));

	*state = served;
	strcpy(served->dir, "/tmp/test-served-XXXXXX");
	return !mkdtemp(served->dir) || chdir(served->dir) ? -1 : 0;
}

static int leave(void **state)
{
	struct served *served = *state;
	char command[64];

	if (served->server)
		channel_close(&served->client);
	file_server_free(served->server);
	snprintf(command, sizeof(command), "rm -rf '%s'", served->dir);
	free(served);
	return chdir("/") || system(command) ? -1 : 0;
}

static void serve(struct served *served, const struct file_server_options *options)
{
	struct error err;
	int fd;

	served->server = file_server_new(options, &fd, &err);
	assert_non_null(served->server);
	assert_int_equal(file_server_start(served->server, &err), 0);
	assert_int_equal(channel_open(&served->client, fd), 0);
}

static void open_served(struct served *served, enum file_role role, pid_t pid, uint32_t times,
			struct output *out)
{
	struct error err = {""};

	assert_int_equal(file_server_open(&served->client, role, pid, times, out, &err), 0);
	assert_int_equal(output_write(out, "text", 4), 0);
	assert_int_equal(output_commit(out), 0);
}

static void expect_refused(struct served *served, enum file_role role, pid_t pid, int rc, const char *why)
{
	struct error err = {""};
	struct output out;

	assert_int_equal(file_server_open(&served->client, role, pid, 1, &out, &err), rc);
	assert_non_null(strstr(err.text, why));
}

static void expect_file(const char *path, const char *text)
{
	char bytes[16] = "";
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(read(fd, bytes, sizeof(bytes) - 1), strlen(text));
	assert_string_equal(bytes, text);
	close(fd);
}

static void files_have_the_pid_in_their_names(void **state)
{
	struct served *served = *state;
	struct output first, second, raw;
	struct error err;

	serve(served, &(struct file_server_options){.output = "out.trace", .raw = "out.raw"});
	open_served(served, FILE_ROLE_TRACE, 12, 1, &first);
	open_served(served, FILE_ROLE_TRACE, 12, 2, &second);
	open_served(served, FILE_ROLE_RAW, 12, 1, &raw);
	assert_int_equal(access("out.trace.12", F_OK), -1); /* no name before it is published */
	assert_int_equal(output_publish(&first, &err), 0);
	assert_int_equal(output_publish(&second, &err), 0);
	assert_int_equal(output_publish(&raw, &err), 0);
	expect_file("out.trace.12", "text");
	expect_file("out.trace.12-2", "text");
	expect_file("out.raw.12", "text");
	assert_string_equal(second.path, "out.trace.12-2");
	output_close(&first);
	output_close(&second);
	output_close(&raw);
}

static void names_without_a_file_of_the_users_are_new(void **state)
{
	struct served *served = *state;
	struct output one, other;
	struct error err;

	serve(served, &(struct file_server_options){.now = 1700000000});
	open_served(served, FILE_ROLE_TRACE, 12, 1, &one);
	open_served(served, FILE_ROLE_TRACE, 12, 1, &other);
	assert_int_equal(output_publish(&one, &err), 0);
	assert_int_equal(output_publish(&other, &err), 0);
	assert_non_null(strstr(one.path, "gotrace-12-20231114T221320Z.trace"));
	assert_string_not_equal(one.path, other.path);
	expect_file(one.path, "text");
	expect_file(other.path, "text");
	output_close(&one);
	output_close(&other);
}

static void what_is_discarded_is_removed(void **state)
{
	struct served *served = *state;
	struct output hidden, published, replaced;
	struct error err;

	serve(served, &(struct file_server_options){.output = "out"});
	open_served(served, FILE_ROLE_TRACE, 1, 1, &hidden);
	open_served(served, FILE_ROLE_TRACE, 2, 1, &published);
	open_served(served, FILE_ROLE_TRACE, 3, 1, &replaced);
	assert_int_equal(output_publish(&published, &err), 0);
	assert_int_equal(output_publish(&replaced, &err), 0);
	/* A file of another with that name is not removed. */
	assert_int_equal(rename("out.3", "moved"), 0);
	assert_int_equal(rename("out.2", "out.3"), 0);
	assert_int_equal(link("moved", "out.2"), 0);
	output_discard(&hidden);
	output_discard(&published);
	output_discard(&replaced);
	assert_int_equal(access("out.1", F_OK), -1);
	assert_int_equal(access("out.2", F_OK), 0);
	assert_int_equal(access("out.3", F_OK), 0);
	open_served(served, FILE_ROLE_TRACE, 4, 1, &published);
	assert_int_equal(output_publish(&published, &err), 0);
	assert_int_equal(access("out.4", F_OK), 0);
	output_discard(&published);
	assert_int_equal(access("out.4", F_OK), -1);
}

static void only_what_was_agreed_is_opened(void **state)
{
	struct served *served = *state;
	struct output out;
	struct error err;

	serve(served, &(struct file_server_options){.output = "out", .alone = true});
	expect_refused(served, FILE_ROLE_RAW, 1, -EINVAL, "no raw logs");
	expect_refused(served, FILE_ROLE_TRACE, 0, -EINVAL, "no process");
	open_served(served, FILE_ROLE_TRACE, 1, 1, &out);
	expect_refused(served, FILE_ROLE_TRACE, 1, -EINVAL, "only one file");
	assert_int_equal(output_publish(&out, &err), 0);
	expect_file("out", "text");
	output_close(&out);
}

static void hidden_files_are_limited(void **state)
{
	struct served *served = *state;
	struct output out[64];

	serve(served, &(struct file_server_options){.output = "out"});
	for (int i = 0; i < 64; i++)
		open_served(served, FILE_ROLE_TRACE, i + 1, 1, &out[i]);
	expect_refused(served, FILE_ROLE_TRACE, 100, -EINVAL, "too many files");
	output_discard(&out[0]);
	open_served(served, FILE_ROLE_TRACE, 100, 1, &out[0]);
	for (int i = 0; i < 64; i++)
		output_discard(&out[i]);
}

static void exported_traces_are_handed_on(void **state)
{
	struct served *served = *state;
	int fds[DESCRIPTORS], ends[2];
	struct output beside, out;
	char bytes[8] = "";
	struct error err;
	pid_t pid = 0;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(output_open(&beside, "out.perfetto-trace", &err), 0);
	serve(served, &(struct file_server_options){.beside = &beside, .handed_to = ends[0]});
	open_served(served, FILE_ROLE_TRACE, 77, 1, &out);
	assert_int_equal(output_publish(&out, &err), 0);
	assert_int_equal(descriptors_receive(ends[1], &pid, sizeof(pid), fds, 0), sizeof(pid));
	assert_int_equal(pid, 77);
	assert_int_equal(pread(fds[0], bytes, sizeof(bytes), 0), 4);
	assert_string_equal(bytes, "text");
	descriptors_close(fds);
	output_close(&out);
	output_discard(&beside);
	close(ends[0]);
	close(ends[1]);
}

static void nonsense_ends_the_server(void **state)
{
	struct served *served = *state;
	struct output out;
	struct error err;
	char byte;

	serve(served, &(struct file_server_options){.output = "out"});
	assert_int_equal(
		send(served->client.fd, "nonsense nonsense nonsense nonsense nonsense", 44, MSG_NOSIGNAL),
		44);
	assert_int_equal(recv(served->client.fd, &byte, 1, 0), 0);
	assert_true(file_server_open(&served->client, FILE_ROLE_TRACE, 1, 1, &out, &err) < 0);
	assert_non_null(strstr(err.text, "gotrace has ended"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)
static const struct CMUnitTest tests[] = {
	TEST(files_have_the_pid_in_their_names), TEST(names_without_a_file_of_the_users_are_new),
	TEST(what_is_discarded_is_removed),      TEST(only_what_was_agreed_is_opened),
	TEST(hidden_files_are_limited),          TEST(exported_traces_are_handed_on),
	TEST(nonsense_ends_the_server),
};

UNIT_TESTS(tests, NULL, NULL);
