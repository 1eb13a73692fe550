// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// said is part of gotrace's summary.
type said struct {
	Events, Hits float64
	Lost         struct {
		RingFull float64 `json:"ring_full"`
	}
}

// traced is one run of gotrace on a load, and what it took.
type traced struct {
	said
	cpu        time.Duration
	rss        int64 // KiB
	begin, end time.Duration
	trace      string
	bytes      int64
	ended      time.Time
}

// trace runs gotrace for a while, and times its beginning (to the file's appearance) and its end.
func (b *bench) trace(pid string, length time.Duration, options ...string) traced {
	t := traced{trace: filepath.Join(b.dir, "own")}
	os.Remove(t.trace)
	command := exec.Command(b.gotrace, append([]string{"-p", pid, "-o", t.trace, "--json"}, options...)...)
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, os.Stderr
	began := time.Now()
	fail(command.Start())
	for range 2000 {
		if _, err := os.Stat(t.trace); err == nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.begin = time.Since(began)
	time.Sleep(length)
	began = time.Now()
	command.Process.Signal(syscall.SIGINT)
	if err := command.Wait(); err != nil && command.ProcessState.ExitCode() != 3 {
		fail(fmt.Errorf("gotrace: %w", err))
	}
	t.end = time.Since(began)
	t.cpu = command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	t.rss = command.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	fail(json.Unmarshal(out.Bytes(), &t.said))
	info, err := os.Stat(t.trace)
	fail(err)
	t.bytes = info.Size()
	return t
}

// consumer: what gotrace itself uses.
func (b *bench) consumer() {
	fmt.Println("== consumer: CPU time and memory of gotrace itself, start included")
	for _, options := range [][]string{{"--max-overhead", "none"}, {"--detail=exact"}} {
		var perMillion, rate, rss, lost series
		for range b.rounds {
			l := b.start("pingpong")
			time.Sleep(300 * time.Millisecond)
			t := b.trace(l.pidText(), 2*b.length, options...)
			l.end()
			perMillion = append(perMillion, float64(t.cpu.Milliseconds())/t.Hits*1e6)
			rate = append(rate, t.Hits/(2*b.length).Seconds())
			rss = append(rss, float64(t.rss)/1024)
			lost = append(lost, t.Lost.RingFull)
		}
		fmt.Printf("ping-pong %-8s %s ms of CPU a million records, at %s records a second; peak %s MiB; %s lost\n",
			strings.Join(options, " "), perMillion, rate, rss, lost)
	}
}

// size: bytes per event, compared with the native trace of the same period.
func (b *bench) size() {
	fmt.Println("== size: bytes per event, compared with the native trace of the same period")
	for _, name := range []string{"pingpong", "http", "gc", "syscalls", "timers"} {
		l := b.start(name)
		time.Sleep(300 * time.Millisecond)
		native := filepath.Join(b.dir, "native")
		if name == "http" {
			go drive(l.address, 5000, 3*b.length)
		}
		l.say("native " + native)
		t := b.trace(l.pidText(), b.length)
		l.say("stop")
		l.end()
		info, err := os.Stat(native)
		fail(err)
		events := b.events(native)
		fmt.Printf("%-10s gotrace %.2f bytes an event (%.0f events), native %.2f (%.0f events)\n", name,
			float64(t.bytes)/t.Events, t.Events, float64(info.Size())/events, events)
	}
}

// events counts a trace's events that are not its own bookkeeping, as gotrace check sees them.
func (b *bench) events(path string) float64 {
	out, err := exec.Command(b.gotrace, "check", "--json", path).Output()
	if err != nil {
		fail(fmt.Errorf("gotrace check %s: %w", path, err))
	}
	var report struct{ Events map[string]float64 }
	fail(json.Unmarshal(out, &report))
	var sum float64
	for name, count := range report.Events {
		switch name {
		case "Stack", "Frequency", "ClockSnapshot", "Sync":
		default:
			sum += count
		}
	}
	return sum
}

// edges: from the command to the first record, and from Ctrl-C to the end.
func (b *bench) edges() {
	fmt.Println("== start and stop, ms")
	big := b.buildBig()
	for _, one := range []struct{ what, program string }{{"this program", b.program}, {"100 MB, 100,000 goroutines", big}} {
		var begin, end, rss series
		for range b.rounds {
			whole := b.program
			b.program = one.program
			l := b.start("pingpong")
			b.program = whole
			time.Sleep(500 * time.Millisecond)
			t := b.trace(l.pidText(), time.Second)
			l.end()
			begin = append(begin, float64(t.begin.Milliseconds()))
			end = append(end, float64(t.end.Milliseconds()))
			rss = append(rss, float64(t.rss)/1024)
		}
		fmt.Printf("%-28s start %s, stop %s, peak %s MiB\n", one.what, begin, end, rss)
	}
}
