/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Figures that several rules and tables share, and their text. */
#include "analysis/figures.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "analysis/names.h"
#include "trace/ops/own_names.h"
#include "util/text.h"

uint64_t watched_ns(const struct analysis *a)
{
	uint64_t all = a->end > a->begin ? a->end - a->begin : 0;

	return all > a->unwatched_ns ? all - a->unwatched_ns : 0;
}

double p_time(const struct analysis *a)
{
	double ns = (double)a->procs_ns;

	if (ns <= 0)
		ns = (double)watched_ns(a) * (a->procs ? a->procs : 1);
	return ns > 1 ? ns : 1; /* a trace of one moment */
}

/* Threads that sleep all the time do not start, but have names of their kind. */
bool is_of_threads(const struct analysis *a)
{
	struct name_votes votes = {0};

	if (a->ledger.runs)
		return ledger_is_of_threads(&a->ledger);
	for (size_t i = 1; i < a->ngroups; i++) {
		const char *name = name_text(a, a->groups[i].func);

		if (!a->groups[i].own)
			name_vote(&votes, name, strlen(name));
	}
	return votes_for_threads(&votes);
}

double busy_ns(const struct analysis *a)
{
	return (double)(a->used_ns[P_CODE] + a->used_ns[P_GC] + a->used_ns[P_IN_SYSCALL]);
}

bool runs_without_cpu(const struct analysis *a)
{
	double on_ps = (double)(a->used_ns[P_CODE] + a->used_ns[P_GC]);

	return !is_of_threads(a) && a->options.host.cpu_ns && on_ps >= 2 * (double)a->options.host.cpu_ns;
}

double utilisation(const struct analysis *a)
{
	return busy_ns(a) / p_time(a);
}

uint64_t activities_ns(const uint64_t ns[ACT_COUNT])
{
	uint64_t all = 0;

	for (unsigned i = 0; i < ACT_COUNT; i++)
		all += ns[i];
	return all;
}

uint64_t activities_watched_ns(const uint64_t ns[ACT_COUNT])
{
	return activities_ns(ns) - ns[ACT_UNWATCHED];
}

double gc_live_share(const struct gc_figures *gc)
{
	return gc->live_cycles ? gc->live_of_goal / (double)gc->live_cycles : 0;
}

bool gc_may_be_limited(const struct gc_figures *gc)
{
	return gc->is_off || gc_live_share(gc) > 0.85;
}

double user_running_ns(const struct analysis *a)
{
	return (double)(a->total_spent[ACT_CODE] + a->total_spent[ACT_ASSIST]);
}

double assist_share(const struct analysis *a)
{
	return (double)a->total_spent[ACT_ASSIST] / (user_running_ns(a) + 1);
}

/* Total time of the whole instances of a kind. */
double annotated_ns(const struct analysis *a, enum instance_kind kind)
{
	double ns = 0;

	for (size_t i = 1; i < a->ninstances; i++) {
		if (a->instances[i].kind == kind)
			ns += (double)a->instances[i].hist.sum;
	}
	return ns;
}

double share_of_tasks(const struct analysis *a, double lost_ns)
{
	double all = annotated_ns(a, INSTANCE_TASK), least = (double)watched_ns(a) / 4, share;

	if (all <= 0)
		all = p_time(a);
	/* What takes most of hardly any time is worth little. */
	if (all < least)
		all = least;
	share = all > 0 ? lost_ns / all : 0;
	return share > 1 ? 1 : share;
}

/* "main.(*Cache).Get" of "example.com/x/main.(*Cache).Get": the path ends at the last slash before an
 * argument. A name with a space before that is no function but, for example, a request ("GET /orders"); nor
 * is one that begins with a slash ("/shop.Orders/Place"). */
const char *short_function(const char *func)
{
	const char *begin = func;

	for (const char *at = func; *at && *at != '(' && *at != '[' && *at != '<'; at++) {
		if (*at == ' ' || *func == '/')
			return func;
		if (*at == '/')
			begin = at + 1;
	}
	return begin;
}

/* Returns where the arguments begin that are cut off in the middle: "a::f(std::map<std::string, st"; n if
 * none are. */
static size_t without_cut_arguments(const char *name, size_t n)
{
	size_t first = n, open = 0;

	for (size_t at = 0; at < n; at++) {
		if (name[at] == '(' && first == n && at &&
		    (isalnum((unsigned char)name[at - 1]) || strchr("_>]", name[at - 1])))
			first = at;
		open += name[at] == '(';
		open -= open && name[at] == ')';
	}
	if (!open || first == n || isdigit((unsigned char)name[first + 1]))
		return n;
	return first >= 8 && memcmp(name + first - 8, "operator", 8) == 0 ? n : first;
}

/*
 * Returns where the arguments of a C++ function begin: 1 for "f(int) const", n if it has none. "read(3:
 * /tmp/x)" is a call, with its file.
 */
static size_t without_arguments(const char *name, size_t n)
{
	size_t at = n, depth = 0;

	if (n && without_cut_arguments(name, n) < n)
		return without_cut_arguments(name, n);
	while (at && (isalpha((unsigned char)name[at - 1]) || strchr(" &", name[at - 1])))
		at--;
	if (!at || name[at - 1] != ')')
		return n;
	do {
		at--;
		depth += name[at] == ')';
		depth -= name[at] == '(';
	} while (at && depth);
	if (n == at + 2 && at >= 8 && memcmp(name + at - 8, "operator", 8) == 0)
		return n; /* the name of a lambda's function */
	if (!at || depth || strchr(" .:,(", name[at - 1]) || isdigit((unsigned char)name[at + 1]))
		return n;
	return at;
}

enum { LONG_NAME = 30 }; /* bytes: what most columns can show */

