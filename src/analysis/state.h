/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the state of the pass over the ops. */
#ifndef GOTRACE_ANALYSIS_STATE_H
#define GOTRACE_ANALYSIS_STATE_H

#include "analysis/analysis.h"
#include "analysis/connections.h"
#include "util/histogram.h"
#include "trace/ledger/ledger.h"
#include "trace/ops/own_logs.h"
#include "util/map64.h"
#include "util/strtab.h"

/* What a goroutine does, or waits for. */
enum activity {
	ACT_NONE, /* does not exist */
	ACT_CODE,
	ACT_ASSIST, /* runs a mark assist */
	ACT_RUNNABLE,
	ACT_SYSCALL,
	ACT_NETWORK,
	ACT_LOCK, /* Mutex, RWMutex, pthread mutex */
	ACT_JOIN, /* WaitGroup, thread join */
	ACT_COND,
	ACT_SEMAPHORE, /* nobody holds one: it counts free items, or is a signal */
	ACT_SEND,
	ACT_RECEIVE,
	ACT_SELECT,
	ACT_SLEEP,
	ACT_DISK,
	ACT_MMAP,  /* the kernel's lock on the memory map of the process (mmap_lock) */
	ACT_GIL,   /* the lock of an interpreter: Python's GIL, Ruby's GVL */
	ACT_GC,    /* waits for the collector */
	ACT_CHILD, /* waits for a child process to end, or to begin */
	ACT_PIPE,
	ACT_FILE,    /* the kernel's lock on a file, or on its offset, that another thread had */
	ACT_STOPPED, /* by a signal or a debugger */
	ACT_FOREVER, /* nobody can wake it */
	ACT_OTHER,
	ACT_UNWATCHED,
	ACT_COUNT
};

/* Why a runnable goroutine does not run. */
enum delay { DELAY_STW, DELAY_WAKEUP, DELAY_GC, DELAY_NO_P, DELAY_COUNT };
/* What made a goroutine runnable. */
enum runnable_origin { FROM_CREATE, FROM_WAKE, FROM_PREEMPTION, FROM_YIELD, FROM_SYSCALL, ORIGIN_COUNT };
/* What a P does. */
enum p_use { P_NONE, P_CODE, P_GC, P_IN_SYSCALL, P_SEARCHING, P_UNUSED, P_USE_COUNT };

enum {
	PAST = 24, /* recent intervals kept per goroutine */
	PAST_LONG = 4,
	MOST_NOT_APPLICABLE = 96, /* more than there are rules */
	MAX_ROWS = 4096,          /* per table; the rest is counted in row 0 */
	MAX_PAIRS = 16384,
	MAX_STACKS = 65536,
	MAX_FRAMES_KEPT = ANALYSIS_FRAMES,
	SERIES = 64, /* points in a series over the trace */
	TOPS = 4,    /* entries in a list of heaviest keys */
	SLOWEST = 8,
	RESERVOIR = 1024,
	RECENT_MS = 1024,
	WOKEN = 8,    /* readers remembered per lock */
	HOLDINGS = 4, /* resources remembered per goroutine */
	MAX_HANDLERS = 64,
};

struct code_place {          /* a frame */
	uint32_t func, file; /* string ids */
	uint32_t line;
};

/* The primitive at the leaf of a stack that waits or wakes. */
enum primitive {
	PRIM_NONE,
	PRIM_LOCK,
	PRIM_READ_LOCK,
	PRIM_UNLOCK,
	PRIM_READ_UNLOCK,
	PRIM_WAIT_GROUP,
	PRIM_BARRIER, /* the last to come ends the waits of all others */
	PRIM_TEAM, /* of threads of OpenMP: a wait for all of them, unless an outer frame says what else for
		    */
	PRIM_COND,
	PRIM_GIL, /* a condition for the lock of an interpreter */
	PRIM_SEMAPHORE,
	PRIM_NOTIFY, /* signals a condition */
	PRIM_SEND,
	PRIM_RECEIVE,
	PRIM_CLOSE,
	PRIM_SELECT,
	PRIM_NETWORK,
	PRIM_SLEEP,
	PRIM_TIMER,
	PRIM_GC, /* a semaphore of the collector's */
};

