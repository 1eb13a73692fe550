// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// Oldparse prints the events of a trace as a Go release of the time parses them: time, name, byte offset,
// goroutine, stack. It is built with that release's own toolchain and a copy of its parser; the release
// decides which of the files load_*.go is used. Go 1.5 and later.
package main

import (
	"bufio"
	"fmt"
	"os"

	"oldtrace"
)

func main() {
	f, err := os.Open(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	events, err := load(bufio.NewReader(f))
	if err != nil {
		fmt.Fprintln(os.Stderr, "oldparse:", err)
		os.Exit(1)
	}
	out := bufio.NewWriter(os.Stdout)
	for _, ev := range events {
		fmt.Fprintln(out, ev.Ts, oldtrace.EventDescriptions[ev.Type].Name, ev.Off, ev.G, ev.StkID)
	}
	out.Flush()
}
