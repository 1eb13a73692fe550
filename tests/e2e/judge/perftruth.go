// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"bufio"
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"

	"golang.org/x/exp/trace"
)

// perf records the same tracepoint (sched_switch) with the trace's clock: their times differ only by what
// each does in between.

var switchLine = regexp.MustCompile(`^\s*\[(\d+)\] +(\d+)\.(\d{9}): +sched:sched_switch: .* prev_pid=(\d+) .*prev_state=(\S+) .* next_pid=(\d+) `)

const mostPIDs = 1 << 22 // PID_MAX_LIMIT, Linux include/linux/threads.h

// turns holds what a thread does on CPUs in a window.
type turns struct {
	since             int64 // since when on a CPU; 0 = it is not
	run               int64
	voluntary, forced int64
	odd               int64 // missing beginnings or ends of turns, except for the first turn's beginning
}

func perfTruth(args []string) error {
	set := flag.NewFlagSet("perftruth", flag.ExitOnError)
	share := set.Float64("run", 0.01, "share by which time on a CPU may differ")
	slack := set.Int64("slack", 300, "ns by which a switch may, on average")
	unseen := set.Int64("unseen", 0, "switches that the kernel's tracepoints did not report, as gotrace has found; either may be without them")
	set.Parse(args)
	if set.NArg() != 2 {
		return fmt.Errorf("needs a trace, and what perf script prints of sched:sched_switch")
	}
	first, last, err := perfSpan(set.Arg(1))
	if err != nil {
		return err
	}
	ours, err := traceTurns(set.Arg(0), first, last)
	if err != nil {
		return err
	}
	theirs, err := perfTurns(set.Arg(1), first, last)
	if err != nil {
		return err
	}
	var all, other turns
	threads, untimed := 0, 0
	for tid, a := range ours {
		if tid > mostPIDs {
			continue // gotrace's own thread, which makes the transitions that were not seen
		}
		b := theirs[tid]
		if b == nil {
			b = &turns{}
		}
		count := a.voluntary + a.forced
		differ := max(a.run-b.run, b.run-a.run)
		// perf does not always see which thread an idle CPU switches to: then it has no times to
		// compare with.
		if b.odd > 0 {
			differ = 0
			untimed++
		}
		apart := max(a.voluntary-b.voluntary, b.voluntary-a.voluntary) + max(a.forced-b.forced, b.forced-a.forced)
		if differ > int64(*share*float64(b.run))+*slack*(count+1)+apart*b.run/max(1, count) || apart > *unseen {
			return fmt.Errorf("trace / perf: thread %d: on CPU %.3f / %.3f ms, voluntary %d / %d, involuntary %d / %d",
				tid, ms(a.run), ms(b.run), a.voluntary, b.voluntary, a.forced, b.forced)
		}
		threads++
		all.add(a)
		other.add(b)
	}
	if threads == 0 || other.voluntary+other.forced == 0 {
		return fmt.Errorf("nothing to compare")
	}
	fmt.Printf("perf: %d threads, of %d it has no begins; on CPU %.3f / %.3f ms (%+.3f %%), voluntary %d / %d, involuntary %d / %d\n", threads, untimed,
		ms(all.run), ms(other.run), off(all.run, other.run), all.voluntary, other.voluntary, all.forced, other.forced)
	return nil
}

func (t *turns) add(b *turns) {
	t.run += b.run
	t.voluntary += b.voluntary
	t.forced += b.forced
}

// end ends a turn at now. A turn that began before the window counts from the window's beginning.
func (t *turns) end(now, first int64, asleep bool) {
	if t.since != 0 {
		t.run += now - max(t.since, first)
	} else if t.voluntary+t.forced == 0 {
		t.run += now - first // it began before perf did
	} else {
		t.odd++
	}
	t.since = 0
	if asleep {
		t.voluntary++
	} else {
		t.forced++
	}
}

