/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * gotrace view: opens a trace, or the place of a finding, in a viewer that is there. A process without
 * privileges reads the trace and writes what is shown to a file in memory. Then Go's viewer reads that, or a
 * server of this one file gives it to Perfetto's page.
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/analysis.h"
#include "cli/analyse.h"
#include "cli/browser.h"
#include "cli/confined.h"
#include "cli/cut.h"
#include "cli/export.h"
#include "cli/go_viewer.h"
#include "cli/options.h"
#include "cli/serve.h"
#include "cli/signals.h"
#include "sandbox/sandbox.h"
#include "util/message.h"
#include "util/text.h"

/* The port that the content security policy of Perfetto's page permits (its tools/open_trace_in_ui). */
#define PERFETTO_ORIGIN "https://ui.perfetto.dev"
enum { PERFETTO_PORT = 9001 };

struct view {
	const struct view_options *options;
	bool in_go;
	struct go_tool go;
	int piece, export;            /* files in memory; export is for Perfetto */
	struct analysis_place *place; /* shared with the process that reads */
	int browser;                  /* browser.h */
};

/* --- the process that reads --- */

/* The time of a whole trace or of an instance: "30.1 ms at 1.235 s". */
static void view_print_place(const struct analysis_place *place, bool found)
{
	if (found && place->end > place->begin)
		printf("worst: %s at %.6f s", text_time(place->end - place->begin).bytes,
		       (double)place->begin / 1e9);
	else if (found)
		printf("worst: at %.6f s", (double)place->begin / 1e9);
	else
		printf("It is about the whole trace");
	if (found && place->goroutine)
		printf(", goroutine %llu", (unsigned long long)place->goroutine);
	printf("; shown: %.6f s to %.6f s\n", (double)place->from / 1e9, (double)place->to / 1e9);
}

static int find_place(struct view *view, const struct analysis *a, struct error *err)
{
	unsigned number = (unsigned)view->options->finding - 1, n = 0;
	struct analysis_finding finding;
	bool found;

	while (analysis_finding(a, n, &finding))
		n++;
	if (!n)
		return error_set(err, ENOENT, "%s has no findings", view->options->input);
	if (view->options->finding > n)
		return error_set(err, ENOENT, "%s has only %u finding%s", view->options->input, n,
				 n == 1 ? "" : "s");
	analysis_finding(a, number, &finding);
	printf("finding %u, %s %s: %s\n", number + 1, finding.level, finding.rule,
	       text_name(finding.text, strlen(finding.text), 150).bytes);
	found = analysis_finding_place(a, number, view->place);
	view_print_place(view->place, found);
	return 0;
}

static int analyse(struct view *view, const struct trace_file *file, struct error *err)
{
	const struct trace_input input = {.name = file->path, .file = file->path, .in = file->in};
	struct analysis *a = NULL;
	bool cut = true; /* the pass that follows reports a fault */
	int rc = trace_input_analyse(&input, &a, &cut, err);

	if (!rc && view->options->finding)
		rc = find_place(view, a, err);
	analysis_free(a);
	return rc;
}

/* Go's viewer reads no format newer than its own. One of an unknown release is taken for a new one. */
static enum wire_format newest(const struct view *view)
{
	if (!view->in_go)
		return WIRE_NONE;
	return view->go.minor ? wire_format_of_release(view->go.minor) : WIRE_GO126;
}

static int view_write_piece(const struct view *view, const struct trace_file *file, struct error *err)
{
	const struct analysis_place *place = view->place;
	struct cut_command_options options = {.input = file->path, .quiet = true};
	struct output piece;
	int fd = fcntl(view->piece, F_DUPFD_CLOEXEC, 0);

	if (place->to) {
		options.from.ns = place->from;
		options.to.ns = place->to;
		options.has_to = true;
	}
	if (fd < 0 || output_adopt(&piece, fd, "the piece", false, false))
		return error_set(err, ENOMEM, "out of memory");
	return cut_into(&options, file, newest(view), &piece, err);
}

