// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/exp/trace"
)

const edge = 100_000_000 // ns in addition to trim, for v1 traces

var (
	trim   int64 = 50_000_000 // ns cut off each side of the common window
	margin int64 = 5_000_000  // ns outside of the window in which a counterpart may lie
)

// emulated is for programs that ran in an emulated machine: its CPUs take turns, so that the other CPU may
// have a turn between a hit and what it reports.
func emulated() {
	trim, margin = 1_500_000_000, 300_000_000
	suspect, farApart = 50_000_000, 1_000_000_000
	inEmulator = true
}

// inEmulator is true if durations mean nothing.
var inEmulator bool

// history holds one trace's steps of every goroutine.
type history struct {
	steps       map[trace.GoID][]step
	synthetic   map[trace.GoID]bool
	first, last int64
	lost        int  // our own "[lost]" frames and log events
	noHeap      bool // our trace declares that it does not have every sweep
	relative    bool // times are relative to the trace's first event
}

// names gives equal texts equal numbers, the same in both traces; 0 is the empty text.
type names struct {
	ids   map[string]uint32
	texts []string
	same  map[string]string // texts that are treated as others
}

func newNames() *names { return &names{ids: map[string]uint32{"": 0}, texts: []string{""}} }

func (n *names) id(text string) uint32 {
	if other, ok := n.same[text]; ok {
		text = other
	}
	id, ok := n.ids[text]
	if !ok {
		id = uint32(len(n.texts))
		n.ids[text] = id
		n.texts = append(n.texts, text)
	}
	return id
}

// readHistory collects every goroutine's steps; statuses are not steps.
func readHistory(path string, keys, stacks *names) (*history, error) {
	h := &history{steps: map[trace.GoID][]step{}, synthetic: map[trace.GoID]bool{}}
	known := map[trace.Stack]uint32{trace.NoStack: 0}
	stackID := func(stack trace.Stack) uint32 {
		id, ok := known[stack]
		if !ok {
			id = stacks.id(stackText(stack))
			known[stack] = id
		}
		return id
	}
	pushed := false
	relative, err := isV1(path)
	if err != nil {
		return nil, err
	}
	h.relative = relative
	err = eachEvent(path, func(event *trace.Event) error {
		now := int64(event.Time())
		pushed = now == h.last+1 && h.first != 0
		if h.first == 0 {
			h.first = now
		}
		h.last = now
		if event.Kind() == trace.EventLog && strings.Contains(event.Log().Category, "gotrace") {
			h.lost++
			h.noHeap = h.noHeap || strings.HasPrefix(event.Log().Message, "sweeps are left out")
		}
		if event.Kind() != trace.EventStateTransition {
			return nil
		}
		change := event.StateTransition()
		if change.Resource.Kind != trace.ResourceGoroutine {
			return nil
		}
		g := change.Resource.Goroutine()
		own := stackID(change.Stack)
		if isSynthetic(stacks.texts[own]) {
			h.synthetic[g] = true
		}
		from, to := change.Goroutine()
		if from == trace.GoUndetermined || from == to {
			return nil // a status at the start of a generation
		}
		text := strings.TrimSpace(fmt.Sprintf("%v->%v %s", from, to, change.Reason))
		waker := stackID(event.Stack())
		if waker == own {
			waker = 0
		}
		h.steps[g] = append(h.steps[g], step{time: now, key: keys.id(text), stack: own, waker: waker,
			by: int64(event.Goroutine()), p: int64(event.Proc()), m: int64(event.Thread()), change: text, pushed: pushed})
		return nil
	})
	return h, err
}

// isSynthetic recognizes gotrace's own goroutine by its frame.
func isSynthetic(stack string) bool {
	return strings.HasPrefix(stack, "[lost]:") || strings.HasPrefix(stack, "gotrace:")
}

// within returns the steps with a time in [from, to].
func within(steps []step, from, to int64) []step {
	byTime := func(s step, t int64) int {
		if s.time < t {
			return -1
		}
		return 1
	}
	low, _ := slices.BinarySearchFunc(steps, from, byTime)
	high, _ := slices.BinarySearchFunc(steps, to+1, byTime)
	return steps[low:high]
}

