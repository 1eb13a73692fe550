// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/exp/trace"
)

// gcEvent is one event of the garbage collector, of the heap or of a stop-the-world.
type gcEvent struct {
	step
	values [2]uint64 // bytes swept and reclaimed; bytes of the heap
	// It is the first of its kind in its generation. Before the tracer reads the clock for that, it enters the kind's
	// name into its tables, which can take 20 us.
	first bool
	// It is the first sweep or assist of its goroutine, whose stack may grow (runtime.copystack takes 12 us and more)
	// between our probe at the function's entry and the tracer's event.
	grows bool
}

// gcHistory holds the events of one trace by the resource they are about, so
// that each list has one true order: a goroutine, a P, or the whole program.
type gcHistory map[string][]gcEvent

const (
	heapObjects = "/memory/classes/heap/objects:bytes" // the heap's size, which every P changes
	sweepRange  = "GC incremental sweep"
	assistRange = "GC mark assist"
)

func gcBytes(attributes []trace.RangeAttribute) (values [2]uint64) {
	for _, attribute := range attributes {
		switch attribute.Name {
		case "bytes swept":
			values[0] = attribute.Value.Uint64()
		case "bytes reclaimed":
			values[1] = attribute.Value.Uint64()
		}
	}
	return values
}

// gcScope returns which list an event belongs to, and what it is; "" for an event of another kind.
func gcScope(event *trace.Event, threadless bool) (scope, what string, values [2]uint64) {
	switch event.Kind() {
	case trace.EventRangeBegin, trace.EventRangeEnd:
		r := event.Range()
		if event.Kind() == trace.EventRangeEnd {
			values = gcBytes(event.RangeAttributes())
		}
		return r.Scope.String() + " " + r.Name, fmt.Sprintf("%v %s", event.Kind(), r.Name), values
	case trace.EventMetric:
		m := event.Metric()
		values[0] = m.Value.Uint64()
		if m.Name == heapObjects {
			if threadless {
				return fmt.Sprintf("%v %s", event.Proc(), m.Name), m.Name, values
			}
			return fmt.Sprintf("%v %s", event.Thread(), m.Name), m.Name, values
		}
		// GOMAXPROCS is also reported at the beginning of each generation, which no program does.
		stack := stackText(event.Stack())
		byTracer := stack == "" || strings.HasPrefix(stack, "runtime.traceAdvance") ||
			strings.HasPrefix(stack, "runtime.StartTrace")
		if m.Name == "/gc/heap/goal:bytes" || (m.Name == "/sched/gomaxprocs:threads" && !byTracer) {
			return m.Name, m.Name, values
		}
	case trace.EventLabel:
		return labelScope(event.Goroutine()), "label " + event.Label().Label, values
	}
	return "", "", values
}

const labelSuffix = " label"

func labelScope(g trace.GoID) string { return fmt.Sprint(g) + labelSuffix }

func isMarkPhase(what string) bool { return strings.HasSuffix(what, "GC concurrent mark phase") }

// isWorker recognizes a worker by its function.
func isWorker(stack trace.Stack) bool {
	for frame := range stack.Frames() {
		if frame.Func == "runtime.gcBgMarkWorker" {
			return true
		}
	}
	return false
}

// readGC reads labels only of workers, and only within mark phases: from Go 1.26 on a P may keep the mode of
// a worker that was meant for it and never ran (procresize), and the runtime's tracer labels whatever starts
// there until a worker does.
func readGC(path string, keys, stacks *names, threadless bool, workers map[string]bool) (gcHistory, error) {
	h, marking := gcHistory{}, false
	known := map[string]bool{}      // kinds of this generation
	worked := map[trace.GoID]bool{} // goroutines that have swept or assisted
	err := eachEvent(path, func(event *trace.Event) error {
		if event.Kind() == trace.EventSync {
			clear(known)
		}
		if event.Kind() == trace.EventRangeActive && isMarkPhase(event.Range().Name) {
			marking = true
		}
		if event.Kind() == trace.EventStateTransition && isWorker(event.StateTransition().Stack) {
			workers[labelScope(event.StateTransition().Resource.Goroutine())] = true
		}
		scope, what, values := gcScope(event, threadless)
		if scope == "" || (event.Kind() == trace.EventLabel && !marking) {
			return nil
		}
		if isMarkPhase(what) {
			marking = event.Kind() == trace.EventRangeBegin
		}
		first := !known[what]
		known[what] = true
		mayGrow := what == "RangeBegin "+sweepRange || what == "RangeBegin "+assistRange
		grows := mayGrow && !worked[event.Goroutine()]
		worked[event.Goroutine()] = worked[event.Goroutine()] || grows
		h[scope] = append(h[scope], gcEvent{values: values, first: first, grows: grows, step: step{time: int64(event.Time()),
			key: keys.id(what), stack: stacks.id(stackText(event.Stack())), p: int64(event.Proc()),
			m: int64(event.Thread()), change: what}})
		return nil
	})
	return h, err
}

