// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Programs in C under their own benchmarks: their throughput under each tracer. Every measurement has its own
// server; the set-ups take turns, so that a noisy machine disturbs them alike.

// watched is a server under load.
type watched struct {
	pid string         // PID of the traced process
	ops func() float64 // operations done so far
	end func()
}

// watcher is one tracer; the other tools run as their users run them.
type watcher struct {
	name  string
	begin func(b *bench, w *watched) (end func() error) // nil: not available here
}

// Some tools end themselves by SIGINT when they receive it.
const bySignal = -1

var watchers = []watcher{
	{"untraced", func(*bench, *watched) func() error { return func() error { return nil } }},
	{"gotrace", func(b *bench, w *watched) func() error {
		return b.watch([]int{3}, b.gotrace, "-p", w.pid, "-o", filepath.Join(b.dir, "trace"))
	}},
	// Records all CPUs, as it always does; with -g it has stacks (by frame pointers) like gotrace.
	{"perf-sched", func(b *bench, w *watched) func() error {
		return b.other("perf", "sched", "record", "-o", filepath.Join(b.dir, "perf"))
	}},
	{"perf-sched-g", func(b *bench, w *watched) func() error {
		return b.other("perf", "sched", "record", "-g", "-o", filepath.Join(b.dir, "perf"))
	}},
	{"strace-c", func(b *bench, w *watched) func() error { return b.other("strace", "-c", "-f", "-p", w.pid) }},
	{"bpftrace-offcpu", func(b *bench, w *watched) func() error {
		return b.other("bpftrace", "-e", fmt.Sprintf(offCPU, w.pid, w.pid))
	}},
}

// offCPU adds up, by stack, how long threads were off their CPUs, and who woke them.
const offCPU = `
tracepoint:sched:sched_switch /pid == %s/ { @left[tid] = nsecs; @stack[tid] = ustack; }
tracepoint:sched:sched_switch /@left[args->next_pid]/ {
	@off[@stack[args->next_pid]] = sum(nsecs - @left[args->next_pid]);
	delete(@left[args->next_pid]);
}
tracepoint:sched:sched_waking /pid == %s/ { @woken[args->pid, ustack] = count(); }
`

// other runs another tool until the returned function is called.
func (b *bench) other(name string, args ...string) func() error {
	path, err := exec.LookPath(name)
	if err != nil {
		return nil
	}
	return b.watch([]int{bySignal}, path, args...)
}

var nativeLoads = []struct {
	name  string
	start func(b *bench) *watched
}{
	{"redis-benchmark", (*bench).redis},
	{"pgbench", func(b *bench) *watched { return b.postgres() }},
	{"pgbench -S", func(b *bench) *watched { return b.postgres("-S") }},
}

// native prints the throughput of each load under each tracer.
func (b *bench) native(only string) {
	fmt.Println("== programs in C: throughput as ratios to untraced: median (smallest-largest)")
	table := map[string]map[string]series{}
	for _, load := range nativeLoads {
		table[load.name] = map[string]series{}
		for range b.rounds {
			for k, one := range watchers {
				if only != "" && k > 0 && !slices.Contains(strings.Split(only, ","), one.name) {
					continue
				}
				if rate := b.throughput(load.start, one); rate > 0 {
					table[load.name][one.name] = append(table[load.name][one.name], rate)
				}
			}
		}
		fmt.Printf("# %s: %s a second untraced\n", load.name, table[load.name]["untraced"])
	}
	fmt.Printf("%-18s", "")
	for _, load := range nativeLoads {
		fmt.Printf(" %-18s", load.name)
	}
	fmt.Println()
	for _, one := range watchers {
		fmt.Printf("%-18s", one.name)
		for _, load := range nativeLoads {
			fmt.Printf(" %-18s", table[load.name][one.name].over(table[load.name]["untraced"]))
		}
		fmt.Println()
	}
}

// throughput returns what a fresh server does per second under one tracer; 0: not available.
func (b *bench) throughput(start func(b *bench) *watched, one watcher) float64 {
	w := start(b)
	defer w.end()
	time.Sleep(time.Second)
	end := one.begin(b, w)
	if end == nil {
		fmt.Printf("# %s is not available here\n", one.name)
		return 0
	}
	before, began := w.ops(), time.Now()
	time.Sleep(b.length)
	rate := (w.ops() - before) / time.Since(began).Seconds()
	if err := end(); err != nil {
		fmt.Printf("# %s: %v\n", one.name, err)
		return 0
	}
	return rate
}

// background starts a command that keeps running; end kills it.
func (b *bench) background(command *exec.Cmd) (end func()) {
	said, err := os.Create(filepath.Join(b.dir, filepath.Base(command.Path)+".out"))
	fail(err)
	if command.Stdout == nil {
		command.Stdout = said
	}
	if command.Stderr == nil {
		command.Stderr = said
	}
	fail(command.Start())
	return func() {
		command.Process.Signal(os.Interrupt)
		killer := time.AfterFunc(5*time.Second, func() { command.Process.Kill() })
		command.Wait()
		killer.Stop()
		said.Close()
	}
}

// within tries until it succeeds.
func within(limit time.Duration, try func() error) {
	var err error
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if err = try(); err == nil {
			return
		}
	}
	fail(err)
}

// --- redis ---

