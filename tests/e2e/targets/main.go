// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// Command target is a program to be traced. Each MODE is one kind of load;
// all of them are bounded, end on SIGTERM, and never live longer than hardCap.
//
//	target MODE [options]
//
// "ready PID" is printed on standard output when the load is warm. With
// -native FILE the program also runs Go's own tracer for a while, so that its
// trace and gotrace's can be compared.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"sort"
	"strings"
	"syscall"
	"time"
)

const (
	usualLife = 120 * time.Second
	hardCap   = 20 * time.Minute
)

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
	then          string
	native        string
	nativeDelay   time.Duration
	nativeSeconds float64
	nativeProfile bool
	profile       string
}

func parse(args []string) (string, *options) {
	opt := &options{}
	set := flag.NewFlagSet("target", flag.ExitOnError)
	set.IntVar(&opt.procs, "procs", 0, "GOMAXPROCS; 0 leaves it alone")
	set.IntVar(&opt.count, "count", 0, "how many goroutines; 0 is the mode's own number")
	set.Float64Var(&opt.seconds, "seconds", usualLife.Seconds(), "how long to run")
	set.StringVar(&opt.then, "then", "exit", "what to do at the end: exit, exec (this program again), crash or kill")
	set.StringVar(&opt.native, "native", "", "file for a trace by Go's own tracer")
	set.DurationVar(&opt.nativeDelay, "native-delay", 0, "when to start Go's tracer; 0 waits for SIGUSR1")
	set.Float64Var(&opt.nativeSeconds, "native-seconds", 2, "how long Go's tracer runs")
	set.StringVar(&opt.profile, "profile", "", "file for a CPU profile of the whole run, for go build -pgo")
	set.BoolVar(&opt.nativeProfile, "native-profile", false, "with the CPU profile on, for CPU samples in Go's trace")
	if len(args) < 1 || modes[args[0]] == nil {
		var names []string
		for name := range modes {
			names = append(names, name)
		}
		sort.Strings(names)
		fmt.Fprintf(os.Stderr, "usage: target MODE [options]; modes here: %s\n", strings.Join(names, " "))
		set.PrintDefaults()
		os.Exit(2)
	}
	set.Parse(args[1:])
	return args[0], opt
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "target:", err)
		os.Exit(1)
	}
}

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
	if opt.profile != "" {
		file, err := os.Create(opt.profile)
		check(err)
		check(pprof.StartCPUProfile(file))
	}
	modes[name](opt)
	if opt.native != "" {
		go nativeTrace(opt)
	}
	time.Sleep(200 * time.Millisecond)
	fmt.Printf("ready %d\n", os.Getpid())
	select {
	case <-stop:
		os.Exit(0)
	case <-time.After(life):
		if opt.profile != "" {
			pprof.StopCPUProfile()
		}
		finish(opt.then)
	}
}

// finish ends the program in the way that the test asked for.
func finish(how string) {
	switch how {
	case "exec":
		exe, err := os.Executable()
		check(err)
		check(syscall.Exec(exe, []string{exe, "idle", "-seconds", "5"}, os.Environ()))
	case "crash":
		panic("crash asked for")
	case "kill":
		check(syscall.Kill(os.Getpid(), syscall.SIGKILL))
	}
	os.Exit(0)
}

// nativeTrace runs Go's own tracer for opt.nativeSeconds, and prints a line when its file is complete.
func nativeTrace(opt *options) {
	if opt.nativeDelay > 0 {
		time.Sleep(opt.nativeDelay)
	} else {
		usr1 := make(chan os.Signal, 1)
		signal.Notify(usr1, syscall.SIGUSR1)
		<-usr1
	}
	file, err := os.Create(opt.native)
	check(err)
	if opt.nativeProfile {
		check(pprof.StartCPUProfile(io.Discard))
		defer pprof.StopCPUProfile()
	}
	check(trace.Start(file))
	time.Sleep(time.Duration(opt.nativeSeconds * float64(time.Second)))
	trace.Stop()
	check(file.Close())
	fmt.Println("native done")
}
