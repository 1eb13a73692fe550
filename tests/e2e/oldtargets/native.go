// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

//go:build go1.5
// +build go1.5

package main

import (
	"fmt"
	"io/ioutil"
	"os"
	"os/signal"
	"runtime/pprof"
	"runtime/trace"
	"syscall"
	"time"
)

func init() { startNative = nativeTrace }

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
		check(pprof.StartCPUProfile(ioutil.Discard))
		defer pprof.StopCPUProfile()
	}
	check(trace.Start(file))
	time.Sleep(time.Duration(opt.nativeSeconds * float64(time.Second)))
	trace.Stop()
	check(file.Close())
	fmt.Println("native done")
}
