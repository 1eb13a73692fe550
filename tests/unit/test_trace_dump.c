/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace dump: lines of events, as text and as JSON. */
#include "unit.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/dump/dump.h"

static void expect(const char *got, const char *want)
{
	if (strcmp(got, want) != 0)
		fail_msg("got\n%sinstead of\n%s", got, want);
}

static void expect_line(const struct line *line, const char *text, const char *json)
{
	char *got;
	size_t n;
	FILE *out = open_memstream(&got, &n);

	line_write(line, false, out);
	fclose(out);
	expect(got, text);
	free(got);
	out = open_memstream(&got, &n);
	line_write(line, true, out);
	fclose(out);
	expect(got, json);
	free(got);
}

static void lines(void **state)
{
	struct line line = {
		.time = -5, .name = "UserLog", .m = LINE_NONE, .p = 0, .g = 7, .stack = 3, .offset = 99};
	const struct line_frame frames[] = {{{"main.f", 6}, {"/x/a.go", 7}, 12, 0x401000}, {.pc = 0x402000}};

	(void)state;
	line_add_number(&line, "task", LINE_NONE);
	line_add_text(&line, "key", "a\"b\n\x1b[1m\xff", 9);
	expect_line(&line,
		    "             -5 UserLog M=- P=0 G=7 task=-1 key=\"a\\\"b\\u000a\\u001b[1m\\ufffd\" "
		    "stack=3\n",
		    "{\"time\":-5,\"name\":\"UserLog\",\"m\":null,\"p\":0,\"g\":7,\"args\":{\"task\":null,"
		    "\"key\":\"a\\\"b\\u000a\\u001b[1m\\ufffd\"},\"stack\":3,\"offset\":99}\n");
	line.nfields = 0;
	line.frames = frames;
	line.nframes = 2;
	expect_line(&line,
		    "             -5 UserLog M=- P=0 G=7 stack=3\n"
		    "                0x401000 main.f /x/a.go:12\n"
		    "                0x402000\n",
		    "{\"time\":-5,\"name\":\"UserLog\",\"m\":null,\"p\":0,\"g\":7,\"args\":{},\"stack\":3,"
		    "\"offset\":99,"
		    "\"frames\":[{\"func\":\"main.f\",\"file\":\"/x/a.go\",\"line\":12,\"pc\":4198400},"
		    "{\"func\":\"\",\"file\":\"\",\"line\":0,\"pc\":4202496}]}\n");
}

/* P 0 is started, runs goroutine 1 and is stopped. The clock has 2 ticks per ns. */
static const char v1_file[] = "go 1.11 trace\0\0\0"
			      "\x41\x00\xc8\x01"                 /* Batch at 200 */
			      "\x02\x80\xa8\xd6\xb9\x07"         /* Frequency */
			      "\x25\x01\x06main.f"               /* String */
			      "\xc3\x06\x01\x01\x05\x01\x00\x09" /* Stack */
			      "\xcd\x04\x02\x01\x01\x00"         /* GoCreate */
			      "\x45\x02\x07"                     /* ProcStart */
			      "\x8e\x02\x01\x01"                 /* GoStart */
			      "\x51\x02\x01"                     /* GoSched */
			      "\x06\x02"                         /* ProcStop */
			      "\x45\x02\x08";                    /* ProcStart */

static int dump_bytes(const void *bytes, size_t n, bool stacks, bool absolute, char **got,
		      struct wire_report *report)
{
	struct dump *dump = calloc(1, sizeof(*dump));
	size_t len;
	int ret;

	dump->out = open_memstream(got, &len);
	dump->stacks = stacks;
	dump->absolute = absolute;
	ret = dump_trace(dump, bytes, n, report);
	fclose(dump->out);
	free(dump);
	return ret;
}

static void v1_lines(void **state)
{
	struct wire_report report;
	char *got;

	(void)state;
	assert_int_equal(dump_bytes(v1_file, sizeof(v1_file) - 1, true, false, &got, &report), 0);
	expect(got, "              0 GoCreate M=- P=0 G=- new_g=1 new_stack=1\n"
		    "              1 ProcStart M=7 P=0 G=- thread=7\n"
		    "              2 GoStart M=7 P=0 G=1 g=1 seq=1\n"
		    "              3 GoSched M=7 P=0 G=1 stack=1\n"
		    "                0x5 main.f\n"
		    "              4 ProcStop M=7 P=0 G=-\n"
		    "              5 ProcStart M=8 P=0 G=- thread=8\n");
	free(got);
	assert_int_equal(dump_bytes(v1_file, sizeof(v1_file) - 1, false, true, &got, &report), 0);
	assert_ptr_equal(strstr(got, "            101 GoCreate"), got);
	free(got);
}

/* Events before the fault are shown. */
static void a_torn_file(void **state)
{
	struct wire_report report;
	char *got;

	(void)state;
	assert_int_equal(dump_bytes(v1_file, sizeof(v1_file) - 2, false, false, &got, &report), -EBADMSG);
	assert_int_equal(report.error_offset, sizeof(v1_file) - 1 - 3);
	assert_int_equal(report.generations, 1);
	assert_non_null(strstr(got, " ProcStop "));
	assert_null(strstr(got, "thread=8"));
	free(got);
	assert_int_equal(dump_bytes("no trace at all", 15, false, false, &got, &report), -EBADMSG);
	expect(got, "");
	assert_true(report.error.text[0]);
	free(got);
}

/* If the sink is full, the dump ends with an error. */
static void nobody_reads(void **state)
{
	static char bytes[16 + 6 + 4 + 3 * 60000];
	struct dump *dump = calloc(1, sizeof(*dump));
	struct wire_report report;
	size_t n = 26;

	(void)state;
	memcpy(bytes, v1_file, n);
	for (; n + 2 <= sizeof(bytes); n += 2)
		memcpy(bytes + n, n % 4 == 2 ? "\x2c\x01" : "\x2c\x00", 2);
	bytes[5] = '9';
	memcpy(bytes, "go 1.9 trace\0\0\0\0", 16);
	dump->out = fopen("/dev/full", "w");
	assert_int_equal(dump_trace(dump, (const uint8_t *)bytes, n, &report), -ENOSPC);
	fclose(dump->out);
	free(dump);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(lines),
	cmocka_unit_test(v1_lines),
	cmocka_unit_test(a_torn_file),
	cmocka_unit_test(nobody_reads),
};

UNIT_TESTS(tests, NULL, NULL);
