// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// System calls that signals (SIGUSR1) interrupt and the kernel starts again. Prints the reader's thread; all calls are
// made after SIGUSR2. With the argument "threads", signals arrive while threads end and others have to be started: the
// runtime's goroutine for signals sleeps in a call of its own between them.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

const (
	blocking = 100  // reads that wait for a byte
	quick    = 1000 // writes that do not wait
)

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// reader makes all its calls from two places, so that only the runtime's count of calls distinguishes them.
func reader(pipe, null int, tid chan int, start, done chan bool) {
	runtime.LockOSThread()
	tid <- syscall.Gettid()
	<-start
	var b [1]byte
	for i := 0; i < blocking; i++ {
		_, err := syscall.Read(pipe, b[:])
		fail(err)
	}
	for i := 0; i < quick; i++ {
		_, err := syscall.Write(null, b[:])
		fail(err)
	}
	done <- true
}

// endThreads makes threads that end with their goroutines.
func endThreads() {
	done := make(chan bool)
	for {
		go func() {
			runtime.LockOSThread()
			time.Sleep(100 * time.Microsecond)
			done <- true
		}()
		<-done
		time.Sleep(2 * time.Millisecond)
	}
}

func sendSignals() {
	received := make(chan os.Signal, 1)
	signal.Notify(received, syscall.SIGUSR1)
	for i := 0; i < 3; i++ {
		go endThreads()
	}
	fmt.Println("ready")
	for {
		fail(syscall.Kill(os.Getpid(), syscall.SIGUSR1))
		<-received
		time.Sleep(20 * time.Millisecond)
	}
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "threads" {
		sendSignals()
	}
	var pipe [2]int
	fail(syscall.Pipe(pipe[:]))
	null, err := syscall.Open("/dev/null", syscall.O_WRONLY, 0)
	fail(err)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGUSR1)
	wanted := make(chan os.Signal, 1)
	signal.Notify(wanted, syscall.SIGUSR2)
	tid, start, done := make(chan int), make(chan bool), make(chan bool)
	go reader(pipe[0], null, tid, start, done)
	fmt.Println("ready", <-tid)
	<-wanted
	start <- true
	for i := 0; i < blocking; i++ {
		time.Sleep(20 * time.Millisecond)
		_, err := syscall.Write(pipe[1], []byte{1})
		fail(err)
	}
	<-done
	fmt.Println("done")
	time.Sleep(time.Minute)
}
