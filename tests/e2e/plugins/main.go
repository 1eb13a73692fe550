// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// Opens a plugin, calls its function Wait in a goroutine, and later Run.
//
//	plugins FILE early|late
//
// Opens the plugin before it prints "ready" (early), or on SIGUSR2, and then prints "open". On SIGUSR1 calls Run ten
// times, each time in a new goroutine, and prints "done".
package main

import (
	"fmt"
	"os"
	"os/signal"
	"plugin"
	"syscall"
)

func open() func() {
	p, err := plugin.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	run, err := p.Lookup("Run")
	if err != nil {
		panic(err)
	}
	wait, err := p.Lookup("Wait")
	if err != nil {
		panic(err)
	}
	go wait.(func())()
	return run.(func())
}

//go:noinline
func caller(run func(), done chan bool) {
	run()
	done <- true
}

func main() {
	var run func()
	signals, done := make(chan os.Signal, 1), make(chan bool)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGUSR2)
	if os.Args[2] == "early" {
		run = open()
	}
	fmt.Println("ready")
	for received := range signals {
		if received == syscall.SIGUSR2 {
			run = open()
			fmt.Println("open")
			continue
		}
		for i := 0; i < 10; i++ {
			go caller(run, done)
			<-done
		}
		fmt.Println("done")
	}
}
