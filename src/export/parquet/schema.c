/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "export/parquet/schema.h"

#define TEXT(name)                                                                                           \
	{                                                                                                    \
		name, PQ_TEXT, PQ_DICTIONARY                                                                 \
	}
#define NOTE(name)                                                                                           \
	{                                                                                                    \
		name, PQ_TEXT, PQ_PLAIN                                                                      \
	} /* text that rarely repeats */
#define ID(name)                                                                                             \
	{                                                                                                    \
		name, PQ_INT64, PQ_DICTIONARY                                                                \
	}
#define DELTA(name)                                                                                          \
	{                                                                                                    \
		name, PQ_INT64, PQ_DELTA                                                                     \
	}
#define SMALL(name)                                                                                          \
	{                                                                                                    \
		name, PQ_INT32, PQ_DICTIONARY                                                                \
	}
#define BOOL(name)                                                                                           \
	{                                                                                                    \
		name, PQ_BOOL, PQ_PLAIN                                                                      \
	}
#define REAL(name)                                                                                           \
	{                                                                                                    \
		name, PQ_DOUBLE, PQ_PLAIN                                                                    \
	}

#define COMMON TEXT("trace_id"), TEXT("service_name"), TEXT("service_version"), TEXT("host_name")

static const struct pq_column trace_columns[] = {
	COMMON,
	DELTA("start_ts"),
	DELTA("end_ts"),
	DELTA("clock_start"),
	TEXT("clock"),
	TEXT("file"),
	DELTA("bytes"),
	DELTA("events"),
	DELTA("not_watched_ns"),
	DELTA("repaired"),
	SMALL("procs"),
	BOOL("threads"),
	DELTA("throttled_ns"),
	DELTA("process_pid"),
	TEXT("process_executable_name"),
	TEXT("container_id"),
	TEXT("k8s_pod_name"),
	TEXT("k8s_namespace_name"),
	TEXT("deployment_environment_name"),
	TEXT("build_id"),
	TEXT("k8s_pod_uid"),
	TEXT("gotrace_version"),
};
static const struct pq_column wait_columns[] = {
	COMMON,          TEXT("state"),   TEXT("reason"),
	DELTA("sum_ns"), ID("stack"),     ID("stack_names"),
	TEXT("op"),      TEXT("site"),    SMALL("site_line"),
	DELTA("n"),      DELTA("max_ns"), DELTA("max_ts"),
	DELTA("cut_n"),  DELTA("cut_ns"),
};
static const struct pq_column latency_columns[] = {
	COMMON, TEXT("state"), TEXT("reason"), DELTA("ge_ns"), DELTA("n"), DELTA("sum_ns"),
};
static const struct pq_column request_columns[] = {
	COMMON,
	DELTA("ts"),
	DELTA("dur"),
	DELTA("task"),
	ID("parent"),
	TEXT("name"),
	DELTA("goid"),
	BOOL("ended"),
	TEXT("status"),
	BOOL("error"),
	NOTE("otel_trace_id"),
	NOTE("otel_span_id"),
	DELTA("running_ns"),
	DELTA("runnable_ns"),
	DELTA("syscall_ns"),
	DELTA("lock_ns"),
	DELTA("network_ns"),
	DELTA("other_ns"),
	DELTA("not_watched_ns"),
};
static const struct pq_column request_wait_columns[] = {
	COMMON,         DELTA("ts"),         DELTA("dur"),         DELTA("task"),
	TEXT("name"),   DELTA("request_ts"), DELTA("request_dur"), TEXT("state"),
	TEXT("reason"), ID("stack"),         ID("stack_names"),    TEXT("op"),
	TEXT("site"),
};
static const struct pq_column label_columns[] = {
	COMMON,
	TEXT("key"),
	TEXT("value"),
	DELTA("n"),
	DELTA("sum_ns"),
	DELTA("running_ns"),
	DELTA("runnable_ns"),
	DELTA("waiting_ns"),
	DELTA("syscall_ns"),
};
static const struct pq_column offcpu_columns[] = {
	COMMON, TEXT("cause"), TEXT("func"), TEXT("goroutine"), DELTA("n"), DELTA("sum_ns"), DELTA("max_ns"),
};
static const struct pq_column finding_columns[] = {
	COMMON,          TEXT("rule"),      TEXT("level"),     REAL("impact"),
	TEXT("site"),    TEXT("by_site"),   DELTA("n"),        DELTA("total_ns"),
	DELTA("p99_ns"), DELTA("max_ns"),   DELTA("worst_ts"), NOTE("text"),
	ID("stack"),     ID("stack_names"), ID("waker_stack"), TEXT("explained_by"),
	TEXT("next"),
};
static const struct pq_column stack_columns[] = {
	COMMON,       ID("stack"),    ID("stack_names"), TEXT("op"), TEXT("site"), SMALL("site_line"),
	TEXT("root"), SMALL("depth"), NOTE("frames"),
};
static const struct pq_column state_columns[] = {
	COMMON,      DELTA("ts"),  DELTA("dur"), DELTA("g"),     TEXT("state"), TEXT("reason"),
	ID("stack"), ID("thread"), SMALL("p"),   BOOL("begins"), BOOL("ends"),  TEXT("lock"),
};
static const struct pq_column goroutine_columns[] = {
	COMMON,           DELTA("g"),     DELTA("goid"), TEXT("name"), ID("parent"),
	DELTA("created"), DELTA("ended"), ID("entry"),   ID("thread"),
};
static const struct pq_column wakeup_columns[] = {
	COMMON, DELTA("ts"), ID("waker"), ID("g"), ID("stack"), ID("thread"), SMALL("p"),
};
static const struct pq_column gc_columns[] = {
	COMMON,     DELTA("ts"), DELTA("dur"),   TEXT("kind"),       TEXT("name"), ID("g"),
	SMALL("p"), ID("stack"), DELTA("swept"), DELTA("reclaimed"), BOOL("ends"),
};
static const struct pq_column sample_columns[] = {
	COMMON, DELTA("ts"), ID("g"), ID("thread"), SMALL("p"), ID("stack"),
};
static const struct pq_column region_columns[] = {
	COMMON, DELTA("ts"), DELTA("dur"), TEXT("name"), ID("g"), ID("task"), ID("stack"), BOOL("ends"),
};
static const struct pq_column log_columns[] = {
	COMMON, DELTA("ts"), ID("g"), ID("task"), TEXT("category"), TEXT("message"), ID("stack"),
};
static const struct pq_column metric_columns[] = {
	COMMON,
	DELTA("ts"),
	TEXT("name"),
	DELTA("value"),
};

