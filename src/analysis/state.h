/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: what the pass over the ops keeps. */
#ifndef GOTRACE_ANALYSIS_STATE_H
#define GOTRACE_ANALYSIS_STATE_H

#include "analysis/analysis.h"
#include "analysis/histogram.h"
#include "util/map64.h"
#include "util/strtab.h"

/* What a goroutine does, or waits for. */
enum activity {
	ACT_NONE, /* it is not there */
	ACT_CODE,
	ACT_ASSIST, /* runs, for the collector */
	ACT_RUNNABLE,
	ACT_SYSCALL,
	ACT_NETWORK,
	ACT_LOCK, /* Mutex, RWMutex; mutexes of pthreads */
	ACT_JOIN, /* WaitGroup, join of a thread */
	ACT_COND,
	ACT_SEND,
	ACT_RECEIVE,
	ACT_SELECT,
	ACT_SLEEP,
	ACT_DISK,
	ACT_GC,      /* waits for the collector */
	ACT_FOREVER, /* nobody can wake it */
	ACT_OTHER,
	ACT_UNWATCHED,
	ACT_COUNT
};

/* Why a runnable goroutine does not run. */
enum delay { DELAY_STW, DELAY_WAKEUP, DELAY_GC, DELAY_NO_P, DELAY_COUNT };
/* What made it runnable. */
enum runnable_origin { FROM_CREATE, FROM_WAKE, FROM_PREEMPTION, FROM_YIELD, FROM_SYSCALL, ORIGIN_COUNT };
/* What a P does. */
enum p_use { P_NONE, P_CODE, P_GC, P_IN_SYSCALL, P_SEARCHING, P_UNUSED, P_USE_COUNT };

enum {
	PAST = 16,       /* intervals that a goroutine remembers */
	MAX_ROWS = 4096, /* of a table; what is beyond is counted in row 0 */
	MAX_PAIRS = 16384,
	MAX_STACKS = 65536,
	MAX_FRAMES_KEPT = 48,
	SERIES = 64, /* points of a series over the trace */
	TOPS = 4,    /* heaviest of a kind that a row remembers */
	SLOWEST = 8,
	RESERVOIR = 1024,
	RECENT_MS = 1024,
	WOKEN = 8, /* readers of a lock that are remembered */
};

struct code_place {          /* a frame */
	uint32_t func, file; /* strings */
	uint32_t line;
};

/* What the leaf of a stack says about a wait or a wake-up. */
enum primitive {
	PRIM_NONE,
	PRIM_LOCK,
	PRIM_READ_LOCK,
	PRIM_UNLOCK,
	PRIM_READ_UNLOCK,
	PRIM_WAIT_GROUP,
	PRIM_COND,
	PRIM_SEND,
	PRIM_RECEIVE,
	PRIM_CLOSE,
	PRIM_SELECT,
	PRIM_NETWORK,
	PRIM_SLEEP,
	PRIM_TIMER,
};

struct stack_info {
	uint32_t first, n; /* in frames */
	uint32_t site;     /* index of the first frame that is the program's own, else the first one */
	uint32_t near;     /* the first frame outside of runtime and sync */
	uint32_t resource; /* that is waited for or released here, as of near; 0 = not looked at */
	uint8_t primitive; /* enum primitive */
	uint8_t io_call;   /* reads, writes, or the like: 1 + index for io_call_name(); 0 = something else */
	bool lookup;       /* in the resolution of a host's name */
	bool outside;      /* who woke is named by the frame: another process, an interrupt */
};

/* The heaviest of a kind, by weight (space saving, Metwally et al. 2005): keys that hold a fifth are in it.
 */
struct top {
	uint64_t key, weight;
	uint64_t n;
};

struct past_activity {
	uint64_t start; /* ends where the next one starts */
	uint32_t stack;
	uint8_t activity;
};

struct region_in_progress {
	uint64_t begin;
	uint64_t spent[ACT_COUNT]; /* of the goroutine, then */
	uint64_t task;
	uint32_t name; /* string */
	bool cut;
};

