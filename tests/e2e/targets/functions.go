// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"
)

var callSink int

//go:noinline
func callLeaf(n int) int { return n + 1 }

//go:noinline
func callSleeps() {
	time.Sleep(time.Millisecond) // it may wake on another thread
}

//go:noinline
func callRecurses(n int) {
	if n > 0 {
		callRecurses(n - 1)
	}
	callSink++
}

// callGrows moves to another stack while it runs.
//
//go:noinline
func callGrows(n int) byte {
	var space [1024]byte
	if n > 0 {
		space[n%1024] = callGrowsDeeper(n - 1)
	}
	return space[(n+1)%1024]
}

//go:noinline
func callGrowsDeeper(n int) byte {
	var space [2048]byte
	if n > 0 {
		space[n%1024] = callGrowsDeeper(n - 1)
	}
	return space[(n+1)%1024]
}

// callBegins has to move to another stack before it can begin.
//
//go:noinline
func callBegins(n int) byte {
	var space [12 << 10]byte
	for i := n; i > 0; i /= 2 { // a loop, which old releases do not inline
		space[i] = 1
	}
	return space[n/2]
}

//go:noinline
func callPanics(n int) {
	if n >= 0 {
		panic("as it should")
	}
	callSink++
}

//go:noinline
func callCatches() {
	defer func() { recover() }()
	callPanics(callSink & 1)
}

//go:noinline
func callExits() {
	runtime.Goexit()
}

//go:noinline
func callChooses(n int) int { // a jump table
	switch n & 15 {
	case 0:
		return callLeaf(n)
	case 1:
		return 7
	case 2:
		return 3
	case 3:
		return n * 5
	case 4:
		return n / 3
	case 5:
		return 9
	case 6:
		return n - 2
	case 7:
		return n ^ 3
	case 8:
		return n | 1
	case 9:
		return 77
	case 10:
		return n << 1
	default:
		return n
	}
}

func callInlined(n int) int { return n * 3 }

// callAll calls all others, each the same number of times in every call.
//
//go:noinline
func callAll(n int) {
	var wait sync.WaitGroup
	callSleeps()
	callRecurses(3)
	callCatches()
	callSink += callChooses(n) + callInlined(n)
	wait.Add(3)
	go func() {
		defer wait.Done()
		callGrows(20)
	}()
	go func() {
		defer wait.Done()
		callBegins(n)
	}()
	go func() {
		defer wait.Done()
		callExits()
	}()
	wait.Wait()
}

const (
	callers     = 4
	callsOfEach = 160
)

// callRound calls everything, and prints how often.
func callRound() {
	var wait sync.WaitGroup
	wait.Add(callers)
	for i := 0; i < callers; i++ {
		go func() {
			defer wait.Done()
			for n := 0; n < callsOfEach; n++ {
				callAll(n)
			}
		}()
	}
	wait.Wait()
	all := callers * callsOfEach
	for _, one := range []struct {
		name  string
		calls int
	}{{"All", all}, {"Sleeps", all}, {"Recurses", 4 * all}, {"Catches", all}, {"Panics", all}, {"Chooses", all},
		{"Leaf", all / 16}, {"Grows", all}, {"Begins", all}, {"Exits", all}} {
		fmt.Printf("main.call%s %d 0\n", one.name, one.calls)
	}
	fmt.Println("done")
}

// functions makes a round of calls at each SIGUSR2.
func functions(opt *options) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR2)
	go func() {
		for {
			<-asked
			callRound()
		}
	}()
}

func init() { modes["functions"] = functions }
