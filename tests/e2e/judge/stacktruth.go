// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"

	"golang.org/x/exp/trace"
)

// A debugger's stacks of parked threads, and those of the trace, must be the same function by function. They
// differ by design: gotrace omits libc's start code, puts what a thread waits for before the leaf and the
// thread's name at the root, and has no parameters.

// startCode matches how libc calls a thread's start routine, and main, and what std::thread puts in between:
// glibc 2.31 to 2.41, libstdc++ 12, gdb's names.
var startCode = regexp.MustCompile(`^(start_thread|clone3?|__clone3?|__libc_start_call_main|__libc_start_main.*|_start|execute_native_thread_routine|\?\?ofalibrary|std::thread::_State_impl<.*>::_M_run)$`)

func stackTruth(args []string) error {
	set := flag.NewFlagSet("stacktruth", flag.ExitOnError)
	least := set.Int("threads", 1, "how many threads the debugger must have seen")
	verbose := set.Bool("v", false, "print the stacks that are the same")
	set.Parse(args)
	if set.NArg() != 2 {
		return fmt.Errorf("needs a trace, and what stacks.py prints in gdb")
	}
	text, err := os.ReadFile(set.Arg(1))
	if err != nil {
		return err
	}
	theirs := gdbStacks(string(text))
	if len(theirs) < *least {
		return fmt.Errorf("gdb has seen %d threads, at least %d wanted", len(theirs), *least)
	}
	ours, err := waitingStacks(set.Arg(0))
	if err != nil {
		return err
	}
	missing, frames := 0, 0
	for _, stack := range theirs {
		if _, found := ours.find(stack); found {
			frames += len(stack)
			if *verbose {
				fmt.Println("same:", strings.Join(stack, " < "))
			}
			continue
		}
		missing++
		fmt.Printf("gdb:   %s\nnearest: %s\n", strings.Join(stack, " < "), strings.Join(ours.nearest(stack), " < "))
	}
	if missing > 0 {
		return fmt.Errorf("%d of %d threads' stacks are not in the trace so", missing, len(theirs))
	}
	fmt.Printf("%d threads, %d frames\n", len(theirs), frames)
	return nil
}

// gdbStacks returns the stacks of gdb's output, leaf first, without start code.
func gdbStacks(text string) (list [][]string) {
	var stack []string
	end := func() {
		// In a stripped program _start has no name, either.
		if n := len(stack); n > 1 && stack[n-1] == "??" && startCode.MatchString(stack[n-2]) {
			stack = stack[:n-1]
		}
		for len(stack) > 0 && startCode.MatchString(stack[len(stack)-1]) {
			stack = stack[:len(stack)-1]
		}
		if len(stack) > 0 {
			list = append(list, stack)
		}
		stack = nil
	}
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "thread ") {
			end()
		} else if name, found := strings.CutPrefix(line, "frame "); found {
			stack = append(stack, plainName(name))
		}
	}
	end()
	return list
}

// copied matches gcc's suffixes for copies and parts of a function.
var copied = regexp.MustCompile(`(\.(part|isra|constprop|cold)(\.\d+)?)+$`)

// plainName returns a function's name without parameters and spaces: "f<int>" for gdb's own "f<int>" and for
// the demangler's "f<int>(int)".
func plainName(text string) string {
	text = strings.ReplaceAll(text, "(anonymous namespace)", "{anonymous}")
	text = strings.ReplaceAll(text, "operator()", "operator{call}")
	text = beforeParameters(text)
	text, _, _ = strings.Cut(text, "[clone") // the demangler's form of f.isra.0, which gdb calls f.isra or f
	text = copied.ReplaceAllString(text, "")
	text, _, _ = strings.Cut(text, "@@")
	text = strings.ReplaceAll(text, " ", "")
	return text
}

// beforeParameters cuts a name at the first parenthesis outside of template arguments.
func beforeParameters(text string) string {
	depth := 0
	for at, letter := range text {
		switch {
		case letter == '<':
			depth++
		case letter == '>':
			depth--
		case letter == '(' && depth == 0:
			return text[:at]
		}
	}
	return text
}

type stackSet struct {
	stacks [][]string
	seen   map[string]bool
}

// waitingStacks returns all stacks with which a goroutine waited.
func waitingStacks(path string) (*stackSet, error) {
	set := &stackSet{seen: map[string]bool{}}
	err := eachEvent(path, func(event *trace.Event) error {
		if event.Kind() != trace.EventStateTransition {
			return nil
		}
		change := event.StateTransition()
		if change.Resource.Kind != trace.ResourceGoroutine {
			return nil
		}
		if _, to := change.Goroutine(); to == trace.GoWaiting {
			set.add(functions(change.Stack))
		}
		return nil
	})
	return set, err
}

func (s *stackSet) add(names []string) {
	if len(names) < 2 { // the leaf is what it waits for
		return
	}
	text := strings.Join(names, " < ")
	if s.seen[text] {
		return
	}
	s.seen[text] = true
	var stack []string
	for k, name := range names[1:] {
		if at := strings.LastIndex(name, " ["); k == len(names)-2 && at > 0 {
			name = name[:at]
		}
		stack = append(stack, plainName(name))
	}
	s.stacks = append(s.stacks, stack)
}

// withoutAlias removes what distinguishes glibc's aliases of a function: underscores, and GI, for "internal".
func withoutAlias(name string) string {
	return strings.TrimLeft(strings.TrimPrefix(strings.Trim(name, "_"), "GI_"), "_")
}

// An address can have several names: read, __read, __libc_read, __GI___libc_read.
var alias = regexp.MustCompile(`^(_|GI_|libc_)+`)

// sameFrame compares two names. gdb has no name for a function that is in no table.
func sameFrame(gdb, ours string) bool {
	return strings.HasPrefix(gdb, "??") || gdb == ours || alias.ReplaceAllString(gdb, "") == alias.ReplaceAllString(ours, "")
}

// agree returns how many frames are the same, from the root.
func agree(gdb, ours []string) int {
	n := 0
	for n < min(len(gdb), len(ours)) && sameFrame(gdb[len(gdb)-1-n], ours[len(ours)-1-n]) {
		n++
	}
	return n
}

func (s *stackSet) find(gdb []string) ([]string, bool) {
	for _, ours := range s.stacks {
		if len(ours) == len(gdb) && agree(gdb, ours) == len(gdb) {
			return ours, true
		}
	}
	return nil, false
}

func (s *stackSet) nearest(gdb []string) (best []string) {
	most := math.MinInt
	for _, ours := range s.stacks {
		if n := agree(gdb, ours)*1000 - len(ours); n > most {
			best, most = ours, n
		}
	}
	return best
}