/* Of Ps to the thread that a goroutine is locked to. */
struct handovers {
	uint64_t n, ns, most;
	uint64_t at, g; /* ns, goid: of the longest */
};

struct last_on_thread {
	uint32_t m, g; /* id; index */
};

struct goroutine {
	uint64_t goid;
	uint64_t born;  /* ns; 0 = before the trace */
	uint64_t since; /* ns: of its activity */
	uint64_t shown; /* ns: the observer has what was before */
	uint64_t slice; /* ns: since when it runs without a break */
	double delays_at[DELAY_COUNT];
	uint64_t spent[ACT_COUNT];
	struct past_activity past[PAST];
	struct region_in_progress *regions;
	size_t nregions, region_capacity;
	struct label_open *labels; /* that it has (labels.c) */
	size_t nlabels, label_capacity;
	uint32_t group; /* index in groups; 0 = not known yet */
	uint32_t stack; /* of its activity */
	uint32_t assist_stack;
	uint32_t lock_logged; /* index of the lock that it has announced a wait for; 0 = none */
	uint32_t lock;        /* index of the lock that it waits for, 0 = not known */
	uint32_t lock_taken;  /* stack where the one who ended the wait had taken it, 0 = not known */
	uint32_t waker;       /* 1 + index of who made it runnable; 0 = nobody known */
	uint64_t waker_goid;  /* of that one, whose index another goroutine may have meanwhile */
	uint32_t held;        /* resource that it has waited for and got, 0 = none */
	uint64_t held_since;  /* ns; 0 = when it starts */
	uint32_t held_stack;  /* of the wait for it */
	uint64_t waited_at;   /* start of its last wait */
	uint64_t ran_at_wake; /* ns: it had run so long when it was woken in a herd */
	uint32_t herd_stack;  /* of the wait which that ended */
	uint32_t creator;     /* index; 0 = not known. It may be another's by now: */
	uint64_t creator_goid;
	uint64_t child_end;         /* ns: when one that it created ended last */
	uint32_t npast;             /* ever */
	struct handovers handovers; /* since it has been on the same thread, alone */
	uint32_t last_m;            /* on which it started last */
	int32_t p;
	uint8_t activity, origin;
	bool cut; /* its activity began before the trace, or where nothing was watched */
	bool assists;
	bool worker;        /* of the collector */
	bool behind_reader; /* what it holds it got from a reader */
	bool from_timer;    /* it runs because a timer fired */
	bool herd;          /* it was woken with many others, and has done next to nothing since */
	bool lock_reads;    /* for reading */
	bool sound;         /* no part of its life is missing */
	bool labels_known;  /* the trace has said which it has */
	bool matches;       /* it has analysis_options.label */
};

struct proc {
	uint8_t use; /* enum p_use */
	uint32_t g;  /* that ran on it last */
	uint32_t last_stack;
	uint64_t slice_ns, slice_end; /* how long that ran, and until when */
	uint32_t fired;               /* timers since then */
	uint64_t stopped_at; /* ns: when a thread gave it up; 0 = a goroutine has started on it since */
};

/* All intervals of one activity with one stack. */
struct row {
	uint32_t stack;
	uint8_t activity;
	struct histogram hist; /* of whole ones */
	uint64_t cut_n, cut_ns, cut_max;
	uint64_t first;          /* ns: when the first one began */
	uint64_t max_at;         /* when the longest one began */
	uint64_t max_g;          /* goid */
	uint64_t max_waker;      /* goid, 0 = none */
	struct top wakers[TOPS]; /* by goid */
	struct top waker_groups[TOPS];
	struct top functions[TOPS]; /* groups of goroutines that wait here */
	uint64_t no_waker;          /* of hist.n */
	uint64_t lost_p;            /* system calls that lost their P */
	uint64_t lost_p_wait;       /* ns: then runnable */
	uint64_t vain, vain_ns; /* wake-ups in a herd after which it waited here again; ns that they ran */
	uint64_t flights, shared_n, shared_ns; /* times that one ended many waits at once; these, ns */
	uint32_t most_shared;                  /* by one */
	uint64_t slack_n, slack_ns;            /* joins; ns after the second to last had ended */
};

