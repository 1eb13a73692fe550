/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the model: what is known of the target now, and the ops of the open generation. */
#ifndef GOTRACE_MODEL_STATE_H
#define GOTRACE_MODEL_STATE_H

#include "model.h"
#include "util/map64.h"

/* Status 0 of struct g: dead, or never seen. */
enum { G_DEAD = 0 };

/* A region of the user's that is open. */
struct region {
	uint64_t task;
	uint64_t sp;   /* of a call of a function: its caller's, from the stack's end; 0 = of none */
	uint32_t name; /* string id */
	bool own_task; /* the task ends with it */
	bool unnamed;  /* of StartRegion while the runtime's tracer was off: its end does not say which it is
			*/
};

/* Innermost last, as readers keep them. */
struct region_list {
	struct region *open;
	unsigned n, capacity;
	unsigned beyond; /* more that are open, too deep to be told */
	uint32_t losses; /* model.losses when they were last looked at */
};

/* The strings of a record with texts. */
struct text_ids {
	uint32_t string, string2;
};

/* A goroutine's life. */
struct g {
	uint64_t ptr;         /* runtime.g: the key while it lives */
	struct m *m;          /* where it runs or is in a system call */
	uint64_t last_op;     /* number of the last op that has to do with it (op_number) */
	uint64_t last_hit;    /* ns: time of the last record about it */
	uint64_t last_assist; /* ns: of the last one about a mark assist of its */
	uint64_t startpc;
	uint32_t index; /* in tables.goroutines */
	uint32_t stack; /* the last one of its own that was seen */
	/* It left its thread unseen: 1 + index of the op in that generation, until it is known how. */
	size_t left;
	uint32_t left_generation;
	uint32_t opened_in; /* generation at whose start it was there and no assist has been told of since */
	uint32_t assist_told; /* generation that knows of the open assist */
	uint8_t status;       /* enum g_status, or G_DEAD */
	uint8_t worker;   /* what it will do as a GC worker once it starts (p.gcMarkWorkerMode), 0 = none */
	bool listed;      /* scratch of a resync: the snapshot has it */
	bool assists;     /* a mark assist is open */
	bool assist_over; /* so it is here only: the target says there is none */
	struct region_list regions;
	uint32_t name;         /* of a thread that has ended: string id */
	struct thread *thread; /* of a target seen as threads: owned; NULL otherwise, and for the stand-in */
};

struct p {
	uint64_t ptr;
	struct m *m; /* who holds it: running or in a system call */
	uint64_t last_op;
	uint64_t last_hit;
	int32_t id;
	uint32_t abandoned_by; /* tid of the thread that left it behind, P_ABANDONED only */
	uint8_t status;        /* enum p_status */
	bool sweeps;           /* a sweep is open */
	uint32_t
		nameless; /* index of the goroutine that was last created here, if without its id; 0 = none */
	uint32_t opened_in; /* generation at whose start it was there and no sweep has been told of since */
};

/*
 * The end of a system call that did not lose its P has no site. sys_exit
 * holds a place in the list of ops; the thread's next record, or the reading
 * of its memory at the boundary, tells whether the end belongs there.
 */
struct call_end {
	bool exited;         /* the kernel, or C, has been left: the call may be over */
	bool explicit_end;   /* seen at exitsyscall's call (cgo): the call is over whatever comes next */
	bool held;           /* with its P still there: a place is held for the end */
	uint32_t tick;       /* m.syscalltick of the call */
	size_t op;           /* index of the OP_NONE that holds the place */
	size_t unseen_begin; /* 1 + index of a begin that was inferred: its record is still to come */
	uint64_t time;
};

struct m {
	struct g *g;
	struct p *p;
	uint64_t last_op;
	uint64_t last_hit;
	uint64_t last_p_hit; /* ns: time of the last record by which it took or lost a P */
	uint32_t tid;        /* NO_M never */
	uint32_t tick;       /* m.syscalltick of its last call */
	struct call_end end;
	uint64_t
		ended_by_switch; /* ptr of a g that a coroutine switch ended: its gdestroy is still to come */
};

/* ops[index] belongs further up: before ops[place]. */
struct moved {
	uint32_t index, place;
};

struct op_list {
	struct op *ops;
	size_t n, capacity;
	size_t statuses; /* the first of them are statuses */
	uint64_t before; /* ops of all generations before */
	struct moved *moved;
	size_t nmoved, moved_capacity;
};

/* CPU samples of the open generation: they stand behind its ops, for they are not part of the order. */
struct sample_list {
	struct op *ops;
	size_t n, capacity;
	uint64_t last; /* ns: time of the latest */
};