struct stack_info {
	uint32_t first, n;      /* range in frames */
	uint32_t site;          /* index of the first frame of the program's own code, else near */
	uint32_t leaf;          /* index of the library function that the site is in; else site */
	uint32_t near;          /* index of the first frame outside runtime and sync */
	uint32_t resource;      /* index of the one waited for or released at near; 0 = not looked up */
	uint8_t primitive;      /* enum primitive */
	uint32_t locks;         /* of waits for a futex, those whose value is that of a lock */
	uint32_t futexes;       /* the others */
	uint32_t call;          /* string: the system call that Go's package makes; 0 = none, or not known */
	uint8_t io_call;        /* I/O call, for io_call_name(); 0 = none */
	uint8_t polled;         /* enum activity: what a goroutine waits for if it waits for the poller */
	bool of_gil_mutex;      /* the mutex of an interpreter's lock: who has it has not the lock */
	bool made_of_condition; /* as some libraries make locks, or OpenMP its teams */
	uint32_t handler;       /* handlers.h: string; 0 = not looked up, UINT32_MAX = none */
	bool lookup;            /* resolves a host name */
	bool handshake;         /* of TLS, of a client */
	bool polls;             /* the call is epoll_wait() or the like */
	bool futex;             /* the system call is that of locks */
	bool for_peer;          /* waits for what a reader of the same connection passes on */
	bool sends_request; /* of a waker that has sent the request: the one that it wakes waits on for the
			       answer */
	uint8_t waits_for;  /* enum activity: what an outer frame says of the wait; 0 = nothing */
	bool outside;       /* the frame names a waker outside the program: a process, an interrupt */
};

/* The heaviest keys, by weight (Space-Saving, Metwally et al. 2005): any key with over a quarter is in it. */
struct top {
	uint64_t key;
	uint64_t weight; /* with `over` */
	uint64_t over;   /* of keys that it has replaced: not its own, or not all of it */
	uint64_t n;
};

struct past_activity {
	uint64_t start; /* it ends where the next one starts */
	uint32_t stack;
	uint8_t activity;
};

/* Long intervals are kept apart, as many short ones would drive them out (intervals.c). */
struct long_activity {
	struct past_activity activity;
	uint64_t end;
};

struct region_in_progress {
	uint64_t begin;
	uint64_t spent[ACT_COUNT]; /* the goroutine's times at begin */
	uint64_t task;
	uint32_t name; /* string */
};

/* Handovers of a P to the thread that a goroutine is locked to. */
struct handovers {
	uint64_t n, ns, most;
	uint64_t at, g; /* of the longest: start in ns, goid */
};

struct last_on_thread {
	uint32_t m, g; /* thread id; goroutine index */
};

/* What the waits of a goroutine say about an item of a pool that it has got. */
enum item_use {
	USE_UNKNOWN,
	USE_INSIDE, /* it has only waited between getting the item and giving it back */
	USE_LEFT,   /* it has waited elsewhere, and so had given it back */
};

/* A resource that a goroutine has waited for and got, and may still have. */
struct holding {
	uint32_t resource;  /* 0 = none */
	uint32_t stack;     /* of the wait */
	uint64_t given;     /* ns: it was woken for it */
	uint64_t since;     /* ns; 0 = set when it next runs */
	bool behind_reader; /* a reader handed it over */
	uint8_t use;        /* enum item_use */
};

/* A thread's system call: its intervals, which it may have several of (ledger_call_resumes()), count as one.
 */
struct thread_call {
	uint64_t since, ns; /* ns: without the time in which it waited, or had no CPU */
	uint32_t stack;
	bool is_open;
	bool cut; /* a part of it was not watched */
};

/* Who is expected to end a wait, since it ended the last one, and its times when the wait began. */
struct expected_waker {
	uint32_t index; /* 1 + index; 0 = unknown */
	uint64_t goid;  /* detects reuse of that index */
	uint64_t spent[ACT_COUNT];
};

/* What a thread has done since its last system call (turns.h). */
struct turn {
	uint64_t begin;          /* ns */
	uint64_t ran, unwatched; /* its times then */
	struct top cpu[TOPS];    /* rows of cpu_profile */
	uint32_t connection;     /* 1 + index of the last one that it has read from or written to; 0 = none */
	bool serves_many;        /* there was another one before */
	bool is_loop;            /* it has waited for events of many, by epoll */
	bool sampled;
};

