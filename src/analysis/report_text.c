/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The report for a terminal: findings first, then tables. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cpu.h"
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/kinds.h"
#include "analysis/tables.h"
#include "analysis/names.h"
#include "analysis/order.h"
#include "analysis/state.h"
#include "analysis/top.h"
#include "analysis/words.h"
#include "trace/ops/own_logs.h"
#include "trace/ops/own_names.h"
#include "util/hash.h"
#include "util/text.h"

/* Head and findings fit a terminal of 24 lines. */
enum {
	MIN_SAMPLES = 5, /* fewer say nothing of where a program runs */
	FINDINGS_SHOWN = 5,
	FINDING_LINES = 17,
	HEADLINES = 3,
	ROWS_SHOWN = 8,
	ROWS_OF_ALL = 1000,
	PLACES = 3,
	MOST_PLACES = 32,
	USED_BY_ROW = 53,   /* columns before the place */
	LEAST_SHARE = 1000, /* less than this part of the time is no place where time goes */
};

struct page {
	struct analysis *a;
	FILE *out;
	const struct report_style *style;
	unsigned width;
};

struct cell {
	char text[16];
};

/* At most 7 characters: "41.2 s", "94.6 ms". */
static struct cell time_cell(uint64_t ns)
{
	struct cell cell;

	snprintf(cell.text, sizeof(cell.text), "%.15s", text_time(ns).bytes);
	return cell;
}

static struct cell count_cell(uint64_t n)
{
	struct cell cell;

	if (n < 1000000)
		snprintf(cell.text, sizeof(cell.text), "%llu", (unsigned long long)n);
	else
		snprintf(cell.text, sizeof(cell.text), "%.1fM", (double)n / 1e6);
	return cell;
}

static const char *paint(const struct page *page, const char *code)
{
	return page->style->color ? code : "";
}

/* Prints words, wrapped at the width; lines after the first one are indented. */
static void wrap(const struct page *page, const char *text, unsigned at, unsigned indent)
{
	while (*text) {
		size_t n = strcspn(text, " ");

		if (at + n > page->width && at > indent) {
			fprintf(page->out, "\n%*s", (int)indent, "");
			at = indent;
		}
		fwrite(text, 1, n, page->out);
		at += (unsigned)n;
		text += n;
		if (*text == ' ') {
			text++;
			if (at < page->width)
				fputc(' ', page->out);
			at++;
		}
	}
	fputc('\n', page->out);
}

static void heading(const struct page *page, const char *text)
{
	fprintf(page->out, "\n%s%s%s\n", paint(page, "\033[1m"), text, paint(page, "\033[0m"));
}

static size_t shown(const struct page *page, size_t n)
{
	size_t most = page->style->all ? ROWS_OF_ALL : ROWS_SHOWN;

	return n < most ? n : most;
}

static void rest(const struct page *page, size_t n)
{
	if (n > shown(page, n))
		fprintf(page->out, "  ... %zu more (--all)\n", n - shown(page, n));
}

/* A name, truncated to fit after `used` columns. */
static struct text fit(const struct page *page, const char *name, unsigned used)
{
	return text_name(name, strlen(name), page->width > used + 10 ? page->width - used : 10);
}

enum { LEAST_NAME = 12 }; /* of a library function, to know it by */

/* "http.(*conn).serve:812", truncated at its beginning. */
static struct text spot_in(const struct page *page, const struct code_place *at, uint32_t leaf, unsigned used)
{
	struct label function, called = label_name(page->a, leaf);
	char text[640];
	unsigned space;
	size_t len;

	if (!at->func)
		return fit(page, "(unknown)", used);
	function = label_name(page->a, at->func);
	if (place_has_line(at))
		snprintf(text, sizeof(text), "%s:%u", function.text, at->line);
	else
		snprintf(text, sizeof(text), "%s", function.text);
	/* "[outside] rsync (4711)": who it was says more than where. */
	if (used + strlen(text) > page->width && strncmp(text, OUTSIDE_NAME, strlen(OUTSIDE_NAME)) == 0)
		return fit(page, text + strlen(OUTSIDE_NAME) + 1, used);
	/* Where both do not fit, the program's own function says more, if it has a name. */
	len = used + strlen(text) + strlen(" in ");
	space = len < page->width ? page->width - (unsigned)len : 0;
	if (strstr(text, "+0x"))
		space = sizeof(called.text);
	if (leaf && (space >= LEAST_NAME || strlen(called.text) <= space))
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " in %s",
			 text_name(called.text, strlen(called.text), space).bytes);
	return fit(page, text, used);
}

static struct text spot(const struct page *page, uint32_t stack, unsigned used)
{
	return spot_in(page, stack_site(page->a, stack), stack_leaf(page->a, stack)->func, used);
}