/* Waits of a row that ended at one stack of a waker. */
struct pair {
	uint32_t row, stack;
	uint64_t n, ns;
	uint64_t meanwhile[ACT_COUNT]; /* what the waker did in that time */
	struct top did[TOPS];          /* stack << 8 | activity */
};

/*
 * A lock, or another thing that goroutines wait for and hand on. Its identity
 * is not in a trace: all sites of locking and unlocking that wake each other
 * are one (union-find), and so are the instances of a type.
 */
struct resource {
	uint32_t parent;           /* index of the one that it became part of, or its own */
	bool lock;                 /* else a channel; then its identity is the site of the wait */
	struct histogram waits;    /* attempts to get it */
	struct histogram holds;    /* of those who had waited for it themselves: from then on */
	struct histogram least;    /* of all who released it: since it was first waited for */
	uint64_t first, max_at;    /* ns: when the first and the longest wait began */
	uint64_t max_g, max_waker; /* goids */
	uint32_t waiting, most_waiting;
	uint64_t changed;              /* ns: when `waiting` changed */
	uint64_t open_ns;              /* waits since it was released last */
	uint64_t contended_since;      /* ns: it was released, or waited for, first */
	uint64_t queue_ns;             /* in which 4 or more waited */
	uint64_t releases, by_waiters; /* wake-ups; of these by goroutines that had waited for it */
	uint64_t charged_ns;           /* sum of the following */
	uint64_t long_ns, medium_ns;   /* of it: to holders that had it for 500 us, 100 us and more */
	uint64_t long_n, medium_n;     /* of the releases, of these */
	uint64_t meanwhile[ACT_COUNT]; /* what the holders did while others waited, times how many did */
	struct top did[TOPS];          /* the same by stack << 8 | activity */
	struct top holders[TOPS];      /* goid, ns charged */
	struct top holder_groups[TOPS];
	struct top released[TOPS];    /* stacks of releases, ns charged */
	struct top waited[TOPS];      /* stacks of waits, ns */
	uint64_t calls;               /* releases before which the holder was in a system call */
	uint64_t io_calls;            /* of these, in one that reads, writes, or the like */
	uint64_t readers, readers_ns; /* waits of readers */
	uint64_t writers, writers_ns; /* waits of writers that a reader ended */
	uint64_t contended_ns;        /* in which somebody waited */
};

struct lock_taker {
	uint64_t goid;  /* 0 = none */
	uint32_t stack; /* where it had waited; 0 = it had not */
};

/* A lock, or another thing that is waited for, whose address the trace has. */
struct lock {
	uint64_t address;
	struct histogram waits;
	uint64_t max_at, max_g, max_waker; /* the longest wait: ns, goids */
	uint64_t changed;                  /* ns: when `waiting` changed */
	uint64_t open_ns;                  /* waits since it was released last */
	uint64_t contended_since;          /* ns: it was released, or waited for, first */
	uint64_t contended_ns;             /* in which somebody waited */
	uint64_t charged_ns;               /* waits that a release ended, to holders */
	uint64_t releases;                 /* that ended a wait */
	uint64_t known, known_ns;          /* of these, and of charged_ns: it is known where it was taken */
	uint64_t readers, readers_ns;
	struct lock_taker woken[WOKEN]; /* that were woken for it and may hold it; of a Mutex only the last */
	struct lock_taker last;         /* who released it last */
	uint64_t released_at;           /* ns: then */
	struct top holders[TOPS];       /* goid, ns charged */
	struct top released[TOPS];      /* stacks, ns charged */
	struct top taken[TOPS];         /* stacks, ns charged */
	struct top waited[TOPS];        /* stacks, ns */
	uint32_t waiting, most_waiting;
	uint8_t form; /* enum lock_form */
};

