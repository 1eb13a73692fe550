// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// Command planted has one performance fault per mode, or is the same program without it. It prints its own
// measurements, for the test that looks for the fault in a trace.
//
//	planted MODE [-clean] [-seconds N] [-native FILE]
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/trace"
	"time"
)

// A mode starts its load, which runs until the program ends. The load has started when it returns.
type mode func(clean bool)

var modes = map[string]mode{
	"lock-io":       lockIO,
	"lock-io-rw":    lockIOReaders,
	"lock-long":     lockLong,
	"lock-convoy":   lockConvoy,
	"lock-syscall":  lockSyscall,
	"leak":          leak,
	"leak-select":   leakSelect,
	"slow-consumer": slowConsumer,
	"pool-small":    poolSmall,
	"pool-workers":  poolWorkers,
	"outlier":       outlier,
	"assist":        assist,
	"gc-often":      gcOften,
	"procs-low":     procsLow,
	"busy":          busy,
	"idle":          func(bool) {},
	"rw-starve":     rwStarve,
	"cond-herd":     condHerd,
	"fan-in":        fanIn,
	"tickers":       tickers,
	"gogc10":        gogc10,
	"big-alloc":     bigAlloc,
	"ctx-leak":      ctxLeak,
	"semaphore":     semaphore,
	"log-printf":    logPrintf,
	"sql-pool":      sqlPool,
	"slow-member":   slowMember,
	"spin-select":   spinSelect,
	"single-flight": singleFlight,
	"timer-late":    timerLate,
	"locked-thread": lockedThread,
	"dns":           slowNames,
	"busy-owner":    busyOwner,
	"yield-spin":    yieldSpin,
	"leak-awake":    leakAwake,
	"deadlock":      deadlock,
	"finalizers":    finalizers,
	"busy-loop":     busyLoop,
	"retries":       retries,
	"polling-loop":  pollingLoop,
	"crowd":         crowd,
	"logged":        logged,
	"wide":          wide,
	"one-place":     onePlace,
	"pipeline":      pipeline,
	"lock-chain":    lockChain,
	"lock-send":     lockSend,
	"forced-gc":     forcedGC,
	"accept-loop":   acceptLoop,
	"memstats":      memStats,
	"two-kinds":     twoKinds,
	"stampede":      stampede,
	"replicas":      replicas,
	"batch-timer":   batchTimer,
}

func main() {
	if len(os.Args) < 2 || modes[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "planted: which mode?")
		os.Exit(2)
	}
	set := flag.NewFlagSet("planted", flag.ExitOnError)
	clean := set.Bool("clean", false, "without the fault")
	seconds := set.Float64("seconds", 60, "how long to run")
	native := set.String("native", "", "write a trace of Go's own tracer here")
	set.Parse(os.Args[2:])
	remember(os.Args[1])
	if *native == "" {
		modes[os.Args[1]](*clean)
	}
	fmt.Println("ready", os.Getpid(), runtime.GOMAXPROCS(0))
	if *native != "" {
		file, err := os.Create(*native)
		if err == nil {
			err = trace.Start(file)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		waited.on.Store(true)
		modes[os.Args[1]](*clean)
	}
	time.Sleep(time.Duration(*seconds * float64(time.Second)))
	printMeasured()
	if *native != "" {
		trace.Stop()
	}
}

// spin uses a CPU for about this long.
//
//go:noinline
func spin(d time.Duration) int {
	n := 0
	for end := time.Now().Add(d); time.Now().Before(end); {
		for i := 0; i < 1000; i++ {
			n += i
		}
	}
	return n
}

// Work for more than one CPU; the fault is caused from outside.
func busy(bool) {
	for i := 0; i < 2; i++ {
		go every(time.Millisecond, func() { spin(20 * time.Millisecond) })
	}
}

// every calls f at this pace until the program ends.
func every(d time.Duration, f func()) {
	for {
		f()
		time.Sleep(d)
	}
}