/* Turns of LONG_TURN_NS or more. */
struct long_turns {
	uint64_t n, ns, most;
	uint64_t at, g;       /* of the longest: start in ns, goid */
	struct top cpu[TOPS]; /* rows of cpu_profile */
};

struct goroutine {
	uint64_t goid;
	uint64_t born;    /* ns; 0 = before the trace */
	uint64_t since;   /* ns: start of its activity */
	uint64_t slice;   /* ns: start of its time slice */
	uint64_t started; /* ns: when it last got a P or CPU; a slice begins after a system call, too */
	double delays_at[DELAY_COUNT];
	uint64_t spent[ACT_COUNT];
	struct past_activity past[PAST];
	struct long_activity past_long[PAST_LONG];
	uint32_t npast_long;
	struct expected_waker expected;
	uint32_t asker; /* 1 + index of the one that ended its last wait, for others; 0 = it has ended one */
	uint64_t asker_goid; /* detects reuse of that index */
	uint32_t asked_in;   /* index of the row of that wait */
	struct region_in_progress *regions;
	size_t nregions, region_capacity;
	struct label_open *labels; /* those it has (labels.c) */
	size_t nlabels, label_capacity;
	uint32_t group;    /* index in groups; 0 = not yet known */
	uint32_t stack;    /* of its activity */
	uint32_t named_by; /* stack whose root is the thread's name; 0 = none */
	uint32_t herd; /* number of goroutines woken with it, if it has done almost nothing since; else 0 */
	uint32_t assist_stack;
	uint32_t lock_logged;          /* index of the lock that its last log announced; 0 = none */
	uint32_t lock;                 /* index of the lock that it waits for; 0 = unknown */
	uint32_t lock_taken;           /* stack where the waker had taken the lock; 0 = unknown */
	uint32_t waker;                /* 1 + index of the goroutine that made it runnable; 0 = unknown */
	uint64_t waker_goid;           /* detects reuse of that index by another goroutine */
	struct holding held[HOLDINGS]; /* the latest first */
	uint64_t burst;                /* burst_begin of the last burst that it was counted in */
	/* A wait until a request was sent, to which the next one at its stack belongs; 0 = none. */
	uint64_t asked_since; /* ns */
	uint32_t asked_stack;
	uint64_t
		ran_outside; /* ns: it ran, or was ready to, since its last wait, outside of known handlers */
	uint64_t ran_at_wake;  /* ns: its running time when it was woken in a herd */
	uint32_t herd_stack;   /* of the wait that the herd wake-up ended */
	uint32_t task;         /* index of the last one that it began and did not end; 0 = none */
	uint32_t creator;      /* index; 0 = unknown */
	uint64_t creator_goid; /* detects reuse of that index */
	uint64_t child_end;    /* ns: last end of a goroutine that it created */
	uint32_t npast;        /* total, including forgotten ones */
	struct thread_call call;
	struct turn turn;
	uint32_t reads; /* 1 + index of the connection that its last call reads from; 0 = from none */
	struct handovers handovers; /* since it has had its thread to itself */
	uint32_t last_m;            /* thread that it last started on */
	int32_t p;
	uint8_t handler; /* 1 + index of the handler that it is in; 0 = none */
	uint8_t activity, origin;
	uint8_t resumes; /* its known activity: in a gap, what it does when the gap ends */
	bool queued;     /* counted in the waiters of its resource */
	bool cut;        /* its activity began before the trace or in a gap */
	bool assists;
	bool worker;       /* a GC worker */
	bool from_timer;   /* a timer woke it */
	bool lock_reads;   /* waits for the lock as a reader */
	bool labels_known; /* the trace has recorded its labels */
	bool matches;      /* it has analysis_options.label */
};

struct proc {
	uint8_t use; /* enum p_use */
	uint32_t g;  /* index of the last to run on it */
	uint32_t last_stack;
	uint64_t slice_ns, slice_end; /* ns: length and end of that slice */
	uint32_t fired;               /* timers since slice_end */
	uint64_t stopped_at; /* ns: when a thread gave it up; 0 = a goroutine has started on it since */
};