enum cause {
	SEEN,     /* the record says so */
	INFERRED, /* normal, but without a site of its own */
	REPAIRED, /* made up so that the trace stays valid */
};

struct stack_table {
	struct stack *stacks;
	struct stack_use *uses; /* by id */
	uint32_t n, capacity;
	uint32_t epoch; /* counts renewals */
	uint32_t *free; /* ids to be used again */
	uint32_t nfree, free_capacity;
	struct map64 by_hash;  /* raw_stack.hash -> id */
	struct map64 by_entry; /* start PC -> id of its one-frame stack */
};

/* Stacks that the log tells of anew are forgotten some time after their last use (tables_renew). */
struct stack_use {
	uint64_t hash;  /* by which records name it; 0: it is kept for ever, or its id is free */
	uint32_t epoch; /* when it was last told of or used */
	uint32_t base;  /* of a named one: its pcs are those of this */
	bool named;
};

struct goroutine_table {
	struct g **all;  /* by index; [0] = NULL */
	uint64_t *goids; /* by index */
	uint32_t n, capacity;
	struct map64 by_ptr;      /* runtime.g -> index, of those that live */
	struct map64 by_goid;     /* the same by id: readers refuse two of one id */
	struct map64 ended_goids; /* of lives that ended in this generation */
	uint32_t *ended;          /* indices to be used again after this generation */
	uint32_t nended, ended_capacity;
	uint32_t *free;
	uint32_t nfree, free_capacity;
};

/* The synthetic goroutine that makes the transitions nobody saw, on a thread and P of its own. */
struct stand_in {
	struct m *m;
	struct g *g;
	struct p *p;
	uint32_t stack;
};

enum gc_phase { GC_UNKNOWN, GC_OFF, GC_ON };

enum { MAX_REASONS = 64, REASON_TABLES = 6 };

enum phase {
	BEFORE_SNAPSHOT, /* records are kept until the first snapshot has come */
	AFTER_GAP,       /* the same, but there is a state from before */
	RUNNING,
};

struct snapshot {
	bool open;
	struct log_snapshot info;
	struct log_heap heap; /* all 0: not known */
	struct log_g *gs;
	struct log_p *ps;
	struct log_m *ms;
	size_t ngs, nps, nms;
	struct log_area *areas;
	size_t nareas;
	struct log_thread *threads;
	size_t nthreads;
};

/* Spans and stacks: address -> whether it is in use, and when it was last heard of (memory.c). */
struct memory {
	struct map64 spans, stacks;
	uint64_t base; /* of the heap, 0 = nothing is known of memory */
};

struct record_buffer {
	struct raw_record *records;
	size_t n, capacity;
	struct text_ids *texts; /* of those records that have texts, in their order */
	size_t ntexts, texts_capacity;
};

/* A function whose calls are regions or tasks. */
struct function {
	uint32_t name; /* string id */
	uint16_t kind; /* enum log_function_kind, 0 = not known */
};

struct function_table {
	struct function *all; /* by number */
	uint32_t n;
	uint64_t tasks; /* ids given so far */
};

/* The user's annotations. */
struct annotations {
	struct strtab *texts;    /* messages of logs, of the open generation */
	struct map64 open_tasks; /* ids */
	uint32_t losses;         /* how often records were lost, or nothing was seen */
	struct text_ids ids;     /* of the record in hand */
};

/* A log event that a generation_watch wants (notes.c). */
struct pending_log {
	long place;
	uint32_t stack, text; /* text: a string id */
};

struct pending_logs {
	struct pending_log *all;
	size_t n, capacity;
};

struct stats;
struct thread;
struct threads; /* threads.h */

struct model {
	struct model_options options;
	struct log_target target;
	bool has_target;
	bool oom;
	int sink_error;
	enum phase phase;

	struct annotations annotations;
	struct function_table functions;
	struct record_buffer early; /* what came before the snapshot that is waited for */
	struct snapshot snapshot;
	struct log_loss loss_told;

	struct goroutine_table gs;
	struct p **ps;
	unsigned nps;
	struct map64 p_by_ptr;
	struct m **ms;
	unsigned nms;
	struct map64 m_by_tid;
	struct stand_in stand_in;
	struct memory memory;
	struct threads *threads; /* NULL = the target is seen as goroutines */

	struct stack_table stacks;
	uint32_t reasons[REASON_TABLES][MAX_REASONS]; /* string ids by enum log_reason_table */
	struct tables tables;                         /* as handed out */