static int view_write_export(const struct view *view, const struct trace_file *from, struct error *err)
{
	struct trace_file file;
	struct output out;
	int fd = fcntl(view->export, F_DUPFD_CLOEXEC, 0), piece = fcntl(view->piece, F_DUPFD_CLOEXEC, 0), rc;
	const struct export_options options = {.format = EXPORT_PERFETTO,
					       .pid = trace_file_pid(from->path),
					       .out = {.write = output_write, .ctx = &out}};

	if (fd < 0 || piece < 0 || output_adopt(&out, fd, "the piece", false, false))
		return error_set(err, ENOMEM, "out of memory");
	rc = trace_file_adopt(&file, piece, from->path, err);
	if (!rc)
		rc = trace_file_begin(&file, err);
	if (!rc)
		rc = export_file(&file, &options, err);
	trace_file_close(&file);
	if (!rc && output_commit(&out))
		rc = error_set(err, out.error, "cannot write the piece: %s", strerror(out.error));
	output_close(&out);
	return rc;
}

/* Runs in a process of its own. */
static int view_work(void *ctx, struct channel *files, struct error *err)
{
	struct view *view = ctx;
	struct trace_file file;
	int rc, status = STATUS_NONE;

	(void)files;
	signals_end_at_once(STATUS_NONE);
	rc = trace_file_open(&file, view->options->input, NULL, err);
	if (!rc)
		rc = sandbox_confine(err);
	if (!rc)
		rc = trace_file_begin(&file, err);
	if (!rc && view->options->finding)
		rc = analyse(view, &file, err);
	if (!rc)
		rc = status = view_write_piece(view, &file, err);
	if (rc >= 0 && !view->in_go)
		rc = view_write_export(view, &file, err);
	trace_file_close(&file);
	return rc < 0 ? rc : status;
}

/* --- the viewers --- */

/* The interval is marked in the time line, which begins with the piece. */
static int show_in_go(const struct view *view, struct go_viewer *viewer, struct error *err)
{
	const struct analysis_place *place = view->place;
	struct attendant attendant;
	char text[128] = "/";
	int status;

	/* A long instance may have begun before the piece. */
	if (view->options->finding)
		snprintf(text, sizeof(text), "/trace?view=proc#%.6f:%.6f",
			 place->begin > place->from ? (double)(place->begin - place->from) / 1e6 : 0,
			 (double)(place->end - place->from) / 1e6);
	status = attendant_begin(&attendant, err);
	if (!status)
		status = go_viewer_run(viewer, &attendant, text);
	attendant_end(&attendant);
	return status;
}

/* The file's name, which the page shows; other users of the machine cannot guess the directory. */
static int make_target(const struct view *view, char *target, size_t size, struct error *err)
{
	const char *slash = strrchr(view->options->input, '/');
	const char *name = slash ? slash + 1 : view->options->input;
	uint64_t secret[2];
	int n;

	if (getrandom(secret, sizeof(secret), 0) != sizeof(secret))
		return error_set(err, errno, "cannot get random bytes: %s", strerror(errno));
	n = snprintf(target, size, "/%016llx%016llx/", (unsigned long long)secret[0],
		     (unsigned long long)secret[1]);
	for (; *name && (size_t)n + 20 < size; name++)
		target[n++] =
			strchr("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-._", *name)
				? *name
				: '_';
	snprintf(target + n, size - (size_t)n, ".perfetto-trace");
	return 0;
}

/* Perfetto's docs/visualization/deep-linking-to-perfetto-ui.md: times are those of the file. */
static void make_address(const struct view *view, const char *target, char *address, size_t size)
{
	const struct analysis_place *place = view->place;
	int n = snprintf(address, size, PERFETTO_ORIGIN "/#!/?url=http://127.0.0.1:%d%s", PERFETTO_PORT,
			 target);

	if (view->options->finding && n > 0 && (size_t)n < size)
		snprintf(address + n, size - (size_t)n, "&visStart=%llu&visEnd=%llu",
			 (unsigned long long)(place->trace_ns + place->from),
			 (unsigned long long)(place->trace_ns + place->to));
}

