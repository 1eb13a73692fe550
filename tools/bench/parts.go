// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// each runs every set-up on a fresh load, round after round.
func (b *bench) each(name string, list []setup, measure func(s setup, l *load)) {
	for round := 1; round <= b.rounds; round++ {
		for _, s := range list {
			l := b.start(name)
			time.Sleep(300 * time.Millisecond)
			end := s.begin(b, l)
			if end != nil {
				measure(s, l)
				fail(end())
			}
			l.end()
		}
		fmt.Printf("# round %d of %d done\n", round, b.rounds)
	}
}

// ladder: the cost of a turn of channel ping-pong under each set-up.
func (b *bench) ladder(list []setup) {
	fmt.Println("== ping-pong: ns a turn (median, smallest-largest) and ratio to untraced")
	cost := map[string]series{}
	b.each("pingpong", list, func(s setup, l *load) {
		var turns, ns float64
		fmt.Sscan(l.say("measure "+b.length.String()), &turns, &ns)
		if turns == 0 {
			fail(fmt.Errorf("%s: not one turn in %v", s.name, b.length))
		}
		cost[s.name] = append(cost[s.name], ns/turns)
	})
	base := cost["untraced"]
	for _, s := range list {
		if cost[s.name] != nil {
			fmt.Printf("%-18s %-28s %s\n", s.name, cost[s.name], cost[s.name].over(base))
		}
	}
	added := func(name string) series { return cost[name].less(base) }
	if cost["gotrace"] != nil && cost["empty"] != nil {
		fmt.Printf("gotrace adds %s of what empty programs on the same sites add (goal: at most 1)\n",
			added("gotrace").over(added("empty")))
		if ratio := added("gotrace").median() / added("empty").median(); b.most > 0 && ratio > b.most {
			fail(fmt.Errorf("that is %.2f, more than %.2f: twice what it was when it was measured last", ratio, b.most))
		}
	}
	for _, name := range []string{"bpftrace-entries", "bpftrace-sites"} {
		if cost[name] != nil && cost["gotrace"] != nil {
			fmt.Printf("%s adds %s of what gotrace adds (goal for entries: at least 10)\n", name,
				added(name).over(added("gotrace")))
		}
	}
}

// http: a server at half of what it can do untraced.
func (b *bench) http(list []setup) {
	l := b.start("http")
	drive(l.address, 0, time.Second)
	most := drive(l.address, 0, b.length).perSecond
	l.end()
	rate := b.rate
	if rate == 0 {
		rate = most / 2
	}
	fmt.Printf("== HTTP server at half load: %.0f of %.0f requests a second\n", rate, most)
	var throughput, p50, p99, cpu = map[string]series{}, map[string]series{}, map[string]series{}, map[string]series{}
	b.each("http", list, func(s setup, l *load) {
		drive(l.address, rate, 500*time.Millisecond)
		before := l.cpu()
		got := drive(l.address, rate, b.length)
		used := l.cpu() - before
		throughput[s.name] = append(throughput[s.name], got.perSecond)
		p50[s.name] = append(p50[s.name], float64(got.p50.Microseconds()))
		p99[s.name] = append(p99[s.name], float64(got.p99.Microseconds()))
		cpu[s.name] = append(cpu[s.name], float64(used.Microseconds())/(got.perSecond*b.length.Seconds()))
	})
	fmt.Printf("%-18s %-24s %-22s %-24s %-20s %s\n", "", "requests/s", "p50 us", "p99 us", "CPU us a request", "CPU ratio")
	for _, s := range list {
		if throughput[s.name] != nil {
			fmt.Printf("%-18s %-24s %-22s %-24s %-20s %s\n", s.name, throughput[s.name], p50[s.name], p99[s.name],
				cpu[s.name], cpu[s.name].over(cpu["untraced"]))
		}
	}
}

// replay: how fast a recorded log becomes a trace.
func (b *bench) replay() {
	raw := filepath.Join(b.dir, "raw")
	l := b.start("pingpong")
	record := b.watch([]int{3}, b.gotrace, "-p", l.pidText(), "-o", filepath.Join(b.dir, "trace"), "--raw", raw)
	time.Sleep(4 * time.Second)
	fail(record())
	l.end()
	info, err := os.Stat(raw)
	fail(err)
	var records, events series
	for range b.rounds {
		began := time.Now()
		out, err := exec.Command(b.gotrace, "replay", raw, "-o", filepath.Join(b.dir, "replayed"), "--json").Output()
		took := time.Since(began).Seconds()
		if err != nil {
			if ended, ok := err.(*exec.ExitError); !ok || ended.ExitCode() != 3 {
				fail(fmt.Errorf("gotrace replay: %w", err))
			}
		}
		var said struct{ Events, Hits float64 }
		fail(json.Unmarshal(out, &said))
		if said.Events == 0 {
			fail(fmt.Errorf("gotrace replay: no events"))
		}
		records = append(records, said.Hits/took)
		events = append(events, said.Events/took)
	}
	fmt.Printf("== replay of %d MiB: %s records a second, %s events a second (goal: 3000000)\n",
		info.Size()>>20, records, events)
}
