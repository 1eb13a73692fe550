// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/exp/trace"

	"gotrace.test/judge/testtrace"
)

// facts counts what a trace contains, by names like "reason chan receive", "go Running->Waiting", "func
// main.main", "range GC concurrent mark phase".
type facts map[string]int

func strict(args []string) error {
	set := flag.NewFlagSet("strict", flag.ExitOnError)
	expect := set.String("expect", "", "file with lines `NAME >= NUMBER` that must hold")
	asJSON := set.Bool("json", false, "print JSON")
	all := set.Bool("all", false, "print functions too")
	set.Parse(args)
	if set.NArg() != 1 {
		return fmt.Errorf("needs one trace")
	}
	found, err := collect(set.Arg(0))
	if err != nil {
		return err
	}
	if *asJSON {
		json.NewEncoder(os.Stdout).Encode(found)
	} else {
		for _, name := range slices.Sorted(maps.Keys(found)) {
			if *all || !strings.HasPrefix(name, "func ") {
				fmt.Printf("%10d %s\n", found[name], name)
			}
		}
	}
	if *expect != "" {
		return found.expect(*expect)
	}
	return nil
}

// collector is the state of one pass over a trace.
type collector struct {
	found      facts
	goroutines map[trace.GoID]bool
	threads    map[trace.ThreadID]bool
	procs      map[trace.ProcID]bool
	stacks     map[trace.Stack]bool
	metrics    map[string]map[uint64]bool
	validator  *testtrace.Validator // nil: the format is older than Go 1.22
}

func collect(path string) (facts, error) {
	validator, err := validatorOf(path)
	if err != nil {
		return nil, err
	}
	c := &collector{facts{}, map[trace.GoID]bool{}, map[trace.ThreadID]bool{}, map[trace.ProcID]bool{},
		map[trace.Stack]bool{}, map[string]map[uint64]bool{}, validator}
	var first, last trace.Time
	err = eachEvent(path, func(event *trace.Event) error {
		if validator != nil {
			if err := withoutUnnamed(validator.Event(*event)); err != nil {
				return fmt.Errorf("%s: Go's validator: %w in %v", path, err, event)
			}
		}
		if first == 0 {
			first = event.Time()
		}
		last = event.Time()
		c.take(event)
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.found["goroutines"] = len(c.goroutines)
	c.found["threads"] = len(c.threads)
	c.found["procs"] = len(c.procs)
	c.found["milliseconds"] = int(last.Sub(first).Milliseconds())
	for name, values := range c.metrics {
		c.found["distinct "+name] = len(values)
	}
	return c.found, nil
}

// gotraceGoroutine is the id of the goroutine that gotrace adds. Those that follow stand for goroutines whose id
// was not seen (SYNTHETIC_GOID).
const gotraceGoroutine = 1 << 52

// ownFrame matches what the validator says of a frame that gotrace made, whose name is "gotrace" or in
// brackets. An address without a name, "[vdso]+0x6b0", is not one.
var ownFrame = regexp.MustCompile(`Func:"(gotrace"|\[[^"]*\]")`)

// withoutUnnamed drops what the validator says of frames without a file or line, except gotrace's own: code
// without debug information has neither.
func withoutUnnamed(err error) error {
	if err == nil {
		return nil
	}
	var rest []error
	for _, line := range strings.Split(err.Error(), "\n") {
		if !strings.HasPrefix(line, "invalid stack frame") || ownFrame.MatchString(line) {
			rest = append(rest, errors.New(line))
		}
	}
	return errors.Join(rest...)
}

// validatorOf returns Go's own validator, or nil for a format before Go 1.22: the reader's events for those
// are not what the validator expects.
func validatorOf(path string) (*testtrace.Validator, error) {
	minor, err := formatMinor(path)
	if err != nil || minor < 22 {
		return nil, err
	}
	validator := testtrace.NewValidator()
	validator.GoVersion = minor
	return validator, nil
}

func (c *collector) take(event *trace.Event) {
	c.found["events"]++
	c.found["kind "+event.Kind().String()]++
	if thread := event.Thread(); thread != trace.NoThread {
		c.threads[thread] = true
	}
	c.stack(event.Stack())
	switch event.Kind() {
	case trace.EventStateTransition:
		c.transition(event.StateTransition())
	case trace.EventRangeBegin, trace.EventRangeActive:
		c.found["range "+event.Range().Name]++
	case trace.EventMetric:
		metric := event.Metric()
		if metric.Value.Kind() == trace.ValueUint64 {
			if c.metrics[metric.Name] == nil {
				c.metrics[metric.Name] = map[uint64]bool{}
			}
			c.metrics[metric.Name][metric.Value.Uint64()] = true
		}
	case trace.EventLog:
		c.found["log "+event.Log().Category]++
	}
}

func (c *collector) transition(change trace.StateTransition) {
	c.stack(change.Stack)
	switch change.Resource.Kind {
	case trace.ResourceGoroutine:
		id := change.Resource.Goroutine()
		if id > gotraceGoroutine && !c.goroutines[id] {
			c.found["goroutines without an id"]++
		}
		c.goroutines[id] = true
		from, to := change.Goroutine()
		c.found[fmt.Sprintf("go %v->%v", from, to)]++
		if change.Reason != "" {
			c.found["reason "+change.Reason]++
		}
	case trace.ResourceProc:
		c.procs[change.Resource.Proc()] = true
		from, to := change.Proc()
		c.found[fmt.Sprintf("proc %v->%v", from, to)]++
	}
}

// stack counts a function once for each different stack that holds it.
func (c *collector) stack(stack trace.Stack) {
	if stack == trace.NoStack {
		return
	}
	c.found["events with stack"]++
	if c.stacks[stack] {
		return
	}
	c.stacks[stack] = true
	c.found["stacks"]++
	for frame := range stack.Frames() {
		c.found["func "+frame.Func]++
	}
}

// expect checks the lines of a file of expected facts; # begins a comment.
func (found facts) expect(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var missing []string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line, _, _ := strings.Cut(lines.Text(), "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, number, ok := strings.Cut(line, ">=")
		least, err := strconv.Atoi(strings.TrimSpace(number))
		if !ok || err != nil {
			return fmt.Errorf("%s: not of the form NAME >= NUMBER: %q", path, line)
		}
		// Alternatives are separated by | (releases name things differently).
		sum := 0
		for _, one := range strings.Split(name, "|") {
			sum += found[strings.TrimSpace(one)]
		}
		if sum < least {
			missing = append(missing, fmt.Sprintf("%s is %d", strings.TrimSpace(line), sum))
		}
	}
	if missing != nil {
		return fmt.Errorf("expected, but not so: %s", strings.Join(missing, "; "))
	}
	return nil
}
