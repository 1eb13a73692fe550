// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// oldPages serves a trace with the viewer of Go 1.5 to 1.21, and checks all of its pages.
func oldPages(root, binary, trace, need string, limit time.Duration) error {
	minor, err := minorOf(root)
	if err != nil {
		return err
	}
	tools, err := standIns()
	if err != nil {
		return err
	}
	defer os.RemoveAll(tools)
	command := exec.Command(filepath.Join(root, "bin", "go"), "tool", "trace")
	command.Env = append(os.Environ(), "BROWSER=true", "DISPLAY=", "GOROOT="+root, "GOENV=off", "GOFLAGS=",
		"GO111MODULE=off", "GOTOOLCHAIN=local", "GOPATH="+tools,
		"XDG_CONFIG_HOME="+tools, // where go looks for its settings: Go 1.16 forgets GOENV for its children
		"PATH="+tools+":"+filepath.Join(root, "bin")+":"+os.Getenv("PATH"))
	files := []string{trace}
	if binary != "" {
		files = []string{binary, trace}
	}
	return serveBy(command, files, "failed to|panic", limit, func(v *viewer) error {
		err := v.visitOld(minor, strings.Split(need, ","))
		if err == nil {
			fmt.Println(strings.Join(v.seen, ", "))
		}
		return err
	})
}

func minorOf(root string) (int, error) {
	text, err := os.ReadFile(filepath.Join(root, "VERSION"))
	if err != nil {
		return 0, err
	}
	found := regexp.MustCompile(`^go1\.(\d+)`).FindSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("%s/VERSION names no release: %.20q", root, text)
	}
	return strconv.Atoi(string(found[1]))
}

// standIns makes a directory with programs that viewers start: a dot that returns what it should draw, so
// that the rows of a profile can be counted, and an xdg-open, without which Go 1.5 ends.
func standIns() (string, error) {
	dir, err := os.MkdirTemp("", "judge-")
	if err != nil {
		return "", err
	}
	for name, script := range map[string]string{"dot": "#!/bin/sh\nexec cat\n", "xdg-open": "#!/bin/sh\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			os.RemoveAll(dir)
			return "", err
		}
	}
	return dir, nil
}

func (v *viewer) visitOld(minor int, need []string) error {
	list := []page{
		{"main", "/", count(`<a href="`), 6},
		{"trace", "/trace", count(`/jsontrace`), 1},
		{"rows", "/jsontrace", jsonRows, 15},
	}
	if minor >= 11 {
		list = append(list, page{"usertasks", "/usertasks", count(`<table`), 1},
			page{"userregions", "/userregions", count(`<table`), 1})
	}
	for _, name := range []string{"usertask", "userregion"} {
		if minor >= 11 && slices.Contains(need, name+"s") {
			list = append(list, page{name + " kinds", "/" + name + "s", count(`<a href="/` + name + `\?`), 1})
		}
	}
	if minor >= 12 {
		list = append(list, page{"mmu", "/mmu", count(`<html>`), 1},
			page{"mmu-plot", "/mmuPlot?flags=system|background|assist|stw|sweep", count(`\[`), 1})
	}
	for _, one := range list {
		if _, err := v.check(one); err != nil {
			return err
		}
	}
	for _, name := range []string{"sched", "io", "syscall", "block"} {
		if err := v.profile(name, slices.Contains(need, name)); err != nil {
			return err
		}
	}
	return v.eachGroup(minor)
}

// profile counts the nodes that should be drawn. Viewers answer 404 or 500 if there are none.
func (v *viewer) profile(name string, needed bool) error {
	body, err := v.get("/" + name)
	if err != nil && !needed && strings.Contains(err.Error(), "profile is empty") {
		v.seen = append(v.seen, name+" 0")
		return nil
	}
	if err != nil {
		return err
	}
	rows := len(regexp.MustCompile(`(?m)^N\d+ \[label=`).FindAllIndex(body, -1))
	if needed && rows == 0 {
		return fmt.Errorf("/%s has no rows: %.300s", name, body)
	}
	v.seen = append(v.seen, fmt.Sprintf("%s %d", name, rows))
	return nil
}

// eachGroup opens all groups of goroutines, and the first goroutine of each that ran.
func (v *viewer) eachGroup(minor int) error {
	body, err := v.check(page{"goroutines", "/goroutines", count(`<a href="/goroutine\?`), 1})
	if err != nil {
		return err
	}
	named := 0
	for _, link := range regexp.MustCompile(`<a href="(/goroutine\?[^"]*)">([^<]*)`).FindAllSubmatch(body, -1) {
		path := html.UnescapeString(string(link[1]))
		group, err := v.get(path)
		if err != nil {
			return err
		}
		if len(link[2]) == 0 {
			continue // those that never ran
		}
		goid := regexp.MustCompile(`/trace\?goid=(\d+)`).FindSubmatch(group)
		if goid == nil && minor <= 9 {
			continue // up to Go 1.9 those that took no time are not there
		}
		if goid == nil {
			return fmt.Errorf("%s has no goroutines", path)
		}
		named++
		body, err := v.get("/jsontrace?goid=" + string(goid[1]))
		if err != nil {
			return err
		}
		if rows, err := jsonRows(body); err != nil || rows == 0 {
			return fmt.Errorf("goroutine %s has %d rows: %v", goid[1], rows, err)
		}
	}
	if named == 0 {
		return fmt.Errorf("/goroutines has no name: %.300s", body)
	}
	v.seen = append(v.seen, fmt.Sprintf("named groups %d", named))
	return nil
}
