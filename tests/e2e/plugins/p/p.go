// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// A plugin whose code makes goroutines, uses channels and sleeps: all in its own copies of runtime functions.
package main

import (
	"sync"
	"time"
)

// Run starts 51 goroutines. Its own goroutine sends 100 values and receives as many, and sleeps 10 times.
func Run() {
	there, back := make(chan int), make(chan int)
	go echo(there, back)
	for i := 0; i < 100; i++ {
		there <- i
		<-back
	}
	close(there)
	var group sync.WaitGroup
	for i := 0; i < 50; i++ {
		group.Add(1)
		go tiny(&group)
	}
	group.Wait()
	for i := 0; i < 10; i++ {
		sleeps()
	}
}

// Wait waits forever.
//
//go:noinline
func Wait() {
	<-never
}

var never = make(chan int)

//go:noinline
func sleeps() { time.Sleep(2 * time.Millisecond) }

//go:noinline
func tiny(group *sync.WaitGroup) { group.Done() }

//go:noinline
func echo(there, back chan int) {
	for i := range there {
		back <- i
	}
}

func main() {}