static int show_in_perfetto(struct view *view, int listener, struct error *err)
{
	char target[160], address[512];
	struct http_file file = {
		.fd = view->export, .target = target, .origin = PERFETTO_ORIGIN, .port = PERFETTO_PORT};
	int rc = make_target(view, target, sizeof(target), err);

	if (rc)
		return rc;
	make_address(view, target, address, sizeof(address));
	printf("%s\nThe page fetches the trace from this machine once; Ctrl-C ends the wait for it.\n",
	       address);
	fflush(stdout);
	signals_install();
	browser_open(view->browser, address);
	view->browser = -1;
	rc = serve_file(listener, &file, err);
	if (rc == 0)
		printf("The page has fetched it.\n");
	return rc;
}

/* --- the command --- */

static int view_prepare(struct view *view, struct error *err)
{
	view->piece = memfd_create("piece", MFD_CLOEXEC);
	view->export = memfd_create("export", MFD_CLOEXEC);
	view->place =
		mmap(NULL, sizeof(*view->place), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (view->piece < 0 || view->export < 0 || view->place == MAP_FAILED)
		return error_set(err, errno, "cannot create a file in memory: %s", strerror(errno));
	return 0;
}

/* What the process that has read the trace says is untrusted: the numbers only go into an address. */
static bool view_is_written(int status)
{
	return status == STATUS_WHOLE || status == STATUS_CUT;
}

/* The viewer's process is started before this one gives up the right to become another user. */
static int start_go(struct view *view, struct go_viewer *viewer, struct error *err)
{
	struct attendant attendant;
	int rc = attendant_begin(&attendant, err);

	if (!rc)
		rc = go_viewer_start(viewer, &attendant, &view->go, view->piece, view->browser, err);
	attendant_end(&attendant);
	browser_open(view->browser, NULL);
	view->browser = -1;
	return rc;
}

static int view_in_go(struct view *view, struct error *err)
{
	const struct confined_job job = {.work = view_work, .ctx = view};
	struct go_viewer viewer = {.start = -1};
	int status = start_go(view, &viewer, err), shown;

	if (!status)
		status = confined_run(&job);
	if (view_is_written(status)) {
		shown = show_in_go(view, &viewer, err);
		status = shown ? shown : status;
	}
	go_viewer_end(&viewer);
	return status;
}

static int view_in_perfetto(struct view *view, struct error *err)
{
	const struct confined_job job = {.work = view_work, .ctx = view};
	int listener = serve_listen(PERFETTO_PORT, err), status, rc;

	if (listener < 0)
		return listener;
	status = confined_run(&job);
	if (view_is_written(status)) {
		rc = show_in_perfetto(view, listener, err);
		status = rc ? rc : status;
	}
	close(listener);
	return status;
}

static int choose_viewer(struct view *view, struct error *err)
{
	int rc;

	if (view->options->viewer == VIEWER_PERFETTO)
		return 0;
	rc = go_tool_find(&view->go, err);
	view->in_go = rc == 0;
	if (view->options->viewer == VIEWER_GO)
		return rc;
	err->text[0] = '\0';
	return 0;
}

int command_view(int argc, char **argv)
{
	struct view_options options;
	struct view view = {.options = &options, .browser = -1};
	struct error err = {""};
	int status = options_view(argc, argv, &options, &err);

	if (status)
		return options_end(status, "gotrace view", &err);
	/* A process that it writes to may have ended. */
	signal(SIGPIPE, SIG_IGN);
	status = choose_viewer(&view, &err);
	if (!status)
		status = view_prepare(&view, &err);
	if (!status) {
		view.browser = browser_start();
		status = view.in_go ? view_in_go(&view, &err) : view_in_perfetto(&view, &err);
	}
	browser_open(view.browser, NULL);
	if (status < 0 && err.text[0])
		message_error(&err);
	return status < 0 ? STATUS_NONE : status;
}