	uint64_t now;       /* time of the record in hand */
	uint64_t last_time; /* of the last op */
	struct op_spacing spacing;
	enum cause cause;

	struct op_list ops;
	struct pending_logs logs;
	struct sample_list samples;
	uint32_t generation; /* number of the open one, 0 = none */
	uint64_t generation_start;
	struct log_clock clock; /* the newest */
	bool boundary_due;      /* waits for the end of a stop-the-world */
	bool renew_due;         /* stacks are to be forgotten at the generation's end */
	bool procs_told;        /* ProcsChange was written in this generation */
	uint32_t gomaxprocs;
	bool spans;    /* goroutines leave their threads unseen (LOG_NOTE_SPANS) */
	struct g *stw; /* who stopped the world, NULL = it runs */
	enum gc_phase gc;
	uint64_t last_gc; /* ns: time of the last record about a cycle */
	bool gc_in_file;  /* any event of a cycle has been written */
	bool goal_due;    /* the heap's goal, heap_goal, is still to be told */
	uint64_t heap_goal;
	bool live_due; /* the heap's size, heap_live, is still to be told */
	uint64_t heap_live;
	bool gc_told; /* in this generation: that a cycle runs, or what it did */

	struct stats *stats;
	struct model_stats totals;
};

/* The generation is closed early when it has so many ops besides statuses, whatever the clock says: memory
 * stays bounded. */
enum { MAX_GENERATION_OPS = 1 << 18 };

/* What a spare P id or thread id of our own may be: no Linux tid is as large. */
#define STAND_IN_TID  0x7fffffffu
#define STAND_IN_GOID ((uint64_t)1 << 52)

/* --- tables.c --- */
int tables_init(struct model *md);
void tables_free(struct model *md);
uint32_t tables_add_stack(struct model *md, const struct raw_stack *raw);
uint32_t tables_stack(const struct model *md, uint64_t hash);
uint32_t tables_entry_stack(struct model *md, uint64_t startpc);
uint32_t tables_literal_stack(struct model *md, const char *const *names, unsigned n);
uint32_t tables_string(struct model *md, const char *text);
/* Forgets the stacks that neither this epoch nor the one before has used; a generation has just been closed.
 */
void tables_renew(struct model *md);
/* A stack with names around it: those of stack `base` (0 = none), leaf and root may be 0. */
uint32_t tables_named_stack(struct model *md, uint32_t base, uint32_t leaf, uint32_t root);
void tables_use_stack(struct model *md, uint32_t id); /* it is not to be forgotten yet */
/* Forgets names of the target's that nobody holds any more, if they have become many; a generation has just
 * been closed. */
void tables_sweep_names(struct model *md);
uint32_t tables_reason(const struct model *md, unsigned table, uint64_t index);

/* --- entities.c --- */
int entities_init(struct model *md);
struct g *g_find(const struct model *md, uint64_t ptr); /* NULL if it does not live */
struct g *g_new(struct model *md, uint64_t ptr,
		uint64_t goid);              /* status G_DEAD, ptr may be 0; NULL when out of memory */
void g_ended(struct model *md, struct g *g); /* its ptr may be another's from now on */
void g_recycle(struct model *md);            /* indices of the dead may be used again */
/* Up to Go 1.23 newproc1 numbers a goroutine after the probe: the next record brings the id. */
void g_set_goid(struct model *md, struct g *g, uint64_t goid);
struct p *p_find(const struct model *md, uint64_t ptr);
struct p *p_get(struct model *md, uint64_t ptr,
		int32_t id); /* finds or adds (idle, and says so in the ops) */
struct m *m_get(struct model *md, uint32_t tid);

void forget_threads(struct model *md); /* many that did nothing for long: thread ids recur, and are endless */

/* --- notes.c: log events of our own --- */
/* Of the stand-in's, now. text: a string id, maybe with TEXT_ID. */
void note_write(struct model *md, uint32_t text);
uint32_t note_text(struct model *md, const char *text); /* of this generation */
void notes_watch(struct model *md); /* asks the watch, and writes what it wants; the ops are complete */
void notes_free(struct pending_logs *logs);

/* --- ops.c: the list of ops of the open generation --- */
struct op *emit(struct model *md, enum op_kind kind, struct m *m);
size_t hold_place(struct model *md, struct m *m); /* index of an OP_NONE that the caller may fill later */
uint64_t op_number(const struct model *md);       /* of the last op, counted over all generations */
/* The last op, just written, belongs right behind the one with the number. */
void move_up(struct model *md, uint64_t behind);
void weave(struct model *md); /* puts what was moved in its place: once, when the generation is complete */

