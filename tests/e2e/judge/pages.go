// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// viewer is a running `go tool trace`.
type viewer struct {
	base   string
	client *http.Client
	seen   []string // "page rows", for the report
}

// A page must answer 200; rows counts what is on it, which must be at least `least`.
type page struct {
	name  string
	path  string
	rows  func(body []byte) (int, error)
	least int
}

func pages(args []string) error {
	set := flag.NewFlagSet("pages", flag.ExitOnError)
	release := set.String("go", "", "the toolchain whose viewer serves, like go1.22.12; empty is the one on PATH")
	goCommand := set.String("gocmd", "go", "the go command")
	need := set.String("rows", "", "profiles that must have rows: any of sched,io,syscall,block,samples, separated by commas")
	limit := set.Duration("timeout", 2*time.Minute, "for everything")
	threads := set.Bool("threads", true, "look at the view by threads, too")
	root := set.String("goroot", "", "the toolchain whose viewer serves, by its directory: of Go 1.5 to 1.21")
	binary := set.String("binary", "", "the traced program, for formats without names")
	set.Parse(args)
	if set.NArg() != 1 {
		return fmt.Errorf("needs one trace")
	}
	if *root != "" {
		return oldPages(*root, *binary, set.Arg(0), *need, *limit)
	}
	return serve(*release, *goCommand, set.Arg(0), *limit, func(v *viewer) error {
		err := v.visit(pageList(*need, *threads))
		if err == nil {
			fmt.Println(strings.Join(v.seen, ", "))
		}
		return err
	})
}

// serve starts the viewer of a release on a trace, and stops it after use.
func serve(release, goCommand, trace string, limit time.Duration, use func(v *viewer) error) error {
	command := exec.Command(goCommand, "tool", "trace")
	command.Env = append(os.Environ(), "BROWSER=true", "DISPLAY=", "GOFLAGS=", "GOWORK=off")
	if release != "" {
		command.Env = append(command.Env, "GOTOOLCHAIN="+release)
	}
	return serveBy(command, []string{trace}, "Encountered error", limit, use)
}

// serveBy starts the command of a viewer on these files. Its output must not match complaint: some pages are
// sent although they failed.
func serveBy(command *exec.Cmd, files []string, complaint string, limit time.Duration, use func(v *viewer) error) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	command.Args = append(append(command.Args, "-http="+address), files...)
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	// `go tool` starts the viewer as a child process: both must be stopped at the end.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() { command.Wait(); close(ended) }()
	v := &viewer{base: "http://" + address, client: &http.Client{Timeout: limit}}
	err = v.waitUp(ended, limit)
	if err == nil {
		err = use(v)
	}
	syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
	<-ended
	if err == nil && regexp.MustCompile(complaint).MatchString(said.String()) {
		err = errors.New("the viewer met an error in the trace")
	}
	if err != nil {
		return fmt.Errorf("%w; go tool trace said: %s", err, strings.TrimSpace(said.String()))
	}
	return nil
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

func (v *viewer) waitUp(ended chan struct{}, limit time.Duration) error {
	for end := time.Now().Add(limit); time.Now().Before(end); {
		if _, err := v.get("/"); err == nil {
			return nil
		}
		select {
		case <-ended:
			return errors.New("the viewer ended")
		case <-time.After(100 * time.Millisecond):
		}
	}
	return errors.New("the viewer does not answer")
}

func (v *viewer) get(path string) ([]byte, error) {
	answer, err := v.client.Get(v.base + path)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s: %.200s", path, answer.Status, body)
	}
	return body, nil
}

// pageList has the routes that cmd/trace of Go 1.22 (its v2 folder) to 1.26 share. The profiles are fetched
// raw: drawing them needs graphviz. The view by threads of a flat trace crashes in Go 1.26, also for native
// traces (seen with one of Go 1.11.13): a goroutine that was in a system call when the trace began is on no
// thread there, and "non-executing goroutine stopped" when it comes back.
func pageList(need string, threads bool) []page {
	list := []page{
		{"main", "/", count(`<a href="`), 10},
		{"goroutines", "/goroutines", count(`<a href="/goroutine\?`), 1},
		{"trace", "/trace?view=proc", count(`/jsontrace`), 1},
		{"by-proc", "/jsontrace?view=proc", jsonRows, 15}, // an idle program has few
		{"by-thread", "/jsontrace?view=thread", jsonRows, 15},
		{"mmu", "/mmu", count(`<html>`), 1},
		{"usertasks", "/usertasks", count(`<table`), 1},
		{"userregions", "/userregions", count(`<table`), 1},
	}
	if !threads {
		list = slices.DeleteFunc(list, func(one page) bool { return one.name == "by-thread" })
	}
	needed := func(name string) int {
		if slices.Contains(strings.Split(need, ","), name) {
			return 1
		}
		return 0
	}
	for _, name := range []string{"usertasks", "userregions"} {
		link := count(`<a href="` + strings.TrimSuffix("/"+name, "s") + `\?`)
		list = append(list, page{name + " kinds", "/" + name, link, needed(name)})
	}
	for _, name := range []string{"sched", "io", "syscall", "block"} {
		list = append(list, page{name, "/" + name + "?raw=1", profileRows, needed(name)})
	}
	if strings.Contains(need, "samples") {
		list = append(list, page{"samples", "/jsontrace?view=proc", count(`"name":"CPU profile sample"`), 1})
	}
	return list
}

