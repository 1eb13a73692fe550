// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// What is traced is an idle server; perf traces that server, too.
var otherSetups = []setup{
	setups[0], // untraced
	gotraceWith("gotrace"),
	gotraceWith("no-syscalls", "--no-syscalls"),
	{"perf-trace", func(b *bench, l *load) func() error {
		path, err := exec.LookPath("perf")
		if err != nil {
			return nil
		}
		return b.watch(nil, path, "trace", "-s", "-p", l.pidText())
	}},
}

const blocks = 1 << 20

// smallCalls returns the CPU time in ns of a read or write of one byte, in a program that nobody traces.
func smallCalls() float64 {
	command := exec.Command("dd", "if=/dev/zero", "of=/dev/null", "bs=1", fmt.Sprintf("count=%d", blocks), "status=none")
	fail(command.Run())
	took := command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	return float64(took/time.Nanosecond) / (2 * blocks)
}

// others: what the tracing of one process costs the system calls of all others.
func (b *bench) others() {
	took := make([]series, len(otherSetups))
	fmt.Println("== others: CPU time of a read or write of one byte in a process that is not traced, while another one is")
	for range b.rounds {
		for i, one := range otherSetups {
			l := b.start("http")
			if end := one.begin(b, l); end != nil {
				took[i] = append(took[i], smallCalls())
				fail(end())
			}
			l.end()
		}
	}
	fmt.Println("| traced by | ns | ratio |\n|---|---|---|")
	for i, one := range otherSetups {
		if len(took[i]) > 0 {
			fmt.Printf("| %s | %s | %s |\n", one.name, strings.TrimSpace(took[i].String()), took[i].over(took[0]))
		}
	}
}