// eachSwitch passes on perf's switches: when and where, which thread left, whether it sleeps, and which came.
func eachSwitch(path string, take func(now int64, cpu, prev int, asleep bool, next int)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		found := switchLine.FindStringSubmatch(lines.Text())
		if found == nil {
			continue
		}
		now, err := strconv.ParseInt(found[2]+found[3], 10, 64)
		if err != nil {
			return err
		}
		cpu, _ := strconv.Atoi(found[1])
		prev, _ := strconv.Atoi(found[4])
		next, _ := strconv.Atoi(found[6])
		take(now, cpu, prev, found[5][0] != 'R', next)
	}
	return lines.Err()
}

const perfEdge = 1_000_000 // ns

// quietAfter returns the middle of the longest time without a switch that begins within ten edges after `after`: a
// switch near the edge of the window could be in it for one of the two and not for the other.
func quietAfter(times []int64, after int64) int64 {
	from, _ := slices.BinarySearch(times, after)
	middle, longest := after, int64(0)
	for i := from; i+1 < len(times) && times[i] < after+10*perfEdge; i++ {
		if gap := times[i+1] - times[i]; gap > longest {
			middle, longest = times[i]+gap/2, gap
		}
	}
	return middle
}

// perfSpan returns the time in which perf has recorded all CPUs: it begins with them and ends one after
// another.
func perfSpan(path string) (first, last int64, err error) {
	begins, ends := map[int]int64{}, map[int]int64{}
	var times []int64
	err = eachSwitch(path, func(now int64, cpu, _ int, _ bool, _ int) {
		times = append(times, now)
		if begins[cpu] == 0 {
			begins[cpu] = now
		}
		begins[cpu], ends[cpu] = min(begins[cpu], now), max(ends[cpu], now)
	})
	last = math.MaxInt64
	for cpu := range begins {
		first, last = max(first, begins[cpu]+perfEdge), min(last, ends[cpu]-perfEdge)
	}
	slices.Sort(times)
	first, last = quietAfter(times, first), quietAfter(times, last-10*perfEdge)
	if err == nil && (len(begins) == 0 || last-first < 100*perfEdge) {
		err = fmt.Errorf("perf has recorded %d CPUs, %d ms together", len(begins), (last-first)/1_000_000)
	}
	return first, last, err
}

func perfTurns(path string, first, last int64) (map[int]*turns, error) {
	list := map[int]*turns{}
	of := func(tid int) *turns {
		if list[tid] == nil {
			list[tid] = &turns{}
		}
		return list[tid]
	}
	err := eachSwitch(path, func(now int64, _, prev int, asleep bool, next int) {
		switch {
		case now < first:
			of(prev).since, of(next).since = 0, now
		case now <= last:
			of(prev).end(now, first, asleep)
			if of(next).since != 0 && next != 0 {
				of(next).odd++
			}
			of(next).since = now
		}
	})
	for _, one := range list {
		if one.since != 0 {
			one.run += last - max(one.since, first)
		}
	}
	return list, err
}

// traceTurns returns the turns of the trace's goroutines, by thread.
func traceTurns(path string, first, last int64) (map[int]*turns, error) {
	list, threads := map[int]*turns{}, map[trace.GoID]int{}
	err := eachEvent(path, func(event *trace.Event) error {
		if event.Kind() != trace.EventStateTransition ||
			event.StateTransition().Resource.Kind != trace.ResourceGoroutine {
			return nil
		}
		change, now := event.StateTransition(), int64(event.Time())
		from, to := change.Goroutine()
		id := change.Resource.Goroutine()
		if to.Executing() && !from.Executing() && now <= last {
			tid := int(event.Thread())
			threads[id] = tid
			if list[tid] == nil {
				list[tid] = &turns{}
			}
			list[tid].since = now
		}
		one := list[threads[id]]
		if one == nil || !from.Executing() || to.Executing() || now > last {
			return nil
		}
		if now < first {
			one.since = 0
		} else {
			one.end(now, first, to == trace.GoWaiting)
		}
		return nil
	})
	for _, one := range list {
		if one.since != 0 {
			one.run += last - max(one.since, first)
		}
	}
	return list, err
}
