// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sort"
)

// The format of early 2015, between Go 1.4 and 1.5: no release reads it. The following is based only on the
// description of its tracer and reader.

// v0Kind is one type of event: the values that follow its time, and what happens to the goroutine that runs on its P.
type v0Kind struct {
	name   string
	values int  // number of values after the time, including the stack
	stack  bool // the last value is a stack
	leaves bool // the goroutine leaves its P
}

var v0Kinds = map[byte]v0Kind{
	4: {"Gomaxprocs", 2, true, false}, 5: {"ProcStart", 0, false, false}, 6: {"ProcStop", 0, false, false},
	7: {"GCStart", 1, true, false}, 8: {"GCDone", 0, false, false},
	9: {"GCScanStart", 0, false, false}, 10: {"GCScanDone", 0, false, false},
	11: {"GCSweepStart", 1, true, false}, 12: {"GCSweepDone", 0, false, false},
	13: {"GoCreate", 3, true, false}, 14: {"GoStart", 1, false, false}, 15: {"GoEnd", 0, false, true},
	16: {"GoStop", 1, true, true}, 17: {"GoSched", 1, true, true}, 18: {"GoPreempt", 1, true, true},
	19: {"GoSleep", 1, true, true}, 20: {"GoBlock", 1, true, true}, 21: {"GoUnblock", 2, true, false},
	22: {"GoBlockSend", 1, true, true}, 23: {"GoBlockRecv", 1, true, true}, 24: {"GoBlockSelect", 1, true, true},
	25: {"GoBlockSync", 1, true, true}, 26: {"GoBlockCond", 1, true, true}, 27: {"GoBlockNet", 1, true, true},
	28: {"GoSysCall", 1, true, false}, 29: {"GoSysExit", 1, false, false}, 30: {"GoSysBlock", 1, true, true},
	31: {"GoWaiting", 1, false, false}, 32: {"GoInSyscall", 1, false, false},
	33: {"HeapAlloc", 1, false, false}, 34: {"HeapGoal", 1, false, false},
}

const (
	v0Batch, v0Frequency, v0Stack, v0TimerGoroutine = 1, 2, 3, 35
	v0MaxTicks                                      = (1<<63 - 1) / 1000000000 // the reader multiplied by that
)

type v0Event struct {
	offset int
	kind   v0Kind
	ticks  uint64
	p      int64
	g      uint64 // the goroutine that ran on the P
	args   []uint64
}

type v0File struct {
	events    []v0Event
	frequency uint64
	stacks    map[uint64][]uint64
	timer     uint64
	counts    map[string]int
}

func checkV0(args []string) error {
	set := flag.NewFlagSet("v0", flag.ExitOnError)
	asJSON := set.Bool("json", false, "print the counts as JSON")
	set.Parse(args)
	if set.NArg() != 1 {
		return fmt.Errorf("needs one trace")
	}
	raw, err := os.ReadFile(set.Arg(0))
	if err != nil {
		return err
	}
	file, err := parseV0(raw)
	if err == nil {
		err = file.check()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", set.Arg(0), err)
	}
	if *asJSON {
		return json.NewEncoder(os.Stdout).Encode(map[string]any{"events": file.counts})
	}
	fmt.Printf("%d events, %d stacks\n", len(file.events), len(file.stacks))
	return nil
}

// v0Values reads one event's values: n+1 of them, or for n = 3 as many bytes as the first value says.
func v0Values(raw []byte, at int, n byte) (list []uint64, end int, err error) {
	one := func() error {
		value, size := binary.Uvarint(raw[at:])
		if size <= 0 {
			return fmt.Errorf("offset %d: the file ends in a number", at)
		}
		list = append(list, value)
		at += size
		return nil
	}
	if n < 3 {
		for range int(n) + 1 {
			if err := one(); err != nil {
				return nil, at, err
			}
		}
		return list, at, nil
	}
	if err := one(); err != nil {
		return nil, at, err
	}
	length := list[0]
	list = nil
	if length > uint64(len(raw)-at) {
		return nil, at, fmt.Errorf("offset %d: the file ends in an event", at)
	}
	for end = at + int(length); at < end; {
		if err := one(); err != nil {
			return nil, at, err
		}
	}
	if at != end {
		return nil, at, fmt.Errorf("offset %d: an event is longer than it says", at)
	}
	return list, at, nil
}

