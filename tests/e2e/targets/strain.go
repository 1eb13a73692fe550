// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"runtime/trace"
	"sync"
	"syscall"
	"time"
)

var strainHeap [][]byte

func strainRequest() {
	_, task := trace.NewTask(context.Background(), "GET /pay")
	time.Sleep(400 * time.Millisecond)
	task.End()
}

// strains are the faults to cause, one at each SIGUSR2.
var strains = []func(){
	func() { go strainRequest() },
	func() { // more work than the Ps can do
		for i := 0; i < 40*runtime.GOMAXPROCS(0); i++ {
			go spin(2 * time.Millisecond)
		}
	},
	func() { // a heap of 200 MB
		for i := 0; i < 200; i++ {
			block := make([]byte, 1<<20)
			for at := 0; at < len(block); at += 4096 {
				block[at] = 1
			}
			strainHeap = append(strainHeap, block)
		}
		runtime.GC()
	},
	func() {
		for i := 0; i < 2*runtime.GOMAXPROCS(0); i++ {
			go spin(3 * time.Second)
		}
	},
}

// strain: a healthy program, until a fault is requested.
func strain(*options) {
	plant := make(chan os.Signal, 1)
	signal.Notify(plant, syscall.SIGUSR2)
	go func() {
		for {
			_, task := trace.NewTask(context.Background(), "GET /pay")
			time.Sleep(5 * time.Millisecond)
			task.End()
		}
	}()
	go func() {
		for _, wrong := range strains {
			<-plant
			wrong()
		}
	}()
}

var heldLock sync.Mutex

func holdLong() {
	heldLock.Lock()
	time.Sleep(200 * time.Millisecond)
	heldLock.Unlock()
}

func wantLock() {
	heldLock.Lock()
	heldLock.Unlock()
}

// held: goroutines that wait for a lock which another one holds while it sleeps.
func held(*options) {
	for i := 0; i < 4; i++ {
		go func() {
			for {
				wantLock()
				time.Sleep(time.Millisecond)
			}
		}()
	}
	go func() {
		for {
			holdLong()
			time.Sleep(20 * time.Millisecond)
		}
	}()
}

func init() {
	modes["strain"] = strain
	modes["held"] = held
}