// keepWorkers leaves out labels of goroutines that neither trace knows as workers: not every format has the
// function of a worker that was there before the trace.
func (h gcHistory) keepWorkers(workers map[string]bool) {
	maps.DeleteFunc(h, func(scope string, _ []gcEvent) bool {
		return strings.HasSuffix(scope, labelSuffix) && !workers[scope]
	})
}

// gcRow compares one kind of event.
type gcRow struct {
	Events ratio     `json:"events"`
	Values ratio     `json:"values"`
	Stacks ratio     `json:"stacks"`
	Sums   [2]uint64 `json:"native_sums"` // of the values, both of pairs and of events that only one trace has
	Ours   [2]uint64 `json:"our_sums"`
	Ns     int64     `json:"native_ns"` // total duration of the ranges that are complete in both
	OursNs int64     `json:"our_ns"`
	Long   ratio     `json:"long"` // ranges that last equally long in both
	Unlike []string  `json:"-"`    // durations of the first that do not
}

const maxUnlike = 4 // whose durations a complaint shows

// lasts adds a range's duration in both.
func (r *gcRow) lasts(native, ours int64) {
	r.Ns += native
	r.OursNs += ours
	off := float64(ours - native)
	alike := max(off, -off) <= maxRangeNs+float64(native)*maxRangeOff/100
	r.Long.count(alike)
	if !alike && len(r.Unlike) < maxUnlike {
		r.Unlike = append(r.Unlike, fmt.Sprintf("%d ns instead of %d", ours, native))
	}
}

type gcRows map[string]*gcRow

func (r gcRows) row(what string) *gcRow {
	if r[what] == nil {
		r[what] = &gcRow{}
	}
	return r[what]
}

// gc compares the garbage collector and the heap of the two traces in the window.
func (c *comparison) gc(nativePath, oursPath string) error {
	workers := map[string]bool{}
	native, err := readGC(nativePath, c.keys, c.stacks, c.threadless, workers)
	if err != nil {
		return err
	}
	for _, list := range native {
		for k := range list {
			list[k].time = c.shift.of(list[k].time)
		}
	}
	ours, err := readGC(oursPath, c.keys, c.stacks, c.threadless, workers)
	if err != nil {
		return err
	}
	native.keepWorkers(workers)
	ours.keepWorkers(workers)
	c.GC = gcRows{}
	scopes := map[string]bool{}
	for scope := range native {
		scopes[scope] = true
	}
	for scope := range ours {
		scopes[scope] = true
	}
	for _, scope := range slices.Sorted(maps.Keys(scopes)) {
		c.gcList(near(native[scope], c.from, c.to), near(ours[scope], c.from, c.to))
	}
	for _, row := range c.GC {
		row.Events.settle()
		row.Values.settle()
		row.Stacks.settle()
		row.Long.settle()
	}
	return nil
}

// mayMove reports whether the event may be on another P: at the edges of an assist, a goroutine may be
// preempted between our probe and its tracer's event. Up to Go 1.21 its tracer reads the clock after that.
func (c *comparison) mayMove(native *gcEvent) bool {
	return c.threadless && strings.HasSuffix(native.change, "GC mark assist")
}

