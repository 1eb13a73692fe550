// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// Locks that are held for some milliseconds while others wait for them. The program prints every wait of a
// millisecond or more that it has measured itself: the lock's kind and address, the goroutine, begin and end. The same
// for every time that it held a lock. Its clock is that of traces.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

const (
	hold     = 4 * time.Millisecond
	shortest = 1 * time.Millisecond // of the waits that are reported
)

var (
	out     = bufio.NewWriter(os.Stdout)
	outLock = make(chan bool, 1) // not of package sync
	ended   int32
)

func say(format string, args ...interface{}) {
	outLock <- true
	fmt.Fprintf(out, format, args...)
	out.Flush()
	<-outLock
}

// goid returns the number that a traceback has.
func goid() int {
	var text [64]byte
	words := bytes.Fields(text[:runtime.Stack(text[:], false)])
	id, _ := strconv.Atoi(string(words[1]))
	return id
}

//go:linkname nanotime runtime.nanotime
func nanotime() int64 // CLOCK_MONOTONIC

func waited(kind string, address unsafe.Pointer, suffix string, since int64) {
	if now := nanotime(); now-since >= int64(shortest) {
		say("wait g%d %d %d %s 0x%x%s\n", goid(), since, now, kind, uintptr(address), suffix)
	}
}

// held prints once the lock has been released, so that printing does not prolong what it reports.
func held(kind string, address unsafe.Pointer, since, until int64) {
	say("held g%d %d %d %s 0x%x\n", goid(), since, until, kind, uintptr(address))
}

func work() { time.Sleep(hold) }

func useMutex(lock *sync.Mutex) {
	since := nanotime()
	lock.Lock()
	got := nanotime()
	waited("mutex", unsafe.Pointer(lock), "", since)
	work()
	until := nanotime()
	lock.Unlock()
	held("mutex", unsafe.Pointer(lock), got, until)
}

func read(lock *sync.RWMutex) {
	since := nanotime()
	lock.RLock()
	waited("rwmutex", unsafe.Pointer(lock), " (read)", since)
	work()
	lock.RUnlock()
}

func write(lock *sync.RWMutex) {
	since := nanotime()
	lock.Lock()
	got := nanotime()
	waited("rwmutex", unsafe.Pointer(lock), " (write)", since)
	work()
	until := nanotime()
	lock.Unlock()
	held("rwmutex", unsafe.Pointer(lock), got, until)
}

func join(group *sync.WaitGroup) {
	group.Add(1)
	go func() {
		work()
		group.Done()
	}()
	since := nanotime()
	group.Wait()
	waited("waitgroup", unsafe.Pointer(group), "", since)
}

type signal struct {
	lock sync.Mutex
	cond *sync.Cond
	set  bool
}

func (s *signal) wait() {
	s.lock.Lock()
	since := nanotime()
	for !s.set {
		s.cond.Wait()
	}
	s.set = false
	s.lock.Unlock()
	waited("cond", unsafe.Pointer(s.cond), "", since)
}

func (s *signal) send() {
	work()
	s.lock.Lock()
	s.set = true
	s.lock.Unlock()
	s.cond.Signal()
}

func channelAddress(c chan int) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&c)) }

func receive(c chan int) {
	since := nanotime()
	<-c
	waited("chan", channelAddress(c), "", since)
}

func send(c chan int) {
	since := nanotime()
	c <- 1
	waited("chan", channelAddress(c), "", since)
}

// again runs f in a goroutine of its own until the end.
func again(f func()) {
	go func() {
		for atomic.LoadInt32(&ended) == 0 {
			f()
			time.Sleep(hold / 4)
		}
	}()
}

func main() {
	seconds := flag.Float64("seconds", 600, "run for this long")
	flag.Parse()
	locks := [2]*sync.Mutex{new(sync.Mutex), new(sync.Mutex)}
	rw := new(sync.RWMutex)
	for i := 0; i < 6; i++ {
		lock := locks[i%2]
		again(func() { useMutex(lock) })
	}
	for i := 0; i < 2; i++ {
		again(func() { read(rw) })
		again(func() { write(rw) })
	}
	group := new(sync.WaitGroup)
	again(func() { join(group) })
	s := &signal{}
	s.cond = sync.NewCond(&s.lock)
	again(s.wait)
	again(s.send)
	from, to := make(chan int), make(chan int, 1)
	again(func() { receive(from) })
	again(func() { work(); from <- 1 })
	again(func() { send(to) })
	again(func() { work(); <-to })
	say("ready %d\n", os.Getpid())
	time.Sleep(time.Duration(*seconds * float64(time.Second)))
	atomic.StoreInt32(&ended, 1)
}