// ratio counts what agrees.
type ratio struct {
	Equal int     `json:"equal"`
	Of    int     `json:"of"`
	Pct   float64 `json:"pct"`
}

func (r *ratio) count(equal bool) {
	r.Of++
	if equal {
		r.Equal++
	}
}

func (r *ratio) settle() {
	r.Pct = 100
	if r.Of > 0 {
		r.Pct = 100 * float64(r.Equal) / float64(r.Of)
	}
}

// verdict is the whole comparison, for people and programs.
type verdict struct {
	WindowMs    int64 `json:"window_ms"`
	Goroutines  ratio `json:"goroutines"`
	Transitions ratio `json:"transitions"`
	Stacks      ratio `json:"stacks"`
	Wakers      ratio `json:"waker_stacks"`
	WokenBy     ratio `json:"wakers"`
	P           ratio `json:"p"`
	M           ratio `json:"m"`
	OnlyNative  int   `json:"goroutines_only_native"`
	OnlyOurs    int   `json:"goroutines_only_ours"`
	MedianNs    int64 `json:"time_median_ns"`
	P1Ns        int64 `json:"time_p1_ns"`
	P99Ns       int64 `json:"time_p99_ns"`
	// The same for the starts of goroutines alone, without their sign: some are inferred.
	StartMedianNs int64 `json:"start_median_ns"`
	StartP99Ns    int64 `json:"start_p99_ns"`
	LostNotes     int   `json:"lost_notes"`
	// By kind of event, of the garbage collector and the heap.
	GC gcRows `json:"gc"`
}

type comparison struct {
	verdict
	from, to     int64
	shift        linear // of native's times
	threadless   bool   // threads have different numbers in the two
	keys, stacks *names
	wakers       bool
	noHeap       bool
	noStops      bool // stop-the-world events are not compared
	offsets      []int64
	starts       []int64
	tallies      map[string]map[string]int // kind of difference -> what -> how often
	shown        int
	show         int
}

func twin(args []string) error {
	set := flag.NewFlagSet("twin", flag.ExitOnError)
	minSeq := set.Float64("min-seq", 99.9, "least % of goroutines, and of transitions, that must be identical")
	minStacks := set.Float64("min-stacks", 99, "least % of stacks that must be equal")
	minCompared := set.Int("min-compared", 100, "least number of transitions that must have been compared")
	maxMedian := set.Int64("max-median", 10000, "largest median of the time difference, ns")
	minWokenBy := set.Float64("min-wakers", 0, "least % of wake-ups that must be by the same goroutine")
	wakers := set.Bool("wakers", true, "compare who woke whom, too")
	stops := set.Bool("stops", true, "the native trace has stops of the world as such")
	heap := set.Bool("heap", true, "ours, if it does not say otherwise, has every sweep and each size of the heap")
	conds := set.Bool("conds", true, "ours distinguishes a condition from a mutex")
	slow := set.Bool("emulated", false, "the program ran in an emulator of a machine")
	verbose := set.Bool("v", false, "show the first differences")
	show := set.Int("n", 10, "how many differences -v shows")
	asJSON := set.Bool("json", false, "print JSON")
	set.Parse(args)
	if set.NArg() != 2 {
		return fmt.Errorf("needs NATIVE and OURS")
	}
	if *slow {
		emulated()
	}
	c := &comparison{noHeap: !*heap, noStops: !*stops, keys: newNames(), stacks: newNames(), tallies: map[string]map[string]int{}, wakers: *wakers}
	if !*conds {
		c.keys.same = map[string]string{"Running->Waiting sync.(*Cond).Wait": "Running->Waiting sync"}
	}
	if *verbose {
		c.show = *show
	}
	if err := c.run(set.Arg(0), set.Arg(1)); err != nil {
		return err
	}
	if *asJSON {
		json.NewEncoder(os.Stdout).Encode(c.verdict)
	} else {
		c.print(*verbose)
	}
	if c.WokenBy.Pct < *minWokenBy {
		return fmt.Errorf("%.3f %% of wake-ups by the same goroutine, at least %g wanted", c.WokenBy.Pct, *minWokenBy)
	}
	return c.judge(*minSeq, *minStacks, *minCompared, *maxMedian)
}