// near returns the events in the window and a little around it.
func near(list []gcEvent, from, to int64) []gcEvent {
	at := func(t int64) int {
		i, _ := slices.BinarySearchFunc(list, t, func(e gcEvent, t int64) int { return cmp.Compare(e.time, t) })
		return i
	}
	return list[at(from-margin):at(to+margin)]
}

func steps(list []gcEvent) []step {
	all := make([]step, len(list))
	for k := range list {
		all[k] = list[k].step
	}
	return all
}

// gcAlign pairs the events of two lists. Sizes of the heap come in quick succession and have no names: they
// are paired by their values; those between two pairs, whose values differ, are paired one by one.
func gcAlign(native, ours []gcEvent) []pair {
	n, o := steps(native), steps(ours)
	if len(n) == 0 || len(o) == 0 || n[0].change != heapObjects {
		return align(n, o)
	}
	ids := map[[2]uint64]uint32{}
	for _, list := range []struct {
		steps  []step
		events []gcEvent
	}{{n, native}, {o, ours}} {
		for k, event := range list.events {
			if _, known := ids[event.values]; !known {
				ids[event.values] = uint32(len(ids) + 1)
			}
			list.steps[k].key = ids[event.values]
		}
	}
	return pairUp(align(n, o))
}

// pairUp pairs events of both sides that have no counterpart at the same place.
func pairUp(pairs []pair) (all []pair) {
	var native, ours []int
	flush := func() {
		for len(native) > 0 && len(ours) > 0 {
			all = append(all, pair{native[0], ours[0]})
			native, ours = native[1:], ours[1:]
		}
		for _, k := range native {
			all = append(all, pair{k, -1})
		}
		for _, k := range ours {
			all = append(all, pair{-1, k})
		}
		native, ours = nil, nil
	}
	for _, p := range pairs {
		switch {
		case p.ours < 0:
			native = append(native, p.native)
		case p.native < 0:
			ours = append(ours, p.ours)
		default:
			flush()
			all = append(all, p)
		}
	}
	flush()
	return all
}

func (c *comparison) gcList(native, ours []gcEvent) {
	var begin *[2]int64 // beginning of the range that is open in both
	for _, p := range gcAlign(native, ours) {
		if p.native < 0 || p.ours < 0 {
			begin = nil
			c.gcAlone(p, native, ours)
			continue
		}
		n, o := &native[p.native], &ours[p.ours]
		if !c.inside(n.step) {
			begin = nil
			continue
		}
		row := c.GC.row(n.change)
		alike := n.key == o.key && (n.m == o.m || c.threadless) && (n.p == o.p || c.mayMove(n) || isRow(n.p) || isRow(o.p))
		row.Events.count(alike)
		if !alike {
			c.tally("gc where", fmt.Sprintf("%s: P %d and %d", n.change, n.p, o.p))
		}
		c.gcValues(row, n, o)
		switch {
		case n.grows, strings.HasPrefix(n.change, "RangeBegin stop-the-world") && n.first:
			begin = nil
		case strings.HasPrefix(n.change, "RangeBegin"):
			begin = &[2]int64{n.time, o.time}
		case begin != nil:
			row.lasts(n.time-begin[0], o.time-begin[1])
			begin = nil
		}
	}
}

// isRow reports whether a P is really a row of the viewer's: the reader of go 1.11 to go 1.21 files moves
// some events there.
func isRow(p int64) bool { return p >= 1_000_000 }

func (c *comparison) gcValues(row *gcRow, n, o *gcEvent) {
	for k := range n.values {
		row.Sums[k] += n.values[k]
		row.Ours[k] += o.values[k]
	}
	if n.values != [2]uint64{} || o.values != [2]uint64{} {
		row.Values.count(n.values == o.values)
	}
	if n.values != o.values {
		c.tally("value", fmt.Sprintf("%s: by %d, %d", n.change, int64(o.values[0]-n.values[0]),
			int64(o.values[1]-n.values[1])))
	}
	if n.stack != 0 || o.stack != 0 {
		row.Stacks.count(n.stack == o.stack)
		c.differ("gc stack", n.step, o.step, n.stack, o.stack)
	}
}