void keep_apart(struct model *md,
		size_t from);           /* times increase strictly from this op on: some were put in */
struct op *append_op(struct model *md); /* behind the last, not filled in */

/* --- sample.c --- */
/* NULL if nothing was taken; the op is gone with the next call. */
struct op *sample_take(struct model *md, const struct raw_record *rec);
void sample_flush(struct model *md); /* at the end of a generation */

/* --- step.c: lawful ops; each asserts nothing and changes the state as readers will --- */
void step_proc_status(struct model *md, struct p *p);
void step_proc_start(struct model *md, struct m *m, struct p *p);
void step_proc_stop(struct model *md, struct m *m);
void step_proc_steal(struct model *md, struct m *thief, struct p *p);
void step_go_start(struct model *md, struct m *m, struct g *g);
/* The same without a record of its own: as early as it can have been. */
void step_go_start_unseen(struct model *md, struct m *m, struct g *g);
void step_go_stop(struct model *md, struct m *m, uint32_t reason, uint32_t stack);
struct op *step_go_block(struct model *md, struct m *m, uint32_t reason, uint32_t stack);
void step_go_destroy(struct model *md, struct m *m);
void step_go_create(struct model *md, struct m *m, struct g *g, bool blocked, uint32_t stack);
void step_go_create_syscall(struct model *md, struct m *m, struct g *g);
void step_go_destroy_syscall(struct model *md, struct m *m);
void step_go_unblock(struct model *md, struct m *m, struct g *g, uint32_t stack);
void step_go_switch(struct model *md, struct m *m, struct g *next, bool destroy);
void step_syscall_begin(struct model *md, struct m *m, uint32_t stack);
void step_syscall_end(struct model *md, struct m *m);
void step_syscall_end_blocked(struct model *md, struct m *m);
void step_stw_end(struct model *md, enum cause cause);
void step_sweep_end(struct model *md, struct m *m, uint64_t swept, uint64_t reclaimed);
void step_assist_end(struct model *md, struct m *m);
void drop_held_end(struct m *m);

/* --- repair.c: makes the state what a record says it was, with the fewest ops --- */
void make_p_idle(struct model *md, struct m *by, struct p *p);
void make_m_free(struct model *md, struct m *m); /* no goroutine; its P, if any, runs */
bool make_m_hold(struct model *md, struct m *m,
		 struct p *p); /* m holds p, running, no matter which goroutine */
void make_runnable(struct model *md, struct g *g);
void make_waiting(struct model *md, struct g *g);
bool make_running(struct model *md, struct m *m, struct g *g, struct p *p);
void make_dead(struct model *md, struct g *g);
/* The goroutine of a record, born by the stand-in if nobody saw its birth. NULL: ptr is 0. */
struct g *g_of_record(struct model *md, uint64_t ptr, uint64_t goid, uint8_t status);
struct m *stand_in_begin(struct model *md); /* running, on its own P; NULL when out of memory */
void stand_in_end(struct model *md);

/* --- observe_gc.c --- */
void end_sweeps(struct model *md); /* those that are open are not seen any more */
/*
 * Up to Go 1.21 gcAssistAlloc remembers in a variable of its own if it has told
 * of the beginning: it may come by there again and again, and by the end only.
 */
bool repeats_assists(const struct model *md);
void tell_heap_live(struct model *md, struct m *m); /* if it is due, and m can */

/* --- spans.c: when only starts are seen --- */
void leave_unseen(struct model *md, struct m *m); /* m's running goroutine is not there any more */
enum leaving { YIELDED, PARKED, PREEMPTED };      /* raw_record.arg of SITE_SPAN */
/* How a goroutine left the last time, if that was not seen. */
void settle_leaving(struct model *md, struct g *g, enum leaving how, uint64_t wait_reason, uint32_t stack);

/* --- memory.c --- */
void memory_observe(struct model *md, const struct raw_record *rec, struct m *m);
/* Takes from the first snapshot what the early records from `from` on show to be younger. */
void memory_start(struct model *md, size_t from);
/* The ops of what is left: in the first generation, in the place of statuses. */
void memory_tell_start(struct model *md);
/* After records were lost: what is new, and what is gone. */
void memory_resync(struct model *md);
void memory_free(struct memory *memory);

/* --- observe.c --- */
void observe(struct model *md, const struct raw_record *rec);
bool moves_own_p(
	uint8_t site);        /* its thread takes a P or drops its own: not one that it takes from another */
