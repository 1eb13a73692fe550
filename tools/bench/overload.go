// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// The throughput of each load on a machine without idle CPUs: beside busy loops, for which gotrace must wait
// like others. The target has its own session, as services have; where the kernel divides CPUs by session, it
// gets half of them, and gotrace what the busy loops leave of the other half.

const (
	overloadLength = 3 * time.Second // of a trace
	overloadLimit  = 2 * time.Minute // for a trace, and for encoding it
)

var overloads = []struct{ name, program string }{
	{"ping-pong", "pingpong"},
	{"iter.Pull", "iter"},
	{"http", "http-inside"},
	{"system calls", "syscalls"},
	{"ping-pong in C", ""},
}

// overloadSaid is what is read from the JSON summary.
type overloadSaid struct {
	Duration   float64 `json:"duration_ns"`
	NotWatched float64 `json:"not_watched_ns"`
	Lost       struct {
		RingFull float64 `json:"ring_full"`
	}
}

// overload prints the table; only names loads.
func (b *bench) overload(only string) {
	fmt.Printf("== gotrace -d %v beside busy loops\n", overloadLength)
	fmt.Println("| load | busy loops | option | trace length | total time | ring full | not watched | stepped back | throughput, ratio to untraced |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
	for _, one := range overloads {
		if only != "" && !slices.Contains(strings.Split(only, ","), one.name) {
			continue
		}
		for _, loops := range []int{0, 2, 4, 8} {
			for _, options := range [][]string{nil, {"--max-overhead", "10"}} {
				fmt.Printf("| %s | %d | %s | %s |\n", one.name, loops, strings.Join(options, " "),
					b.besideLoops(one.program, loops, options))
			}
		}
	}
}

// besideLoops measures one row: a fresh load, untraced and then traced, beside this number of busy loops.
func (b *bench) besideLoops(program string, loops int, options []string) string {
	turns, end := b.countedLoad(program)
	defer end()
	calm := busy(loops)
	defer calm()
	time.Sleep(500 * time.Millisecond)
	untraced := turns.during(b.length)
	trace := filepath.Join(b.dir, "overload")
	os.Remove(trace)
	out, err := os.Create(filepath.Join(b.dir, "overload.json"))
	fail(err)
	defer out.Close()
	began := time.Now()
	command := exec.Command(b.gotrace, append([]string{"-p", fmt.Sprint(turns.pid), "-d", overloadLength.String(),
		"-o", trace, "--json"}, options...)...)
	command.Stdout = out
	fail(command.Start())
	killer := time.AfterFunc(overloadLimit, func() { command.Process.Kill() })
	for { // the trace begins when its file appears
		if _, err := os.Stat(trace); err == nil || time.Since(began) > overloadLimit {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	traced := turns.during(overloadLength - 100*time.Millisecond)
	err = command.Wait()
	all := time.Since(began)
	calm()
	if !killer.Stop() {
		return fmt.Sprintf("- | not within %v | - | - | - | %.2f", overloadLimit, traced/untraced)
	}
	if status := command.ProcessState.ExitCode(); status != 0 && status != 3 {
		fail(fmt.Errorf("gotrace: %w", err))
	}
	var summary overloadSaid
	text, err := os.ReadFile(out.Name())
	fail(err)
	fail(json.Unmarshal(text, &summary))
	return fmt.Sprintf("%.2f s | %.1f s | %.0f | %.2f s | %s | %.2f", summary.Duration/1e9, all.Seconds(),
		summary.Lost.RingFull, summary.NotWatched/1e9, b.steppedBack(trace), traced/untraced)
}

// busy starts programs that want a CPU each, until calm is called.
func busy(loops int) (calm func()) {
	var list []*exec.Cmd
	for range loops {
		loop := exec.Command("sh", "-c", "while :; do :; done")
		loop.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		fail(loop.Start())
		list = append(list, loop)
	}
	return func() {
		for _, loop := range list {
			loop.Process.Kill()
			loop.Wait()
		}
		list = nil
	}
}

// counted is a load whose turns this program can read.
type counted struct {
	pid   int
	turns *atomic.Int64
}

// during returns how many turns per second it does, over some time.
func (c *counted) during(length time.Duration) float64 {
	before, began := c.turns.Load(), time.Now()
	time.Sleep(length)
	return float64(c.turns.Load()-before) / time.Since(began).Seconds()
}

// countedLoad starts a load in its own session; an empty program is the one in C.
func (b *bench) countedLoad(program string) (c *counted, end func()) {
	path := filepath.Join(b.dir, "turns")
	fail(os.WriteFile(path, make([]byte, 4096), 0o600))
	c = &counted{turns: sharedCounter(path)}
	fail(os.Setenv("TURNS", path))
	defer os.Unsetenv("TURNS")
	if program != "" {
		b.apart = true
		l := b.start(program)
		b.apart = false
		c.pid = l.pid()
		return c, l.end
	}
	command := exec.Command(b.pingpongInC(), "full", "-seconds", "300")
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	fail(command.Start())
	c.pid = command.Process.Pid
	return c, func() { command.Process.Kill(); command.Wait() }
}

// pingpongInC builds the end-to-end tests' program in C.
func (b *bench) pingpongInC() string {
	path := filepath.Join(b.dir, "ctarget")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	sources, err := filepath.Glob("tests/e2e/ctargets/*.c")
	fail(err)
	sources = slices.DeleteFunc(sources, func(name string) bool { return filepath.Base(name) == "plugin.c" })
	out, err := exec.Command("gcc", append([]string{"-std=gnu17", "-O2", "-o", path}, sources...)...).CombinedOutput()
	if err != nil {
		fail(fmt.Errorf("gcc: %w: %s", err, out))
	}
	return path
}

// sharedCounter maps the first word of a file, in which the load counts.
func sharedCounter(path string) *atomic.Int64 {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	fail(err)
	defer file.Close()
	memory, err := syscall.Mmap(int(file.Fd()), 0, 8, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	fail(err)
	return (*atomic.Int64)(unsafe.Pointer(&memory[0]))
}

// notes has short names for the trace's own notes; "" is full detail.
var notes = []struct{ text, name string }{
	{"starts of goroutines are probed", ""},
	{"starts of goroutines are inferred", "starts inferred"},
	{"only starts of goroutines", "starts only"},
	{"stacks are cut short", "short stacks"},
	{"system calls are left out", "no system calls"},
	{"over --max-overhead", "off"},
	{"not watched", "not watched"},
}

func noteName(message string) (name string, known bool) {
	for _, note := range notes {
		if strings.HasPrefix(message, note.text) {
			return note.name, true
		}
	}
	return "", false
}

// steppedBack adds up how long the trace has less than full detail.
func (b *bench) steppedBack(trace string) string {
	command := exec.Command(b.gotrace, "dump", "--json", trace)
	output, err := command.StdoutPipe()
	fail(err)
	fail(command.Start())
	var now, since float64
	level, before, took := "", "", map[string]float64{} // before: the level after a gap
	for lines := bufio.NewScanner(output); lines.Scan(); {
		time, _, _ := strings.Cut(strings.TrimPrefix(lines.Text(), `{"time":`), ",")
		if at, err := strconv.ParseFloat(time, 64); err == nil {
			now = at
		}
		if !strings.Contains(lines.Text(), `"key":"gotrace"`) {
			continue
		}
		var event struct{ Args struct{ Message string } }
		fail(json.Unmarshal(lines.Bytes(), &event))
		name, known := noteName(event.Args.Message)
		if strings.HasPrefix(event.Args.Message, "watched again") {
			name, known = before, true
		}
		if !known {
			continue
		}
		if took[level] += now - since; level != "off" && level != "not watched" {
			before = level
		}
		level, since = name, now
	}
	fail(command.Wait())
	took[level] += now - since
	var list []string
	for _, note := range notes {
		if ns := took[note.name]; note.name != "" && ns > 0 {
			list = append(list, fmt.Sprintf("%s %.2f s", note.name, ns/1e9))
		}
	}
	if len(list) == 0 {
		return "-"
	}
	return strings.Join(list, ", ")
}