/* Waits of a millisecond or more; those that overlap are one burst. */
struct bursts {
	uint64_t n, waits, ns;
	uint64_t covered_ns; /* ns: in which any of them lasted */
	uint64_t begin, end; /* ns: of the last one */
};

/* All intervals of one activity with one stack. */
struct row {
	uint32_t stack;
	uint8_t activity;
	struct histogram hist; /* of whole intervals */
	uint64_t cut_n, cut_ns, cut_max;
	uint64_t cut_ended;      /* of cut_n: intervals whose end was seen */
	uint64_t endless;        /* of cut_n: system calls whose end the format does not record */
	uint64_t first;          /* ns: when the first one began */
	uint64_t max_at;         /* when the longest one began */
	uint64_t max_g;          /* goid */
	uint64_t max_waker;      /* goid, 0 = none */
	uint32_t heaviest;       /* the pair with most of its waits; 0 = none */
	struct top wakers[TOPS]; /* by goid */
	struct top waker_groups[TOPS];
	struct top functions[TOPS];     /* groups of goroutines that wait here */
	uint64_t last_end, overlapping; /* ns: end of the last interval; those that began before the one
					   before them ended */
	uint64_t no_waker, no_waker_ns; /* intervals in hist without a known waker */
	uint64_t after_wait;            /* waits in hist that wakers ended first after a wait of their own */
	uint64_t to_asker;              /* of these, of who had ended that */
	uint64_t task_ns;               /* of those that are part of a task */
	uint64_t waker_slice, waker_at; /* ns: start of the last waker's time slice; when it ended a wait */
	uint64_t waker_turns;           /* wakers' slices, and parts of them with a pause between wake-ups */
	uint64_t after_timer;           /* waits in hist that a goroutine ended after its own timer woke it */
	uint64_t lost_p;                /* system calls that lost their P */
	/* wake-ups in a herd after which the goroutine waited here again; ns that it ran */
	uint64_t futile, futile_ns;
	uint32_t herd_most; /* most goroutines that one of these herds had */
	uint64_t shared_wakes, shared_n,
		shared_ns;                      /* times that one waker ended many waits; those waits, ns */
	uint32_t most_shared;                   /* most waits ended at once */
	uint64_t slack_n, slack_ns;             /* joins; ns after all children but one had ended */
	uint64_t delayed_acks, delayed_acks_ns; /* waits as long as one, after two writes */
	struct replies in_two;                  /* that ended with this write, in two or more */
	struct bursts bursts;
	struct histogram answers; /* the same waits, where several are for one answer: until that */
};

/* The waits of a row that one waker stack ended. */
struct pair {
	uint32_t row, stack;
	uint64_t n, ns;
	uint64_t meanwhile[ACT_COUNT]; /* ns: what the waker did during them */
	struct top did[TOPS];          /* stack << 8 | activity */
};

enum { MOST_QUEUED = 64 };

/*
 * A lock, or a channel on which goroutines wait. A trace does not identify it: all lock and unlock sites that
 * wake each other count as one resource (union-find), and so do all instances of a type.
 */