/* --- the head --- */

static unsigned percent(double part, double all)
{
	return all > 0 ? (unsigned)(100 * part / all + 0.5) : 0;
}

static void report_text_head(const struct page *page)
{
	const struct analysis *a = page->a;
	const char *name = a->options.name ? a->options.name : "trace";
	double all = p_time(a);
	char watched[200] = "all watched";
	/* A program may change it for a moment. */
	unsigned usual = watched_ns(a) && a->procs_ns
				 ? (unsigned)((double)a->procs_ns / (double)watched_ns(a) + 0.5)
				 : a->most_procs;

	if (a->unwatched_ns)
		snprintf(watched, sizeof(watched), "%s not watched", label_time(a->unwatched_ns).text);
	if (a->ledger.no_calls_ns)
		snprintf(watched + strlen(watched), sizeof(watched) - strlen(watched),
			 ", %s without system calls", label_time(a->ledger.no_calls_ns).text);
	fprintf(page->out, "%s: %s, %s; %s %u", text_name(name, strlen(name), 40).bytes,
		label_time(a->end - a->begin).text, watched, words_of(a)->most_places, usual);
	if (a->most_procs > usual)
		fprintf(page->out, " (at most %u)", a->most_procs);
	fprintf(page->out, "; %s events\n", text_count(a->ops).bytes);
	/* Without the end of a short call, its time is part of that of the code around it. */
	fprintf(page->out, "%s %u%% busy (code%s %u, ", words_of(a)->places, percent(utilisation(a), 1),
		a->options.short_calls ? " and short syscalls" : "",
		percent((double)a->used_ns[P_CODE], all));
	if (!is_of_threads(a))
		fprintf(page->out, "GC %u, ", percent((double)a->used_ns[P_GC], all));
	/* What was not recorded as a call counts as code. */
	fprintf(page->out, "%ssyscalls %u%s); %s %llu > %llu, %llu created",
		a->options.short_calls ? "other " : "", percent((double)a->used_ns[P_IN_SYSCALL], all),
		a->ledger.ever_missing & DETAIL_CALLS ? " and more" : "", words_of(a)->many,
		(unsigned long long)a->alive_start, (unsigned long long)a->alive,
		(unsigned long long)a->created);
	if (a->nameless)
		fprintf(page->out, ", %llu without a name", (unsigned long long)a->nameless);
	fputc('\n', page->out);
}

static void print_latency(const struct page *page)
{
	const struct analysis *a = page->a;
	double all = 0;

	if (!a->latency.n)
		return;
	for (unsigned i = 0; i < DELAY_COUNT; i++)
		all += a->latency_by[i];
	fprintf(page->out, "latency p50 %s p99 %s max %s",
		label_time(histogram_quantile(&a->latency, 0.5)).text,
		label_time(histogram_quantile(&a->latency, 0.99)).text, label_time(a->latency.max).text);
	/* Words for those who know the scheduler. */
	if (all > 0 && !is_of_threads(a) && page->style->all) {
		fprintf(page->out, ": ");
		for (unsigned i = 0; i < DELAY_COUNT; i++)
			fprintf(page->out, "%s%s %u%%", i ? ", " : "",
				delay_name(is_of_threads(a), (enum delay)i), percent(a->latency_by[i], all));
	}
	fputc('\n', page->out);
}

static void print_gc(const struct page *page)
{
	const struct analysis *a = page->a;
	const struct gc_figures *gc = &a->gc;
	double running = user_running_ns(a);

	if (!gc->cycles && !gc->stops.n)
		return;
	fprintf(page->out, "GC %llu cycle%s, pause p50 %s max %s, stopping max %s, assists %u%%",
		(unsigned long long)gc->cycles, gc->cycles == 1 ? "" : "s",
		label_time(histogram_quantile(&gc->pauses, 0.5)).text, label_time(gc->pauses.max).text,
		label_time(gc->stops.max).text, percent((double)a->total_spent[ACT_ASSIST], running));
	if (gc->heap_max)
		fprintf(page->out, ", heap max %s", text_bytes(gc->heap_max).bytes);
	fputc('\n', page->out);
}

/* --- findings --- */

static const char *const level_names[] = {"info", "LOW", "MEDIUM", "HIGH"};

/* The trace of a live process is kept nowhere, so that its waits cannot be looked at afterwards. */
static bool is_for_file(const struct page *page, const struct finding *finding)
{
	return strcmp(page->a->options.file, ANALYSIS_NO_FILE) == 0 &&
	       strstr(finding->next, " " ANALYSIS_NO_FILE " ");
}