// gcAlone counts an event that only one of the traces has.
func (c *comparison) gcAlone(p pair, native, ours []gcEvent) {
	what, one, sums := "gc only native", gcEvent{}, 0
	if p.native >= 0 {
		one = native[p.native]
	} else {
		what, one, sums = "gc only ours", ours[p.ours], 1
	}
	if !c.inside(one.step) {
		return
	}
	row := c.GC.row(one.change)
	row.Events.count(false)
	for k, value := range one.values {
		if sums == 0 {
			row.Sums[k] += value
		} else {
			row.Ours[k] += value
		}
	}
	c.tally(what, one.change+"  at "+firstFrames(c.stacks.texts[one.stack]))
}

const (
	// The heap's size is read right before it changes, and another P may change it in between.
	minHeapValues = 95.0 // % of the heap's sizes that must be equal
	minLabels     = 95.0 // % of the labels: in 1.26, those between a cycle's beginning and its marking are stale
	maxSumOff     = 0.1  // % by which sums of bytes may differ
	maxRangeOff   = 5.0  // % by which the duration of a range may differ, plus this many ns:
	maxRangeNs    = 10_000
	minLong       = 90.0 // % of the ranges must be within that; a thread can lose its CPU between the two events
)

// leftOut reports whether our trace declares that it leaves this out: every sweep, if there are too many;
// which goroutines are workers, if only starts are probed; and what the native trace has in another form.
func (c *comparison) leftOut(what string) bool {
	ofHeap := strings.HasSuffix(what, heapObjects) || strings.HasSuffix(what, sweepRange)
	stop := c.noStops && strings.Contains(what, "stop-the-world")
	return stop || c.noHeap && ofHeap || !c.wakers && (ofHeap || strings.HasPrefix(what, "label "))
}

// judge lists what is not good enough. minSeq is the percentage of events that must be equal.
func (r gcRows) judge(minSeq float64, leftOut func(what string) bool) (bad []string) {
	for _, what := range slices.Sorted(maps.Keys(r)) {
		if leftOut(what) {
			continue
		}
		row := r[what]
		differ := row.Events.Of - row.Events.Equal
		least := minSeq
		if strings.HasPrefix(what, "label ") {
			least = min(minSeq, minLabels)
		}
		if float64(differ) > 2+float64(row.Events.Of)*(100-least)/100 {
			bad = append(bad, fmt.Sprintf("%d of %d events %s differ", differ, row.Events.Of, what))
		}
		if strings.HasSuffix(what, heapObjects) && row.Values.Of > 0 && row.Values.Pct < minHeapValues {
			bad = append(bad, fmt.Sprintf("%.3f %% of values equal of %s", row.Values.Pct, what))
		}
		for k := range row.Sums {
			native, ours := float64(row.Sums[k]), float64(row.Ours[k])
			// What only one of them has is in the sums, too.
			allowed := native * (maxSumOff/100 + 2*float64(differ)/float64(row.Events.Of))
			if off := ours - native; max(off, -off) > allowed {
				bad = append(bad, fmt.Sprintf("sum %.0f instead of %.0f of %s", ours, native, what))
			}
		}
		if n := row.Long.Of - row.Long.Equal; !inEmulator && float64(n) > 1+float64(row.Long.Of)*(100-minLong)/100 {
			bad = append(bad, fmt.Sprintf("%d of %d ranges do not last as long: %s: %s", n, row.Long.Of, what,
				strings.Join(row.Unlike, ", ")))
		}
	}
	return bad
}

func (r gcRows) print() {
	for _, what := range slices.Sorted(maps.Keys(r)) {
		row := r[what]
		fmt.Printf("gc: %-50s %6d, %7.3f %% alike", what, row.Events.Of, row.Events.Pct)
		if row.Values.Of > 0 {
			fmt.Printf("; values %7.3f %% equal, sums %d %d against %d %d", row.Values.Pct,
				row.Ours[0], row.Ours[1], row.Sums[0], row.Sums[1])
		}
		if row.Stacks.Of > 0 {
			fmt.Printf("; stacks %7.3f %% equal", row.Stacks.Pct)
		}
		if row.Ns > 0 {
			fmt.Printf("; %.1f %% as long, %d us against %d us", row.Long.Pct, row.OursNs/1000, row.Ns/1000)
		}
		fmt.Println()
	}
}
