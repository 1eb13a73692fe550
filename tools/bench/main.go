// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// Command bench measures what tracing costs the traced program, as ratios in
// one run: each round goes through all set-ups, so that a noisy machine
// disturbs them alike.
//
//	bench [-rounds N] [-gotrace FILE] ladder|http|target|flight|idle|others|consumer|replay|size|edges|shards|mix|overload|native|programs|real…
//	bench serve NAME     (for tests/e2e/real.sh: a real program under load)
//	bench load pingpong|http|http-inside|iter|gc|syscalls|timers|days    (the traced side, started by the above)
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

type bench struct {
	rounds   int
	length   time.Duration
	gotrace  string
	most     float64 // limit of what gotrace adds to ping-pong, as a multiple of what empty programs add; 0 = none
	rate     float64 // requests a second; 0 = half of what the server can do
	dir      string
	program  string // what runs as the load: this program, with a symbol at every site
	sites    []string
	apart    bool    // the next load has a session of its own
	short    string  // the table of real servers for README
	tracer   int     // PID of the tracer that runs; 0 = none
	emptyRun float64 // ns that a run of an empty BPF program takes; 0 = not measured
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == "load" {
		runLoad(os.Args[2])
		return
	}
	b := &bench{}
	flag.IntVar(&b.rounds, "rounds", 3, "how often each set-up is measured")
	flag.DurationVar(&b.length, "length", 2*time.Second, "of one measurement")
	flag.StringVar(&b.gotrace, "gotrace", "./gotrace", "the program to measure")
	flag.Float64Var(&b.most, "most", 0, "fail if gotrace adds more to ping-pong, in units of what empty programs add")
	flag.Float64Var(&b.rate, "rate", 0, "requests a second of http; 0 is half of what the server can do")
	only := flag.String("only", "", "set-ups, separated by commas; empty is all")
	write := flag.Bool("write", false, "write the figures into the documents")
	flag.Parse()
	var err error
	b.gotrace, err = filepath.Abs(b.gotrace)
	fail(err)
	b.dir, err = os.MkdirTemp("", "gotrace-bench")
	fail(err)
	defer os.RemoveAll(b.dir)
	parts := flag.Args()
	if len(parts) == 2 && parts[0] == "serve" {
		b.serve(parts[1])
		return
	}
	if len(parts) == 0 {
		parts = []string{"ladder", "http", "target", "flight", "consumer", "replay", "size", "edges", "native", "programs", "real"}
	}
	if !slices.Equal(parts, []string{"native"}) && !slices.Equal(parts, []string{"real"}) {
		b.prepare()
	}
	for _, part := range parts {
		if !*write {
			b.part(part, *only)
			continue
		}
		text := provenance() + " " + asMarkdown(captured(func() { b.part(part, *only) }))
		writeBlock(costs, part, text)
	}
	if *write && b.short != "" {
		writeBlock("README.md", "real", provenance()+"\n\n"+b.short)
	}
}

func (b *bench) part(part, only string) {
	switch part {
	case "ladder":
		b.ladder(chosen(only, usual))
	case "http":
		b.http(chosen(only, usual))
	case "target":
		b.target(chosen(only, nil))
	case "consumer":
		b.consumer()
	case "size":
		b.size()
	case "edges":
		b.edges()
	case "replay":
		b.replay()
	case "flight":
		b.flight()
	case "idle":
		b.idle()
	case "others":
		b.others()
	case "overload":
		b.overload(only)
	case "native":
		b.native(only)
	case "programs":
		b.programs()
	case "real":
		b.real(only)
	case "shards":
		b.shards()
	case "mix":
		b.mix([]string{"1.22.12", "1.23.8", "1.24.6", "1.25.1", "1.26.8", "1.27.4"})
	default:
		fail(fmt.Errorf("no part %q", part))
	}
}

// chosen returns the requested set-ups, else the usual ones (nil: all); the untraced one is always there.
func chosen(only string, usual []string) []setup {
	wanted := usual
	if only != "" {
		wanted = strings.Split(only, ",")
	}
	var list []setup
	for _, s := range setups {
		if wanted == nil || s.name == setups[0].name || slices.Contains(wanted, s.name) {
			list = append(list, s)
		}
	}
	return list
}

// prepare makes the load's executable. bpftrace (Debian 12's) attaches at
// symbols only, so that each of gotrace's sites gets one.
func (b *bench) prepare() {
	self, err := os.Executable()
	fail(err)
	plain := filepath.Join(b.dir, "plain")
	fail(exec.Command("cp", self, plain).Run())
	b.program = plain
	l := b.start("pingpong")
	out, err := exec.Command(b.gotrace, "sites", "-p", fmt.Sprint(l.pid())).Output()
	l.end()
	if err != nil {
		fmt.Printf("# no sites from gotrace (%v): bpftrace on them is left out\n", err)
		return
	}
	b.program = filepath.Join(b.dir, "load")
	b.sites, err = addSymbols(plain, b.program, string(out))
	fail(err)
}

// series is one figure of one set-up over the rounds.
type series []float64

func (s series) median() float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Clone(s)
	slices.Sort(sorted)
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

func (s series) String() string {
	if len(s) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f (%.0f-%.0f)", s.median(), slices.Min(s), slices.Max(s))
}

// ratios returns the ratios to another series, round by round.
func (s series) ratios(base series) (ratios series) {
	for k := range min(len(s), len(base)) {
		if base[k] != 0 {
			ratios = append(ratios, s[k]/base[k])
		}
	}
	return ratios
}

// over is the ratio to another series: median (smallest-largest).
func (s series) over(base series) string {
	ratios := s.ratios(base)
	if len(ratios) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f (%.2f-%.2f)", ratios.median(), slices.Min(ratios), slices.Max(ratios))
}

// less is the difference to another series, round by round.
func (s series) less(base series) series {
	var diff series
	for k := range min(len(s), len(base)) {
		diff = append(diff, s[k]-base[k])
	}
	return diff
}
