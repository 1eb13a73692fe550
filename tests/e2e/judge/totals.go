// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"fmt"

	"golang.org/x/exp/trace"
)

// totals prints how often goroutines were in each state and for how long,
// of intervals whose beginning and end are in the trace, as lines "running 12 3456".
func totals(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("needs one trace")
	}
	type interval struct {
		state trace.GoState
		since trace.Time
		whole bool
	}
	open := map[trace.GoID]interval{}
	count, sum := map[trace.GoState]int{}, map[trace.GoState]int64{}
	err := eachEvent(args[0], func(event *trace.Event) error {
		if event.Kind() != trace.EventStateTransition {
			return nil
		}
		change := event.StateTransition()
		if change.Resource.Kind != trace.ResourceGoroutine {
			return nil
		}
		from, to := change.Goroutine()
		if from == to {
			return nil
		}
		id := change.Resource.Goroutine()
		if before := open[id]; before.whole {
			count[before.state]++
			sum[before.state] += int64(event.Time().Sub(before.since))
		}
		open[id] = interval{to, event.Time(), from != trace.GoUndetermined && to != trace.GoNotExist}
		return nil
	})
	if err != nil {
		return err
	}
	for _, state := range []struct {
		state trace.GoState
		name  string
	}{{trace.GoRunnable, "runnable"}, {trace.GoRunning, "running"}, {trace.GoSyscall, "syscall"}, {trace.GoWaiting, "waiting"}} {
		fmt.Println(state.name, count[state.state], sum[state.state])
	}
	return nil
}
