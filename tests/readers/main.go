// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// Tracecheck reads Go execution traces with the strict reader of
// golang.org/x/exp/trace and prints one line for each: what is in it, or why
// it is refused. It exits with status 1 if any trace was refused.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/exp/trace"
)

// result is what one trace holds.
type result struct {
	File       string         `json:"file"`
	Events     int            `json:"events"`
	Syncs      int            `json:"syncs"`
	Goroutines int            `json:"goroutines"`
	Procs      int            `json:"procs"`
	Threads    int            `json:"threads"`
	Samples    int            `json:"cpu_samples"`
	Nanos      int64          `json:"nanos"`
	Kinds      map[string]int `json:"kinds"`
	States     map[string]int `json:"states"` // goroutine transitions, "Running->Waiting"
	Error      string         `json:"error,omitempty"`
}

func main() {
	asJSON := flag.Bool("json", false, "one JSON object a trace")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: tracecheck [-json] FILE...")
		os.Exit(2)
	}
	failed := false
	for _, name := range flag.Args() {
		r := check(name)
		failed = failed || r.Error != ""
		show(r, *asJSON)
	}
	if failed {
		os.Exit(1)
	}
}

func show(r *result, asJSON bool) {
	if asJSON {
		json.NewEncoder(os.Stdout).Encode(r)
		return
	}
	if r.Error != "" {
		line, _, _ := strings.Cut(r.Error, "\n")
		fmt.Printf("%s: invalid: %s (after %d events)\n", r.File, line, r.Events)
		return
	}
	fmt.Printf("%s: %d events, %d goroutines, %d procs, %d threads, %d syncs\n",
		r.File, r.Events, r.Goroutines, r.Procs, r.Threads, r.Syncs)
}

func check(name string) *result {
	r := &result{File: name, Kinds: map[string]int{}, States: map[string]int{}}
	f, err := os.Open(name)
	if err != nil {
		r.Error = err.Error()
		return r
	}
	defer f.Close()
	if err := read(bufio.NewReaderSize(f, 1<<20), r); err != nil {
		r.Error = err.Error()
	}
	return r
}

// seen counts each thing once.
type seen struct {
	goroutines map[trace.GoID]bool
	procs      map[trace.ProcID]bool
	threads    map[trace.ThreadID]bool
	start      trace.Time
}

// read takes every event. A panic of the reader is a fault of the trace too:
// it is what happens when ids that the reader does not check point nowhere.
func read(in io.Reader, r *result) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("reader panics: %v", p)
		}
	}()
	reader, err := trace.NewReader(in)
	if err != nil {
		return err
	}
	s := &seen{map[trace.GoID]bool{}, map[trace.ProcID]bool{}, map[trace.ThreadID]bool{}, 0}
	for {
		ev, err := reader.ReadEvent()
		if err == io.EOF { // not wrapped: "error reading batch gen: EOF" is a fault
			return nil
		}
		if err != nil {
			return err
		}
		count(&ev, s, r)
	}
}

func count(ev *trace.Event, s *seen, r *result) {
	r.Events++
	r.Kinds[ev.Kind().String()]++
	if r.Events == 1 {
		s.start = ev.Time()
	}
	r.Nanos = int64(ev.Time() - s.start)
	if ev.Thread() != trace.NoThread {
		s.threads[ev.Thread()] = true
	}
	for range ev.Stack().Frames() {
	}
	look(ev, s, r)
	r.Goroutines, r.Procs, r.Threads = len(s.goroutines), len(s.procs), len(s.threads)
}

// look follows what an event refers to, as viewers do.
func look(ev *trace.Event, s *seen, r *result) {
	switch ev.Kind() {
	case trace.EventSync:
		r.Syncs++
		_ = ev.Sync()
	case trace.EventStackSample:
		r.Samples++
	case trace.EventStateTransition:
		transition(ev.StateTransition(), s, r)
	case trace.EventRangeBegin, trace.EventRangeActive, trace.EventRangeEnd:
		_ = ev.Range()
	case trace.EventTaskBegin, trace.EventTaskEnd:
		_ = ev.Task()
	case trace.EventRegionBegin, trace.EventRegionEnd:
		_ = ev.Region()
	case trace.EventLog:
		_ = ev.Log()
	case trace.EventLabel:
		_ = ev.Label()
	case trace.EventMetric:
		_ = ev.Metric()
	}
}

func transition(t trace.StateTransition, s *seen, r *result) {
	for range t.Stack.Frames() {
	}
	switch t.Resource.Kind {
	case trace.ResourceGoroutine:
		s.goroutines[t.Resource.Goroutine()] = true
		from, to := t.Goroutine()
		r.States[from.String()+"->"+to.String()]++
	case trace.ResourceProc:
		s.procs[t.Resource.Proc()] = true
	}
}