/* Of other programs, its evidence takes lines that say more of this one. */
static bool has_evidence(const struct page *page, const struct finding *finding, bool brief)
{
	return !brief && (page->style->all || !finding_is_of_others(finding));
}

/* brief: without evidence. */
static void print_finding(const struct page *page, const struct finding *finding, unsigned number, bool brief)
{
	static const char *const colors[] = {"\033[2m", "\033[36m", "\033[33m", "\033[1;31m"};
	char text[480];

	snprintf(text, sizeof(text), "%s: %s", finding->id, finding->text);
	fprintf(page->out, "%u %s%-6s%s ", number, paint(page, colors[finding->level]),
		level_names[finding->level], paint(page, "\033[0m"));
	wrap(page, text, 9, 2);
	if (finding->explained_by)
		fprintf(page->out, "  (explained by %s)\n", finding->explained_by);
	for (unsigned i = 0; i < finding->nevidence && has_evidence(page, finding, brief); i++) {
		fprintf(page->out, "  ");
		wrap(page, finding->evidence[i], 2, 4);
	}
	if (finding->next[0] && !is_for_file(page, finding))
		fprintf(page->out, "  > %s\n", text_name(finding->next, strlen(finding->next), 150).bytes);
}

/* Prints the finding if not more than `left` lines are needed, or if it is the first. Returns the number of
 * lines, or 0. */
static unsigned print_finding_in(const struct page *page, unsigned i, unsigned left, bool brief)
{
	char *text = NULL;
	size_t size = 0;
	struct page copy = *page;
	unsigned lines = 0;

	copy.out = open_memstream(&text, &size);
	if (!copy.out)
		return 0;
	print_finding(&copy, &page->a->findings[i], i + 1, brief);
	fclose(copy.out);
	for (size_t at = 0; text && at < size; at++)
		lines += text[at] == '\n';
	if (!text || (i && lines > left))
		lines = 0;
	else
		fwrite(text, 1, size, page->out);
	free(text);
	return lines;
}

/* A periodic loop sleeps, or waits for the next tick, in the goroutine's own function. */
static bool is_loop(const struct analysis *a, const struct row *row)
{
	const struct stack_info *info = &a->stacks[row->stack];
	bool ticks = (row->activity == ACT_RECEIVE || row->activity == ACT_SELECT) &&
		     row->no_waker * 10 >= row->hist.n * 9;

	return (row->activity == ACT_SLEEP || ticks) &&
	       stack_own_caller(a, row->stack, info->site) == info->n;
}

/* A wait without a name is one for work in the runtime and in libraries. */
static bool may_be_no_work(const struct analysis *a, const struct row *row)
{
	return row->activity == ACT_OTHER && !(is_of_threads(a) && stack_is_in_program(a, row->stack));
}

static void report_text_place(const struct page *page, unsigned number, uint64_t ns, const char *what,
			      struct label where)
{
	if (!number)
		fprintf(page->out, "Most time goes to:\n");
	fprintf(page->out, "%10s  %-12s %s\n", time_cell(ns).text, what, fit(page, where.text, 25).bytes);
}

/* No wait there has both begun and ended in the trace. For a lock nobody waits at rest, but threads do so at
 * futexes. */
static bool may_be_at_rest(const struct analysis *a, const struct row *row)
{
	return !row->hist.n &&
	       !(row->activity == ACT_LOCK && (!is_of_threads(a) || stack_waits_for_lock(a, row->stack)));
}

/* Waits for one thing at one place, of goroutines or threads of different names. */
struct place_waits {
	struct label where;
	unsigned activity;
	uint64_t ns;
	bool is_loop;
};

static int by_wait(const void *one, const void *other)
{
	const struct place_waits *a = one, *b = other;

	if (a->is_loop != b->is_loop)
		return a->is_loop ? 1 : -1;
	return a->ns > b->ns ? -1 : a->ns < b->ns;
}

/* Returns how many places there are, the longest first, and what may be mere periodic work at the end. */
static unsigned sum_places(struct analysis *a, struct place_waits places[MOST_PLACES])
{
	size_t n;
	uint32_t *order = order_table(a, TABLE_WAITS, SORT_TOTAL, &n);
	unsigned found = 0, at;

	for (size_t i = 0; i < n; i++) {
		const struct row *row = &a->rows[order[i]];
		const struct label where = label_stack(a, row->stack);
		uint64_t ns = row->hist.sum + row->cut_ns;

		if (row_is_idle(a, row) || ns * LEAST_SHARE < watched_ns(a) || may_be_no_work(a, row) ||
		    may_be_at_rest(a, row))
			continue;
		for (at = 0; at < found && (places[at].activity != row->activity ||
					    strcmp(places[at].where.text, where.text) != 0);)
			at++;
		if (at == MOST_PLACES)
			continue;
		if (at == found)
			places[found++] = (struct place_waits){where, row->activity, 0, is_loop(a, row)};
		places[at].ns += ns;
	}
	free(order);
	qsort(places, found, sizeof(places[0]), by_wait);
	return found;
}