func (c *comparison) run(nativePath, oursPath string) error {
	native, err := readHistory(nativePath, c.keys, c.stacks)
	if err != nil {
		return err
	}
	ours, err := readHistory(oursPath, c.keys, c.stacks)
	if err != nil {
		return err
	}
	if native.relative || ours.relative {
		var ok bool
		if c.shift, ok = shiftOf(native, ours); !ok {
			return fmt.Errorf("the two traces have no step in common")
		}
		native.shifted(c.shift)
		suspect = 4 * suspect
		c.threadless = true
	}
	c.from = max(native.first, ours.first) + trim
	c.to = min(native.last, ours.last) - trim
	if c.threadless {
		// How a system call ended is known when its goroutine next runs, and for what had begun
		// before the tracer did it reports no end.
		c.from += edge
		c.to -= edge
	}
	if c.from >= c.to {
		return fmt.Errorf("the two traces have no window in common: native %d-%d, ours %d-%d",
			native.first, native.last, ours.first, ours.last)
	}
	c.WindowMs = (c.to - c.from) / 1e6
	c.LostNotes = ours.lost
	c.noHeap = c.noHeap || ours.noHeap
	all := map[trace.GoID]bool{}
	for g := range native.steps {
		all[g] = true
	}
	for g := range ours.steps {
		all[g] = true
	}
	var order []trace.GoID
	for g := range all {
		if !ours.synthetic[g] {
			order = append(order, g)
		}
	}
	slices.Sort(order)
	for _, g := range order {
		c.goroutine(g, native.steps[g], ours.steps[g])
	}
	c.settle()
	return c.gc(nativePath, oursPath)
}

// goroutine compares one goroutine's life in the window.
func (c *comparison) goroutine(g trace.GoID, native, ours []step) {
	native = within(native, c.from-margin, c.to+margin)
	ours = within(ours, c.from-margin, c.to+margin)
	inNative := len(within(native, c.from, c.to))
	inOurs := len(within(ours, c.from, c.to))
	if inNative == 0 && inOurs == 0 {
		return
	}
	same := true
	for _, p := range align(native, ours) {
		if p.native >= 0 && p.ours >= 0 {
			if c.inside(native[p.native]) || c.inside(ours[p.ours]) {
				equal := native[p.native].key == ours[p.ours].key
				c.Transitions.count(equal)
				c.step(native[p.native], ours[p.ours])
			}
			continue
		}
		one, what := step{}, ""
		if p.native >= 0 {
			one, what = native[p.native], "only native"
		} else {
			one, what = ours[p.ours], "only ours"
		}
		if !c.inside(one) {
			continue
		}
		c.Transitions.count(false)
		c.tally(what, one.change+"  at "+firstFrames(c.stacks.texts[one.stack]))
		if same {
			c.example(g, what, p, native, ours)
		}
		same = false
	}
	c.Goroutines.count(same)
	if len(ours) == 0 {
		c.OnlyNative++
	}
	if len(native) == 0 {
		c.OnlyOurs++
	}
}

func (c *comparison) inside(s step) bool { return s.time >= c.from && s.time <= c.to }

