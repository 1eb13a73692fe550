// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// What the BPF programs take, by the kernel's own count of their runs and times. A run
// includes two reads of the kernel's clock, as that of an empty program does. Programs at system calls and
// switches run for all threads of the machine: those of others end after a comparison, and count, too.

// runs is what one program has done.
type runs struct {
	n, ns float64
}

// programRuns returns the programs that are loaded, except those in but.
func programRuns(but map[int]bool) (byName map[string]runs, ids map[int]bool) {
	out, err := exec.Command("bpftool", "prog", "show", "-j").Output()
	fail(err)
	var list []struct {
		ID   int     `json:"id"`
		Name string  `json:"name"`
		Runs float64 `json:"run_cnt"`
		NS   float64 `json:"run_time_ns"`
	}
	fail(json.Unmarshal(out, &list))
	byName, ids = map[string]runs{}, map[int]bool{}
	for _, one := range list {
		ids[one.ID] = true
		if !but[one.ID] {
			sum := byName[one.Name]
			byName[one.Name] = runs{sum.n + one.Runs, sum.ns + one.NS}
		}
	}
	return byName, ids
}

// runsWith returns what gotrace's programs did while it traced pid for the length of a measurement.
func (b *bench) runsWith(pid string, options ...string) map[string]runs {
	_, others := programRuns(nil)
	end := b.watch([]int{3}, b.gotrace, append([]string{"-p", pid}, options...)...)
	before, _ := programRuns(others)
	time.Sleep(b.length)
	after, _ := programRuns(others)
	fail(end())
	for name, all := range after {
		after[name] = runs{all.n - before[name].n, all.ns - before[name].ns}
	}
	return after
}

// countRuns makes the kernel count, until the returned function is called, or the bench ends in any way: the kernel
// does so as long as the descriptor is open (BPF_ENABLE_STATS, Linux 5.8).
func countRuns() (stop func()) {
	const enableStats = 32
	call := map[string]uintptr{"amd64": 321, "arm64": 280}[runtime.GOARCH] // bpf(2)
	var runTime uint32                                                     // BPF_STATS_RUN_TIME
	fd, _, errno := syscall.Syscall(call, enableStats, uintptr(unsafe.Pointer(&runTime)), unsafe.Sizeof(runTime))
	if errno != 0 {
		fail(fmt.Errorf("statistics of BPF programs: %w", errno))
	}
	syscall.CloseOnExec(int(fd))
	return func() { syscall.Close(int(fd)) }
}

// programs prints the mean time of each program on three loads, and how much of it is more than an empty one takes.
func (b *bench) programs() {
	fmt.Println("== programs: ns a run by the kernel's statistics (and over an empty one), share of all time in programs")
	defer countRuns()()
	for _, load := range []string{"http-inside", "pingpong", "redis", "etcd", "grpc"} {
		means, shares := map[string]series{}, map[string]series{}
		var empty, all series
		for range b.rounds {
			pid, end := b.programLoad(load)
			time.Sleep(time.Second)
			sum := b.runsWith(pid, "--max-overhead", "none", "-o", b.dir+"/trace")
			floor := runs{}
			if load != "redis" {
				floor = b.runsWith(pid, "--probe-only")["empty"]
				empty = append(empty, floor.ns/max(floor.n, 1))
			}
			end()
			total := runs{}
			for _, one := range sum {
				total = runs{total.n + one.n, total.ns + one.ns}
			}
			all = append(all, total.ns/total.n)
			for name, one := range sum {
				if one.ns > total.ns/100 {
					means[name] = append(means[name], one.ns/one.n)
					shares[name] = append(shares[name], 100*one.ns/total.ns)
				}
			}
		}
		if len(empty) > 0 {
			b.emptyRun = empty.median()
		}
		fmt.Printf("# %s: mean of all %.0f, over an empty one (%.0f) %.0f\n", load, all.median(), b.emptyRun, all.median()-b.emptyRun)
		names := make([]string, 0, len(means))
		for name := range means {
			names = append(names, name)
		}
		slices.SortFunc(names, func(x, y string) int { return strings.Compare(x, y) })
		slices.SortStableFunc(names, func(x, y string) int { return int(shares[y].median() - shares[x].median()) })
		for _, name := range names {
			fmt.Printf("%-16s %5.0f %5.0f %5.0f %%\n", name, means[name].median(), means[name].median()-b.emptyRun, shares[name].median())
		}
	}
}

// programLoad starts a load, and returns the process to trace.
func (b *bench) programLoad(name string) (pid string, end func()) {
	switch name {
	case "redis":
		w := b.redis()
		return w.pid, w.end
	case "etcd":
		return loaded(b.etcd())
	case "grpc":
		return loaded(b.grpc())
	}
	l := b.start(name)
	return l.pidText(), l.end
}

// loaded asks a service for as much as it answers, until the end.
func loaded(s *service) (pid string, end func()) {
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				s.load(0, time.Second)
			}
		}
	}()
	return s.pid, func() { close(stop); <-done; s.end() }
}
