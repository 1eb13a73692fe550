/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "analysis/goroutines/print.h"
#include "util/clock.h"
#include "util/text.h"

enum {
	GROUPS_SHOWN = 30,
	FRAMES_SHOWN = 4,
	SUSPECTS_SHOWN = 10,
	LOCKS_SHOWN = 10,
	INDENT = 11, /* of a group's details */
	COLUMNS = 80,
	FUNCTION_WIDTH = 44,
};

/* Formats an age: "2.0s", "3m12s", "5h04m". */
static struct text age_text(uint64_t ns)
{
	unsigned long long s = ns / NS_PER_S;
	struct text text;

	if (s < 60)
		snprintf(text.bytes, sizeof(text.bytes), "%.1fs", (double)ns / (double)NS_PER_S);
	else if (s < 3600)
		snprintf(text.bytes, sizeof(text.bytes), "%llum%02llus", s / 60, s % 60);
	else
		snprintf(text.bytes, sizeof(text.bytes), "%lluh%02llum", s / 3600, s / 60 % 60);
	return text;
}

/* Formats how long all goroutines of a group have waited: "2.0s to 3m12s"; "" = unknown. */
static struct text wait_text(const struct groups *groups, const struct goroutine_group *group)
{
	uint64_t most = group_most_ns(groups, group);
	struct text text = {""};

	if (groups->between_ns && group->still == group->n && most)
		snprintf(text.bytes, sizeof(text.bytes), "%.20s to %.20s", age_text(groups->between_ns).bytes,
			 age_text(most).bytes);
	else if (groups->between_ns && group->still == group->n)
		snprintf(text.bytes, sizeof(text.bytes), "over %.20s", age_text(groups->between_ns).bytes);
	else if (most)
		snprintf(text.bytes, sizeof(text.bytes), "up to %.20s", age_text(most).bytes);
	return text;
}

static struct text string(const struct groups *groups, uint32_t id, unsigned width)
{
	size_t len;
	const char *text = strtab_get(groups->strings, id, &len);

	return text_name(text, len, width);
}

/* Prints "function file:line", limited to `columns`. */
static void print_text_place(const struct groups *groups, FILE *out, const struct frame *frame,
			     unsigned columns)
{
	struct text function = string(groups, frame->func, FUNCTION_WIDTH), file;
	unsigned used = (unsigned)strlen(function.bytes) + 1, line;
	char number[16];

	line = (unsigned)snprintf(number, sizeof(number), ":%u", frame->line);
	fputs(function.bytes, out);
	if (frame->file && columns > used + line + 8) {
		file = string(groups, frame->file, columns - used - line);
		fprintf(out, " %s%s", file.bytes, number);
	}
}

static bool is_of(const char *function, const char *package)
{
	return strncmp(function, package, strlen(package)) == 0;
}

/*
 * Skips frames of the runtime at the leaf, which only repeat the state, and those of sync unless with_sync.
 */
static int first_frame(const struct groups *groups, const struct frame *frames, int n, bool with_sync)
{
	int at = 0;

	for (; at < n; at++) {
		struct text name = string(groups, frames[at].func, FUNCTION_WIDTH);

		if (!is_of(name.bytes, "runtime.") &&
		    (with_sync || (!is_of(name.bytes, "sync.") && !is_of(name.bytes, "internal/sync."))))
			break;
	}
	return at < n ? at : 0;
}

static void print_frames(struct groups *groups, FILE *out, const struct goroutine_group *group, bool all)
{
	struct frame frames[MAX_FRAMES], frame;
	int n = group_frames(groups, group, frames), at = all ? 0 : first_frame(groups, frames, n, true);

	for (int shown = 0; at < n && (all || shown < FRAMES_SHOWN); at++, shown++) {
		fprintf(out, "%*s", INDENT, "");
		print_text_place(groups, out, &frames[at], COLUMNS - INDENT);
		fputc('\n', out);
	}
	if (at < n)
		fprintf(out, "%*s... %d more\n", INDENT, "", n - at);
	if (group_start(groups, group, &frame)) {
		fprintf(out, "%*sbegan in ", INDENT, "");
		print_text_place(groups, out, &frame, COLUMNS - INDENT - 9);
		fputc('\n', out);
	}
	if (group_creator(groups, group, &frame)) {
		fprintf(out, "%*screated by ", INDENT, "");
		print_text_place(groups, out, &frame, COLUMNS - INDENT - 11);
		fputc('\n', out);
	}
}

