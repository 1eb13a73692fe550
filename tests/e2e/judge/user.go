// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"bufio"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/exp/trace"
)

// A mark is one annotation of a program: a task's begin or end, a region's, or a log.
type mark struct {
	text  string // all but times and stacks, as text: tasks by their names
	id    string // the same, tasks by their numbers
	time  trace.Time
	begun trace.Time // of a region, at its end; 0 = not seen
	stack string
}

// isOffCPU distinguishes regions that gotrace makes from the kernel's switches from the program's own.
func isOffCPU(region trace.Region) bool {
	return strings.HasPrefix(region.Type, "[off CPU: ")
}

// longest is the number of bytes of a message that tracers after Go 1.21 and gotrace keep. Go up to 1.21
// keeps all.
const longest = 1024

// marks lists the annotations of a trace, goroutine by goroutine, in their order.
func marks(path string) (map[trace.GoID][]mark, error) {
	list := map[trace.GoID][]mark{}
	names := map[trace.TaskID]string{}
	open := map[trace.GoID][]trace.Time{}
	err := eachEvent(path, func(event *trace.Event) error {
		g := event.Goroutine()
		one := mark{time: event.Time(), stack: stackText(event.Stack())}
		switch event.Kind() {
		case trace.EventTaskBegin:
			task := event.Task()
			names[task.ID] = task.Type
			one.text = fmt.Sprintf("task %q %q", task.Type, names[task.Parent])
			one.id = fmt.Sprintf("task %d %d %q", task.ID, task.Parent, task.Type)
		case trace.EventTaskEnd:
			one.text = fmt.Sprintf("done %q", names[event.Task().ID])
			one.id = fmt.Sprintf("done %d", event.Task().ID)
		case trace.EventRegionBegin:
			region := event.Region()
			if isOffCPU(region) {
				return nil
			}
			one.text = fmt.Sprintf("begin %q %q", region.Type, names[region.Task])
			one.id = fmt.Sprintf("begin %q %d", region.Type, region.Task)
			open[g] = append(open[g], event.Time())
		case trace.EventRegionEnd:
			region := event.Region()
			if isOffCPU(region) {
				return nil
			}
			one.text = fmt.Sprintf("end %q", region.Type)
			one.id = fmt.Sprintf("end %q %d", region.Type, region.Task)
			if last := len(open[g]) - 1; last >= 0 {
				one.begun = open[g][last]
				open[g] = open[g][:last]
			}
		case trace.EventLog:
			log := event.Log()
			if log.Category == "gotrace" {
				return nil
			}
			one.text = fmt.Sprintf("log %q %q %d", names[log.Task], log.Category, len(log.Message))
			one.id = fmt.Sprintf("log %d %q %q", log.Task, log.Category, log.Message[:min(len(log.Message), longest)])
		default:
			return nil
		}
		list[g] = append(list[g], one)
		return nil
	})
	return list, err
}

// ownMarks holds what a goroutine says it did: the words of its marks, and how long its regions took.
type ownMarks struct {
	lines []string
	spent []time.Duration // by line; 0 if it is not an end
}

func readTruth(path string) ([]ownMarks, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var list []ownMarks
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		switch {
		case line == "all printed":
			return list, nil
		case line == "goroutine":
			list = append(list, ownMarks{})
			continue
		case len(list) == 0:
			continue
		}
		one := &list[len(list)-1]
		var spent time.Duration
		if strings.HasPrefix(line, "end ") {
			at := strings.LastIndex(line, " ")
			fmt.Sscan(line[at+1:], &spent)
			line = line[:at]
		}
		one.lines = append(one.lines, line)
		one.spent = append(one.spent, spent)
	}
	return nil, fmt.Errorf("%s: the truth has no end", path)
}

// userTruth compares a trace with what the traced program says it did, mark for mark.
func userTruth(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("needs a trace and the program's words")
	}
	seen, err := marks(args[0])
	if err != nil {
		return err
	}
	truth, err := readTruth(args[1])
	if err != nil {
		return err
	}
	byFirst := map[string][]mark{}
	for _, list := range seen {
		byFirst[list[0].text] = list
	}
	var off []time.Duration
	regions := 0
	for i, one := range truth {
		list := byFirst[one.lines[0]]
		for k, line := range one.lines {
			if k >= len(list) {
				return fmt.Errorf("goroutine %d did %d: %s; the trace ends before that", i, k, line)
			}
			if list[k].text != line {
				return fmt.Errorf("goroutine %d did %d: %s; the trace says %s", i, k, line, list[k].text)
			}
			if one.spent[k] > 0 {
				regions++
				off = append(off, (list[k].time.Sub(list[k].begun) - one.spent[k]).Abs())
			}
			if list[k].stack == "" {
				return fmt.Errorf("%s has no stack", line)
			}
		}
		if len(list) > len(one.lines) {
			return fmt.Errorf("goroutine %d did nothing after %d; the trace says %s", i, len(one.lines), list[len(one.lines)].text)
		}
		delete(byFirst, one.lines[0])
	}
	if len(byFirst) > 0 || regions == 0 {
		return fmt.Errorf("%d goroutines too many; %d regions", len(byFirst), regions)
	}
	slices.Sort(off)
	middle := off[len(off)/2]
	fmt.Printf("%d goroutines, %d regions; durations off by %v (median)\n", len(truth), regions, middle)
	if middle > 100*time.Microsecond {
		return fmt.Errorf("durations are off by %v", middle)
	}
	return nil
}

