/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* User annotations and CPU samples in wire v1 and v0. */
#include "trace/wire/state_v1.h"

static void user_v1_put_log(struct encoder_v1 *wire, const struct op *op)
{
	uint64_t args[] = {op->arg, dict_v1_string(&wire->dict, op->string), op_v1_stack(wire, op)};
	size_t len = 0;
	const char *text = dict_v1_text(&wire->dict, op->string2, &len);

	file_v1_message(&wire->file, op_v1_stream_by(wire, op), wire->now, V1_USER_LOG, args, COUNT(args),
			text ? text : "", len);
}

enum { REGION_BEGINS = 0, REGION_ENDS = 1 };

void put_v1_annotation(struct encoder_v1 *wire, const struct op *op)
{
	struct dict_v1 *dict = &wire->dict;
	int32_t p = op_v1_stream_by(wire, op);

	if (!event_v1_spec(V1_USER_LOG, wire->file.format))
		return;
	switch (op->kind) {
	case OP_TASK_BEGIN:
		EVENT(wire, p, V1_USER_TASK_CREATE, op->arg, op->arg2, dict_v1_string(dict, op->string),
		      op_v1_stack(wire, op));
		break;
	case OP_TASK_END:
		EVENT(wire, p, V1_USER_TASK_END, op->arg, op_v1_stack(wire, op));
		break;
	case OP_REGION_BEGIN:
	case OP_REGION_END:
		/* Regions nest per goroutine, so readers must not attribute this one to another goroutine. */
		if (p_v1_at(wire, p)->g == op->g)
			EVENT(wire, p, V1_USER_REGION, op->arg,
			      op->kind == OP_REGION_BEGIN ? REGION_BEGINS : REGION_ENDS,
			      dict_v1_string(dict, op->string), op_v1_stack(wire, op));
		break;
	case OP_LOG:
		user_v1_put_log(wire, op);
		break;
	default:
		break;
	}
}

/*
 * Samples are not ordered; each contains its own time. Readers up to Go 1.22 refuse a GoCreate for a
 * goroutine that an earlier sample named.
 */
void put_v1_sample(struct encoder_v1 *wire, const struct op *op)
{
	const struct g_v1 *g = g_v1_at(wire, op->g);
	uint64_t ticks = file_v1_ticks(&wire->file, op->time);
	uint64_t id = op->g != NO_G && g->state != UNKNOWN && g->born < ticks ? g->id : 0;

	wire->now = V1_SAME_TIME;
	if (event_v1_spec(V1_CPU_SAMPLE, wire->file.format))
		EVENT(wire, NO_P, V1_CPU_SAMPLE, ticks, (uint64_t)(int64_t)op->p, id, op_v1_stack(wire, op));
}