bool names_a_p(uint8_t site); /* its record is about a P that changes hands */

/* --- observe_user.c: tasks, regions, logs --- */
int annotations_init(struct model *md);
void annotations_free(struct model *md);
bool has_texts(uint8_t site);
struct text_ids text_ids(struct model *md, const struct raw_text *text);
/* A record of an annotation; its strings are in md->annotations.ids. */
void observe_user(struct model *md, const struct raw_record *rec, struct m *m, struct p *p, uint32_t stack);
void regions_forget(struct g *g); /* its life is over */
/* Of m's goroutine, which runs: one more; those that lie deeper than `depth` end. */
void regions_begin(struct model *md, struct m *m, const struct region *region, uint32_t stack);
void regions_end_deeper(struct model *md, struct m *m, unsigned depth, enum cause cause);
void regions_settle(struct model *md, struct m *m); /* before anything else of them: after a loss */

/* --- functions.c: calls of functions that the user asked for --- */
void functions_learn(struct model *md, const struct log_function *function);
const struct function *function_of(const struct model *md, uint64_t number); /* NULL: not known */
/* Of a Go program; threads have theirs in threads_functions.c. */
void observe_function(struct model *md, const struct raw_record *rec, struct m *m, struct p *p,
		      uint32_t stack);
void functions_end_all(struct model *md, struct m *m); /* m's goroutine runs, and will not return into them */
void annotations_lost(struct model *md);               /* some may be missing here */
void annotations_recycle(struct model *md);            /* a generation is over: its texts, too */

/* --- threads*.c: a target seen as threads --- */
void threads_observe(struct model *md, const struct raw_record *rec);
/* A record of the log that is about threads or their names; others are left alone. */
void threads_record(struct model *md, const struct log_record *record);
void threads_start(struct model *md);      /* the first state, from the snapshot */
void threads_resync(struct model *md);     /* after a loss */
void threads_lose_calls(struct model *md); /* no system calls are seen from here on */
void threads_start_spawned(struct model *md, const struct raw_record *first);
void threads_close(struct model *md, bool last);                   /* the generation is about to be closed */
void threads_use_stacks(struct model *md, const struct thread *t); /* tables_use_stack of what it has */
void threads_forget_stack(struct model *md, uint32_t id);          /* the id will be another's */
void threads_keep_names(struct model *md);                         /* names_sweep: those that are held */
void threads_forget_files(struct model *md);                       /* what they are called comes anew */
void threads_forget_named(struct model *md);                       /* the numbers of all stacks with names */
void threads_tell_status(struct model *md, struct g *g, struct op *op);
uint32_t threads_entry_stack(struct model *md, const struct g *g);
void threads_forget(struct model *md, struct g *g); /* its life is over */
struct threads *model_threads_new(void);            /* NULL when out of memory */
void model_threads_free(struct threads *threads);
/* What a row of the statistics is about: string id. */
uint32_t threads_row_name(struct model *md, const struct g *g);

/* --- start.c, resync.c --- */
int snapshot_record(struct model *md, const struct log_record *record);
void snapshot_free(struct snapshot *snapshot);
void start_from_snapshot(struct model *md);
void observe_early(struct model *md, size_t from); /* what was kept, from this index on */
/* Index of a marker among the records that were kept; `otherwise` if it is not there. */
size_t find_marker(const struct record_buffer *early, uint32_t number, size_t otherwise);
void resync_to_snapshot(struct model *md);

/* --- generation.c --- */
void generation_open(struct model *md);
void generation_close(struct model *md, bool last);
void generation_boundary(struct model *md, const struct log_boundary *boundary, const struct log_m *ms);
void generation_tell_procs(struct model *md, struct m *m, uint32_t stack); /* ProcsChange, if still due */
void generation_tell_gc(struct model *md,
			struct m *m); /* GCActive and the first HeapGoal, if still due; m runs */
void generation_tell_assist(struct model *md, struct g *g); /* GCMarkAssistActive, if due; g runs */
/* What had begun before the first generation did, seen at its end only: says so, a cycle at the generation's
 * start, what belongs to a P or a goroutine right here. */
bool generation_gc_began_before(struct model *md);
bool generation_sweep_began_before(struct model *md, struct p *p);
bool generation_assist_began_before(struct model *md, struct g *g);

/* --- stats.c --- */
struct stats *stats_new(void);
void stats_free(struct stats *stats);
int stats_add(struct stats *stats, struct model *md, const struct generation *gen);
const struct goroutine_stats *stats_rows(struct stats *stats, size_t *count);

#endif