static void print_label_set(const struct groups *groups, FILE *out, const struct label_count *count)
{
	struct listing_label labels[LABELS_MAX];
	unsigned n = listing_labels(groups->now, count->labels, labels);
	unsigned column = INDENT + 7 + (unsigned)strlen(text_count(count->n).bytes);

	fprintf(out, "%*slabels %s", INDENT, "", text_count(count->n).bytes);
	for (unsigned i = 0; i < n; i++) {
		struct text key = text_name(labels[i].key.bytes, labels[i].key.len, 24);
		struct text value = text_name(labels[i].value.bytes, labels[i].value.len, 30);
		unsigned width = (unsigned)(strlen(key.bytes) + strlen(value.bytes) + 2);

		if (i && column + width > COLUMNS) {
			fprintf(out, "\n%*s", INDENT + 6, "");
			column = INDENT + 6;
		}
		fprintf(out, " %s=%s", key.bytes, value.bytes);
		column += width;
	}
	fputs(groups->now->labels[count->labels - 1].cut ? " ...\n" : "\n", out);
}

static void print_labels(const struct groups *groups, FILE *out, const struct goroutine_group *group)
{
	for (unsigned i = 0; i < group->nlabels; i++)
		print_label_set(groups, out, &group->labels[i]);
	if (group->other_labels)
		fprintf(out, "%*slabels %s others\n", INDENT, "", text_count(group->other_labels).bytes);
}

static void print_locks(const struct groups *groups, FILE *out, const struct goroutine_group *group)
{
	for (unsigned i = 0; i < group->nlocks; i++) {
		fprintf(out, "%*sfor %s", INDENT, "", string(groups, group->locks[i].name, 48).bytes);
		if (group->n > 1)
			fprintf(out, ": %s", text_count(group->locks[i].n).bytes);
		fputc('\n', out);
	}
	if (group->other_locks)
		fprintf(out, "%*sfor others: %s\n", INDENT, "", text_count(group->other_locks).bytes);
}

static void print_goids(FILE *out, const struct goroutine_group *group)
{
	fprintf(out, "%*sgoroutine%s", INDENT, "", group->n > 1 ? "s" : "");
	for (unsigned i = 0; i < GROUP_GOIDS && i < group->n; i++)
		fprintf(out, "%s %llu", i ? "," : "", (unsigned long long)group->goids[i]);
	fputs(group->n > GROUP_GOIDS ? ", ..." : "", out);
	if (group->parent && group->n == 1)
		fprintf(out, ", created by goroutine %llu", (unsigned long long)group->parent);
	fputc('\n', out);
}

static void print_text_group(struct groups *groups, FILE *out, const struct goroutine_group *group, bool all)
{
	struct text wait = wait_text(groups, group);

	fprintf(out, "%*s  %s", INDENT - 2, text_count(group->n).bytes,
		text_name(group_state(groups, group), strlen(group_state(groups, group)), 40).bytes);
	fputs(group_is_leaked(group) ? ", leaked" : "", out);
	if (wait.bytes[0])
		fprintf(out, ", %s", wait.bytes);
	if (groups->between_ns && group->still && group->still < group->n)
		fprintf(out, ", %s unmoved", text_count(group->still).bytes);
	fputc('\n', out);
	print_frames(groups, out, group, all);
	print_goids(out, group);
	print_locks(groups, out, group);
	print_labels(groups, out, group);
}

static void print_text_head(const struct groups *groups, FILE *out)
{
	const struct g_listing *now = groups->now;

	fprintf(out, "PID %u (%s), %s: %s goroutines", now->target.pid,
		text_name(now->target.comm, strlen(now->target.comm), 15).bytes,
		text_name(now->target.go_version, strlen(now->target.go_version), 20).bytes,
		text_count(groups->total).bytes);
	if (groups->hidden)
		fprintf(out, ", and %s of the runtime", text_count(groups->hidden).bytes);
	fputc('\n', out);
	if (now->head.left_out)
		fprintf(out, "%s goroutine structs were not read: use --max\n",
			text_count(now->head.left_out).bytes);
	if (groups->labels_lost)
		fprintf(out, "the labels of %s goroutines could not be read\n",
			text_count(groups->labels_lost).bytes);
}

/* --- possible leaks --- */

/*
 * Known leaks first, then oldest first; among those of one garbage collection, largest first. A group that no
 * collection has seen waiting is young.
 */
static int by_age(const void *a, const void *b)
{
	const struct goroutine_group *one = *(const struct goroutine_group *const *)a,
				     *two = *(const struct goroutine_group *const *)b;
	uint64_t since_one = one->oldest ? one->oldest : UINT64_MAX;
	uint64_t since_two = two->oldest ? two->oldest : UINT64_MAX;

	if (group_is_leaked(one) != group_is_leaked(two))
		return group_is_leaked(one) ? -1 : 1;
	if (since_one != since_two)
		return since_one < since_two ? -1 : 1;
	return one->n > two->n ? -1 : one->n < two->n;
}

static size_t unmoved(const struct goroutine_group *group)
{
	return group_is_leaked(group) ? group->n : group->still;
}