/* Without a finding above information that names a place: where the program ran and waited. */
static void print_places(const struct page *page)
{
	struct analysis *a = page->a;
	struct place_waits places[MOST_PLACES];
	size_t n;
	uint32_t *order = order_table(a, TABLE_CPU, SORT_TOTAL, &n);
	unsigned number = 0, waits = sum_places(a, places);

	if (n && a->cpu.rows[order[0]].self >= MIN_SAMPLES)
		report_text_place(page, number++,
				  (uint64_t)((double)a->cpu.rows[order[0]].self * cpu_sample_ns(a)), "run",
				  cpu_place(a, order[0]));
	else if (a->options.no_samples && a->used_ns[P_CODE] * LEAST_SHARE >= watched_ns(a))
		report_text_place(page, number++, a->used_ns[P_CODE], "run",
				  (struct label){"not known: CPU samples need --format 1.19 or newer"});
	free(order);
	for (unsigned i = 0; i < waits && number <= PLACES; i++)
		report_text_place(page, number++, places[i].ns,
				  activity_name((enum activity)places[i].activity), places[i].where);
}

/* Those above information are about the machine or the whole program. */
static bool findings_name_no_place(const struct analysis *a)
{
	for (unsigned i = 0; i < a->nfindings; i++) {
		const struct finding *finding = &a->findings[i];

		if (finding->level > LEVEL_INFO && (finding->stack || finding->waker_stack))
			return false;
	}
	return true;
}

/* A line with the place of each of those that are not printed whole, from number `from` on. */
static void print_headlines(const struct page *page, unsigned from)
{
	const struct analysis *a = page->a;
	unsigned n = 0, left = a->nfindings - from;

	for (unsigned i = from; i < a->nfindings && n < HEADLINES; i++) {
		const struct finding *finding = &a->findings[i];
		const struct label where = label_stack(a, finding->stack);
		const char *text = finding->stack ? where.text : finding->text;
		char head[64], tail[64] = "";
		unsigned used = (unsigned)snprintf(head, sizeof(head), "%u %-6s %s: ", i + 1,
						   level_names[finding->level], finding->id);
		unsigned fits = 10;

		if (finding->explained_by)
			used += (unsigned)snprintf(tail, sizeof(tail), " (explained by %s)",
						   finding->explained_by);
		if (page->width > used + 13)
			fits = page->width - used - 3;
		fprintf(page->out, "%s%.*s%s%s\n", head, text_fit(text, fits), text,
			strlen(text) > fits ? "..." : "", tail);
		n++;
	}
	if (left > n)
		fprintf(page->out, "... %u more (--all)\n", left - n);
}

static void print_findings(const struct page *page)
{
	const struct analysis *a = page->a;
	bool places = !a->nfindings || a->findings[0].level == LEVEL_INFO || findings_name_no_place(a);
	unsigned n = 0, left = FINDING_LINES - (places ? PLACES + 2 : 0);

	fputc('\n', page->out);
	if (!a->nfindings)
		fprintf(page->out, findings_need_more(a) ? "No findings: less than 0.5 s was watched.\n"
							 : "No findings.\n");
	while (n < a->nfindings && (page->style->all || n < FINDINGS_SHOWN)) {
		unsigned lines = print_finding_in(page, n, page->style->all ? UINT_MAX : left, false);

		if (!lines) {
			n += print_finding_in(page, n, left, true) > 0;
			break;
		}
		left -= lines < left ? lines : left;
		n++;
	}
	print_headlines(page, n);
	for (unsigned i = 0; i < n; i++) {
		if (!is_for_file(page, &a->findings[i]))
			continue;
		fprintf(page->out, "To look further: gotrace -p %s -o FILE, and gotrace report FILE\n",
			label_pid(a).text);
		break;
	}
	if (places)
		print_places(page);
	for (unsigned i = 0; page->style->all && i < a->nnot_applicable; i++)
		fprintf(page->out, "not applicable: %s: %s\n", a->not_applicable[i].id,
			a->not_applicable[i].why);
}

/* --- tables --- */

/* The two states that took most of the time. */
static struct label states(const uint64_t spent[ACT_COUNT])
{
	uint64_t all = 0;
	unsigned first = 0, second = 0;
	struct label label = {""};