struct resource {
	uint32_t parent;                /* index of the one it was merged into, or its own */
	bool lock;                      /* else a channel, identified by the site of the wait */
	struct histogram waits;         /* waits for it */
	struct histogram holds;         /* by goroutines that had waited for it: since they got it */
	uint64_t given_ns;              /* of those: from when they were woken for it until they ran */
	uint64_t given_up, given_up_ns; /* of these: time was up */
	struct histogram min_holds;     /* lower bound of all holds: since contended_since */
	uint64_t first, max_at;         /* ns: when the first and the longest wait began */
	uint64_t max_g, max_waker;      /* goids */
	uint32_t waiting, most_waiting;
	uint64_t changed;                  /* ns: last change of `waiting` */
	uint64_t open_ns;                  /* all waiters' time since the last release */
	uint64_t contended_since;          /* ns: last release, or the first wait after it was idle */
	uint64_t wanted_since;             /* ns: the first wait after it was idle */
	uint64_t held_at;                  /* ns: a moment since then at which it was held; 0 = none */
	uint32_t woken;                    /* index of the goroutine that the last release woke; 0 = none */
	uint64_t releases, by_waiters;     /* wake-ups; those by goroutines that had waited for it */
	uint64_t released_at, released_by; /* ns; goid: the last one */
	uint64_t overlaps;                 /* holds in which another goroutine gave one back */
	uint64_t charged_ns;               /* waiters' time, charged to releases */
	uint64_t long_ns, medium_ns;       /* of it: to holds of 500 us, 100 us or more */
	uint64_t long_n, medium_n;         /* number of such releases */
	uint64_t meanwhile[ACT_COUNT];     /* what holders did while others waited, times the waiters */
	struct top did[TOPS];              /* the same by stack << 8 | activity */
	struct top holders[TOPS];          /* goid, ns charged */
	struct top holder_groups[TOPS];
	struct top released[TOPS];    /* stacks of releases, ns charged */
	struct top waited[TOPS];      /* stacks of waits, ns */
	uint64_t calls;               /* releases whose holder made a system call or did I/O */
	uint64_t io_calls;            /* those whose holder did I/O */
	uint64_t readers, readers_ns; /* waits of readers */
	uint64_t writers, writers_ns; /* writers' waits that a reader ended */
	uint64_t contended_ns;        /* with any waiter */
	uint64_t with[MOST_QUEUED];   /* ns with so many waiters; the last one: or more */
};

struct lock_taker {
	uint64_t goid;  /* 0 = none */
	uint32_t stack; /* where it waited; 0 = it did not wait */
};

/* A lock, or another object that goroutines wait for, whose address is in the trace. */
struct lock {
	uint64_t address;
	struct histogram waits;
	uint64_t max_at, max_g, max_waker; /* of the longest wait: start in ns, goids */
	uint64_t changed;                  /* ns: last change of `waiting` */
	uint64_t open_ns;                  /* all waiters' time since the last release */
	uint64_t contended_since;          /* ns: last release, or the first wait after it was idle */
	uint64_t contended_ns;             /* with any waiter */
	uint64_t charged_ns;               /* waiters' time, charged to releases */
	uint64_t releases;                 /* that ended a wait */
	uint64_t known, known_ns;          /* of releases and charged_ns: where it was taken is known */
	uint64_t readers, readers_ns;
	struct lock_taker woken[WOKEN]; /* woken for it, may hold it; only RWMutexes have several */
	struct lock_taker last;         /* its last releaser */
	uint64_t released_at;           /* ns: last release */
	struct top holders[TOPS];       /* goid, ns charged */
	struct top released[TOPS];      /* stacks, ns charged */
	struct top taken[TOPS];         /* stacks, ns charged */
	struct top waited[TOPS];        /* stacks, ns */
	uint32_t waiting, most_waiting;
	uint8_t form; /* enum lock_form */
};

/* Goroutines that run one function, created at one site. */
struct group {
	bool own;      /* gotrace's own goroutine: no row of a table */
	uint32_t func; /* string */
	uint32_t file, line;
	uint32_t creator; /* stack; 0 = unknown */
	uint64_t at_start, alive, peak, created, ended;
	uint64_t spent[ACT_COUNT]; /* of ended goroutines; after the trace's end, of all */
	struct histogram lifetimes;
	struct histogram latency;
	int32_t growth[SERIES];
	uint64_t suspects, suspect_ns;
	struct top suspect_stacks[TOPS];
	uint64_t longest_slice, longest_slice_at, longest_slice_g;
	uint32_t longest_slice_stack, longest_slice_delayed;
	uint64_t long_slices, long_slices_ns; /* of 30 ms or more while goroutines waited for a P */
	uint64_t timer_short_runs;            /* timer wake-ups after which it ran for less than 10 us */
	/* ends of slices; polling: preempted in a select that never waits */
	uint64_t preempted, polling, blocks, timer_wakes;
	uint32_t polling_stack; /* of the last one */
	/* timers that fired late, after long slices of the group; those slices */
	uint64_t late_timers, late_slices, late_slices_ns;
	struct handovers handovers;
	/* the slice after which the most timers fired: its end and length in ns, their number, its goid */
	uint64_t late_at, late_ns, late_most, late_g;
	uint64_t yields, yields_ns; /* of running directly before each */
	struct top yield_stacks[TOPS];
	uint64_t delaying, delaying_ns; /* slices of 2 ms or more while goroutines waited for a P */
	struct top cpu[TOPS];           /* rows of cpu_profile */
	struct long_turns turns;
	uint64_t burst; /* burst_begin of the last burst that one of it was in */
	uint32_t burst_n;
	bool system, worker;
};