struct label label_name(const struct analysis *a, uint32_t string)
{
	return label_text(name_text(a, string), is_of_threads(a));
}

/* Behind "operator+", "operator()" and the like; those of '<' look like template arguments. */
static bool is_behind_operator(const char *name, const char *at)
{
	const char *from = at;

	while (from > name && at - from < 3 && strchr("+-*/%^&|!=>,()[]~", from[-1]))
		from--;
	return from < at && from >= name + 8 && memcmp(from - 8, "operator", 8) == 0;
}

/* Returns the end of template arguments that begin here, or NULL: '<' may be an operator's, or begin a name.
 */
static const char *behind_template(const char *name, const char *at, const char *end)
{
	unsigned depth = 0;

	if (*at != '<' || at == name ||
	    !(isalnum((unsigned char)at[-1]) || at[-1] == '_' || is_behind_operator(name, at)) ||
	    (at >= name + 8 && memcmp(at - 8, "operator", 8) == 0))
		return NULL;
	for (; at < end; at++) {
		depth += *at == '<';
		depth -= *at == '>' && at[-1] != '-';
		if (!depth)
			return at + 1;
	}
	return NULL;
}

/* Copies "a::b<c, d>::e" as "a::b<…>::e", because the arguments can be longer than a line. Returns the
 * length. */
static size_t shorten_templates(const char *name, size_t n, char *to, size_t space)
{
	static const char short_form[] = "<…>";
	const char *end = name + n;
	size_t used = 0;

	for (const char *at = name; at < end && used + sizeof(short_form) < space;) {
		const char *behind = behind_template(name, at, end);

		if (behind && (size_t)(behind - at) > sizeof(short_form)) {
			memcpy(to + used, short_form, sizeof(short_form) - 1);
			used += sizeof(short_form) - 1;
			at = behind;
		} else {
			to[used++] = *at++;
		}
	}
	return used;
}

struct label label_text(const char *func, bool of_threads)
{
	const char *name = short_function(func), *end = strstr(name, " [");
	char plain[512];
	struct label label;
	struct text shown, rest;
	size_t n;

	/* "f(int) [clone .cold] [comm]" */
	if (!of_threads || !end || end == name)
		end = name + strlen(name);
	n = of_threads ? without_arguments(name, (size_t)(end - name)) : (size_t)(end - name);
	while (strncmp(end, " [clone ", 8) == 0)
		end += strcspn(end, "]") + (strchr(end, ']') != NULL);
	if (of_threads && n > LONG_NAME) {
		n = shorten_templates(name, n, plain, sizeof(plain));
		name = plain;
	}
	shown = text_name(name, n, 60);
	rest = text_name(end, strlen(end), 30);
	snprintf(label.text, sizeof(label.text), "%.*s%.*s", text_fit(shown.bytes, 80), shown.bytes,
		 text_fit(rest.bytes, 60), rest.bytes);
	return label;
}

static const char *short_file(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash ? slash + 1 : file;
}

/* A name without code, as "[interrupt: disk]", is its own file. */
bool place_has_line(const struct code_place *at)
{
	return at->line && at->func != at->file;
}

struct label label_place(const struct analysis *a, const struct code_place *at)
{
	struct label label, shown = label_name(a, at->func);
	const char *file = short_file(name_text(a, at->file));
	struct text where = text_name(file, strlen(file), 40);

	if (!at->func)
		snprintf(label.text, sizeof(label.text), "(unknown)");
	else if (!place_has_line(at))
		return shown;
	else
		snprintf(label.text, sizeof(label.text), "%.*s (%.*s:%u)", text_fit(shown.text, 100),
			 shown.text, text_fit(where.bytes, 40), where.bytes, at->line);
	return label;
}

struct label label_in(const struct analysis *a, const struct code_place *at, uint32_t called)
{
	struct label label = label_place(a, at), name = label_name(a, called);
	struct text in = text_name(name.text, strlen(name.text), 40);
	size_t len = strlen(label.text);

	if (called)
		snprintf(label.text + len, sizeof(label.text) - len, " in %.*s",
			 text_fit(in.bytes, (int)(sizeof(label.text) - len) - 5), in.bytes);
	return label;
}

struct label label_stack(const struct analysis *a, uint32_t stack)
{
	return label_in(a, stack_site(a, stack), stack_leaf(a, stack)->func);
}

struct label label_near(const struct analysis *a, uint32_t stack)
{
	return label_place(a, stack_near(a, stack));
}

struct label label_function(const struct analysis *a, uint32_t string)
{
	const struct code_place at = {.func = string};

	return label_place(a, &at);
}

struct label label_time(uint64_t ns)
{
	struct label label;

	snprintf(label.text, sizeof(label.text), "%.60s", text_time(ns).bytes);
	return label;
}

struct label label_usual(const struct histogram *times)
{
	uint64_t p50 = histogram_quantile(times, 0.5), mean = times->n ? times->sum / times->n : 0;
	struct label label;

	snprintf(label.text, sizeof(label.text), "%.24s (%s)", label_time(mean > 2 * p50 ? mean : p50).text,
		 mean > 2 * p50 ? "mean" : "p50");
	return label;
}

struct label label_number(double number)
{
	struct label label;

	snprintf(label.text, sizeof(label.text), number >= 99.95 ? "%.0f" : "%.3g", number);
	return label;
}

const char *how_much(uint64_t part, uint64_t all)
{
	return part >= all ? "all" : part * 2 >= all ? "mostly" : "most often";
}

struct label label_pid(const struct analysis *a)
{
	struct label label = {"PID"};

	if (a->options.host.pid)
		snprintf(label.text, sizeof(label.text), "%u", a->options.host.pid);
	return label;
}
