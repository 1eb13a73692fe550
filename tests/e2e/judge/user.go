// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/exp/trace"
)

// A mark is one annotation of a program: a task's begin or end, a region's, or a log.
type mark struct {
	text  string // all but times and stacks, in words
	time  trace.Time
	spent time.Duration // of a region, at its end
	stack string
	task  string // its name
}

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
			one.task = task.Type
		case trace.EventTaskEnd:
			one.task = names[event.Task().ID]
			one.text = fmt.Sprintf("done %q", one.task)
		case trace.EventRegionBegin:
			region := event.Region()
			one.task = names[region.Task]
			one.text = fmt.Sprintf("begin %q %q", region.Type, one.task)
			open[g] = append(open[g], event.Time())
		case trace.EventRegionEnd:
			region := event.Region()
			one.task = names[region.Task]
			one.text = fmt.Sprintf("end %q", region.Type)
			if last := len(open[g]) - 1; last >= 0 {
				one.spent = event.Time().Sub(open[g][last])
				open[g] = open[g][:last]
			}
		case trace.EventLog:
			log := event.Log()
			if log.Category == "gotrace" {
				return nil
			}
			one.task = names[log.Task]
			one.text = fmt.Sprintf("log %q %q %d", one.task, log.Category, len(log.Message))
		default:
			return nil
		}
		list[g] = append(list[g], one)
		return nil
	})
	return list, err
}

// told is what a goroutine says it did: the words of its marks, and how long its regions took.
type told struct {
	lines []string
	spent []time.Duration // by line; 0 where it is no end
}

func readTruth(path string) ([]told, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var list []told
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		switch {
		case line == "truth told":
			return list, nil
		case line == "goroutine":
			list = append(list, told{})
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
				off = append(off, (list[k].spent - one.spent[k]).Abs())
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

// userTwin compares the annotations of two traces of the same seconds: what the
// native one has between its first and last event, the other must have, in the
// same order, with the same stacks.
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
	total, stacks := 0, 0
	kinds := map[string]int{}
	for g, list := range native {
		n, err := compareMarks(g, list, ours[g], &stacks)
		if err != nil {
			return err
		}
		total += n
		for _, one := range list {
			kind, _, _ := strings.Cut(one.text, " ")
			kinds[kind]++
		}
	}
	fmt.Printf("%d annotations, %d of the same stack %v\n", total, stacks, kinds)
	if total < *least {
		return fmt.Errorf("only %d annotations", total)
	}
	if stacks < total*999/1000 {
		return fmt.Errorf("only %d of %d stacks are the same", stacks, total)
	}
	return nil
}

// The native trace begins and ends in the middle of things: regions that were
// open at its begin, and tasks that it did not see begin, have no counterpart in names.
func compareMarks(g trace.GoID, native, ours []mark, stacks *int) (int, error) {
	const slack = 50 * time.Microsecond
	first, last := native[0].time, native[len(native)-1].time
	for len(ours) > 0 && ours[0].time < first && ours[0].time.Sub(first).Abs() > slack || len(ours) > 0 && ours[0].text != native[0].text {
		ours = ours[1:]
	}
	compared := 0
	for k, one := range native {
		if k >= len(ours) {
			return 0, fmt.Errorf("goroutine %d: %s at %d is not in ours", g, one.text, one.time)
		}
		if ours[k].text != one.text && one.task != "" {
			return 0, fmt.Errorf("goroutine %d: %s; ours has %s", g, one.text, ours[k].text)
		}
		compared++
		if ours[k].stack == one.stack {
			*stacks++
		} else {
			fmt.Printf("%s: stack %s; ours %s\n", one.text, one.stack, ours[k].stack)
		}
	}
	_ = last
	return compared, nil
}