/* Goroutines that run one function, created at one site. */
struct group {
	uint32_t func; /* string */
	uint32_t file, line;
	uint32_t creator; /* stack, 0 = not known */
	uint64_t at_start, alive, peak, created, ended;
	uint64_t spent[ACT_COUNT]; /* of the ended; of all after the end */
	struct histogram lifetimes;
	struct histogram latency;
	int32_t growth[SERIES];
	uint64_t suspects, suspect_ns;
	uint32_t suspect_stack;
	struct top suspect_stacks[TOPS];
	uint64_t longest_slice, longest_slice_at, longest_slice_g;
	uint32_t longest_slice_stack, longest_slice_delayed;
	uint64_t long_slices, long_slices_ns; /* of 30 ms and more, beside goroutines that wait for a P */
	uint32_t instances;                   /* index of their lifetimes as instances */
	uint64_t timer_short_runs;            /* timers fired, and it ran for less than 10 us */
	uint64_t preempted, polling,
		blocks;         /* ends of slices; polling: preempted in a select that never waits */
	uint32_t polling_stack; /* of the last one */
	uint64_t late_timers, late_slices,
		late_slices_ns; /* timers that fired after long slices of it; those */
	struct handovers handovers;
	uint64_t late_at, late_most,
		late_g; /* ns: end of the slice after which most fired, and who ran then */
	bool system, worker;
};

struct instance {
	uint64_t begin, ns, goid;
	uint64_t spent[ACT_COUNT];
	uint32_t stack; /* of the longest wait */
	uint8_t activity;
};

enum instance_kind { INSTANCE_TASK, INSTANCE_REGION, INSTANCE_LIFE, INSTANCE_LABEL };

/* All tasks of a name, or regions, goroutines of a function, or goroutines while they have a label
 * ("key=value"). */
struct instances {
	uint32_t name;
	uint8_t kind;
	struct histogram hist;
	uint64_t cut;                     /* of labels: how many began before the trace, or ended after it */
	uint64_t spent[ACT_COUNT];        /* of labels: by those, too */
	struct instance slowest[SLOWEST]; /* descending */
	unsigned nslowest;
	float sample[RESERVOIR];         /* ns, a uniform sample */
	uint32_t sample_when[RESERVOIR]; /* ms from the trace's begin */
	unsigned nsample;
};

struct open_task {
	uint64_t id, begin;
	uint64_t spent[ACT_COUNT];
	uint32_t g; /* that began it; 0 = a free place */
	uint32_t name;
	uint32_t next; /* free list */
	uint64_t goid;
};

struct gc_figures {
	uint64_t cycles, cycles_ns, began; /* began: ns, of the open cycle, 0 = none */
	struct histogram pauses;           /* stop-the-worlds of the collector */
	struct histogram stops;            /* all stop-the-worlds: until the last P stood */
	uint64_t worst_stop, worst_stop_at, worst_stop_g;
	uint32_t worst_stop_stack, worst_stop_func;
	uint64_t stw_began, last_stop;
	uint32_t last_stopped_g, last_stopped_stack;
	bool stw_gc;
	unsigned stws;
	uint64_t heap, heap_max, heap_goal, goal_min, goal_max;
	uint64_t low;                       /* least heap since the last cycle ended: what is live */
	double live_of_goal;                /* sum over cycles */
	uint64_t live_cycles;               /* that were summed */
	uint64_t slow_stops, slow_stops_ns; /* that took 1 ms and more */
};

/* Points over the trace: the width of one doubles when there are too many. */
struct timeline {
	uint64_t width;       /* ns of a point */
	uint64_t from, until; /* ns: of the point that was drawn last */
	uint64_t point;
	uint64_t used[2048][P_USE_COUNT];
};

struct finding {
	const char *id;
	double impact; /* 0 to 1 */
	uint8_t level; /* enum level */
	uint32_t rank;
	char text[400];
	char evidence[4][200];
	unsigned nevidence;
	char next[200];
	const char *explained_by;                /* id of the finding that explains it, or NULL */
	uint64_t first_ns, worst_ns, worst_goid; /* from the trace's begin */
	uint64_t n, total_ns, p50_ns, p99_ns, max_ns;
	uint32_t stack, waker_stack;
};