	for (unsigned i = 1; i < ACT_COUNT; i++) {
		all += spent[i];
		if (!first || spent[i] > spent[first]) {
			second = first;
			first = i;
		} else if (!second || spent[i] > spent[second]) {
			second = i;
		}
	}
	if (!all)
		return label;
	snprintf(label.text, sizeof(label.text), "%s %u%%", activity_name((enum activity)first),
		 percent((double)spent[first], (double)all));
	if (percent((double)spent[second], (double)all))
		snprintf(label.text + strlen(label.text), sizeof(label.text) - strlen(label.text),
			 ", %s %u%%", activity_name((enum activity)second),
			 percent((double)spent[second], (double)all));
	return label;
}

/* A name that does not fit into the last column has a line of its own. */
static void report_text_group(const struct page *page, uint32_t i)
{
	const struct group *group = &page->a->groups[i];
	struct label name = label_function(page->a, group->func);
	bool fits = 67 + strlen(name.text) <= page->width;
	uint64_t ran = group->spent[ACT_CODE] + group->spent[ACT_ASSIST];

	/* A thread has its CPU in a system call, too: where it is blocked, it is not in this state. */
	if (is_of_threads(page->a))
		ran += group->spent[ACT_SYSCALL];
	fprintf(page->out, "%6s%7s%7s%7s%9s  %-*.28s", count_cell(group->at_start).text,
		count_cell(group->peak).text, count_cell(group->alive).text, count_cell(group->created).text,
		time_cell(ran).text, fits ? 28 : 0, states(group->spent).text);
	if (fits)
		fprintf(page->out, " %s\n", name.text);
	else
		fprintf(page->out, "\n%38s%s\n", "", fit(page, name.text, 38).bytes);
}

/* What it waits for, or the call; a column has no space for "chan". */
static const char *row_what(const struct analysis *a, const struct row *row)
{
	const char *name = activity_name((enum activity)row->activity);
	const struct stack_info *info = &a->stacks[row->stack];

	if (row->activity != ACT_SYSCALL || !info->n)
		return strncmp(name, "chan ", 5) == 0 ? name + 5 : name;
	if (info->call)
		return name_text(a, info->call);
	if (info->io_call)
		return io_call_name(info->io_call);
	/* The leaf of a thread's stack is the call. */
	return is_of_threads(a) ? name_text(a, a->frames[info->first].func) : name;
}

static uint64_t row_looks(const void *ctx, const struct row *row)
{
	const struct page *page = ctx;
	const struct text where = spot(page, row->stack, USED_BY_ROW);

	return hash_bytes(hash_bytes(row->activity, row_what(page->a, row), strlen(row_what(page->a, row))),
			  where.bytes, strlen(where.bytes));
}

static void report_text_row(const struct page *page, const struct row_line *line)
{
	const struct row *row = &line->row;
	const struct pair *pair = row_ended_by(page->a, line->heaviest);
	const struct histogram *hist = &row->hist, *of = &page->a->rows[line->heaviest].hist;
	char longest[20], part[48] = "";

	/* Most waits there may end otherwise. */
	if (pair && pair->ns * 2 < of->sum && pair->n * 2 < of->n)
		snprintf(part, sizeof(part), " (%.20s of %.20s)", text_count(pair->n).bytes,
			 text_count(of->n).bytes);
	snprintf(longest, sizeof(longest), "%s%s", row->cut_max > hist->max ? ">" : "",
		 time_cell(row->cut_max > hist->max ? row->cut_max : hist->max).text);
	fprintf(page->out, "%7s%8s%8s%8s%9s  %-10.10s %s\n", count_cell(hist->n).text,
		time_cell(hist->sum).text, time_cell(histogram_quantile(hist, 0.5)).text,
		time_cell(histogram_quantile(hist, 0.99)).text, longest, row_what(page->a, row),
		spot(page, row->stack, USED_BY_ROW).bytes);
	if (pair && pair->stack)
		fprintf(page->out, "%40s  %10s %s%s\n", "", "ended by",
			spot(page, pair->stack, USED_BY_ROW + (unsigned)strlen(part)).bytes, part);
	else if (row->activity != ACT_SYSCALL && row->activity != ACT_ASSIST && row->no_waker)
		fprintf(page->out, "%40s  %10s %s\n", "", "ended by",
			row->activity == ACT_NETWORK
				? is_of_threads(page->a) ? "the network" : "the network, or a deadline"
			: row->activity == ACT_PIPE  ? "the pipe's other end"
			: row->activity == ACT_SLEEP ? "a timer"
						     : "(nobody: a timer, or not recorded)");
}