static void print_suspect(struct groups *groups, FILE *out, const struct goroutine_group *group)
{
	struct frame frames[MAX_FRAMES];
	uint64_t most = group_most_ns(groups, group);
	int n = group_frames(groups, group, frames);
	struct text age = age_text(most ? most : groups->between_ns);
	const char *state = group_state(groups, group), *mark = group_is_leaked(group) ? " (leaked)" : "";
	char shown[24];

	snprintf(shown, sizeof(shown), "%s%.20s", most ? "<" : ">", age.bytes);
	if (!most && !groups->between_ns)
		strcpy(shown, "-");
	fprintf(out, "%*s  %-8s %-16s ", INDENT - 2, text_count(unmoved(group)).bytes, shown,
		text_name(state, strlen(state), 16).bytes);
	if (n)
		print_text_place(groups, out, &frames[first_frame(groups, frames, n, false)],
				 COLUMNS - INDENT - 26 - (unsigned)strlen(mark));
	fprintf(out, "%s\n", mark);
}

/* With a single listing, only leaks from the runtime's leak profile are known. These come first. */
static void print_suspects_head(const struct groups *groups, FILE *out, bool any_leaked, uint64_t total)
{
	if (!groups->between_ns)
		fprintf(out, "\nLeaked, according to the program's leak profile: %s\n",
			text_count(total).bytes);
	else
		fprintf(out, "\n%s, and did not move in %s: %s\n",
			any_leaked ? "Leaked, or waiting" : "Waiting for a channel, a select or a lock",
			age_text(groups->between_ns).bytes, text_count(total).bytes);
}

static void print_suspects(struct groups *groups, FILE *out, bool all)
{
	struct goroutine_group **list = malloc(groups->n * sizeof(*list) + 1);
	uint64_t total = 0;
	size_t n = 0;

	for (size_t i = 0; list && i < groups->n; i++) {
		if (!group_is_suspect(&groups->all[i]))
			continue;
		total += unmoved(&groups->all[i]);
		list[n++] = &groups->all[i];
	}
	if (n) {
		qsort(list, n, sizeof(struct goroutine_group *), by_age);
		print_suspects_head(groups, out, group_is_leaked(list[0]), total);
		fprintf(out, "%*s  %-8s %-16s %s\n", INDENT - 2, "COUNT", "AGE", "WAITS FOR", "IN");
	}
	for (size_t i = 0; i < n && (all || i < SUSPECTS_SHOWN); i++)
		print_suspect(groups, out, list[i]);
	if (!all && n > SUSPECTS_SHOWN)
		fprintf(out, "%*s  ... %zu more groups (--all)\n", INDENT - 2, "", n - SUSPECTS_SHOWN);
	free(list);
}

/* --- shared locks --- */

static void print_shared_locks(const struct groups *groups, FILE *out, bool all)
{
	size_t n = 0;

	while (n < groups->nlocks && groups->locks[n].n > 1)
		n++;
	if (n)
		fputs("\nWait for the same lock or channel:\n", out);
	for (size_t i = 0; i < n && (all || i < LOCKS_SHOWN); i++)
		fprintf(out, "%*s  %s\n", INDENT - 2, text_count(groups->locks[i].n).bytes,
			string(groups, groups->locks[i].name, 48).bytes);
	if (!all && n > LOCKS_SHOWN)
		fprintf(out, "%*s  ... %zu more (--all)\n", INDENT - 2, "", n - LOCKS_SHOWN);
}

/* Prints a heading for the groups of a label's value. */
static void print_value(const struct groups *groups, FILE *out, const struct goroutine_group *group)
{
	const char *key = groups->options.label;
	size_t len = 0;
	const char *value = group_label(groups, group, &len);

	if (value)
		fprintf(out, "\n%s=%s: ", text_name(key, strlen(key), 24).bytes,
			text_name(value, len, 30).bytes);
	else
		fprintf(out, "\nwithout label %s: ", text_name(key, strlen(key), 24).bytes);
	fprintf(out, "%s goroutines\n", text_count(group->label_total).bytes);
}

void groups_print_text(struct groups *groups, FILE *out, bool all)
{
	size_t shown = all || groups->n < GROUPS_SHOWN ? groups->n : GROUPS_SHOWN;

	print_text_head(groups, out);
	print_suspects(groups, out, all);
	print_shared_locks(groups, out, all);
	for (size_t i = 0; i < shown; i++) {
		const struct goroutine_group *group = &groups->all[i];

		if (groups->options.by == BY_LABEL &&
		    (i == 0 || group->key.labels != groups->all[i - 1].key.labels))
			print_value(groups, out, group);
		else if (groups->options.by != BY_LABEL)
			fputc('\n', out);
		print_text_group(groups, out, group, all);
	}
	if (shown < groups->n)
		fprintf(out, "\n%s more groups (--all)\n", text_count(groups->n - shown).bytes);
}
