// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"time"
)

var stallLock sync.Mutex

// stallWorker blocks while the lock is held; no other goroutine waits for it.
func stallWorker(jobs <-chan int, done chan<- int) {
	for job := range jobs {
		stallHandle()
		done <- job
	}
}

//go:noinline
func stallHandle() {
	stallLock.Lock()
	stallLock.Unlock()
}

func stallSleeper() {
	pause := syscall.Timespec{Nsec: 700e6}
	syscall.Nanosleep(&pause, nil)
}

func stallReader(nobody <-chan int) { <-nobody }

func stallSpinner() { spin(20 * time.Millisecond) }

// stalls are the faults to cause, one at each SIGUSR2.
var stalls = []func(){
	func() { // a lock that is held for long
		go func() {
			stallLock.Lock()
			time.Sleep(600 * time.Millisecond)
			stallLock.Unlock()
		}()
	},
	func() { go stallSleeper() },
	func() { // more work than the Ps can do
		for i := 0; i < 40*runtime.GOMAXPROCS(0); i++ {
			go stallSpinner()
		}
	},
	func() { // too many goroutines
		for i := 0; i < 600; i++ {
			go time.Sleep(500 * time.Millisecond)
		}
	},
	func() { runtime.GC() },
	func() { go stallReader(make(chan int)) }, // a goroutine that waits for ever
}

// stall: a program without any stall, until one is requested.
func stall(*options) {
	debug.SetGCPercent(-1)
	plant := make(chan os.Signal, 1)
	signal.Notify(plant, syscall.SIGUSR2)
	jobs, done := make(chan int), make(chan int)
	go stallWorker(jobs, done)
	go func() {
		for job := 0; ; job++ {
			jobs <- job
			<-done
			time.Sleep(5 * time.Millisecond)
		}
	}()
	go func() {
		for _, wrong := range stalls {
			<-plant
			wrong()
		}
	}()
}

func init() { modes["stall"] = stall }
