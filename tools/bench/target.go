// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"fmt"
	"slices"
	"time"
)

// loads are those of the table, and what is compared: throughput where the load uses all it can get, CPU time
// per turn where it has its own pace.
var loads = []struct {
	name, program string
	saturated     bool
}{
	{"ping-pong", "pingpong", true},
	{"http, saturated", "http", true},
	{"http, half load", "http", false},
	{"gc", "gc", true},
	{"syscalls", "syscalls", true},
	{"50,000 timers", "timers", false},
}

// peersOn are the loads on which the other tools are measured: elsewhere they are expensive, and show nothing
// new.
var peersOn = []string{"ping-pong", "http, saturated"}

// target prints what remains of each load under each set-up.
func (b *bench) target(list []setup) {
	var names []string
	for _, one := range loads {
		names = append(names, one.name)
	}
	fmt.Println("== target")
	b.table(list, names)
}

// table prints what remains of these loads under each set-up.
func (b *bench) table(list []setup, names []string) {
	fmt.Println("throughput (ping-pong, saturated http, gc, syscalls) or CPU time a turn (half load, timers),",
		"as ratios to untraced: median (smallest-largest)")
	rate := b.halfRate()
	table := map[string]map[string]series{}
	for _, one := range loads {
		if !slices.Contains(names, one.name) {
			continue
		}
		table[one.name] = map[string]series{}
		for range b.rounds {
			for _, s := range list {
				peer := s.name == "bpftrace-entries" || s.name == "bpftrace-sites"
				if peer && !slices.Contains(peersOn, one.name) {
					continue
				}
				if figure := b.figure(one.program, one.saturated, rate, s); figure > 0 {
					table[one.name][s.name] = append(table[one.name][s.name], figure)
				}
			}
		}
		fmt.Printf("# %s done\n", one.name)
	}
	fmt.Printf("%-18s", "")
	for _, name := range names {
		fmt.Printf(" %-18s", name)
	}
	fmt.Println()
	for _, s := range list {
		fmt.Printf("%-18s", s.name)
		for _, name := range names {
			fmt.Printf(" %-18s", table[name][s.name].over(table[name]["untraced"]))
		}
		fmt.Println()
	}
}

func (b *bench) halfRate() float64 {
	if b.rate != 0 {
		return b.rate
	}
	l := b.start("http")
	defer l.end()
	drive(l.address, 0, time.Second)
	return drive(l.address, 0, b.length).perSecond / 2
}

// figure measures one set-up on a fresh load: turns per second, or ns of CPU per turn. 0: not available.
func (b *bench) figure(program string, saturated bool, rate float64, s setup) float64 {
	l := b.start(program)
	defer l.end()
	time.Sleep(300 * time.Millisecond)
	end := s.begin(b, l)
	if end == nil {
		return 0
	}
	var turns, ns float64
	before := l.cpu()
	if program == "http" {
		if saturated {
			rate = 0
		}
		drive(l.address, rate, 300*time.Millisecond)
		before = l.cpu()
		turns, ns = drive(l.address, rate, b.length).perSecond*b.length.Seconds(), float64(b.length.Nanoseconds())
	} else {
		fmt.Sscan(l.say("measure "+b.length.String()), &turns, &ns)
	}
	used := l.cpu() - before
	fail(end())
	if saturated {
		return turns * 1e9 / ns
	}
	return float64(used.Nanoseconds()) / turns
}