#define SCHEMA(table)                                                                                        \
	{                                                                                                    \
#table, table##_columns, sizeof(table##_columns) / sizeof((table##_columns)[0])              \
	}

const struct lake_schema lake_schemas[LAKE_TABLES] = {
	[LAKE_TRACE] = SCHEMA(trace),
	[LAKE_WAIT] = SCHEMA(wait),
	[LAKE_LATENCY] = SCHEMA(latency),
	[LAKE_REQUEST] = SCHEMA(request),
	[LAKE_REQUEST_WAIT] = SCHEMA(request_wait),
	[LAKE_LABEL] = SCHEMA(label),
	[LAKE_OFFCPU] = SCHEMA(offcpu),
	[LAKE_FINDING] = SCHEMA(finding),
	[LAKE_STACK] = SCHEMA(stack),
	[LAKE_STATE] = SCHEMA(state),
	[LAKE_GOROUTINE] = SCHEMA(goroutine),
	[LAKE_WAKEUP] = SCHEMA(wakeup),
	[LAKE_GC] = SCHEMA(gc),
	[LAKE_SAMPLE] = SCHEMA(sample),
	[LAKE_REGION] = SCHEMA(region),
	[LAKE_LOG] = SCHEMA(log),
	[LAKE_METRIC] = SCHEMA(metric),
};

const char *lake_table_name(enum lake_table table)
{
	return (unsigned)table < LAKE_TABLES ? lake_schemas[table].name : "?";
}
