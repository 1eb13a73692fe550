// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// Command oldtarget is a program to be traced, in the language of Go 1.4: the loads of ../targets for
// releases that are too old to build those. Each MODE is one kind of load; all of them are bounded, end on
// SIGTERM, and never live longer than hardCap.
//
//	oldtarget MODE [options]
//
// "ready PID" is printed on standard output when the load is warm. With
// -native FILE the program also runs Go's own tracer for a while (Go 1.5 and
// later), so that its trace and gotrace's can be compared.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sort"
	"strings"
	"syscall"
	"time"
)

const hardCap = 120 * time.Second

// A mode starts its load and returns; the load runs until the program exits.
type mode func(opt *options)

// Some modes add themselves: their files have build constraints.
var modes = map[string]mode{}

func init() {
	for name, start := range map[string]mode{
		"idle":     func(*options) {},
		"pingpong": pingpong,
		"pool":     pool,
		"http":     httpLoad,
		"syscalls": syscalls,
		"gc":       gcLoad,
		"timers":   timers,
		"churn":    churn,
		"procs":    procs,
		"parked":   parked,
		"mixed":    mixed,
	} {
		modes[name] = start
	}
}

type options struct {
	procs         int
	count         int
	seconds       float64
	native        string
	nativeDelay   time.Duration
	nativeSeconds float64
	nativeProfile bool
}

func parse(args []string) (string, *options) {
	opt := &options{}
	set := flag.NewFlagSet("oldtarget", flag.ExitOnError)
	set.IntVar(&opt.procs, "procs", 2, "GOMAXPROCS; 0 leaves it alone (1 up to Go 1.4)")
	set.IntVar(&opt.count, "count", 0, "how many goroutines; 0 is the mode's own number")
	set.Float64Var(&opt.seconds, "seconds", hardCap.Seconds(), "how long to run")
	set.StringVar(&opt.native, "native", "", "file for a trace by Go's own tracer")
	set.DurationVar(&opt.nativeDelay, "native-delay", 0, "when to start Go's tracer; 0 waits for SIGUSR1")
	set.Float64Var(&opt.nativeSeconds, "native-seconds", 2, "how long Go's tracer runs")
	set.BoolVar(&opt.nativeProfile, "native-profile", false, "with the CPU profile on, for CPU samples in Go's trace")
	if len(args) < 1 || modes[args[0]] == nil {
		var names []string
		for name := range modes {
			names = append(names, name)
		}
		sort.Strings(names)
		fmt.Fprintf(os.Stderr, "usage: oldtarget MODE [options]; modes here: %s\n", strings.Join(names, " "))
		set.PrintDefaults()
		os.Exit(2)
	}
	set.Parse(args[1:])
	return args[0], opt
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "oldtarget:", err)
		os.Exit(1)
	}
}

// startNative is set if the release has a tracer.
var startNative func(opt *options)

func main() {
	name, opt := parse(os.Args[1:])
	if opt.procs > 0 {
		runtime.GOMAXPROCS(opt.procs)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	life := time.Duration(opt.seconds * float64(time.Second))
	if life <= 0 || life > hardCap {
		life = hardCap
	}
	modes[name](opt)
	if opt.native != "" && startNative != nil {
		go startNative(opt)
	}
	time.Sleep(200 * time.Millisecond)
	fmt.Printf("ready %d\n", os.Getpid())
	select {
	case <-stop:
	case <-time.After(life):
	}
	os.Exit(0)
}
