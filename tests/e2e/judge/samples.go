// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"flag"
	"fmt"
	"strings"

	"golang.org/x/exp/trace"
)

// The two functions of the target's mode cpu that burn CPU time, three parts to one, in a leaf that both call.
const (
	threeFunc = "main.cpuThree"
	oneFunc   = "main.cpuOne"
	leafFunc  = "main.cpuWork"
)

// sampling holds the CPU samples of a trace, and how far the rest of the trace agrees.
type sampling struct {
	all         int
	three, one  int // with the function on the stack
	stackless   int
	onGoroutine ratio // of those with a goroutine: it runs on this thread, according to the trace
	onP         ratio // of those with a P: the thread has it, according to the trace
	rooted      ratio // of those in the two functions: the root is runtime.goexit
	leafed      ratio // of those: leaf and caller are as they must be
	first, last trace.Time
	running     map[trace.ThreadID]trace.GoID
	procs       map[trace.ThreadID]trace.ProcID
	outside     int // before the first other event
}

// samples judges the CPU samples of TRACE. With -native it compares the shares
// of the two functions with those of the native trace's samples.
func samples(args []string) error {
	set := flag.NewFlagSet("samples", flag.ExitOnError)
	hz := set.Float64("hz", 100, "samples per second of CPU time")
	cores := set.Float64("cores", 0, "CPU time of the target a second, as the kernel counts it; 0: the count is not judged")
	native := set.String("native", "", "a trace by Go's own tracer with the CPU profile on")
	tolerance := set.Float64("tolerance", 0.06, "of the share of "+threeFunc+", to 0.75 or to the native one")
	set.Parse(args)
	if set.NArg() != 1 {
		return fmt.Errorf("needs one trace")
	}
	ours, err := readSamples(set.Arg(0))
	if err != nil {
		return err
	}
	fmt.Println(ours)
	want := 0.75
	if *native != "" {
		theirs, err := readSamples(*native)
		if err != nil {
			return err
		}
		fmt.Println("native:", theirs)
		if theirs.three+theirs.one < 50 {
			return fmt.Errorf("only %d native samples in the two functions", theirs.three+theirs.one)
		}
		want = theirs.share()
	}
	return ours.judge(*hz, *cores, want, *tolerance)
}

func readSamples(path string) (*sampling, error) {
	s := &sampling{running: map[trace.ThreadID]trace.GoID{}, procs: map[trace.ThreadID]trace.ProcID{}}
	err := eachEvent(path, func(event *trace.Event) error {
		if event.Kind() == trace.EventStackSample {
			s.take(event)
			return nil
		}
		if s.first == 0 {
			s.first = event.Time()
		}
		s.last = event.Time()
		if event.Kind() == trace.EventStateTransition {
			s.follow(event)
		}
		return nil
	})
	for _, r := range []*ratio{&s.onGoroutine, &s.onP, &s.rooted, &s.leafed} {
		r.settle()
	}
	return s, err
}

// follow keeps which goroutine runs on which thread, and with which P.
func (s *sampling) follow(event *trace.Event) {
	change, thread := event.StateTransition(), event.Thread()
	switch change.Resource.Kind {
	case trace.ResourceGoroutine:
		g := change.Resource.Goroutine()
		if _, to := change.Goroutine(); to.Executing() {
			s.running[thread] = g
		} else if s.running[thread] == g {
			delete(s.running, thread)
		}
	case trace.ResourceProc:
		p := change.Resource.Proc()
		if _, to := change.Proc(); to.Executing() {
			for other, held := range s.procs {
				if held == p {
					delete(s.procs, other)
				}
			}
			s.procs[thread] = p
		} else if s.procs[thread] == p {
			delete(s.procs, thread)
		}
	}
}

func (s *sampling) take(event *trace.Event) {
	s.all++
	if s.first == 0 {
		s.outside++
	}
	thread := event.Thread()
	if g := event.Goroutine(); g != trace.NoGoroutine {
		running, ok := s.running[thread]
		s.onGoroutine.count(ok && running == g)
	}
	if p := event.Proc(); p != trace.NoProc {
		held, ok := s.procs[thread]
		s.onP.count(ok && held == p)
	}
	var list []string
	for frame := range event.Stack().Frames() {
		list = append(list, frame.Func)
	}
	if len(list) == 0 {
		s.stackless++
		return
	}
	s.stack(list)
}

// stack counts a stack of the two functions. Any instruction of theirs can be the leaf; a goroutine that was
// asked to stop is in the runtime's frames above it.
func (s *sampling) stack(list []string) {
	for k, name := range list {
		if name != threeFunc && name != oneFunc && name != leafFunc {
			continue
		}
		caller := k
		if name == leafFunc {
			caller++
		}
		called := caller < len(list) && (list[caller] == threeFunc || list[caller] == oneFunc)
		above := k == 0 || strings.HasPrefix(list[k-1], "runtime.")
		s.leafed.count(called && above && caller+1 < len(list) && list[caller+1] == "main.cpuLoad.func1")
		s.rooted.count(list[len(list)-1] == "runtime.goexit")
		if called && list[caller] == threeFunc {
			s.three++
		} else if called {
			s.one++
		}
		return
	}
}

func (s *sampling) share() float64 { return float64(s.three) / float64(max(1, s.three+s.one)) }

func (s *sampling) String() string {
	return fmt.Sprintf("%d samples in %d ms; %d in the two functions, %.1f %% of them in the larger; "+
		"goroutine runs by the trace %.2f %% of %d, P held %.2f %% of %d; root right %.2f %%, leaf and callers right %.2f %%; "+
		"%d without a stack", s.all, s.last.Sub(s.first).Milliseconds(), s.three+s.one, 100*s.share(),
		s.onGoroutine.Pct, s.onGoroutine.Of, s.onP.Pct, s.onP.Of, s.rooted.Pct, s.leafed.Pct, s.stackless)
}

func (s *sampling) judge(hz, cores, share, tolerance float64) error {
	var bad []string
	fail := func(format string, args ...any) { bad = append(bad, fmt.Sprintf(format, args...)) }
	if cores > 0 {
		want := hz * cores * s.last.Sub(s.first).Seconds()
		if n := float64(s.all); n < 0.7*want || n > 1.3*want {
			fail("%d samples where the CPU time would have %.0f", s.all, want)
		}
	}
	if got := s.share(); got < share-tolerance || got > share+tolerance {
		fail("%s has a share of %.3f, should be %.3f", threeFunc, got, share)
	}
	if 2*(s.three+s.one) < s.all {
		fail("%d of %d samples are in the two functions, which burn nearly everything", s.three+s.one, s.all)
	}
	for what, r := range map[string]ratio{"goroutine": s.onGoroutine, "P": s.onP, "root": s.rooted, "leaf": s.leafed} {
		if r.Of < 50 || r.Pct < 97 {
			fail("%s right in %.2f %% of %d", what, r.Pct, r.Of)
		}
	}
	if s.outside > 0 {
		fail("%d samples before anything else", s.outside)
	}
	if 100*s.stackless > s.all {
		fail("%d of %d samples have no stack", s.stackless, s.all)
	}
	if bad != nil {
		return fmt.Errorf("%s", strings.Join(bad, "; "))
	}
	return nil
}