struct instance {
	uint64_t begin, ns, goid;
	uint64_t spent[ACT_COUNT];
	uint32_t stack; /* of the longest wait */
	uint8_t activity;
};

enum instance_kind { INSTANCE_TASK, INSTANCE_REGION, INSTANCE_LIFE, INSTANCE_LABEL };

/* All tasks or regions of a name, goroutines of a function, or periods in which goroutines have a label
 * ("key=value"). */
struct instances {
	uint32_t name;
	uint8_t kind;
	struct histogram hist;
	uint64_t cut;                     /* labels: how many began before the trace or did not end in it */
	uint64_t spent[ACT_COUNT];        /* labels: includes the cut ones */
	uint64_t samples;                 /* of the CPU, of tasks */
	struct top cpu[TOPS];             /* the same by row of cpu_profile */
	struct top where[TOPS];           /* tasks: stack << 8 | activity, ns */
	struct top outer[TOPS];           /* tasks: names of those that they are within, ns */
	struct instance slowest[SLOWEST]; /* descending */
	unsigned nslowest;
	float sample[RESERVOIR];         /* ns, a uniform sample */
	uint32_t sample_when[RESERVOIR]; /* ms since the trace's start */
	unsigned nsample;
};

struct open_task {
	uint64_t id, begin;
	uint64_t spent[ACT_COUNT];
	uint32_t g; /* the one that began it; 0 = a free slot */
	uint32_t name;
	uint32_t next;  /* free list */
	uint32_t outer; /* index of the task that its goroutine was in; 0 = none */
	uint64_t goid;
};

/* A function of the program's own code. */
struct cpu_row {
	uint32_t func;        /* string */
	uint64_t self, total; /* samples in it and what the library does for it; with it in the stack */
	uint64_t counted;     /* scratch: the last sample in total */
	struct top stacks[TOPS];
	struct top groups[TOPS];
	struct top tasks[TOPS]; /* by name */
};

struct pending_sample {
	uint64_t time, goid;
	uint32_t g, stack;
};

/* Requests of one handler, without those before the first wait or call in it. */
struct handler_requests {
	uint32_t func; /* string */
	uint64_t n;
	uint64_t spent[ACT_COUNT];
	uint64_t before_ns; /* ran, or was ready to, before a request's first wait, which shows the handler */
};

struct cpu_profile {
	struct cpu_row *rows; /* [0] = none */
	size_t nrows, row_capacity;
	struct map64 row_of; /* by func */
	struct map64
		in_leaf; /* samples, by row << 32 | library function: the leaf, and the one that is called */
	uint64_t scheduler;  /* samples in Go's scheduler, where gotrace's probes are */
	uint64_t unknown;    /* without a stack, or beyond the table */
	uint64_t handshakes; /* samples in handshakes of TLS */
	struct pending_sample
		*pending; /* of the generation, by time; those from `first` on are to be counted */
	size_t npending, pending_capacity, first;
};

struct gc_figures {
	uint64_t cycles, cycles_ns, began; /* began: ns, of the open cycle; 0 = none */
	struct histogram pauses;           /* stop-the-worlds of the collector */
	struct histogram stops;            /* all stop-the-worlds: until the last P stopped */
	uint64_t worst_stop, worst_stop_at, worst_stop_g;
	uint32_t worst_stop_stack, worst_stop_func;
	struct histogram asked;    /* stop-the-worlds that the program asked for, until the world goes on */
	struct top asked_by[TOPS]; /* stack << 32 | string: why */
	uint64_t asked_max_at;     /* ns: when that began */
	uint32_t stw_stack, stw_kind;
	uint64_t stw_began, last_stop;
	uint32_t last_stopped_g, last_stopped_stack;
	bool stw_gc, stw_cut; /* stw_cut: a gap was open in it */
	bool is_off;          /* by GOGC */
	unsigned stws;
	uint64_t heap, heap_max, heap_goal, goal_min, goal_max;
	uint64_t ngoals;                    /* changes of the goal, with the one that the trace begins with */
	uint64_t low;                       /* lowest heap since the last cycle ended: the live heap */
	double live_of_goal;                /* live share of the heap goal, summed over cycles */
	double goals;                       /* bytes, summed over the same cycles */
	uint64_t live_cycles;               /* number of summed cycles */
	uint64_t slow_stops, slow_stops_ns; /* of 1 ms or more */
};

