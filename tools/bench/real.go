// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"fmt"

	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Real servers, as Debian builds them, under requests: the CPU time that an operation takes the server, traced over
// untraced. Each server lives through all rounds; the set-ups take turns.

// look is one way to trace a service.
type look struct {
	name  string
	ours  bool
	times int // how many times as long as the others: a limit holds in the mean
	begin func(b *bench, pid string) (end func() error)
}

var looks = []look{
	{"untraced", false, 1, func(*bench, string) func() error { return func() error { return nil } }},
	{"empty", false, 1, func(b *bench, pid string) func() error {
		return b.watch(nil, b.gotrace, "-p", pid, "--probe-only")
	}},
	{"gotrace", true, 1, func(b *bench, pid string) func() error { return b.gotraceLook(pid) }},
	{"max-10%", true, 6, func(b *bench, pid string) func() error { return b.gotraceLook(pid, "--max-overhead", "10") }},
	{"perf-sched-g", false, 1, func(b *bench, pid string) func() error {
		return b.other("perf", "sched", "record", "-g", "-o", filepath.Join(b.dir, "perf"))
	}},
}

func (b *bench) gotraceLook(pid string, options ...string) func() error {
	return b.watch([]int{3}, b.gotrace, append([]string{"-p", pid, "-o", filepath.Join(b.dir, "trace"), "--json"}, options...)...)
}

// readTimes returns the CPU time of a process in s, which includes its threads that have ended, and that of its children
// that have ended and been waited for.
func readTimes(pid string) (own, ended float64, err error) {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, 0, err
	}
	var times [4]float64 // utime, stime, cutime, cstime
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	for i := range times {
		if times[i], err = strconv.ParseFloat(fields[11+i], 64); err != nil {
			return 0, 0, err
		}
	}
	return (times[0] + times[1]) / 100, (times[2] + times[3]) / 100, nil // USER_HZ
}

// spent returns the CPU time of a process that runs, in s.
func spent(pid string) float64 {
	own, _, err := readTimes(pid)
	fail(err)
	return own
}

// ownCPU returns the CPU time that the running tracer and its children have taken, in s. A child may end meanwhile.
func (b *bench) ownCPU() (sum float64) {
	for pids := []string{strconv.Itoa(b.tracer)}; len(pids) > 0; pids = pids[1:] {
		own, ended, err := readTimes(pids[0])
		if b.tracer == 0 || err != nil {
			continue
		}
		sum += own + ended
		children, _ := filepath.Glob("/proc/" + pids[0] + "/task/*/children")
		for _, list := range children {
			text, _ := os.ReadFile(list)
			pids = append(pids, strings.Fields(string(text))...)
		}
	}
	return sum
}

// measured has the figures of one service at one rate with one look, one for each round.
type measured struct {
	cpu, own, rate, p99, watched series
}

func (b *bench) measure(s *service, one look, rate float64, m *measured) {
	if one.name == "empty" && !s.inGo {
		return
	}
	end := one.begin(b, s.pid)
	if end == nil {
		return
	}
	length := time.Duration(one.times) * b.length
	before, ownBefore := spent(s.pid), b.ownCPU()
	got := s.load(rate, length)
	took, own := spent(s.pid)-before, b.ownCPU()-ownBefore
	if err := end(); err != nil {
		fmt.Printf("# %s: %v\n", one.name, err)
		return
	}
	if got.n == 0 {
		fmt.Printf("# %s: no answers\n", one.name)
		return
	}
	m.cpu = append(m.cpu, 1e6*took/got.n)
	m.own = append(m.own, 1e6*own/got.n)
	m.rate = append(m.rate, got.perSecond)
	m.p99 = append(m.p99, float64(got.p99.Microseconds()))
	if one.ours {
		m.watched = append(m.watched, 100*b.watchedShare(length))
	}
}

var notWatched = regexp.MustCompile(`"not_watched_ns":([0-9]+)`) // the first one is that of the trace