// step compares the attributes of a pair of steps.
func (c *comparison) step(native, ours step) {
	c.offsets = append(c.offsets, ours.time-native.time)
	if strings.HasPrefix(native.change, "Runnable->Running") {
		c.starts = append(c.starts, distance(native, ours))
	}
	// The tracer of 1.22 skips one frame too many when a callback returns to C, and has no stack there;
	// nor does that of 1.23 for some goroutines that are preempted at any instruction.
	unknown := native.stack == 0 &&
		(strings.HasSuffix(native.change, "->Syscall") || strings.HasSuffix(native.change, " preempted"))
	if !unknown && (native.stack != 0 || ours.stack != 0) {
		c.Stacks.count(native.stack == ours.stack)
		c.differ("stack", native, ours, native.stack, ours.stack)
	}
	if c.wakers && (native.waker != 0 || ours.waker != 0) {
		c.Wakers.count(native.waker == ours.waker)
		c.differ("waker stack", native, ours, native.waker, ours.waker)
	}
	if c.wakers && strings.HasPrefix(native.change, "Waiting->Runnable") {
		c.WokenBy.count(native.by == ours.by)
		if native.by != ours.by {
			c.tally("waker", fmt.Sprintf("%s at %s: %s", native.change,
				firstFrames(c.stacks.texts[native.waker]), against(native.by, ours.by)))
		}
	}
	c.P.count(native.p == ours.p)
	if native.p != ours.p {
		c.tally("P", fmt.Sprintf("%s: %s", native.change, against(native.p, ours.p)))
	}
	if c.threadless {
		return
	}
	c.M.count(native.m == ours.m)
	if native.m != ours.m {
		c.tally("M", fmt.Sprintf("%s: %s", native.change, against(native.m, ours.m)))
	}
}

// against describes how two ids differ, without naming them.
func against(native, ours int64) string {
	switch {
	case native < 0:
		return "native has none"
	case ours < 0:
		return "ours has none"
	}
	return "another one"
}

func (c *comparison) differ(what string, native, ours step, nativeStack, oursStack uint32) {
	if nativeStack == oursStack {
		return
	}
	c.tally(what, fmt.Sprintf("%s\n        native %s\n        ours   %s", native.change,
		orNone(c.stacks.texts[nativeStack]), orNone(c.stacks.texts[oursStack])))
}

func orNone(stack string) string {
	if stack == "" {
		return "(none)"
	}
	return stack
}

func firstFrames(stack string) string {
	list := strings.Split(orNone(stack), " < ")
	return strings.Join(list[:min(3, len(list))], " < ")
}

func (c *comparison) tally(kind, what string) {
	if c.tallies[kind] == nil {
		c.tallies[kind] = map[string]int{}
	}
	c.tallies[kind][what]++
}

// example shows a difference with the steps around it.
func (c *comparison) example(g trace.GoID, what string, p pair, native, ours []step) {
	if c.shown >= c.show {
		return
	}
	c.shown++
	var at int64
	if p.native >= 0 {
		at = native[p.native].time
	} else {
		at = ours[p.ours].time
	}
	fmt.Printf("goroutine %d, %s, %.6f s into the window (native: %d steps, ours: %d):\n", g, what,
		float64(at-c.from)/1e9, len(native), len(ours))
	c.around("native", native, at)
	c.around("ours  ", ours, at)
}

func (c *comparison) around(who string, steps []step, at int64) {
	middle := len(within(steps, 0, at))
	for k := max(0, middle-4); k < min(len(steps), middle+4); k++ {
		fmt.Printf("    %s %+12d ns p%d m%d %s  at %s\n", who, steps[k].time-at, steps[k].p, steps[k].m,
			steps[k].change, firstFrames(c.stacks.texts[steps[k].stack]))
	}
}

func (c *comparison) settle() {
	for _, r := range []*ratio{&c.Goroutines, &c.Transitions, &c.Stacks, &c.Wakers, &c.WokenBy, &c.P, &c.M} {
		r.settle()
	}
	if len(c.offsets) == 0 {
		return
	}
	slices.Sort(c.offsets)
	c.MedianNs = c.offsets[len(c.offsets)/2]
	c.P1Ns = c.offsets[len(c.offsets)/100]
	c.P99Ns = c.offsets[len(c.offsets)*99/100]
	if slices.Sort(c.starts); len(c.starts) > 0 {
		c.StartMedianNs = c.starts[len(c.starts)/2]
		c.StartP99Ns = c.starts[len(c.starts)*99/100]
	}
}

