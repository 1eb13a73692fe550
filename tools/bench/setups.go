// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"bufio"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// setup is one way to trace the load. begin starts it, and returns the function that ends it; nil means that
// the set-up is not available here.
type setup struct {
	name  string
	begin func(b *bench, l *load) (end func() error)
}

// usual are the few that the first tables show; the table of part "target" has all.
var usual = []string{"untraced", "empty", "gotrace", "native", "bpftrace-entries", "bpftrace-sites"}

var setups = []setup{
	{"untraced", func(*bench, *load) func() error { return func() error { return nil } }},
	{"empty", func(b *bench, l *load) func() error {
		return b.watch(nil, b.gotrace, "-p", l.pidText(), "--probe-only")
	}},
	// Without the limit, which ping-pong exceeds: what a hit costs, not how often hits are left out.
	gotraceWith("gotrace", "--max-overhead", "none"),
	gotraceWith("exact", "--detail=exact"),
	gotraceWith("light", "--detail=light", "--max-overhead", "none"),
	gotraceWith("spans", "--detail=starts", "--max-overhead", "none"),
	gotraceWith("rings-2", "--rings", "2", "--max-overhead", "none"),
	gotraceWith("no-syscalls", "--no-syscalls", "--max-overhead", "none"),
	gotraceWith("no-samples", "--cpu-samples=0", "--max-overhead", "none"),
	gotraceWith("alloc", "--alloc", "--max-overhead", "none"),
	gotraceWith("locks", "--locks", "--max-overhead", "none"),
	gotraceWith("cpus", "--os=all", "--max-overhead", "none"),
	gotraceWith("requests", "--requests=http", "--max-overhead", "none"),
	gotraceWith("task", "--task", "net/http.serverHandler.ServeHTTP", "--max-overhead", "none"),
	gotraceWith("default"),
	gotraceWith("max-10%", "--max-overhead", "10"),
	{"native", func(b *bench, l *load) func() error {
		l.say("native " + filepath.Join(b.dir, "native"))
		return func() error { l.say("stop"); return nil }
	}},
	{"bpftrace-entries", func(b *bench, l *load) func() error {
		return b.bpftrace(l, []string{"runtime.gopark", "runtime.ready", "runtime.execute"})
	}},
	{"perf-trace", func(b *bench, l *load) func() error {
		path, err := exec.LookPath("perf")
		if err != nil || l.name != "syscalls" {
			return nil
		}
		return b.watch(nil, path, "trace", "-s", "-p", l.pidText())
	}},
	// OpenTelemetry's eBPF instrumentation for Go, if the variable has the path of its program: it is not in
	// Debian, and its module (go.opentelemetry.io/auto, cli) has to be built with `go generate` first.
	{"otel-auto", func(b *bench, l *load) func() error {
		path := os.Getenv("OTEL_GO_AUTO")
		if path == "" {
			return nil
		}
		os.Setenv("OTEL_TRACES_EXPORTER", "none")
		return b.watch(nil, path, "-target-pid", l.pidText())
	}},
	{"bpftrace-sites", func(b *bench, l *load) func() error {
		if len(b.sites) == 0 {
			return nil
		}
		return b.bpftrace(l, b.sites)
	}},
}

// gotraceWith returns a set-up that makes a trace with these options.
func gotraceWith(name string, options ...string) setup {
	return setup{name, func(b *bench, l *load) func() error {
		trace := filepath.Join(b.dir, "trace")
		return b.watch([]int{3}, b.gotrace, append([]string{"-p", l.pidText(), "-o", trace}, options...)...)
	}}
}

// How long gotrace, and other tracers, may take to attach all their probes.
const (
	settle      = 1500 * time.Millisecond
	settleOther = 3 * time.Second
)

// watch runs a tracer, which SIGINT ends. Exit statuses in also count as success.
func (b *bench) watch(also []int, name string, args ...string) func() error {
	command := exec.Command(name, args...)
	said, err := os.Create(filepath.Join(b.dir, "tracer.out"))
	fail(err)
	command.Stdout, command.Stderr = said, said
	fail(command.Start())
	b.tracer = command.Process.Pid
	if name == b.gotrace {
		time.Sleep(settle)
	} else {
		time.Sleep(settleOther)
	}
	return func() error {
		b.tracer = 0
		command.Process.Signal(syscall.SIGINT)
		killer := time.AfterFunc(time.Minute, func() { command.Process.Kill() })
		err := command.Wait()
		killer.Stop()
		said.Close()
		for _, status := range also {
			if command.ProcessState.ExitCode() == status {
				err = nil
				if status != bySignal {
					fmt.Printf("# %s ended with status %d\n", filepath.Base(name), status)
				}
			}
		}
		if err != nil {
			text, _ := os.ReadFile(said.Name())
			return fmt.Errorf("%s: %w: %.300s", filepath.Base(name), err, text)
		}
		return nil
	}
}