// layOver shifts the native trace's marks to the times of ours, if the times of one are relative to its
// beginning.
func layOver(native map[trace.GoID][]mark, nativePath, oursPath string) error {
	keys, stacks := newNames(), newNames()
	one, err := readHistory(nativePath, keys, stacks)
	if err != nil {
		return err
	}
	other, err := readHistory(oursPath, keys, stacks)
	if err != nil || !one.relative && !other.relative {
		return err
	}
	shift, ok := shiftOf(one, other)
	if !ok {
		return fmt.Errorf("the two traces have no step in common")
	}
	for _, list := range native {
		for k := range list {
			list[k].time = trace.Time(shift.of(int64(list[k].time)))
			if list[k].begun != 0 {
				list[k].begun = trace.Time(shift.of(int64(list[k].begun)))
			}
		}
	}
	return nil
}

// userTwin compares the annotations of two traces of the same period: what the native one has, the other must
// have in the same order, with the same stacks; and nothing else in between.
func userTwin(args []string) error {
	set := flag.NewFlagSet("usertwin", flag.ExitOnError)
	least := set.Int("min", 100, "so many annotations at least")
	set.Parse(args)
	if set.NArg() != 2 {
		return fmt.Errorf("needs the native trace and ours")
	}
	native, err := marks(set.Arg(0))
	if err != nil {
		return err
	}
	ours, err := marks(set.Arg(1))
	if err != nil {
		return err
	}
	if err := layOver(native, set.Arg(0), set.Arg(1)); err != nil {
		return err
	}
	// trace.Start lets the runtime's tracer begin some time before StartRegion knows of it, and
	// trace.Stop informs StartRegion first.
	on, off := trace.Time(math.MaxInt64), trace.Time(0)
	for _, list := range native {
		on = min(on, list[0].time)
		off = max(off, list[len(list)-1].time)
	}
	on += trace.Time(100 * time.Millisecond)
	off -= trace.Time(100 * time.Millisecond)
	if off.Sub(on) < time.Second {
		return fmt.Errorf("the native trace is too short")
	}
	total, stacks := 0, 0
	for g, list := range native {
		same, err := compareMarks(list, ours[g], on, off)
		if err != nil {
			return fmt.Errorf("goroutine %d: %w", g, err)
		}
		total += len(list)
		stacks += same
	}
	fmt.Printf("%d annotations of %d goroutines, %d of the same stack\n", total, len(native), stacks)
	if total < *least || stacks < total*999/1000 {
		return fmt.Errorf("%d annotations, %d of the same stack", total, stacks)
	}
	return nil
}

// compareMarks returns how many stacks are the same. Only regions that began
// while StartRegion thought that no tracer was on may be in ours alone.
func compareMarks(native, ours []mark, on, off trace.Time) (int, error) {
	stacks, k := 0, firstOf(native[0], ours)
	for i, one := range native {
		for ; k < len(ours) && ours[k].id != one.id; k++ {
			if i > 0 && !began(ours[k], on, off) {
				return 0, fmt.Errorf("%s at %d; ours has %s at %d", one.id, one.time, ours[k].id, ours[k].time)
			}
		}
		if k == len(ours) {
			return 0, fmt.Errorf("%s at %d is not in ours", one.id, one.time)
		}
		if ours[k].stack == one.stack {
			stacks++
		} else {
			fmt.Printf("%s: stack %s; ours %s\n", one.id, one.stack, ours[k].stack)
		}
		k++
	}
	return stacks, nil
}

// firstOf finds the native trace's first mark: of those with the same text, the last that is not later.
func firstOf(first mark, ours []mark) int {
	const slack = 10 * time.Microsecond
	found := 0
	for k, one := range ours {
		if one.id == first.id && one.time.Sub(first.time) < slack {
			found = k
		}
	}
	return found
}

// began reports whether it is the begin or end of a region that began before or after.
func began(one mark, before, after trace.Time) bool {
	when := one.time
	switch {
	case strings.HasPrefix(one.id, "end ") && one.begun != 0:
		when = one.begun
	case !strings.HasPrefix(one.id, "begin "):
		return false
	}
	return when < before || when > after
}