static void report_text_lock(const struct page *page, uint32_t i)
{
	const struct analysis *a = page->a;
	const struct resource *res = &a->resources[i];
	const struct top *did = top_first(res->did);
	bool known = res->min_holds.n; /* not of a lock that another process holds */

	fprintf(page->out, "%7s%8s%8s%8s%9s  %s\n", count_cell(res->waits.n).text,
		time_cell(res->waits.sum).text,
		known ? time_cell(histogram_quantile(&res->min_holds, 0.5)).text : "-",
		known ? time_cell(res->min_holds.max).text : "-", time_cell(res->waits.max).text,
		spot(page, (uint32_t)top_first(res->waited)->key, 42).bytes);
	if (top_first(res->released)->n)
		fprintf(page->out, "%40s  held by %s\n", "",
			spot(page, (uint32_t)top_first(res->released)->key, 50).bytes);
	if (did->n)
		fprintf(page->out, "%40s  holder: %s%s%s\n", "",
			activity_name((enum activity)(did->key & 0xff)), did->key >> 8 ? " in " : "",
			did->key >> 8 ? spot(page, (uint32_t)(did->key >> 8), 62).bytes : "");
}

static void print_end_of_waits(const struct page *page, const char *what, const struct top tops[TOPS])
{
	if (top_first(tops)->n && top_first(tops)->key)
		fprintf(page->out, "%33s  %s %s\n", "", what,
			spot(page, (uint32_t)top_first(tops)->key, 37 + (unsigned)strlen(what)).bytes);
}

static void print_holder(const struct page *page, const struct lock *lock)
{
	const struct top *holder = top_first(lock->holders);
	unsigned unseen = percent((double)(lock->releases - lock->known), (double)lock->releases);

	if (!holder->n)
		return;
	fprintf(page->out, "%33s  held by %s %u%%", "", label_who(page->a, holder->key).text,
		percent((double)top_sure(holder), (double)lock->charged_ns));
	if (unseen)
		fprintf(page->out, "; acquisition not seen: %u%%", unseen);
	fputc('\n', page->out);
}

static void print_address(const struct page *page, uint32_t i)
{
	const struct lock *lock = &page->a->locks[i];
	const struct histogram *hist = &lock->waits;

	fprintf(page->out, "%7s%8s%8s%9s  %s\n", count_cell(hist->n).text, time_cell(hist->sum).text,
		time_cell(histogram_quantile(hist, 0.5)).text, time_cell(hist->max).text,
		label_lock(lock).text);
	print_end_of_waits(page, "waits in", lock->waited);
	if (!lock_is_held(lock)) {
		print_end_of_waits(page, "ended by", lock->released);
		return;
	}
	print_holder(page, lock);
	print_end_of_waits(page, "taken in", lock->taken);
	print_end_of_waits(page, "released in", lock->released);
}

static void print_instances(const struct page *page, uint32_t i)
{
	const struct instances *all = &page->a->instances[i];
	struct label name = label_function(page->a, all->name);

	fprintf(page->out, "%7s%8s%8s%8s%9s  %s %s\n", count_cell(all->hist.n).text,
		time_cell(all->hist.sum).text, time_cell(histogram_quantile(&all->hist, 0.5)).text,
		time_cell(histogram_quantile(&all->hist, 0.99)).text, time_cell(all->hist.max).text,
		text_column(name.text, strlen(name.text), 24).bytes, states(all->spent).text);
}

static uint64_t waits_of(const uint64_t spent[ACT_COUNT])
{
	uint64_t ns = 0;

	for (unsigned i = 1; i < ACT_COUNT; i++)
		ns += activity_is_wait(i) ? spent[i] : 0;
	return ns;
}

/* Prints the times of goroutines with a label, or without one. */
static void print_spent(const struct page *page, const char *n, const uint64_t spent[ACT_COUNT],
			const char *name)
{
	uint64_t running = spent[ACT_CODE] + spent[ACT_ASSIST], waiting = waits_of(spent);

	fprintf(page->out, "%7s%8s%8s%9s %7s%8s  %s\n", n,
		time_cell(running + spent[ACT_RUNNABLE] + spent[ACT_SYSCALL] + waiting).text,
		time_cell(running).text, time_cell(spent[ACT_RUNNABLE]).text,
		time_cell(spent[ACT_SYSCALL]).text, time_cell(waiting).text, fit(page, name, 50).bytes);
}

static void print_label(const struct page *page, uint32_t i)
{
	const struct instances *all = &page->a->instances[i];
	const char *name = name_text(page->a, all->name);

	/* With --by-label the key is in the title. */
	if (page->a->options.by_label)
		name = strchr(name, '=') ? name + strlen(page->a->options.by_label) + 1 : name;
	print_spent(page, count_cell(all->hist.n + all->cut).text, all->spent, name);
}

