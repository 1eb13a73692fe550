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
	{"gotrace", true, 1, func(b *bench, pid string) func() error { return b.gotraceLook(pid) }},
	{"max-10%", true, 6, func(b *bench, pid string) func() error { return b.gotraceLook(pid, "--max-overhead", "10") }},
	{"perf-sched-g", false, 1, func(b *bench, pid string) func() error {
		return b.other("perf", "sched", "record", "-g", "-o", filepath.Join(b.dir, "perf"))
	}},
}

func (b *bench) gotraceLook(pid string, options ...string) func() error {
	return b.watch([]int{3}, b.gotrace, append([]string{"-p", pid, "-o", filepath.Join(b.dir, "trace"), "--json"}, options...)...)
}

// spent returns the CPU time of a process, which includes its threads that have ended.
func spent(pid string) float64 {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	fail(err)
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	user, err := strconv.ParseFloat(fields[11], 64)
	fail(err)
	system, err := strconv.ParseFloat(fields[12], 64)
	fail(err)
	return (user + system) / 100 // USER_HZ
}

// measured has the figures of one service at one rate with one look, one for each round.
type measured struct {
	cpu, rate, p99, watched series
}

func (b *bench) measure(s *service, one look, rate float64, m *measured) {
	end := one.begin(b, s.pid)
	if end == nil {
		return
	}
	length := time.Duration(one.times) * b.length
	before := spent(s.pid)
	got := s.load(rate, length)
	took := spent(s.pid) - before
	if err := end(); err != nil {
		fmt.Printf("# %s: %v\n", one.name, err)
		return
	}
	if got.n == 0 {
		fmt.Printf("# %s: no answers\n", one.name)
		return
	}
	m.cpu = append(m.cpu, 1e6*took/got.n)
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
	fmt.Println("| server | load | traced by | CPU an operation | ratio | throughput | p99 | watched |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for _, one := range services {
		if !one.bench || only != "" && !slices.Contains(strings.Split(only, ","), strings.Split(one.name, ",")[0]) {
			continue
		}
		if !installed(one.needs) {
			fmt.Printf("| %s | not measured: %s is not installed | | | | | | |\n", one.name, one.needs)
			continue
		}
		s := one.start(b)
		if s == nil {
			fmt.Printf("| %s | not measured: it could not be built | | | | | | |\n", one.name)
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
	b.short += shortRow(name, full, half)
	for _, level := range []struct {
		name string
		all  []measured
	}{{"full", full}, {"half", half}} {
		base := level.all[0]
		if s.onlyFull && level.name == "half" {
			fmt.Printf("| %s | half | not measured: its client has no rate | | | | | |\n", name)
		}
		for k, one := range looks {
			m := level.all[k]
			if len(m.cpu) == 0 {
				continue
			}
			watched, p99 := "", "not known"
			if m.p99.median() != 0 {
				p99 = fmt.Sprintf("%.0f", m.p99.median())
			}
			if one.ours {
				watched = fmt.Sprintf("%.0f %%", m.watched.median())
			}
			fmt.Printf("| %s | %s | %s | %.1f us | %s | %s | %s | %s |\n", name, level.name, one.name,
				m.cpu.median(), m.cpu.over(base.cpu), m.rate.over(base.rate), p99, watched)
		}
	}
}

const shortHead = `CPU time an operation, traced over untraced; in brackets the throughput, and under a limit the share
of time that is watched:

| | full load | half load | ` + "`--max-overhead 10`" + `, full | half load |
|---|---|---|---|---|
`

// shortRow is a service's row of README's table.
func shortRow(name string, full, half []measured) string {
	server, _, _ := strings.Cut(name, ",")
	row := "| " + server
	for k := 1; k <= 2; k++ {
		for _, level := range [][]measured{full, half} {
			m, base := level[k], level[0]
			switch {
			case len(m.cpu) == 0:
				row += " | -"
			case looks[k].times == 1:
				row += fmt.Sprintf(" | %.2f (%.2f)", m.cpu.ratios(base.cpu).median(), m.rate.ratios(base.rate).median())
			default:
				row += fmt.Sprintf(" | %.2f (%.2f; %.0f %%)", m.cpu.ratios(base.cpu).median(),
					m.rate.ratios(base.rate).median(), m.watched.median())
			}
		}
	}
	return row + " |\n"
}