enum level { LEVEL_INFO, LEVEL_LOW, LEVEL_MEDIUM, LEVEL_HIGH };
enum { MAX_FINDINGS = 64 };

struct span; /* path.h */

/* Who wants to see every interval and every instance as they end. */
struct observer {
	void *ctx; /* NULL = nobody */
	void (*span)(void *ctx, const struct analysis *a, uint64_t goid, const struct span *span);
	void (*instance)(void *ctx, const struct analysis *a, const struct instances *all,
			 const struct instance *one);
};

struct analysis {
	struct observer observer;
	struct analysis_options options;
	bool oom;
	uint64_t begin, end; /* ns */
	const struct generation *gen;
	uint64_t generations, ops, inferred;

	struct strtab *strings;
	uint8_t *activity_of; /* by string id of the tables: 1 + enum activity of the reason */
	size_t nactivity_of;
	uint32_t *stack_of; /* by stack id of the tables: index in stacks; UINT32_MAX = not seen */
	size_t nstack_of;
	struct code_place *frames;
	size_t nframes, frame_capacity;
	struct stack_info *stacks;
	size_t nstacks, stack_capacity;
	struct map64 places; /* func << 32 | line -> index of the resource */

	struct goroutine *gs; /* by index of the tables */
	size_t ngs;
	struct proc *ps;
	size_t nps;
	uint32_t procs; /* GOMAXPROCS; 0 = not said */
	uint32_t most_procs;

	uint64_t now, integrated; /* ns: of the op in hand; until when the integrals below go */
	struct map64 proc_of_m;
	uint64_t starts, starts_as_thread; /* of these, of a goroutine with the id of its thread */
	uint32_t uses[P_USE_COUNT];
	uint64_t used_ns[P_USE_COUNT];
	uint64_t procs_ns;
	double delays[DELAY_COUNT];
	uint64_t runnable, waiting_runs; /* goroutines that are runnable now */
	uint64_t queued_idle_ns;         /* in which goroutines were runnable and Ps idle */
	struct timeline *timeline;

	struct row *rows;
	size_t nrows, row_capacity;
	struct map64 row_of; /* stack << 8 | activity */
	struct pair *pairs;
	size_t npairs, pair_capacity;
	struct map64 pair_of;
	struct resource *resources;
	size_t nresources, resource_capacity;
	struct lock *locks; /* by address; [0] = none */
	size_t nlocks, lock_capacity;
	uint64_t locks_left_out; /* waits for locks beyond the limit */
	struct map64 lock_of;    /* address and kind */
	struct group *groups;
	size_t ngroups, group_capacity;
	struct map64 group_of;
	struct instances *instances;
	size_t ninstances, instance_capacity;
	struct map64 instances_of;
	size_t nlabels;             /* of the instances, rows of labels */
	struct map64 index_of_goid; /* of the goroutines that there are; of that generation: */
	uint64_t goids_of;
	struct open_task *tasks;
	size_t ntasks, task_count; /* places; in use or free */
	uint32_t free_task;
	struct map64 task_of;

	uint64_t series_width; /* ns of a point of groups' series */
	struct histogram latency;
	double latency_by[DELAY_COUNT];
	struct histogram latency_from[ORIGIN_COUNT];
	uint64_t idle_delayed; /* runnable for 1 ms and more while a P was idle all the time */
	uint64_t idle_delayed_ns, idle_delayed_max, idle_delayed_at, idle_delayed_g;
	double system_running;
	struct gc_figures gc;
	uint64_t samples, sample_first, sample_last;
	uint64_t unwatched_since, unwatched_ns;
	uint64_t net_wakes, net_wakes_sysmon, net_late_ns;
	uint64_t timer_wakes, timer_short_runs;
	uint64_t burst_begin, bursts, burst_most, burst_at;
	uint32_t burst_n;
	uint32_t burst_func;
	uint32_t herd_waker, herd_n; /* who has woken so many in one slice */
	uint64_t herd_slice;
	uint32_t herd_most;
	struct last_on_thread last_on_thread[RECENT_MS]; /* by the thread's id; the latest of each place */
	struct {
		uint32_t waker, stack, n;
		uint64_t slice, ns;
	} flight; /* waits at one stack that one goroutine ends without a break */
	uint64_t alive, alive_start, created, ended;
	uint64_t total_spent[ACT_COUNT]; /* user goroutines */

