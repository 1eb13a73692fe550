// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// threadSample holds what the kernel counts for a thread, and when it was read.
type threadSample struct {
	Tid       int
	Start     string // field 22 of stat: tids are reused
	Time      int64  // ns, CLOCK_MONOTONIC, of run and wait
	Counted   int64  // the same, of the switches
	Spread    int64  // ns: each reading took at most this long
	Run, Wait int64  // ns, schedstat
	Voluntary int64
	Forced    int64 // involuntary
}

// kernelCounts holds those of a process at the two ends of a window.
type kernelCounts struct {
	Steal         int64 // ns that the hypervisor took from all CPUs in the window
	Before, After []threadSample
}

const (
	clockMonotonic = 1
	soonEnough     = 100_000 // ns that a reading may take, else it is repeated
	tries          = 10
	userTick       = 10_000_000 // ns: /proc/stat counts in 1/100 s
)

func monotonic() int64 {
	var now syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&now)), 0)
	return now.Nano()
}

// window samples the threads of PID twice, and prints both as JSON.
func window(args []string) error {
	set := flag.NewFlagSet("window", flag.ExitOnError)
	length := set.Duration("length", 2*time.Second, "between the two")
	set.Parse(args)
	if set.NArg() != 1 {
		return fmt.Errorf("needs one PID")
	}
	var s kernelCounts
	var err error
	stolen, err := steal()
	if err != nil {
		return err
	}
	if s.Before, err = sampleAll(set.Arg(0)); err != nil {
		return err
	}
	time.Sleep(*length)
	if s.After, err = sampleAll(set.Arg(0)); err != nil {
		return err
	}
	s.Steal, err = steal()
	s.Steal -= stolen
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(s)
}

// steal returns the time for which the hypervisor has withheld the CPUs since boot.
func steal() (int64, error) {
	text, err := os.ReadFile("/proc/stat")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 9 || fields[0] != "cpu" {
		return 0, fmt.Errorf("/proc/stat: %w", err)
	}
	ticks, err := strconv.ParseInt(fields[8], 10, 64)
	return ticks * userTick, err
}

func sampleAll(pid string) (list []threadSample, err error) {
	tasks, _ := filepath.Glob("/proc/" + pid + "/task/*")
	for _, task := range tasks {
		if one, ok := sampleThread(task); ok { // else it has ended
			list = append(list, one)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("process %s has no threads", pid)
	}
	return list, nil
}

// sampleThread keeps the quickest of some readings, because on a busy machine the reader loses its CPU, too.
func sampleThread(task string) (best threadSample, ok bool) {
	for range tries {
		one, err := readThread(task)
		if err != nil {
			return best, false
		}
		if !ok || one.Spread < best.Spread {
			best, ok = one, true
		}
		if best.Spread < soonEnough {
			break
		}
	}
	return best, ok
}

func readThread(task string) (one threadSample, err error) {
	stat, err := os.ReadFile(task + "/stat")
	if err != nil {
		return one, err
	}
	one.Tid, err = strconv.Atoi(filepath.Base(task))
	if err != nil {
		return one, err
	}
	if fields := strings.Fields(string(stat[strings.LastIndex(string(stat), ")")+1:])); len(fields) > 19 {
		one.Start = fields[19]
	}
	first := monotonic()
	times, err := os.ReadFile(task + "/schedstat")
	if err != nil {
		return one, err
	}
	second := monotonic()
	counts, err := os.ReadFile(task + "/status")
	if err != nil {
		return one, err
	}
	third := monotonic()
	one.Time, one.Counted, one.Spread = (first+second)/2, (second+third)/2, max(second-first, third-second)
	if _, err = fmt.Sscan(string(times), &one.Run, &one.Wait); err != nil {
		return one, err
	}
	for _, line := range strings.Split(string(counts), "\n") {
		name, value, _ := strings.Cut(line, ":")
		n, _ := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		switch name {
		case "voluntary_ctxt_switches":
			one.Voluntary = n
		case "nonvoluntary_ctxt_switches":
			one.Forced = n
		}
	}
	return one, nil
}