/* Use of the Ps over time. The width of a point doubles when there are too many. */
struct timeline {
	uint64_t width;       /* ns per point */
	uint64_t from, until; /* ns: of the current point */
	uint64_t point;
	uint64_t used[2048][P_USE_COUNT];
};

/* What mostly held the holder of a lock up: with more CPUs, one that waited for something else would wait,
 * too. */
enum waited_for { WAITED_FOR_UNKNOWN, WAITED_FOR_OTHERS, WAITED_FOR_CPU, WAITED_FOR_GC };

struct finding {
	const char *id;
	const char
		*part; /* which of a rule's findings it is, if they are about no place; NULL = there is one */
	double impact; /* 0 to 1 */
	uint8_t level; /* enum level */
	uint8_t most;  /* the highest that it can have, whatever it explains */
	char text[400];
	char evidence[6][200];
	unsigned nevidence;
	char next[200];
	const char *explained_by; /* id of the finding that explains it, or NULL */
	enum waited_for held_up;
	uint64_t first_ns, worst_ns, worst_goid; /* times since the trace's start */
	uint64_t n, total_ns, p50_ns, p99_ns, max_ns;
	uint32_t stack, waker_stack;
	uint32_t next_stack; /* where the one that all wait for waits for others in turn; 0 = it does not */
};

enum level { LEVEL_INFO, LEVEL_LOW, LEVEL_MEDIUM, LEVEL_HIGH };

struct span; /* path.h */
struct why_sample;

/*
 * Callbacks for each interval and each instance when it ends, and for samples of the CPU by time. An observer
 * leaves those NULL that it does not need.
 */
struct observer {
	void *ctx;
	void (*span)(void *ctx, const struct analysis *a, uint64_t goid, const struct span *span);
	void (*instance)(void *ctx, const struct analysis *a, const struct instances *all,
			 const struct instance *one);
	void (*sample)(void *ctx, const struct why_sample *sample);
	/* The goroutine had no CPU from begin to now; the name is that of gotrace's own region. */
	void (*off_cpu)(void *ctx, const struct analysis *a, uint64_t goid, uint64_t begin, uint32_t name);
};

struct analysis {
	struct observer observer;
	struct ledger ledger;
	struct analysis_options options;
	bool oom;
	uint64_t begin, end; /* ns */
	const struct generation *gen;
	uint64_t generations, ops, inferred;

	struct strtab *strings;
	uint8_t *activity_of; /* by string id of the tables: 1 + enum activity of that reason */
	size_t nactivity_of;
	uint32_t *stack_of; /* by stack id of the tables: index in stacks; UINT32_MAX = not seen yet */
	size_t nstack_of;
	struct connections connections;
	struct code_place *frames;
	size_t nframes, frame_capacity;
	struct stack_info *stacks;
	size_t nstacks, stack_capacity;
	struct map64 stack_of_frames; /* by a hash of its frames */
	struct map64 places;          /* func << 32 | line -> index of the resource */

	struct goroutine *gs; /* by goroutine index, as in ops */
	size_t ngs;
	struct proc *ps;
	size_t nps;
	uint32_t procs; /* GOMAXPROCS; 0 = unknown */
	uint32_t most_procs;
	bool of_threads;     /* the first generation says so; is_of_threads() knows more at the end */
	uint32_t seen_procs; /* the highest number of a P in an event, plus 1 */

	uint64_t now, integrated; /* ns: of the current op; end of the integrals below */
	uint32_t uses[P_USE_COUNT];
	uint64_t used_ns[P_USE_COUNT];
	uint64_t procs_ns;
	double delays[DELAY_COUNT];
	uint64_t runnable;     /* goroutines that are runnable now */
	uint64_t preempted_ns; /* of goroutines that ran: their threads had no CPU */
	uint64_t slept_ns;   /* of goroutines that ran: their threads slept in the kernel, or were stopped */
	uint64_t stopped_ns; /* the part of it in which they were stopped, by a signal or a debugger */
	struct top slept_groups[TOPS];
	uint64_t queued_idle_ns; /* with both runnable goroutines and idle Ps */
	struct timeline *timeline;