static void print_leak(const struct page *page, uint32_t i)
{
	const struct analysis *a = page->a;
	const struct group *group = &a->groups[i];
	const struct top *where = top_first(group->suspect_stacks);

	fprintf(page->out, "%7s%8s%8s  %s\n", count_cell(group->suspects).text,
		count_cell(group->created).text, count_cell(group->ended).text,
		fit(page, label_function(a, group->func).text, 26).bytes);
	fprintf(page->out, "%23s  created in %s\n", "", spot(page, group->creator, 37).bytes);
	fprintf(page->out, "%23s  in %s at %s\n", "", activity_name((enum activity)(where->key & 0xff)),
		spot(page, (uint32_t)(where->key >> 8), 44).bytes);
}

static void print_cpu(const struct page *page, uint32_t i)
{
	const struct analysis *a = page->a;
	const struct cpu_row *row = &a->cpu.rows[i];
	const struct top *group = top_first(row->groups), *task = top_first(row->tasks);
	double all = (double)cpu_counted(a), each = cpu_sample_ns(a);
	const struct code_place *at = stack_site(a, cpu_first(row->stacks));

	fprintf(page->out, "%8s%8s%5u%%  %s\n", time_cell((uint64_t)((double)row->self * each)).text,
		time_cell((uint64_t)((double)row->total * each)).text, percent((double)row->self, all),
		spot_in(page, at, cpu_leaf(a, i), 24).bytes);
	if (row->self * 10 < cpu_counted(a))
		return;
	if (group->n && group->key)
		fprintf(page->out, "%24srun by %s\n", "",
			fit(page, label_function(a, a->groups[group->key].func).text, 31).bytes);
	if (task->n)
		fprintf(page->out, "%24sfor %s\n", "",
			fit(page, label_function(a, (uint32_t)task->key).text, 28).bytes);
}

/* Says which samples the table is about. */
static void print_cpu_head(const struct page *page)
{
	const struct analysis *a = page->a;

	fprintf(page->out, "%llu samples", (unsigned long long)cpu_counted(a));
	if (a->cpu.scheduler)
		fprintf(page->out, "; %llu more are left out: in the scheduler, where gotrace's probes are",
			(unsigned long long)a->cpu.scheduler);
	fputc('\n', page->out);
}

static const struct {
	enum table table;
	const char *title, *columns;
	void (*print)(const struct page *page, uint32_t i); /* NULL: of struct row */
} tables[] = {
	{TABLE_TASKS, "TASKS", "      n   total     p50     p99      max  name", print_instances},
	{TABLE_REGIONS, "REGIONS", "      n   total     p50     p99      max  name", print_instances},
	{TABLE_CPU, "CPU", "    self   total  CPU  function", print_cpu},
	{TABLE_LOCKS, "LOCKS", "  waits   total hold p50 hold max wait max  where", report_text_lock},
	{TABLE_ADDRESSES, "LOCKS BY ADDRESS", "  waits   total     p50      max  which", print_address},
	{TABLE_WAITS, "WAITS", "      n   total     p50     p99      max  for        where", NULL},
	{TABLE_SYSCALLS, "SYSTEM CALLS", "      n   total     p50     p99      max  call       where", NULL},
	{TABLE_GOROUTINES, "GOROUTINES",
	 " start   peak    end  created     ran  mostly                       function", report_text_group},
	{TABLE_LEAKS, "NOT ENDED", "waiting created   ended  function", print_leak},
	{TABLE_ASSISTS, "GC ASSISTS", "      n   total     p50     p99      max             where", NULL},
	{TABLE_LABELS, "LABELS", "      n   total running runnable   calls waiting  label", print_label},
};

static void report_text_table(const struct page *page, size_t which)
{
	enum table table = tables[which].table;
	bool of_rows = !tables[which].print;
	size_t n;
	struct row_line *lines =
		of_rows ? order_row_lines(page->a, table, page->style->sort, row_looks, page, &n) : NULL;
	uint32_t *order = of_rows ? NULL : order_table(page->a, table, page->style->sort, &n);
	uint64_t endless = table == TABLE_SYSCALLS ? page->a->endless_calls : 0;

	if (n || endless)
		heading(page, table == TABLE_GOROUTINES && is_of_threads(page->a) ? "THREADS"
										  : tables[which].title);
	if (endless)
		fprintf(page->out,
			"%s call%s without a time: formats up to Go 1.21 do not record their end\n",
			text_count(endless).bytes, endless == 1 ? "" : "s");
	if (n) {
		if (table == TABLE_CPU)
			print_cpu_head(page);
		fprintf(page->out, "%s%s%s\n", paint(page, "\033[2m"), tables[which].columns,
			paint(page, "\033[0m"));
	}
	for (size_t i = 0; i < shown(page, n); i++) {
		if (of_rows)
			report_text_row(page, &lines[i]);
		else
			tables[which].print(page, order[i]);
	}
	rest(page, n);
	if (table == TABLE_ADDRESSES && page->a->locks_left_out)
		fprintf(page->out, "waits for further locks, which are not counted: %s\n",
			text_count(page->a->locks_left_out).bytes);
	row_lines_free(lines, of_rows ? n : 0);
	free(order);
}