// plot is printed, but not judged: on some traces, also on Go's own, the viewer (Go 1.26
// internal/trace/gc.go, MutatorUtilizationV2) indexes with -1 when a goroutine in a mark assist leaves a
// system call without a P.
var plot = page{"mmu-plot", "/mmu?mode=plot&flags=system|background|assist|stw|sweep", count(`\[`), 1}

func (v *viewer) visit(list []page) error {
	for _, one := range list {
		body, err := v.check(one)
		if err != nil {
			return err
		}
		if one.name == "goroutines" {
			err = v.follow(body)
		} else if strings.HasSuffix(one.name, " kinds") && one.least > 0 {
			err = v.followUser(body)
		}
		if err != nil {
			return err
		}
	}
	if _, err := v.check(plot); err != nil {
		v.seen = append(v.seen, "mmu-plot failed in the viewer")
	}
	return nil
}

func (v *viewer) check(one page) ([]byte, error) {
	body, err := v.get(one.path)
	if err != nil {
		return nil, err
	}
	rows, err := one.rows(body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", one.path, err)
	}
	if rows < one.least {
		return nil, fmt.Errorf("%s has %d rows, at least %d wanted: %.300s", one.path, rows, one.least, body)
	}
	v.seen = append(v.seen, fmt.Sprintf("%s %d", one.name, rows))
	return body, nil
}

// follow opens the first group of goroutines and the first goroutine in it.
func (v *viewer) follow(body []byte) error {
	link := regexp.MustCompile(`<a href="(/goroutine\?[^"]*)"`).FindSubmatch(body)
	group, err := v.check(page{"group", html.UnescapeString(string(link[1])), count(`<a href="/trace\?goid=`), 1})
	if err != nil {
		return err
	}
	goid := regexp.MustCompile(`/trace\?goid=(\d+)`).FindSubmatch(group)
	_, err = v.check(page{"one", "/jsontrace?goid=" + string(goid[1]), jsonRows, 1})
	return err
}

// followUser opens the first kind of task or region: a row for each of them.
func (v *viewer) followUser(body []byte) error {
	link := regexp.MustCompile(`<a href="(/user(?:task|region)\?[^"]*)"`).FindSubmatch(body)
	path := html.UnescapeString(string(link[1]))
	_, err := v.check(page{"of one kind", path, count(`<tr`), 2})
	return err
}

func count(pattern string) func([]byte) (int, error) {
	compiled := regexp.MustCompile(pattern)
	return func(body []byte) (int, error) { return len(compiled.FindAllIndex(body, -1)), nil }
}

func jsonRows(body []byte) (int, error) {
	var data struct {
		TraceEvents []json.RawMessage `json:"traceEvents"`
	}
	err := json.Unmarshal(body, &data)
	return len(data.TraceEvents), err
}

// profileRows counts the samples (field 2) of a gzipped pprof protocol buffer.
func profileRows(body []byte) (int, error) {
	unzip, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	raw, err := io.ReadAll(unzip)
	if err != nil {
		return 0, err
	}
	rows := 0
	for len(raw) > 0 {
		tag, n := binary.Uvarint(raw)
		if n <= 0 {
			return 0, errors.New("bad profile")
		}
		raw = raw[n:]
		size, n := binary.Uvarint(raw)
		if n <= 0 {
			return 0, errors.New("bad profile")
		}
		raw = raw[n:]
		if tag>>3 == 2 {
			rows++
		}
		if tag&7 == 2 {
			if size > uint64(len(raw)) {
				return 0, errors.New("bad profile")
			}
			raw = raw[size:]
		}
	}
	return rows, nil
}
