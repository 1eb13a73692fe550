// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"

	"golang.org/x/exp/trace"
)

// The truth about a thread is what the kernel counts for it (Linux 6.18 kernel/sched/stats.h, fair.c,
// core.c). Both are compared over exactly the window between two samples of the counters. The kernel's
// accounting and the times of its tracepoints differ in four ways, each of which has its bound:
//   - A wait on a run queue is accounted when it ends (sched_info_arrive), or when the thread is moved to
//     another queue (sched_info_dequeue): waits that end in the window count, but their time before the
//     window may have been accounted already, and so may the wait at the window's end.
//   - A thread's time on a CPU is updated at switches and at ticks, and does not include what the hypervisor
//     stole.
//   - A thread that is woken onto an idle CPU, or preempts another, is accounted as running from the moment
//     it is put on the run queue: the queue's clock stands still until the switch (rq_clock_skip_update). So
//     the waits of quick starts may be accounted as either.
//   - The accounting of a thread that leaves a CPU ends when another preempts it, or before the next one is
//     looked for, perhaps on other CPUs' queues; that of a thread that wakes begins when it is on the queue,
//     not when its waking begins. An idle CPU is first sent an interrupt (ttwu_queue_wakelist): 14 us on
//     average between virtual ones, as bpftrace measures from sched_waking to sched_wakeup on a quiet
//     machine, and more on a busy one.

// A sleeper that is still on a queue (delayed dequeue, Linux 6.12 and later) may be moved to another queue
// with its load, and then its sleep is accounted as a wait. That is rare; -moved sets how often it may
// happen.

// ledger is one thread's account in the window.
type ledger struct {
	from, to          int64 // ns, window of the times
	counted, counting int64 // ns, window of the switches
	run, wait         int64
	voluntary, forced int64
	wakes             int64  // of the waits, those that followed a wake-up
	quick             int64  // of these, the time of those that were short
	sleep             int64  // the longest that ended in the window
	early, late       int64  // time before the window of a wait that ended in it; waiting at the window's end
	edges             int64  // at how many ends of the window it was on a CPU
	name              string // of its goroutine
}

// goroutine is the state of one in the trace.
type goroutine struct {
	state trace.GoState
	since int64
	woken bool
	tid   int
	name  string
}

type truth struct {
	ledgers     map[int]*ledger
	goroutines  map[trace.GoID]*goroutine
	left        map[trace.ProcID]left
	first, last int64
}

// left is how a CPU was last left.
type left struct {
	time    int64
	blocked bool
}

type limits struct {
	run, wait, switches float64 // shares
	tick, wake, leave   int64   // ns
	moved               int64   // times
	least               int64   // ns: shares of less are not judged
}

func schedTruth(args []string) error {
	set := flag.NewFlagSet("schedtruth", flag.ExitOnError)
	var most limits
	set.Float64Var(&most.run, "run", 0.01, "share by which time on a CPU may differ")
	set.Float64Var(&most.wait, "wait", 0.05, "share by which time on a run queue may differ")
	set.Float64Var(&most.switches, "switches", 0.01, "share by which switches may differ")
	set.Int64Var(&most.tick, "tick", 4_000_000, "ns: the kernel's sum of a thread that runs is at most so old")
	set.Int64Var(&most.wake, "wake", 150_000, "ns that a wake-up may take from waking to the run queue, on average")
	set.Int64Var(&most.leave, "leave", 20_000, "ns that looking for the next thread may take, on average")
	set.Int64Var(&most.least, "least", 20_000_000, "ns: shares of less are judged as if it were so much")
	set.Int64Var(&most.moved, "moved", 0, "how many sleeps may be booked as waits, the longest of them")
	threads := set.Int("threads", 1, "how many threads must be there to be compared")
	verbose := set.Bool("v", false, "print every thread")
	set.Parse(args)
	if set.NArg() != 2 {
		return fmt.Errorf("needs a trace, and samples of judge window")
	}
	text, err := os.ReadFile(set.Arg(1))
	if err != nil {
		return err
	}
	var s kernelCounts
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("%s: %w", set.Arg(1), err)
	}
	ours, theirs := kernelTruth(s)
	if err := ours.read(set.Arg(0)); err != nil {
		return err
	}
	if len(ours.ledgers) < *threads {
		return fmt.Errorf("%d threads to compare, at least %d wanted", len(ours.ledgers), *threads)
	}
	return ours.judge(theirs, s.Steal, most, *verbose)
}