func (b *bench) redis() *watched {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fail(err)
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	listener.Close()
	server := exec.Command("redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", b.dir)
	endServer := b.background(server)
	var client net.Conn
	within(10*time.Second, func() (err error) { client, err = net.Dial("tcp", "127.0.0.1:"+port); return })
	endLoad := b.background(exec.Command("redis-benchmark", "-q", "-p", port, "-c", "16", "-t", "get", "-n", "1000000000"))
	answer := bufio.NewReader(client)
	return &watched{strconv.Itoa(server.Process.Pid),
		func() float64 { return redisCommands(client, answer) },
		func() { endLoad(); client.Close(); endServer() }}
}

// redisCommands asks the server how many commands it has done.
func redisCommands(client net.Conn, answer *bufio.Reader) float64 {
	_, err := fmt.Fprint(client, "INFO stats\r\n")
	fail(err)
	var size, done float64
	head, err := answer.ReadString('\n')
	fail(err)
	_, err = fmt.Sscanf(head, "$%f", &size)
	fail(err)
	for left := int(size) + 2; left > 0; { // and an empty line
		line, err := answer.ReadString('\n')
		fail(err)
		left -= len(line)
		fmt.Sscanf(line, "total_commands_processed:%f", &done)
	}
	return done
}

// --- postgres ---

// postgres refuses to run as root, and its directory must belong to its user.
const postgresUser = "postgres"

// asPostgres returns a command of the newest release installed, run as its user.
func asPostgres(name string, args ...string) *exec.Cmd {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) == 0 {
		fail(fmt.Errorf("no %s: run tools/deps.sh tests", name))
	}
	uid, gid := postgresIDs()
	command := exec.Command(found[len(found)-1], args...)
	command.Dir = "/"
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return command
}

func postgresIDs() (uid, gid int) {
	owner, err := user.Lookup(postgresUser)
	fail(err)
	uid, err = strconv.Atoi(owner.Uid)
	fail(err)
	gid, err = strconv.Atoi(owner.Gid)
	fail(err)
	return uid, gid
}

func must(command *exec.Cmd) string {
	out, err := command.CombinedOutput()
	if err != nil {
		fail(fmt.Errorf("%s: %w: %.300s", strings.Join(command.Args, " "), err, out))
	}
	return strings.TrimSpace(string(out))
}

// postgresServer serves pgbench's tables at a socket in the directory that it returns.
func (b *bench) postgresServer() (place string, query func(text string) (string, error), end func()) {
	place = filepath.Join(b.dir, "postgres")
	socket := []string{"-h", place, "-U", postgresUser}
	if _, err := os.Stat(place); err != nil {
		b.initPostgres(place)
	}
	end = b.background(asPostgres("postgres", "-D", filepath.Join(place, "data"), "-c", "listen_addresses=", "-k", place))
	query = func(text string) (string, error) {
		out, err := asPostgres("psql", append(slices.Clone(socket), "-Atc", text)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	within(10*time.Second, func() error { _, err := query("select 1"); return err })
	if out, _ := query("select to_regclass('pgbench_accounts')"); out == "" {
		must(asPostgres("pgbench", append(slices.Clone(socket), "-i", "-q", "-s", "10", "postgres")...))
	}
	return place, query, end
}

// postgres serves one client, so that one backend does all the work.
func (b *bench) postgres(options ...string) *watched {
	place, query, endServer := b.postgresServer()
	socket := []string{"-h", place, "-U", postgresUser}
	client := asPostgres("pgbench", append(append(slices.Clone(socket), options...), "-n", "-c", "1", "-T", "1000", "-P", "1", "postgres")...)
	progress := &counter{}
	client.Stderr = progress
	endLoad := b.background(client)
	progress.next() // its first connection only asks how large the tables are
	backend, err := query("select pid from pg_stat_activity where application_name = 'pgbench'")
	if _, none := strconv.Atoi(backend); err != nil || none != nil {
		fail(fmt.Errorf("pgbench has no backend: %q, %v", backend, err))
	}
	return &watched{backend, progress.next, func() { endLoad(); endServer() }}
}

func (b *bench) initPostgres(place string) {
	fail(os.Chmod(b.dir, 0o755))
	fail(os.Mkdir(place, 0o700))
	uid, gid := postgresIDs()
	fail(os.Chown(place, uid, gid))
	must(asPostgres("initdb", "-D", filepath.Join(place, "data"), "-A", "trust", "--no-sync"))
}

// counter adds up the transactions of pgbench's lines "progress: 12.0 s, 1234.5 tps, …", one a second.
type counter struct {
	lock  sync.Mutex
	rest  string
	lines int
	done  float64
}

func (c *counter) Write(text []byte) (int, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.rest += string(text)
	for {
		line, rest, found := strings.Cut(c.rest, "\n")
		if !found {
			return len(text), nil
		}
		c.rest = rest
		var at, rate float64
		if n, _ := fmt.Sscanf(line, "progress: %f s, %f tps", &at, &rate); n == 2 {
			c.lines++
			c.done += rate
		}
	}
}

func (c *counter) now() (lines int, done float64) {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.lines, c.done
}

// next waits for the next line, so that the count is one of this moment.
func (c *counter) next() float64 {
	before, _ := c.now()
	for range 500 {
		if lines, done := c.now(); lines > before {
			return done
		}
		time.Sleep(10 * time.Millisecond)
	}
	fail(fmt.Errorf("pgbench is silent"))
	return 0
}
