/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "export/perfetto_event.h"

#include <string.h>

#include "trace/ops/labels.h"

/* The labels as a dictionary annotation. */
struct label_dictionary {
	struct labels_read set;
	char texts[LABELS_TEXT_MAX + 2 * LABELS_TEXT_LABELS + 32]; /* the same, NUL-terminated */
	Perfetto__DebugAnnotation entries[LABELS_TEXT_LABELS], *pointers[LABELS_TEXT_LABELS];
};

static char *perfetto_event_put_text(char **at, const char *text, size_t len)
{
	char *begin = *at;

	memcpy(begin, text, len);
	begin[len] = '\0';
	*at += len + 1;
	return begin;
}

static bool perfetto_event_fill_labels(const struct perfetto *px, uint32_t string,
				       struct label_dictionary *all, Perfetto__DebugAnnotation *labels)
{
	size_t len;
	const char *text = strtab_get(px->st.strings, string, &len);
	char *at = all->texts;

	if (!string || labels_parse(text, len, &all->set) < 0 || !all->set.n)
		return false;
	for (unsigned i = 0; i < all->set.n; i++) {
		const struct pprof_label *label = &all->set.labels[i];

		all->entries[i] = (Perfetto__DebugAnnotation)PERFETTO__DEBUG_ANNOTATION__INIT;
		all->entries[i].name = perfetto_event_put_text(&at, label->key, label->key_len);
		all->entries[i].string_value = perfetto_event_put_text(&at, label->value, label->value_len);
		all->pointers[i] = &all->entries[i];
	}
	labels->has_name_iid = true;
	labels->name_iid = PF_LABELS;
	labels->n_dict_entries = all->set.n;
	labels->dict_entries = all->pointers;
	return true;
}

enum { ANNOTATIONS = 4 };

static size_t fill_annotations(const struct perfetto *px, const struct pf_event *ev,
			       struct label_dictionary *labels, Perfetto__DebugAnnotation *all)
{
	size_t n = 0;

	for (size_t i = 0; i < ANNOTATIONS; i++)
		all[i] = (Perfetto__DebugAnnotation)PERFETTO__DEBUG_ANNOTATION__INIT;
	if (ev->number_is) {
		all[n].has_name_iid = all[n].has_uint_value = true;
		all[n].name_iid = ev->number_is;
		all[n++].uint_value = ev->number;
	}
	if (ev->tid) {
		all[n].has_name_iid = all[n].has_uint_value = true;
		all[n].name_iid = PF_TID;
		all[n++].uint_value = ev->tid;
	}
	if (ev->text_is) {
		all[n].has_name_iid = true;
		all[n].name_iid = ev->text_is;
		all[n++].string_value = (char *)ev->text;
	}
	return ev->labels && perfetto_event_fill_labels(px, ev->labels, labels, &all[n]) ? n + 1 : n;
}

int pf_put_event(struct perfetto *px, const struct pf_event *ev)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
	Perfetto__DebugAnnotation annotations[ANNOTATIONS];
	Perfetto__DebugAnnotation *pointers[] = {&annotations[0], &annotations[1], &annotations[2],
						 &annotations[3]};
	struct label_dictionary labels;
	uint64_t category = ev->category, flow = ev->flow, end_of_flow = ev->end_of_flow;
	int rc = pf_intern_name(&px->stream, ev->name);

	if (!rc)
		rc = pf_intern_stack(&px->stream, ev->stack);
	if (rc)
		return rc;
	event.has_type = event.has_track_uuid = true;
	event.type = ev->type;
	event.track_uuid = ev->track;
	event.has_name_iid = ev->name;
	event.name_iid = ev->name;
	event.n_category_iids = ev->category != PF_NO_CATEGORY;
	event.category_iids = &category;
	event.has_callstack_iid = ev->stack;
	event.callstack_iid = ev->stack;
	event.n_flow_ids = ev->flow != 0;
	event.flow_ids = &flow;
	event.n_terminating_flow_ids = ev->end_of_flow != 0;
	event.terminating_flow_ids = &end_of_flow;
	event.n_debug_annotations = fill_annotations(px, ev, &labels, annotations);
	event.debug_annotations = pointers;
	packet.data_case = PERFETTO__TRACE_PACKET__DATA_TRACK_EVENT;
	packet.track_event = &event;
	return (ev->aside ? pf_put_aside : pf_put_at)(&px->stream, ev->time, &packet);
}

int pf_text(struct perfetto *px, const char *text, uint32_t *id)
{
	return stacktab_text(&px->st, text, strlen(text), id);
}
