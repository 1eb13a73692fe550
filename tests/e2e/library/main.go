// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// A library with a Go runtime of its own, for programs in C, in Python, or in Go.
package main

import "C"

import "time"

func init() {
	go func() {
		for range time.Tick(time.Millisecond) {
		}
	}()
}

//export gotrace_library
func gotrace_library() {}

// gotrace_work starts n goroutines, which sleep and then send, and returns the sum of what they sent.
//
//export gotrace_work
func gotrace_work(n C.int) C.int {
	answers := make(chan int)
	for i := 0; i < int(n); i++ {
		go worker(answers)
	}
	sum := 0
	for i := 0; i < int(n); i++ {
		sum += <-answers
	}
	return C.int(sum)
}

//go:noinline
func worker(answers chan int) {
	time.Sleep(time.Millisecond)
	answers <- 1
}

func main() {}
