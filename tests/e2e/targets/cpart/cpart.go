// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// Package cpart has the parts of the load that need C.
package cpart

/*
#cgo LDFLAGS: -lpthread
int c_short(int n);
void c_block(long microseconds);
int c_callback(int n);
int c_foreign(int threads);
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"time"
)

// Short calls a C function that returns at once.
func Short(n int) int { return int(C.c_short(C.int(n))) }

// Block stays in C for d.
func Block(d time.Duration) { C.c_block(C.long(d.Microseconds())) }

// Callback calls C, which calls Go.
func Callback(n int) int { return int(C.c_callback(C.int(n))) }

// Foreign starts C threads that call into Go; some of them end and are replaced.
func Foreign(threads int) {
	if C.c_foreign(C.int(threads)) != 0 {
		fmt.Fprintln(os.Stderr, "target: cannot start C threads")
		os.Exit(1)
	}
}

var heard = make(chan int, 1)

//export goCallback
func goCallback(n C.int) C.int {
	// Block sometimes, so that the goroutine of the callback is parked.
	if n%5 == 0 {
		time.Sleep(100 * time.Microsecond)
	} else {
		runtime.Gosched()
	}
	select {
	case heard <- int(n):
	default:
		<-heard
	}
	return n + 1
}
