// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// mix compares the places at which a change of a goroutine's state can be probed, release by release, with an
// empty bpftrace program: the prologues' pushes of park_m, ready and execute; casgstatus, which all changes
// go through; and its calls in those three.
func (b *bench) mix(releases []string) {
	fmt.Println("== where to probe: ns a turn of ping-pong with an empty program there (median, smallest-largest)")
	fmt.Printf("%-10s %-22s %-24s %-24s %s\n", "", "untraced", "pushes of three", "casgstatus", "its calls in three")
	whole := b.program
	for _, release := range releases {
		b.program = filepath.Join(b.dir, "mix-"+release)
		fail(buildLoad(release, b.program+"-plain"))
		mixes, err := addMixes(b.program+"-plain", b.program)
		fail(err)
		cost := map[string]series{}
		for range b.rounds {
			for _, name := range []string{"untraced", "pushes", "funnel", "calls"} {
				cost[name] = append(cost[name], b.turn(mixes[name]))
			}
		}
		fmt.Printf("%-10s %-22s %-24s %-24s %s\n", release, cost["untraced"], cost["pushes"], cost["funnel"], cost["calls"])
	}
	b.program = whole
}

// buildLoad builds this very program with another release.
func buildLoad(release, path string) error {
	command := exec.Command("go", "build", "-buildvcs=false", "-o", path, ".")
	command.Dir = "tools/bench"
	command.Env = append(os.Environ(), "GOTOOLCHAIN=go"+release, "CGO_ENABLED=0")
	out, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("go build with go%s: %w: %s", release, err, out)
	}
	return nil
}

// turn measures ns a turn of ping-pong with an empty program at the symbols.
func (b *bench) turn(symbols []string) float64 {
	var turns, ns float64
	l := b.start("pingpong")
	defer l.end()
	time.Sleep(300 * time.Millisecond)
	end := func() error { return nil }
	if len(symbols) > 0 {
		var script strings.Builder
		for _, symbol := range symbols {
			fmt.Fprintf(&script, "uprobe:%s:%q { 1 }\n", b.program, symbol)
		}
		end = b.watch(nil, "bpftrace", "-p", l.pidText(), "-e", script.String())
	}
	fmt.Sscan(l.say("measure "+b.length.String()), &turns, &ns)
	fail(end())
	return ns / turns
}

// addMixes gives every place of every mix its own symbol.
func addMixes(from, to string) (map[string][]string, error) {
	out, err := exec.Command("go", "tool", "objdump", "-s", `^runtime\.(park_m|ready|execute|casgstatus)$`, from).Output()
	if err != nil {
		return nil, fmt.Errorf("go tool objdump: %w", err)
	}
	file, err := elf.Open(from)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text := file.Section(".text")
	var function, list string
	var kinds []string
	pushed := map[string]bool{}
	for _, line := range strings.Split(string(out), "\n") {
		if name, found := strings.CutPrefix(line, "TEXT runtime."); found {
			function, _, _ = strings.Cut(name, "(")
			continue
		}
		fields := strings.Fields(line)
		if len(fields) < 4 {
			continue
		}
		address, err := strconv.ParseUint(fields[1], 0, 64)
		if err != nil {
			continue
		}
		code, kind := strings.Join(fields[3:], " "), ""
		switch {
		case code == "PUSHQ BP" && !pushed[function]:
			pushed[function] = true
			kind = "pushes"
			if function == "casgstatus" {
				kind = "funnel"
			}
		case code == "CALL runtime.casgstatus(SB)":
			kind = "calls"
		default:
			continue
		}
		kinds = append(kinds, kind)
		list += fmt.Sprintf("%s site %#x\n", function, address-text.Addr+text.Offset)
	}
	names, err := addSymbols(from, to, list)
	mixes := map[string][]string{}
	for k, name := range names {
		mixes[kinds[k]] = append(mixes[kinds[k]], name)
	}
	if err == nil && (len(mixes["pushes"]) != 3 || len(mixes["funnel"]) != 1 || len(mixes["calls"]) < 3) {
		err = fmt.Errorf("%s: the places to probe were not all found: %v", from, mixes)
	}
	return mixes, err
}
