/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Which processes may request a snapshot from a recorder, and that others cannot disturb it. */

#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flight/snapshot_socket.h"

enum { NOBODY = 65534 };

#define MS 1000000ull

static struct snapshot_socket server;
static pid_t recorder; /* this process; the tests connect to its socket */

static int set_up(void **state)
{
	(void)state;
	recorder = getpid();
	return snapshot_socket_open(&server, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	snapshot_socket_close(&server);
	return 0;
}

static int reach(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int n = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "gotrace-flight-%d", (int)recorder);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&name, size), 0);
	return fd;
}

static void send_request(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Receives the next message, waiting for it. Returns its length, 0 at the end. */
static ssize_t receive(int fd, char text[256])
{
	ssize_t n = recv(fd, text, 255, 0);

	text[n > 0 ? n : 0] = '\0';
	return n;
}

static void is_closed(int fd)
{
	char text[256];

	assert_true(receive(fd, text) <= 0);
	close(fd);
}

static void a_question_is_answered(void **state)
{
	int fd = reach();
	char text[256];

	(void)state;
	assert_false(snapshot_socket_poll(&server, 0));
	send_request(fd, "snapshot\n");
	assert_true(snapshot_socket_poll(&server, 500 * MS));
	snapshot_socket_begin(&server, NULL);
	assert_false(snapshot_socket_poll(&server, 9000 * MS)); /* no deadline applies now */
	snapshot_socket_answer(&server, "/a/file", NULL);
	assert_true(receive(fd, text) > 0);
	assert_string_equal(text, "written /a/file\n");
	is_closed(fd);
}

/* Requests of one window share a snapshot, once its time is over; others wait for theirs. */
static void windows_are_answered_apart(void **state)
{
	int plain = reach(), one = reach(), same = reach(), other = reach();
	struct time_window window;
	char text[256];

	(void)state;
	send_request(one, "snapshot 1000 5000\n");
	send_request(same, "snapshot 1000 5000\n");
	send_request(other, "snapshot 2000 9000\n");
	assert_false(snapshot_socket_poll(&server, 0));
	assert_false(snapshot_socket_due(&server, 4999, &window));
	send_request(plain, "snapshot\n");
	assert_true(snapshot_socket_poll(&server, 0));
	assert_true(snapshot_socket_due(&server, 5000, &window));
	assert_int_equal(window.from_ns, 1000);
	assert_int_equal(window.until_ns, 5000);
	snapshot_socket_begin(&server, &window);
	assert_false(snapshot_socket_due(&server, 5000, &window));
	snapshot_socket_answer(&server, "/a/file", NULL);
	assert_true(receive(one, text) > 0 && receive(same, text) > 0);
	assert_string_equal(text, "written /a/file\n");
	assert_true(recv(plain, text, sizeof(text), MSG_DONTWAIT) < 0 && errno == EAGAIN);
	assert_true(recv(other, text, sizeof(text), MSG_DONTWAIT) < 0 && errno == EAGAIN);
	snapshot_socket_begin(&server, &(struct time_window){0});
	snapshot_socket_answer(&server, "/b/file", NULL);
	assert_true(receive(plain, text) > 0);
	assert_true(snapshot_socket_due(&server, UINT64_MAX, &window));
	assert_int_equal(window.until_ns, 9000);
	close(one), close(same), close(other), close(plain);
}

static void other_questions_are_not(void **state)
{
	static const char *const texts[] = {"snap",
					    "snapshot",
					    "snapshot\nsnapshot\n",
					    "xxxxxxxxxxxxxxxxxxxx",
					    "snapshot 5 4\n",
					    "snapshot 5\n",
					    "snapshot 1 2 3\n",
					    "snapshot 1 2",
					    "snapshot 1 2\nsnapshot\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		int fd = reach();

		send_request(fd, texts[i]);
		assert_false(snapshot_socket_poll(&server, 0));
		is_closed(fd);
	}
}

static void a_recorder_names_its_target(void **state)
{
	int fd = reach();
	char text[256];

	(void)state;
	server.target = 4711;
	send_request(fd, "target\n");
	assert_false(snapshot_socket_poll(&server, 0));
	assert_true(receive(fd, text) > 0);
	assert_string_equal(text, "target 4711\n");
	is_closed(fd);
	assert_int_equal(snapshot_socket_target(1), 0); /* no recorder */
}

static void silence_has_an_end(void **state)
{
	int fd = reach();
	char text[256];

	(void)state;
	assert_false(snapshot_socket_poll(&server, 7 * MS));
	assert_false(snapshot_socket_poll(&server, (7 + REQUEST_MS - 1) * MS));
	assert_true(recv(fd, text, sizeof(text), MSG_DONTWAIT) < 0 && errno == EAGAIN);
	assert_false(snapshot_socket_poll(&server, (7 + REQUEST_MS) * MS));
	is_closed(fd);
}

static void only_so_many_wait(void **state)
{
	int fds[MAX_SNAPSHOT_CLIENTS], late;
	char text[256];

	(void)state;
	for (int i = 0; i < MAX_SNAPSHOT_CLIENTS; i++)
		fds[i] = reach();
	late = reach();
	assert_false(snapshot_socket_poll(&server, 0));
	assert_true(receive(late, text) > 0);
	assert_string_equal(text, "failed too many clients\n");
	is_closed(late);
	/* Their slots are free again after REQUEST_MS. */
	assert_false(snapshot_socket_poll(&server, REQUEST_MS * MS));
	late = reach();
	send_request(late, "snapshot\n");
	assert_true(snapshot_socket_poll(&server, REQUEST_MS * MS));
	close(late);
	for (int i = 0; i < MAX_SNAPSHOT_CLIENTS; i++)
		is_closed(fds[i]);
	snapshot_socket_begin(&server, NULL);
	snapshot_socket_answer(&server, "/a/file", NULL);
}

/* Sends as much as fits, as another user. Returns 0 if everything went as expected. */
static int flood(int begin, int ready)
{
	static char bytes[65536];
	char byte, text[256];
	int fd = reach(), sent = 0;

	if (read(begin, &byte, 1) != 1)
		return 1;
	while (send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
		sent++;
	if (!sent || write(ready, "x", 1) != 1)
		return 2;
	if (receive(fd, text) <= 0 || strcmp(text, "failed this recorder belongs to another user\n") != 0)
		return 3;
	/* A connection that is closed with unread data is reset: nothing was read. */
	return receive(fd, text) < 0 && errno == ECONNRESET ? 0 : 4;
}

static void what_others_send_is_not_read(void **state)
{
	int begin[2], ready[2], status;
	char byte;
	pid_t pid;

	(void)state;
	if (geteuid() != 0)
		skip(); /* only root can become another user */
	assert_int_equal(pipe(begin) | pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		if (setgid(NOBODY) || setuid(NOBODY))
			_exit(9);
		_exit(flood(begin[0], ready[1]));
	}
	assert_int_equal(write(begin[1], "x", 1), 1);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_false(snapshot_socket_poll(&server, 0));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static const struct CMUnitTest tests[] = {
	TEST(a_question_is_answered),      TEST(windows_are_answered_apart),
	TEST(other_questions_are_not),     TEST(silence_has_an_end),
	TEST(only_so_many_wait),           TEST(what_others_send_is_not_read),
	TEST(a_recorder_names_its_target),
};

UNIT_TESTS(tests, NULL, NULL);
