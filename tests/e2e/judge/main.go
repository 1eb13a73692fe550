// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// Command judge checks traces with Go's own tools.
//
//	judge strict [-expect FILE] TRACE          read by golang.org/x/exp/trace, which is strict
//	judge pages -go TOOLCHAIN [-rows …] TRACE  served by that release's go tool trace
//	judge pages -goroot DIR [-binary FILE] TRACE  the same for an old release
//	judge counts FLAT TRACE                     compares two outputs of gotrace check --json
//	judge v0 TRACE                             read as the readers of early 2015 did
//	judge browser -titles LIST TRACE           the viewer's page as a browser shows it
//	judge twin NATIVE OURS                     compared with what Go's own tracer saw
//	judge alloc NATIVE OURS                    the same for spans and stacks
//	judge samples -cores N TRACE               its CPU samples, of the target's mode cpu
//	judge usertwin NATIVE OURS                 the same for tasks, regions and logs
//	judge usertruth OURS WORDS                 compared with what the program says it did
//	judge window PID                           the kernel's counts of its threads, at two times
//	judge schedtruth TRACE SAMPLES             threads' times and switches compared with these counts
//	judge perftruth TRACE SWITCHES             the same compared with perf's record of the switches
//	judge native TRACE DEMAND…                 blocks, wakers, stacks of threads
//	judge stacktruth TRACE STACKS              compared with the debugger's stacks
//	judge totals TRACE                         how long goroutines were in each state
//	judge json FILE [PATH]                     checks that this is one JSON object; prints the value at PATH
package main

import (
	"fmt"
	"os"
)

var commands = map[string]func(args []string) error{
	"strict":     strict,
	"pages":      pages,
	"browser":    browserCommand,
	"twin":       twin,
	"counts":     counts,
	"v0":         checkV0,
	"alloc":      alloc,
	"samples":    samples,
	"json":       jsonCommand,
	"usertruth":  userTruth,
	"usertwin":   userTwin,
	"window":     window,
	"schedtruth": schedTruth,
	"perftruth":  perfTruth,
	"native":     native,
	"stacktruth": stackTruth,
	"totals":     totals,
}

func main() {
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: judge strict|pages|counts|v0|browser|twin|usertwin|usertruth|alloc|samples|window|schedtruth|perftruth|native|stacktruth|totals|json [options] FILE…")
		os.Exit(2)
	}
	if err := commands[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintf(os.Stderr, "judge %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}