// kernelTruth returns the kernel's counts of all threads that existed throughout the window, and ledgers to
// be filled.
func kernelTruth(s kernelCounts) (*truth, map[int]ledger) {
	ours := &truth{map[int]*ledger{}, map[trace.GoID]*goroutine{}, map[trace.ProcID]left{}, 0, 0}
	theirs := map[int]ledger{}
	for _, before := range s.Before {
		for _, after := range s.After {
			if before.Tid != after.Tid || before.Start != after.Start {
				continue
			}
			ours.ledgers[before.Tid] = &ledger{from: before.Time, to: after.Time,
				counted: before.Counted, counting: after.Counted}
			theirs[before.Tid] = ledger{run: after.Run - before.Run, wait: after.Wait - before.Wait,
				voluntary: after.Voluntary - before.Voluntary, forced: after.Forced - before.Forced}
		}
	}
	return ours, theirs
}

func (t *truth) read(path string) error {
	err := eachEvent(path, func(event *trace.Event) error {
		t.last = int64(event.Time())
		if t.first == 0 {
			t.first = t.last
		}
		if event.Kind() == trace.EventStateTransition &&
			event.StateTransition().Resource.Kind == trace.ResourceGoroutine {
			t.take(event)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, g := range t.goroutines {
		t.leave(g, t.last)
	}
	for tid, a := range t.ledgers {
		if t.first > a.from || t.last < a.to {
			return fmt.Errorf("the trace, from %d to %d, does not span the window of thread %d, from %d to %d",
				t.first, t.last, tid, a.from, a.to)
		}
	}
	return nil
}

// quickStart is the longest time from waking a thread to its start if it does not wait for others.
const quickStart = 300_000 // ns

// quickPart returns the part of a wait that may be accounted as time on the CPU: none if one of our threads
// had to block first.
func (t *truth) quickPart(since, now int64, on trace.ProcID) int64 {
	if before := t.left[on]; now-since > quickStart || before.blocked && before.time > since {
		return 0
	}
	return now - since
}

func (t *truth) take(event *trace.Event) {
	change, now := event.StateTransition(), int64(event.Time())
	from, to := change.Goroutine()
	g := t.goroutines[change.Resource.Goroutine()]
	if g == nil {
		g = &goroutine{since: now}
		t.goroutines[change.Resource.Goroutine()] = g
	}
	if g.name == "" {
		g.name = root(change.Stack)
	}
	if from == to {
		return
	}
	if to.Executing() {
		g.tid = int(event.Thread())
	}
	a := t.ledgers[g.tid]
	if a != nil && from.Executing() && a.counted < now && now <= a.counting {
		switch to {
		case trace.GoWaiting:
			a.voluntary++
		case trace.GoRunnable:
			a.forced++
		}
	}
	if a != nil && from == trace.GoRunnable && to.Executing() && a.from < now && now <= a.to {
		a.wait += now - g.since
		a.early += max(0, a.from-g.since)
		if g.woken {
			a.wakes++
			a.quick += t.quickPart(g.since, now, event.Proc())
		}
	}
	if a != nil && from == trace.GoWaiting && a.from < now && now <= a.to {
		a.sleep = max(a.sleep, now-g.since)
	}
	if from.Executing() && to.Executing() { // a system call begins or ends
		g.state = to
		return
	}
	if from.Executing() {
		t.left[event.Proc()] = left{now, to != trace.GoRunnable}
	}
	t.leave(g, now)
	g.state, g.since, g.woken = to, now, from == trace.GoWaiting
}

// leave adds the goroutine's running time since its last change to its thread's time.
func (t *truth) leave(g *goroutine, now int64) {
	a := t.ledgers[g.tid]
	if a != nil && g.state == trace.GoRunnable && now > a.to {
		a.late += max(0, a.to-max(g.since, a.from))
	}
	if a == nil || !g.state.Executing() {
		return
	}
	a.name = g.name
	a.run += max(0, min(now, a.to)-max(g.since, a.from))
	for _, end := range []int64{a.from, a.to} {
		if g.since <= end && end <= now {
			a.edges++
		}
	}
}

// root returns the outermost function of a stack.
func root(stack trace.Stack) (name string) {
	for frame := range stack.Frames() {
		name = frame.Func
	}
	return name
}

func (t *truth) judge(theirs map[int]ledger, stolen int64, most limits, verbose bool) error {
	var bad []string
	var a, b ledger
	for tid, kernel := range theirs {
		ours := t.ledgers[tid]
		wrong := ours.against(kernel, stolen, most)
		if verbose || wrong != nil {
			fmt.Printf("%7d %-24.24s on CPU %.3f / %.3f ms, queued %.3f / %.3f ms, voluntary %d / %d, involuntary %d / %d %s\n",
				tid, ours.name, ms(ours.run), ms(kernel.run), ms(ours.wait), ms(kernel.wait),
				ours.voluntary, kernel.voluntary, ours.forced, kernel.forced, strings.Join(wrong, ", "))
		}
		for _, one := range wrong {
			bad = append(bad, fmt.Sprintf("thread %d: %s", tid, one))
		}
		a.add(*ours)
		b.add(kernel)
	}
	fmt.Printf("%d threads, steal %.0f ms: on CPU %.1f / %.1f ms (%+.2f %%), queued %.1f / %.1f ms (%+.2f %%, quick %.1f), both %+.2f %%, voluntary %d / %d, involuntary %d / %d\n",
		len(theirs), ms(stolen), ms(a.run), ms(b.run), off(a.run, b.run), ms(a.wait), ms(b.wait), off(a.wait, b.wait),
		ms(a.quick), off(a.run+a.wait, b.run+b.wait),
		a.voluntary, b.voluntary, a.forced, b.forced)
	if bad != nil {
		return fmt.Errorf("trace / kernel: %s", strings.Join(bad[:min(len(bad), 4)], "; "))
	}
	return nil
}

// against lists what differs by more than it may.
func (a *ledger) against(kernel ledger, stolen int64, most limits) (wrong []string) {
	share := func(of float64, whole int64) int64 { return int64(of * float64(max(whole, most.least))) }
	check := func(what string, ours, kernel, low, high int64) {
		if d := kernel - ours; d < -low || d > high {
			wrong = append(wrong, fmt.Sprintf("%s %+.3f ms, %+.2f %%; may be %+.3f to %+.3f", what, -ms(d), off(ours, kernel), -ms(high), ms(low)))
		}
	}
	leaving := (a.voluntary + a.forced) * most.leave
	slack := share(most.run, kernel.run) + a.edges*most.tick
	check("on CPU", a.run, kernel.run, slack+stolen+leaving, slack+a.quick)
	slack = share(most.wait, kernel.wait)
	check("queued", a.wait, kernel.wait, slack+a.wakes*most.wake+a.quick+a.early, slack+a.forced*most.leave+a.late+a.sleep*most.moved)
	slack = share(most.run, kernel.run+kernel.wait) + a.edges*most.tick
	check("both", a.run+a.wait, kernel.run+kernel.wait, slack+stolen+leaving+a.wakes*most.wake+a.early, slack+a.late+a.sleep*most.moved)
	few := func(n int64) int64 { return max(1, int64(most.switches*float64(n))) }
	if d := a.voluntary - kernel.voluntary; max(d, -d) > few(kernel.voluntary) {
		wrong = append(wrong, fmt.Sprintf("voluntary %+d", d))
	}
	if d := a.forced - kernel.forced; max(d, -d) > few(kernel.forced) {
		wrong = append(wrong, fmt.Sprintf("involuntary %+d", d))
	}
	return wrong
}

func (a *ledger) add(b ledger) {
	a.run += b.run
	a.wait += b.wait
	a.quick += b.quick
	a.voluntary += b.voluntary
	a.forced += b.forced
}

func ms(ns int64) float64 { return float64(ns) / 1e6 }

// off is the difference of two figures in per cent of the second.
func off(a, b int64) float64 { return 100 * float64(a-b) / float64(max(1, b)) }