	struct finding findings[MAX_FINDINGS];
	unsigned nfindings;
	struct not_applicable {
		const char *id, *why;
	} not_applicable[MAX_FINDINGS];
	unsigned nnot_applicable;
};

/* --- names.c --- */
uint32_t name_string(struct analysis *a, uint32_t id); /* of the tables' strings -> of ours */
const char *name_text(const struct analysis *a, uint32_t string);
/* Index in stacks of a stack of the tables; 0 = none. */
uint32_t stack_index(struct analysis *a, uint32_t id);
const struct code_place *stack_site(const struct analysis *a, uint32_t stack);
const struct code_place *stack_near(const struct analysis *a, uint32_t stack);
const struct code_place *stack_root(const struct analysis *a, uint32_t stack);
/* Whether it is in a select with a default branch, or in a receive or send that is one. */
bool stack_polls(const struct analysis *a, uint32_t stack);
bool is_system_function(const char *func);

/* --- kinds.c --- */
const char *activity_name(enum activity activity);
const char *delay_name(enum delay delay);
/* Of a status, which may be without a reason, and of an event. */
enum activity wait_activity(struct analysis *a, uint32_t reason, uint32_t stack);
enum activity block_activity(struct analysis *a, uint32_t reason, uint32_t stack);
enum primitive primitive_of(const char *func);
/* 1 + index of the call if a library function of this name, or a system call "read(3: path)", does I/O; else
 * 0. */
uint8_t io_call_of(const char *func);
const char *io_call_name(uint8_t io_call); /* "write"; NULL for 0 */

/* --- step.c --- */
void step(struct analysis *a, const struct op *op);
void goroutines_end(struct analysis *a);

/* --- procs.c --- */
void integrate(struct analysis *a, uint64_t now);
void proc_use(struct analysis *a, int32_t p, enum p_use use);
struct proc *proc_at(struct analysis *a, int32_t p);

/* --- intervals.c --- */
struct time_span {
	struct goroutine *g;
	uint64_t start, end;
	uint32_t stack;
	uint8_t activity;
	bool cut;
};
void interval_enter(struct analysis *a, struct goroutine *g, enum activity activity, uint32_t stack);
/* Shows the observer what the goroutine did up to now, as its activity or as time that was not watched. */
void interval_show_part(struct analysis *a, struct goroutine *g, bool watched);
void interval_leave(struct analysis *a, struct goroutine *g, const struct goroutine *waker,
		    uint32_t waker_stack, bool cut_end);
/* Adds what a goroutine did in [from, to) to spent, and to the tops by stack, if not NULL. */
void interval_meanwhile(const struct analysis *a, const struct goroutine *g, uint64_t from, uint64_t to,
			uint64_t spent[ACT_COUNT], struct top did[TOPS]);
void top_add(struct top tops[TOPS], uint64_t key, uint64_t weight);
const struct top *top_first(const struct top tops[TOPS]);
struct row *row_get(struct analysis *a, enum activity activity, uint32_t stack);
struct pair *pair_get(struct analysis *a, const struct row *row, uint32_t stack);

/* --- resources.c --- */
struct resource *resource_root(struct analysis *a, uint32_t index);
void resource_got(struct analysis *a, struct goroutine *g); /* it runs again */
void resources_end(struct analysis *a);
void resource_wait(struct analysis *a, const struct goroutine *g);
void resource_wake(struct analysis *a, struct goroutine *g, struct goroutine *waker, uint32_t waker_stack);