// watchedShare returns how much of a load's time the last trace has. The server was idle before it, and so watched.
func (b *bench) watchedShare(length time.Duration) float64 {
	text, err := os.ReadFile(filepath.Join(b.dir, "tracer.out"))
	fail(err)
	found := notWatched.FindSubmatch(text)
	if found == nil {
		fail(fmt.Errorf("no summary: %.300s", text))
	}
	ns, err := strconv.ParseFloat(string(found[1]), 64)
	fail(err)
	return max(0, 1-ns/float64(length.Nanoseconds()))
}

// real prints a row for each service, rate and look.
func (b *bench) real(only string) {
	fmt.Println("== real servers: CPU time an operation and throughput as ratios to untraced, p99 in us, share of time watched")
	b.short = shortHead
	fmt.Println("| server | load | traced by | CPU an operation | ratio | the tracer's own | throughput | p99 | watched |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
	for _, one := range services {
		if !one.bench || only != "" && !slices.Contains(strings.Split(only, ","), strings.Split(one.name, ",")[0]) {
			continue
		}
		if !installed(one.needs) {
			fmt.Printf("| %s | not measured: %s is not installed | | | | | | | |\n", one.name, one.needs)
			continue
		}
		s := one.start(b)
		if s == nil {
			fmt.Printf("| %s | not measured: it could not be built | | | | | | | |\n", one.name)
			continue
		}
		b.realRows(one.name, s)
		s.end()
	}
}

func (b *bench) realRows(name string, s *service) {
	s.load(0, 2*b.length) // caches, and threads that it needs
	full := make([]measured, len(looks))
	half := make([]measured, len(looks))
	for range b.rounds {
		for k, one := range looks {
			b.measure(s, one, 0, &full[k])
		}
		for k, one := range looks {
			if !s.onlyFull {
				b.measure(s, one, full[0].rate.median()/2, &half[k])
			}
		}
	}
	loads := []underLoad{{"full", full}, {"half", half}}
	b.short += shortRow(name, loads)
	for _, load := range loads {
		base := load.looks[0]
		if s.onlyFull && load.name == "half" {
			fmt.Printf("| %s | half | not measured: its client has no rate | | | | | | |\n", name)
		}
		for k, one := range looks {
			m := load.looks[k]
			if len(m.cpu) == 0 {
				continue
			}
			watched, p99, own := "", "not known", ""
			if m.p99.median() != 0 {
				p99 = fmt.Sprintf("%.0f", m.p99.median())
			}
			if own = fmt.Sprintf("%.1f us", m.own.median()); one.name == "untraced" {
				own = ""
			}
			if one.ours {
				watched = fmt.Sprintf("%.0f %%", m.watched.median())
			}
			fmt.Printf("| %s | %s | %s | %.1f us | %s | %s | %s | %s | %s |\n", name, load.name, one.name,
				m.cpu.median(), m.cpu.over(base.cpu), own, m.rate.over(base.rate), p99, watched)
		}
	}
}

const shortHead = `CPU time an operation, traced over untraced; in brackets the throughput, and under a limit the share
of time that is watched. *Empty* is probes that do nothing, the lower bound:

| | empty, full load | full load | half load | ` + "`--max-overhead 10`" + `, full | half load |
|---|---|---|---|---|---|
`

// underLoad is what was measured under one load, by the index of the look.
type underLoad struct {
	name  string // "full", "half"
	looks []measured
}

// shortRow is a service's row of README's table.
func shortRow(name string, loads []underLoad) string {
	server, _, _ := strings.Cut(name, ",")
	row := "| " + server
	for k, one := range looks {
		if !one.ours && one.name != "empty" {
			continue
		}
		for _, load := range loads {
			m, base := load.looks[k], load.looks[0]
			if one.name == "empty" && load.name == "half" {
				continue
			}
			switch {
			case len(m.cpu) == 0:
				row += " | -"
			case one.times == 1:
				row += fmt.Sprintf(" | %.2f (%.2f)", m.cpu.ratios(base.cpu).median(), m.rate.ratios(base.rate).median())
			default:
				row += fmt.Sprintf(" | %.2f (%.2f; %.0f %%)", m.cpu.ratios(base.cpu).median(),
					m.rate.ratios(base.rate).median(), m.watched.median())
			}
		}
	}
	return row + " |\n"
}
