// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// A library with a Go runtime of its own, for programs that have one already.
package main

import "C"

import "time"

func init() {
	go func() {
		for range time.Tick(time.Millisecond) {
		}
	}()
}

//export gotrace_library
func gotrace_library() {}

func main() {}