/* Prints the time of the program's own goroutines that is in no label's row. */
static void print_unlabelled(const struct page *page)
{
	const struct analysis *a = page->a;
	uint64_t spent[ACT_COUNT];

	memcpy(spent, a->total_spent, sizeof(spent));
	for (size_t i = 1; i < a->ninstances; i++) {
		for (unsigned j = 0; a->instances[i].kind == INSTANCE_LABEL && j < ACT_COUNT; j++)
			spent[j] -= spent[j] < a->instances[i].spent[j] ? spent[j] : a->instances[i].spent[j];
	}
	print_spent(page, "", spent, "(without it)");
}

/* --by-label */
static void print_by_label(const struct page *page)
{
	struct analysis *a = page->a;
	size_t n, last = sizeof(tables) / sizeof(tables[0]) - 1;
	uint32_t *order = order_table(a, TABLE_LABELS, page->style->sort, &n);

	heading(page, text_name(a->options.by_label, strlen(a->options.by_label), 60).bytes);
	fprintf(page->out, "%s%s%s\n", paint(page, "\033[2m"), tables[last].columns, paint(page, "\033[0m"));
	for (size_t i = 0; i < n && i < ROWS_OF_ALL; i++)
		print_label(page, order[i]);
	print_unlabelled(page);
	if (!n)
		fprintf(page->out, "No goroutine has this label.\n");
	free(order);
}

/* The tables that --label restricts. */
static bool is_of_label(enum table table)
{
	return table == TABLE_TASKS || table == TABLE_REGIONS || table == TABLE_WAITS ||
	       table == TABLE_SYSCALLS || table == TABLE_ASSISTS || table == TABLE_LABELS;
}

static void print_with_label(const struct page *page)
{
	char text[200];

	snprintf(text, sizeof(text), "Goroutines with %s",
		 text_name(page->a->options.label, strlen(page->a->options.label), 60).bytes);
	heading(page, text);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		if (is_of_label(tables[i].table))
			report_text_table(page, i);
	}
}

static void print_origins(const struct page *page)
{
	static const char *const names[ORIGIN_COUNT] = {"created", "woken", "preempted", "yielded",
							"back from a call"};
	const struct analysis *a = page->a;

	heading(page, "SCHEDULING LATENCY");
	fprintf(page->out, "%s      n   total     p50     p99      max  after being%s\n",
		paint(page, "\033[2m"), paint(page, "\033[0m"));
	for (unsigned i = 0; i < ORIGIN_COUNT; i++) {
		const struct histogram *hist = &a->latency_from[i];

		if (hist->n)
			fprintf(page->out, "%7s%8s%8s%8s%9s  %s\n", count_cell(hist->n).text,
				time_cell(hist->sum).text, time_cell(histogram_quantile(hist, 0.5)).text,
				time_cell(histogram_quantile(hist, 0.99)).text, time_cell(hist->max).text,
				names[i]);
	}
}

static void print_heading_lines(const struct page *page)
{
	report_text_head(page);
	print_latency(page);
	print_gc(page);
}

void report_head(struct analysis *a, FILE *out)
{
	const struct report_style style = {.width = 0};
	const struct page page = {.a = a, .out = out, .style = &style, .width = 80};

	print_heading_lines(&page);
}

void report_text(struct analysis *a, FILE *out, const struct report_style *style)
{
	const struct page page = {
		.a = a, .out = out, .style = style, .width = style->width ? style->width : 80};

	print_heading_lines(&page);
	if (a->options.by_label) {
		print_by_label(&page);
		return;
	}
	if (a->options.label) {
		print_with_label(&page);
		return;
	}
	print_findings(&page);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		report_text_table(&page, i);
	if (style->all)
		print_origins(&page);
}

bool report_view(struct analysis *a, unsigned view, FILE *out, const struct report_style *style)
{
	const struct page page = {
		.a = a, .out = out, .style = style, .width = style->width ? style->width : 80};

	if (!report_view_name(view))
		return false;
	print_heading_lines(&page);
	if (view == 0)
		print_findings(&page);
	else
		report_text_table(&page, view - 1);
	return true;
}

const char *report_view_name(unsigned view)
{
	if (view == 0)
		return "FINDINGS";
	return view - 1 < sizeof(tables) / sizeof(tables[0]) ? tables[view - 1].title : NULL;
}
