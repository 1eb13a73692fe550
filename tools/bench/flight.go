// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// snapshotEvery is the time between two snapshots of a busy recorder.
const snapshotEvery = 500 * time.Millisecond

// The recorder, compared with the plain trace at the same limit, and with Go's own; "busy" writes a snapshot
// every half second.
var flightSetups = []setup{
	setups[0], // untraced
	gotraceWith("plain", "--max-overhead", "10"),
	flightWith("idle", false),
	flightWith("busy", true),
	gotraceWith("plain-no-limit"),
	flightWith("idle-no-limit", false, "--max-overhead", "1000"),
	flightWith("busy-no-limit", true, "--max-overhead", "1000"),
	{"native", func(b *bench, l *load) func() error {
		l.say("native " + filepath.Join(b.dir, "native"))
		return func() error { l.say("stop"); return nil }
	}},
	{"native-idle", func(b *bench, l *load) func() error { return nativeFlight(b, l, false) }},
	{"native-busy", func(b *bench, l *load) func() error { return nativeFlight(b, l, true) }},
}

// again calls snap periodically until end is called.
func again(snap func()) (end func()) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(snapshotEvery):
				snap()
			}
		}
	}()
	return func() { close(stop); <-stopped }
}

func flightWith(name string, busy bool, options ...string) setup {
	return setup{name, func(b *bench, l *load) func() error {
		dir, err := os.MkdirTemp(b.dir, "flight")
		fail(err)
		args := append([]string{"flight", "-p", l.pidText(), "-o", dir, "--keep", "2"}, options...)
		end, quiet := b.watch([]int{3}, b.gotrace, args...), func() {}
		if busy {
			pid := recorderPid(b)
			quiet = again(func() { syscall.Kill(pid, syscall.SIGUSR1) })
		}
		return func() error {
			quiet()
			err := end()
			written, _ := filepath.Glob(filepath.Join(dir, "*.trace"))
			if busy && len(written) == 0 && err == nil {
				err = fmt.Errorf("gotrace flight has written no snapshot")
			}
			return err
		}
	}}
}

// recorderPid returns the PID that the recorder prints: "... write with: gotrace snapshot -p PID".
func recorderPid(b *bench) (pid int) {
	said, err := os.ReadFile(filepath.Join(b.dir, "tracer.out"))
	fail(err)
	_, rest, found := strings.Cut(string(said), "gotrace snapshot -p ")
	if _, err := fmt.Sscan(rest, &pid); !found || err != nil {
		fail(fmt.Errorf("gotrace flight does not say its PID: %.200s", said))
	}
	return pid
}

func nativeFlight(b *bench, l *load, busy bool) func() error {
	file := "-"
	if busy {
		file = filepath.Join(b.dir, "native")
	}
	if l.say("flight "+file) == "none" {
		return nil
	}
	return func() error { l.say("land"); return nil }
}

// idle: what a recorder takes whose program waits for requests that do not come.
func (b *bench) idle() {
	var took series
	fmt.Println("== idle: CPU time of a recorder of an idle server, in all its processes, in ms a second")
	for range b.rounds {
		l := b.start("http")
		end := flightWith("idle", false).begin(b, l)
		time.Sleep(5 * time.Second) // for what follows attaching
		before, length := b.ownCPU(), 5*b.length
		time.Sleep(length)
		took = append(took, 1000*(b.ownCPU()-before)/length.Seconds())
		fail(end())
		l.end()
	}
	fmt.Printf("%s ms\n", took)
}

// The loads of the comparison.
var flightLoads = []string{"ping-pong", "http, saturated", "http, half load", "syscalls"}

func (b *bench) flight() {
	fmt.Println("== flight: the recorder idle and busy (a snapshot every half second), beside the plain trace and Go's own recorder")
	b.table(flightSetups, flightLoads)
}