	struct row *rows;
	size_t nrows, row_capacity;
	struct map64 row_of; /* stack << 8 | activity */
	struct pair *pairs;
	size_t npairs, pair_capacity;
	struct map64 pair_of;
	struct resource *resources;
	size_t nresources, resource_capacity;
	uint32_t mmap_lock, gil;   /* indexes of those resources; 0 = none */
	uint64_t unknown_woken_at; /* ns: a goroutine was woken from a wait of which nothing is known */
	struct lock *locks;        /* by address; [0] = none */
	size_t nlocks, lock_capacity;
	uint64_t locks_left_out; /* logs of locks beyond the limit */
	struct map64 lock_of;    /* key: address and form */
	struct group *groups;
	size_t ngroups, group_capacity;
	struct map64 group_of, first_group_of; /* by function and creation site; by function */
	struct instances *instances;
	size_t ninstances, instance_capacity;
	struct map64 instances_of;
	size_t nlabels;             /* rows of instances that are labels */
	struct map64 index_of_goid; /* existing goroutines, at generation goids_of */
	uint64_t goids_of;
	struct open_task *tasks;
	size_t ntasks, task_count; /* capacity; slots in use or free */
	uint32_t free_task;
	struct map64 task_of;

	uint64_t series_width; /* ns per point of the groups' series */
	struct histogram latency;
	double latency_by[DELAY_COUNT];
	struct histogram latency_from[ORIGIN_COUNT];
	uint64_t idle_delayed; /* runnable for 1 ms or more with a P idle throughout */
	uint64_t idle_delayed_ns, idle_delayed_max, idle_delayed_at, idle_delayed_g;
	struct {
		struct handler_requests all[MAX_HANDLERS];
		unsigned n;
	} handlers;
	struct gc_figures gc;
	uint64_t samples; /* of the CPU */
	uint64_t first_sample, last_sample;
	struct cpu_profile cpu;
	uint64_t endless_calls; /* system calls whose end the format does not record */
	uint64_t unwatched_ns;  /* complete at the end */
	uint64_t over_limit_ns; /* of unwatched_ns: because of the limit on the cost */
	bool gap_by_limit;
	struct kernel_log kernel_log;
	struct host_log host_log; /* cpus is 0: the trace has none */
	struct beside_log beside[MAX_BESIDE];
	unsigned nbeside;
	struct descendants_log descendants;
	struct stopped_log stopped;
	char executable[16]; /* as much of its name as the kernel keeps for a process; "" = not known */
	uint64_t repaired;   /* events, by the trace's own notes */
	uint64_t lost;       /* records, by the same */
	uint64_t net_wakes, net_wakes_sysmon;
	uint64_t timer_wakes, timer_short_runs;
	uint64_t burst_begin, bursts, burst_most, burst_at;
	uint32_t burst_n, burst_of_group;
	uint32_t burst_group;              /* that most of them are of */
	uint32_t burst_func, burst_func_n; /* of the greatest burst: that function, and how many of it */
	uint32_t herd_waker, herd_n;       /* the last waker's index; its wake-ups in one slice */
	uint64_t herd_slice;
	struct last_on_thread last_on_thread[RECENT_MS]; /* by thread id modulo RECENT_MS; the latest */
	struct {
		uint32_t waker, stack, n;
		uint64_t slice, ns;
	} shared_wake; /* waits at one stack that one goroutine ends in one slice */
	uint64_t alive, alive_start, created, ended;
	uint64_t nameless; /* that exist, and of which the format (go 1.22) says no more; may be the runtime's
			    */
	uint64_t total_spent[ACT_COUNT]; /* user goroutines */

	struct finding findings[ANALYSIS_FINDINGS];
	unsigned nfindings;
	struct not_applicable {
		const char *id, *why;
	} not_applicable[MOST_NOT_APPLICABLE];
	unsigned nnot_applicable;
};

#endif