func parseV0(raw []byte) (*v0File, error) {
	if !bytes.HasPrefix(raw, []byte("gotrace\x00")) {
		return nil, fmt.Errorf("no gotrace header")
	}
	file := &v0File{stacks: map[uint64][]uint64{}, counts: map[string]int{}}
	running := map[int64]uint64{}
	var p int64
	var ticks uint64
	batch := false
	for at := 8; at < len(raw); {
		offset, kind, n := at, raw[at]&0x3f, raw[at]>>6
		values, end, err := v0Values(raw, at+1, n)
		if err != nil {
			return nil, err
		}
		at = end
		want := func(count int) error {
			if len(values) != count {
				return fmt.Errorf("offset %d: event %d has %d values instead of %d", offset, kind, len(values), count)
			}
			return nil
		}
		switch kind {
		case v0Batch:
			if err := want(2); err != nil {
				return nil, err
			}
			p, ticks, batch = int64(values[0]), values[1], true
		case v0Frequency:
			if err := want(1); err != nil || values[0] == 0 {
				return nil, fmt.Errorf("offset %d: bad frequency %v %v", offset, values, err)
			}
			file.frequency = values[0]
		case v0TimerGoroutine:
			if err := want(1); err != nil {
				return nil, err
			}
			file.timer = values[0]
		case v0Stack:
			if len(values) < 2 || values[1] > 1000 || uint64(len(values)) != values[1]+2 {
				return nil, fmt.Errorf("offset %d: bad stack of %d values", offset, len(values))
			}
			if file.stacks[values[0]] != nil {
				return nil, fmt.Errorf("offset %d: stack %d is defined twice", offset, values[0])
			}
			file.stacks[values[0]] = values[2:]
		default:
			known, ok := v0Kinds[kind]
			if !ok {
				return nil, fmt.Errorf("offset %d: unknown event %d", offset, kind)
			}
			if err := want(1 + known.values); err != nil {
				return nil, fmt.Errorf("%s: %w", known.name, err)
			}
			if !batch {
				return nil, fmt.Errorf("offset %d: %s before any batch", offset, known.name)
			}
			ticks += values[0]
			event := v0Event{offset, known, ticks, p, running[p], values[1:]}
			if known.name == "GoStart" {
				running[p] = values[1]
				event.g = values[1]
			}
			if known.leaves {
				running[p] = 0
			}
			file.events = append(file.events, event)
			file.counts[known.name]++
		}
	}
	if file.frequency == 0 {
		return nil, fmt.Errorf("no frequency")
	}
	if len(file.events) == 0 {
		return nil, fmt.Errorf("the trace is empty")
	}
	return file, nil
}

const (
	v0Unknown = iota
	v0Runnable
	v0Running
	v0Waiting
	v0Dead
)

type v0Proc struct {
	running, gc, scan, sweep bool
	g                        uint64
}

// v0State is what the reader of that time kept to check whether events make sense.
type v0State struct {
	procs map[int64]*v0Proc
	gs    map[uint64]int
}

// check sorts by time, which is all the order there is, and follows the events.
func (file *v0File) check() error {
	sort.Slice(file.events, func(i, j int) bool { return file.events[i].ticks < file.events[j].ticks })
	first, last := file.events[0], file.events[len(file.events)-1]
	if last.ticks-first.ticks > v0MaxTicks {
		return fmt.Errorf("the span of %d ticks overflows", last.ticks-first.ticks)
	}
	state := &v0State{map[int64]*v0Proc{}, map[uint64]int{0: v0Running}}
	for i, event := range file.events {
		if i > 0 && event.ticks == file.events[i-1].ticks {
			return fmt.Errorf("offset %d: %s has the time of the event at %d", event.offset, event.kind.name,
				file.events[i-1].offset)
		}
		if err := file.checkStack(event); err != nil {
			return err
		}
		if err := state.take(event); err != nil {
			return fmt.Errorf("offset %d: %s on P %d of goroutine %d: %w", event.offset, event.kind.name, event.p,
				event.g, err)
		}
	}
	return nil
}

func (file *v0File) checkStack(event v0Event) error {
	if !event.kind.stack {
		return nil
	}
	id := event.args[len(event.args)-1]
	if id != 0 && len(file.stacks[id]) == 0 {
		return fmt.Errorf("offset %d: %s has the stack %d, which is not there", event.offset, event.kind.name, id)
	}
	return nil
}

func (state *v0State) take(event v0Event) error {
	p := state.procs[event.p]
	if p == nil {
		p = &v0Proc{}
		state.procs[event.p] = p
	}
	here := p.g == event.g && state.gs[event.g] == v0Running
	flip := func(flag *bool, on bool) error {
		if *flag == on {
			return fmt.Errorf("it is %v already", on)
		}
		*flag = on
		return nil
	}
	need := func(g uint64, want, then int) error {
		if state.gs[g] != want {
			return fmt.Errorf("goroutine %d is %d, not %d", g, state.gs[g], want)
		}
		state.gs[g] = then
		return nil
	}
	switch name := event.kind.name; name {
	case "ProcStart":
		return flip(&p.running, true)
	case "ProcStop":
		if p.g != 0 {
			return fmt.Errorf("goroutine %d runs on it", p.g)
		}
		return flip(&p.running, false)
	case "GCStart", "GCDone":
		return flip(&p.gc, name == "GCStart")
	case "GCScanStart", "GCScanDone":
		return flip(&p.scan, name == "GCScanStart")
	case "GCSweepStart", "GCSweepDone":
		return flip(&p.sweep, name == "GCSweepStart")
	case "GoCreate":
		if !here {
			return fmt.Errorf("the creator does not run here")
		}
		return need(event.args[0], v0Unknown, v0Runnable)
	case "GoStart":
		if p.g != 0 {
			return fmt.Errorf("goroutine %d runs on it", p.g)
		}
		p.g = event.g
		return need(event.g, v0Runnable, v0Running)
	case "GoUnblock":
		if !here {
			return fmt.Errorf("the waker does not run here")
		}
		return need(event.args[0], v0Waiting, v0Runnable)
	case "GoWaiting":
		return need(event.args[0], v0Runnable, v0Waiting)
	case "GoInSyscall", "GoSysExit":
		return need(event.args[0], v0Runnable, v0Runnable)
	case "GoSysCall":
		if !here || event.g == 0 {
			return fmt.Errorf("it does not run here")
		}
	}
	if !event.kind.leaves {
		return nil
	}
	if !here || event.g == 0 {
		return fmt.Errorf("it does not run here")
	}
	p.g = 0
	switch event.kind.name {
	case "GoEnd", "GoStop":
		state.gs[event.g] = v0Dead
	case "GoSched", "GoPreempt", "GoSysBlock":
		state.gs[event.g] = v0Runnable
	default:
		state.gs[event.g] = v0Waiting
	}
	return nil
}
