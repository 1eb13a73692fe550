// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/exp/trace"
)

// demand is one thing that a trace of threads must contain:
//
//	blocks;root=R;of=R;reason=R;stack=R;least=99;min=100   of the blocks of threads with such names and stacks,
//	                                                  at least 99 % and 100 blocks must match
//	wakes;root=R;by=R;stack=R                         a thread with this name (empty: none) woke them, with that stack
//	starts;root=R                                     there are at least min threads of that name
//	roots;root=R;of=R                                 stacks (by events) that reach such a function
//	names;stack=R                                     frames (of different stacks) that have such a name
//	regions;name=R
//
// R are regular expressions; those of a stack are matched with its functions, "leaf < caller < root".
type demand struct {
	text, kind string
	match      map[string]*regexp.Regexp
	least      float64
	min        int
	ok, of     int
	others     map[string]int // what did not match, for the report
}

func parseDemand(text string) (*demand, error) {
	kind, rest, _ := strings.Cut(text, ";")
	d := &demand{text, kind, map[string]*regexp.Regexp{}, 99, 1, 0, 0, map[string]int{}}
	for _, field := range strings.Split(rest, ";") {
		key, value, found := strings.Cut(field, "=")
		var err error
		switch {
		case !found:
			err = fmt.Errorf("no = in %q", field)
		case key == "least":
			d.least, err = strconv.ParseFloat(value, 64)
		case key == "min":
			d.min, err = strconv.Atoi(value)
		default:
			d.match[key], err = regexp.Compile(value)
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
	}
	return d, nil
}

// is reports whether the value under that key matches, or is not asked for.
func (d *demand) is(key, value string) bool {
	return d.match[key] == nil || d.match[key].MatchString(value)
}

func (d *demand) count(ok bool, what string) {
	d.of++
	if ok {
		d.ok++
	} else if len(d.others) < 1000 {
		d.others[what]++
	}
}

func (d *demand) judge() error {
	share := 100 * float64(d.ok) / float64(max(1, d.of))
	fmt.Printf("%s: %d of %d, %.2f %%\n", d.text, d.ok, d.of, share)
	if d.ok >= d.min && share >= d.least {
		return nil
	}
	often := slices.SortedFunc(maps.Keys(d.others), func(a, b string) int { return cmp.Compare(d.others[b], d.others[a]) })
	for _, what := range often[:min(len(often), 5)] {
		fmt.Printf("%8d %s\n", d.others[what], what)
	}
	return fmt.Errorf("%s: %d of %d, %.2f %%", d.text, d.ok, d.of, share)
}

// threadTrace is the state of one pass.
type threadTrace struct {
	names   map[trace.GoID]string
	demands map[string][]*demand
	seen    map[string]bool // stacks
}

// native checks a trace of a program's threads against demands.
func native(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("needs a trace and what it must hold")
	}
	t := &threadTrace{map[trace.GoID]string{}, map[string][]*demand{}, map[string]bool{}}
	var all []*demand
	for _, text := range args[1:] {
		d, err := parseDemand(text)
		if err != nil {
			return err
		}
		if !slices.Contains([]string{"blocks", "wakes", "starts", "roots", "names", "regions"}, d.kind) {
			return fmt.Errorf("what is %q?", d.kind)
		}
		t.demands[d.kind] = append(t.demands[d.kind], d)
		all = append(all, d)
	}
	if err := eachEvent(args[0], func(event *trace.Event) error { t.take(event); return nil }); err != nil {
		return err
	}
	for _, name := range t.names {
		for _, d := range t.demands["starts"] {
			if d.is("root", name) {
				d.count(true, name)
			}
		}
	}
	var bad []string
	for _, d := range all {
		if err := d.judge(); err != nil {
			bad = append(bad, err.Error())
		}
	}
	if bad != nil {
		return fmt.Errorf("%s", strings.Join(bad, "; "))
	}
	return nil
}

func (t *threadTrace) take(event *trace.Event) {
	switch event.Kind() {
	case trace.EventRegionBegin:
		for _, d := range t.demands["regions"] {
			if d.is("name", event.Region().Type) {
				d.count(true, "")
			}
		}
	case trace.EventStateTransition:
		if change := event.StateTransition(); change.Resource.Kind == trace.ResourceGoroutine {
			t.transition(event, change)
		}
	}
}

// functions returns those of a stack, leaf first.
func functions(stack trace.Stack) (list []string) {
	for frame := range stack.Frames() {
		list = append(list, frame.Func)
	}
	return list
}

// ownGoroutine is gotrace's goroutine, which makes the transitions that were not seen.
const ownGoroutine = "gotrace"

func (t *threadTrace) transition(event *trace.Event, change trace.StateTransition) {
	g, own := change.Resource.Goroutine(), functions(change.Stack)
	// A thread that was running when the trace began has only its own name there, until it has a stack.
	if len(own) > 0 && (t.names[g] == "" || !strings.Contains(t.names[g], " [") && strings.HasSuffix(own[len(own)-1], " ["+t.names[g]+"]")) {
		t.names[g] = own[len(own)-1]
	}
	from, to := change.Goroutine()
	if t.names[g] == ownGoroutine || from == to {
		return
	}
	t.stack(own)
	switch {
	case from.Executing() && to == trace.GoWaiting:
		for _, d := range t.demands["blocks"] {
			if text := strings.Join(own, " < "); d.is("root", t.names[g]) && d.is("of", text) {
				d.count(d.is("reason", change.Reason) && d.is("stack", text), change.Reason+": "+text)
			}
		}
	case from == trace.GoWaiting && to == trace.GoRunnable:
		wakers := functions(event.Stack())
		for _, d := range t.demands["wakes"] {
			if d.is("root", t.names[g]) {
				by, text := t.names[event.Goroutine()], strings.Join(wakers, " < ")
				d.count(d.is("by", by) && d.is("stack", text), "by "+by+": "+text)
			}
		}
	}
}

// stack counts a stack of an event.
func (t *threadTrace) stack(list []string) {
	if len(list) == 0 {
		return
	}
	text := strings.Join(list, " < ")
	for _, d := range t.demands["roots"] {
		if d.is("of", text) {
			d.count(d.is("root", list[len(list)-1]), text)
		}
	}
	if t.seen[text] {
		return
	}
	t.seen[text] = true
	for _, d := range t.demands["names"] {
		for _, name := range list {
			d.count(d.is("stack", name), name)
		}
	}
}
