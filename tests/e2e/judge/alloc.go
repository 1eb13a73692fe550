// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"golang.org/x/exp/trace"
)

// An allocEvent is the allocation or release of a span or a stack, with its id converted to an address.
type allocEvent struct {
	time   trace.Time
	name   string
	args   [2]uint64 // without the id: pages and class, or order
	thread trace.ThreadID
	g      trace.GoID
}

type place struct {
	stack   bool
	address uint64
}

// An allocTrace holds the memory events of a trace.
type allocTrace struct {
	base, page, least uint64                 // origin of the ids, and their units
	exist             map[place][2]uint64    // at its beginning
	events            map[place][]allocEvent // afterwards
	first, last       trace.Time
}

const allocInfo = 1 // first byte of the batch that defines the ids (Go 1.26 runtime/traceallocfree.go)

func (t *allocTrace) readInfo(batches []trace.ExperimentalBatch) error {
	for _, batch := range batches {
		if len(batch.Data) == 0 || batch.Data[0] != allocInfo {
			continue
		}
		if t.page != 0 {
			return errors.New("two batches say what ids mean")
		}
		var values [4]uint64
		rest := batch.Data[1:]
		for i := range values {
			value, n := binary.Uvarint(rest)
			if n <= 0 {
				return errors.New("the batch that says what ids mean is cut off")
			}
			values[i], rest = value, rest[n:]
		}
		t.base, t.page, t.least = values[0], values[1], values[3]
	}
	return nil
}

func (t *allocTrace) add(ev trace.Event) error {
	x := ev.Experimental()
	var p place
	switch x.Name {
	case "Span", "SpanAlloc", "SpanFree":
		p = place{false, t.base + ev0(x)*t.page}
	case "GoroutineStack", "GoroutineStackAlloc", "GoroutineStackFree":
		p = place{true, t.base + ev0(x)*t.least}
	default:
		return nil // objects
	}
	if t.page == 0 {
		return fmt.Errorf("%s before anything says what ids mean", x.Name)
	}
	var args [2]uint64
	for i := 1; i < len(x.Args); i++ {
		args[i-1] = x.ArgValue(i).Uint64()
	}
	if x.Name == "Span" || x.Name == "GoroutineStack" {
		// The runtime also reports stacks of dead goroutines that have none.
		if !p.stack || args[0] != 0 {
			t.exist[p] = args
		}
		return nil
	}
	t.events[p] = append(t.events[p], allocEvent{ev.Time(), x.Name, args, ev.Thread(), ev.Goroutine()})
	if t.first == 0 {
		t.first = ev.Time()
	}
	t.last = ev.Time()
	return nil
}

func ev0(x trace.ExperimentalEvent) uint64 { return x.ArgValue(0).Uint64() }

func readAlloc(path string) (*allocTrace, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	reader, err := trace.NewReader(file)
	if err != nil {
		return nil, err
	}
	t := &allocTrace{exist: map[place][2]uint64{}, events: map[place][]allocEvent{}}
	for {
		ev, err := reader.ReadEvent()
		if err == io.EOF {
			return t, nil
		}
		if err == nil && ev.Kind() == trace.EventSync {
			err = t.readInfo(ev.Sync().ExperimentalBatches["AllocFree"])
		}
		if err == nil && ev.Kind() == trace.EventExperimental {
			err = t.add(ev)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
}

// check reports inconsistencies within a trace: an allocation at an address in use, or a free at an unused
// one.
func (t *allocTrace) check() error {
	for p, events := range t.events {
		_, there := t.exist[p]
		for _, ev := range events {
			alloc := ev.name == "SpanAlloc" || ev.name == "GoroutineStackAlloc"
			if alloc == there {
				return fmt.Errorf("%s at %#x, in use before: %v", ev.name, p.address, there)
			}
			there = alloc
		}
	}
	return nil
}

// found counts the events of a within the window, and those that are in b as well, in the same order.
func found(a, b []allocEvent, from, to trace.Time) (all, same int) {
	const apart = 5_000_000 // ns: a thread can lose its CPU between the two tracers' events
	j := 0
	for _, ev := range a {
		if ev.time < from || ev.time > to {
			continue
		}
		all++
		for j < len(b) && b[j].time < ev.time-apart {
			j++
		}
		for k := j; k < len(b) && b[k].time < ev.time+apart; k++ {
			if b[k].name == ev.name && b[k].args == ev.args && b[k].thread == ev.thread && b[k].g == ev.g {
				same++
				j = k + 1
				break
			}
		}
	}
	return all, same
}

type share struct{ all, same int }

func (s share) percent() float64 { return 100 * float64(s.same) / float64(max(s.all, 1)) }

func compareAlloc(native, ours *allocTrace) (there, here share) {
	const margin = 20_000_000 // ns: the traces begin and end at their own times
	from, to := max(native.first, ours.first)+margin, min(native.last, ours.last)-margin
	for p, events := range native.events {
		all, same := found(events, ours.events[p], from, to)
		there.all += all
		there.same += same
	}
	for p, events := range ours.events {
		all, same := found(events, native.events[p], from, to)
		here.all += all
		here.same += same
	}
	return there, here
}

// alloc compares the spans and stacks of two simultaneous traces: kind, address, size, thread and goroutine.
func alloc(args []string) error {
	flags := flag.NewFlagSet("alloc", flag.ContinueOnError)
	least := flags.Int("min-compared", 1000, "least number of native events")
	minThere := flags.Float64("min", 99.9, "least percentage of native events that are in ours")
	minHere := flags.Float64("min-native", 99.9, "least percentage of our events that are in the native trace")
	if err := flags.Parse(args); err != nil || flags.NArg() != 2 {
		return errors.New("usage: judge alloc [options] NATIVE OURS")
	}
	native, err := readAlloc(flags.Arg(0))
	if err != nil {
		return err
	}
	ours, err := readAlloc(flags.Arg(1))
	if err != nil {
		return err
	}
	if err := ours.check(); err != nil {
		return err
	}
	if len(ours.exist) == 0 {
		return errors.New("nothing was there at the beginning")
	}
	there, here := compareAlloc(native, ours)
	fmt.Printf("%d native events of memory, %.3f %% of them in ours; %d in ours, %.3f %% of them native\n",
		there.all, there.percent(), here.all, here.percent())
	if there.all < *least || there.percent() < *minThere || here.percent() < *minHere {
		return fmt.Errorf("less than %d, or than %g %% and %g %%", *least, *minThere, *minHere)
	}
	return nil
}
