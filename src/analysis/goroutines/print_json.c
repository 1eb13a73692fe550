/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "analysis/goroutines/print.h"
#include "util/json.h"

static void print_json_string(struct json *json, const char *name, const struct groups *groups, uint32_t id)
{
	size_t len;
	const char *text = strtab_get(groups->strings, id, &len);

	json_string(json, name, text, len);
}

static void put_frame(struct json *json, const char *name, const struct groups *groups,
		      const struct frame *frame)
{
	json_open(json, name, '{');
	print_json_string(json, "function", groups, frame->func);
	print_json_string(json, "file", groups, frame->file);
	json_number(json, "line", frame->line);
	json_close(json, '}');
}

static void print_json_stack(struct json *json, struct groups *groups, const struct goroutine_group *group)
{
	struct frame frames[MAX_FRAMES], frame;
	int n = group_frames(groups, group, frames);

	json_open(json, "stack", '[');
	for (int i = 0; i < n; i++)
		put_frame(json, NULL, groups, &frames[i]);
	json_close(json, ']');
	if (group_start(groups, group, &frame))
		put_frame(json, "start", groups, &frame);
	if (group_creator(groups, group, &frame))
		put_frame(json, "created_by", groups, &frame);
}

static void print_json_text(struct json *json, const char *name, const struct listing_text *text)
{
	json_string(json, name, text->bytes, text->len);
}

static void put_label_set(struct json *json, const struct groups *groups, const struct label_count *count)
{
	struct listing_label labels[LABELS_MAX];
	unsigned n = listing_labels(groups->now, count->labels, labels);

	json_open(json, NULL, '{');
	json_number(json, "count", count->n);
	json_bool(json, "cut", groups->now->labels[count->labels - 1].cut);
	json_open(json, "labels", '[');
	for (unsigned i = 0; i < n; i++) {
		json_open(json, NULL, '{');
		print_json_text(json, "key", &labels[i].key);
		print_json_text(json, "value", &labels[i].value);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_close(json, '}');
}

static void print_json_labels(struct json *json, const struct groups *groups,
			      const struct goroutine_group *group)
{
	json_number(json, "labelled", group->labelled);
	json_number(json, "other_label_sets", group->other_labels);
	json_open(json, "label_sets", '[');
	for (unsigned i = 0; i < group->nlabels; i++)
		put_label_set(json, groups, &group->labels[i]);
	json_close(json, ']');
}

enum { MOST_LOCKS = 1000 };

static void put_locks(struct json *json, const struct groups *groups, const char *name,
		      const struct lock_waiters *locks, size_t n)
{
	json_open(json, name, '[');
	for (size_t i = 0; i < n && i < MOST_LOCKS; i++) {
		size_t len;
		const char *text = strtab_get(groups->strings, locks[i].name, &len);

		json_open(json, NULL, '{');
		json_string(json, "lock", text, len);
		json_number(json, "count", locks[i].n);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void print_json_group(struct json *json, struct groups *groups, const struct goroutine_group *group)
{
	uint64_t most = group_most_ns(groups, group);
	size_t len = 0;
	const char *label = group_label(groups, group, &len);

	json_open(json, NULL, '{');
	json_number(json, "count", group->n);
	json_text(json, "state", group_state(groups, group));
	if (label)
		json_string(json, "label", label, len);
	json_number(json, "unmoved", group->still);
	json_bool(json, "suspect", group_is_suspect(group));
	json_bool(json, "leaked", group_is_leaked(group));
	json_number(json, "age_least_ns", group->still == group->n ? groups->between_ns : 0);
	if (most)
		json_number(json, "age_most_ns", most);
	json_open(json, "goroutines", '[');
	for (unsigned i = 0; i < GROUP_GOIDS && i < group->n; i++)
		json_number(json, NULL, group->goids[i]);
	json_close(json, ']');
	if (group->parent)
		json_number(json, "parent", group->parent);
	print_json_stack(json, groups, group);
	if (group->nlocks) {
		put_locks(json, groups, "waits_for", group->locks, group->nlocks);
		json_number(json, "waits_for_others", group->other_locks);
	}
	print_json_labels(json, groups, group);
	json_close(json, '}');
}

void groups_print_json(struct groups *groups, FILE *out)
{
	struct json json = {.out = out};

	json_open(&json, NULL, '{');
	json_number(&json, "version", 1);
	json_number(&json, "pid", groups->now->target.pid);
	json_text(&json, "command", groups->now->target.comm);
	json_text(&json, "go_version", groups->now->target.go_version);
	json_number(&json, "between_ns", groups->between_ns);
	json_number(&json, "goroutines", groups->total);
	json_number(&json, "runtime_goroutines", groups->hidden);
	json_number(&json, "not_read", groups->now->head.left_out);
	json_number(&json, "labels_lost", groups->labels_lost);
	if (groups->options.by == BY_LABEL)
		json_text(&json, "by_label", groups->options.label);
	put_locks(&json, groups, "locks", groups->locks, groups->nlocks);
	json_open(&json, "groups", '[');
	for (size_t i = 0; i < groups->n; i++)
		print_json_group(&json, groups, &groups->all[i]);
	json_close(&json, ']');
	json_close(&json, '}');
	fputc('\n', out);
}