func (c *comparison) print(verbose bool) {
	fmt.Printf("window %d ms; goroutines %d, %.3f %% identical; transitions %d, %.3f %% identical; "+
		"stacks %d, %.3f %% equal; waker stacks %d, %.3f %% equal; wakers %d, %.3f %% equal; P %.3f %% M %.3f %% equal; "+
		"time ours-native median %d ns, p1 %d, p99 %d; starts off by %d ns, p99 %d\n",
		c.WindowMs, c.Goroutines.Of, c.Goroutines.Pct, c.Transitions.Of, c.Transitions.Pct,
		c.Stacks.Of, c.Stacks.Pct, c.Wakers.Of, c.Wakers.Pct, c.WokenBy.Of, c.WokenBy.Pct, c.P.Pct, c.M.Pct,
		c.MedianNs, c.P1Ns, c.P99Ns, c.StartMedianNs, c.StartP99Ns)
	if c.OnlyNative+c.OnlyOurs+c.LostNotes > 0 {
		fmt.Printf("goroutines in the native trace only: %d; in ours only: %d; notes of loss in ours: %d\n",
			c.OnlyNative, c.OnlyOurs, c.LostNotes)
	}
	c.GC.print()
	if !verbose {
		return
	}
	for _, kind := range []string{"only native", "only ours", "stack", "waker stack", "waker", "P", "M",
		"gc only native", "gc only ours", "gc where", "gc stack", "value"} {
		c.printTally(kind)
	}
}

func (c *comparison) printTally(kind string) {
	type row struct {
		what  string
		times int
	}
	var rows []row
	for what, times := range c.tallies[kind] {
		rows = append(rows, row{what, times})
	}
	slices.SortFunc(rows, func(a, b row) int {
		if a.times != b.times {
			return b.times - a.times
		}
		return strings.Compare(a.what, b.what)
	})
	for k, r := range rows {
		if k == 8 {
			fmt.Printf("%s: and %d kinds more\n", kind, len(rows)-k)
			break
		}
		fmt.Printf("%s: %d times %s\n", kind, r.times, r.what)
	}
}

// judge decides whether the traces are alike enough. A goroutine that only one trace knows counts as one that
// differs.
func (c *comparison) judge(minSeq, minStacks float64, minCompared int, maxMedian int64) error {
	var bad []string
	if c.Transitions.Of < minCompared {
		bad = append(bad, fmt.Sprintf("only %d transitions compared, at least %d wanted", c.Transitions.Of, minCompared))
	}
	// One transition that differs spoils its goroutine: a share of goroutines to a thousandth is
	// meaningful only if there are a thousand; with fewer, the transitions alone decide.
	if c.Goroutines.Of >= 1000 && c.Goroutines.Pct < minSeq {
		bad = append(bad, fmt.Sprintf("%.3f %% of goroutines identical, at least %g wanted", c.Goroutines.Pct, minSeq))
	}
	if c.Transitions.Pct < minSeq {
		bad = append(bad, fmt.Sprintf("%.3f %% of transitions identical, at least %g wanted", c.Transitions.Pct, minSeq))
	}
	stacks := ratio{Equal: c.Stacks.Equal + c.Wakers.Equal, Of: c.Stacks.Of + c.Wakers.Of}
	if stacks.settle(); stacks.Pct < minStacks {
		bad = append(bad, fmt.Sprintf("%.3f %% of stacks equal, at least %g wanted", stacks.Pct, minStacks))
	}
	// Hits in a program that sleeps find cold caches: they cost ten times as much, and are few enough for
	// chance.
	if c.Transitions.Of < 1000 {
		maxMedian *= 10
	}
	// Times that were aligned with each other show nothing here.
	if !c.threadless && (c.MedianNs > maxMedian || c.MedianNs < -maxMedian) {
		bad = append(bad, fmt.Sprintf("median time difference %d ns, at most %d wanted", c.MedianNs, maxMedian))
	}
	bad = append(bad, c.GC.judge(minSeq, c.leftOut)...)
	if bad != nil {
		return fmt.Errorf("%s", strings.Join(bad, "; "))
	}
	return nil
}