/* --- locks.c --- */
/* A log of the goroutine's, perhaps one that says what it is about to wait for. */
void lock_log(struct analysis *a, struct goroutine *g, const char *category, const char *message);
void lock_wait(struct analysis *a, struct goroutine *g);
/* Before its wait ends. */
void lock_wake(struct analysis *a, struct goroutine *g, const struct goroutine *waker, uint32_t stack);
void lock_leave(struct analysis *a, struct goroutine *g);
void locks_end(struct analysis *a);
bool lock_is_held(const struct lock *lock); /* by somebody, while others wait */

/* --- groups.c --- */
uint32_t group_get(struct analysis *a, uint32_t func, uint32_t file, uint32_t line, uint32_t creator);
void group_from_stack(struct analysis *a, struct goroutine *g, uint32_t stack);
void group_born(struct analysis *a, struct goroutine *g, uint32_t entry, uint32_t creator, bool before);
void group_ended(struct analysis *a, struct goroutine *g);
void groups_end(struct analysis *a);

/* --- instances.c --- */
struct instances *instances_get(struct analysis *a, enum instance_kind kind, uint32_t name);
void instance_add(struct analysis *a, struct instances *all, const struct instance *one);
/* Which of the goroutine's waits since its begin was the longest, of those that the goroutine remembers. */
void instance_longest_wait(const struct analysis *a, const struct goroutine *g, struct instance *one);
void task_begin(struct analysis *a, const struct op *op);
void task_end(struct analysis *a, const struct op *op);
void region_begin(struct analysis *a, const struct op *op);
void region_end(struct analysis *a, const struct op *op);
void open_regions_drop(struct analysis *a, struct goroutine *g);

/* --- labels.c --- */
struct labels_read;
void labels_log(struct analysis *a, const struct op *op); /* a log event, which may be about labels */
/* The goroutine ends; cut: the trace does, and what it was doing has been counted. */
void labels_end(struct analysis *a, struct goroutine *g, bool cut);
void labels_drop(struct goroutine *g);
bool labels_match(const char *wanted, const struct labels_read *set); /* wanted: "key=value" */

/* --- gc.c --- */
void gc_step(struct analysis *a, const struct op *op);
void gc_proc_stopped(struct analysis *a, int32_t p);
void gc_end(struct analysis *a);

/* --- findings.c --- */
void findings_make(struct analysis *a);
bool findings_need_more(const struct analysis *a); /* too little was watched for the rules */
struct finding *finding_add(struct analysis *a, const char *id, double impact);
void finding_weigh(struct finding *finding, double impact); /* again; sets the level, too */
void finding_evidence(struct finding *finding, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void finding_text(struct finding *finding, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void finding_next(struct finding *finding, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void finding_not_applicable(struct analysis *a, const char *id, const char *why);

/* --- figures.c: what several rules and the tables share --- */
uint64_t watched_ns(const struct analysis *a);
/* From `since` to now, without the unwatched time that has not ended, ns. */
uint64_t watched_since(const struct analysis *a, uint64_t since);
double p_time(const struct analysis *a);      /* ns: GOMAXPROCS over time */
bool is_of_threads(const struct analysis *a); /* and not of goroutines */
double utilisation(const struct analysis *a); /* of the Ps, 0 to 1 */
double user_running_ns(const struct analysis *a);
double share_of_tasks(const struct analysis *a, double lost_ns); /* of task time, else of P time */
const char *short_function(const char *func);                    /* without the package's path */
struct label {
	char text[160];
};
struct label label_stack(const struct analysis *a, uint32_t stack); /* "(*Cache).Get (main.go:40)" */
struct label label_near(const struct analysis *a, uint32_t stack);
struct label label_time(uint64_t ns);
struct label label_lock(const struct lock *lock); /* "mutex 0xc000012340" */
struct label label_function(const struct analysis *a, uint32_t string);

#endif