// bpftrace counts hits of the functions' first instructions, as its users do.
func (b *bench) bpftrace(l *load, functions []string) func() error {
	path, err := exec.LookPath("bpftrace")
	if err != nil {
		fmt.Println("# no bpftrace here")
		return nil
	}
	var script strings.Builder
	for _, function := range functions {
		fmt.Fprintf(&script, "uprobe:%s:%q { @[%q] = count(); }\n", b.program, function, function)
	}
	end := b.watch(nil, path, "-p", l.pidText(), "-e", script.String())
	return func() error {
		if err := end(); err != nil {
			return err
		}
		text, err := os.ReadFile(filepath.Join(b.dir, "tracer.out"))
		if err == nil && !strings.Contains(string(text), "@[") {
			err = fmt.Errorf("bpftrace counted nothing: %.300s", text)
		}
		return err
	}
}

// load is the traced program, which takes commands as words.
type load struct {
	name    string
	command *exec.Cmd
	input   io.WriteCloser
	output  *bufio.Reader
	address string
}

func (b *bench) start(name string) *load {
	l := &load{name: name, command: exec.Command(b.program, "load", name)}
	l.command.SysProcAttr = &syscall.SysProcAttr{Setsid: b.apart}
	var err error
	l.input, err = l.command.StdinPipe()
	fail(err)
	output, err := l.command.StdoutPipe()
	fail(err)
	l.command.Stderr = os.Stderr
	fail(l.command.Start())
	l.output = bufio.NewReader(output)
	_, l.address, _ = strings.Cut(l.hear(), " ")
	return l
}

func (l *load) hear() string {
	line, err := l.output.ReadString('\n')
	if err != nil {
		fail(fmt.Errorf("the load does not answer: %w", err))
	}
	return strings.TrimSpace(line)
}

func (l *load) say(words string) string {
	_, err := fmt.Fprintln(l.input, words)
	fail(err)
	return l.hear()
}

func (l *load) end() {
	l.input.Close()
	killer := time.AfterFunc(10*time.Second, func() { l.command.Process.Kill() })
	l.command.Wait()
	killer.Stop()
}

func (l *load) pid() int        { return l.command.Process.Pid }
func (l *load) pidText() string { return strconv.Itoa(l.pid()) }

// cpu returns the time that the load has spent so far, in all its threads.
func (l *load) cpu() time.Duration {
	var total time.Duration
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", l.pid()))
	fail(err)
	for _, task := range tasks {
		var ns int64
		if line, err := os.ReadFile(task); err == nil {
			fmt.Sscan(string(line), &ns)
			total += time.Duration(ns)
		}
	}
	return total
}

// addSymbols copies an executable and gives every site of gotrace's list
// ("FUNCTION+0xOFFSET SITE FILE_OFFSET" a line) a symbol; returns their names.
func addSymbols(from, to, list string) ([]string, error) {
	file, err := elf.Open(from)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text := file.Section(".text")
	if text == nil {
		return nil, fmt.Errorf("%s: no .text", from)
	}
	var names, args []string
	for _, line := range strings.Split(list, "\n") {
		fields := strings.Fields(line)
		if len(fields) < 3 {
			continue
		}
		offset, err := strconv.ParseUint(fields[len(fields)-1], 0, 64)
		if err != nil || offset < text.Offset || offset >= text.Offset+text.FileSize {
			return nil, fmt.Errorf("gotrace sites: what is %q?", line)
		}
		name := fmt.Sprintf("gotrace_site_%d", len(names))
		names = append(names, name)
		args = append(args, "--add-symbol", fmt.Sprintf("%s=.text:%#x,function,global", name, offset-text.Offset))
	}
	out, err := exec.Command("objcopy", append(args, from, to)...).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("objcopy: %w: %s", err, out)
	}
	return names, sizeSymbols(to)
}

// sizeSymbols gives the added symbols a size, which objcopy cannot set and bpftrace needs.
func sizeSymbols(path string) error {
	const entry, sizeAt = 24, 16 // Elf64_Sym and its st_size
	file, err := elf.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	symbols, err := file.Symbols()
	if err != nil {
		return err
	}
	raw, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer raw.Close()
	table := int64(file.SectionByType(elf.SHT_SYMTAB).Offset)
	for k, symbol := range symbols { // without the first entry, which is empty
		if strings.HasPrefix(symbol.Name, "gotrace_site_") {
			size := binary.LittleEndian.AppendUint64(nil, 1)
			if _, err := raw.WriteAt(size, table+int64(k+1)*entry+sizeAt); err != nil {
				return err
			}
		}
	}
	return nil
}
