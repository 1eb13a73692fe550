// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// Command hotprofile writes a CPU profile in which every call of the functions that gotrace probes is hot, so
// that a build with it (go build -pgo) inlines as many of them as the compiler can; or in which a random part of
// all calls in the runtime is hot:
//
//	hotprofile BINARY [SEED] >PROFILE
//
// BINARY is a build without a profile, by the same release: its calls and their lines are those of the profile.
package main

import (
	"bufio"
	"debug/buildinfo"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// Functions without their package.
var hot = `casgstatus casGToWaiting casGToPreemptScan ready goready gopark goparkunlock
goschedImpl gopreempt_m goyield gdestroy goexit0 newproc1 injectglist findRunnable execute park_m
(*gcControllerState).findRunnableGCWorker (*gcControllerState).update (*gcControllerState).resetLive
gcPaceScavenger acquirep wirep releasep releasepNoTrace
entersyscallHandleGCWait entersyscall_gcwait reentersyscall
exitsyscall0 exitsyscallNoP procresize stopTheWorldWithSema startTheWorldWithSema preemptPark
(*mheap).reclaim (*mheap).reclaimChunk (*mheap).initSpan (*mheap).freeSpanLocked (*mcentral).cacheSpan
deductSweepCredit stackalloc stackfree chanrecv chansend semacquire1 selectgo`

type edge struct {
	caller string
	start  int // line at which the caller begins
	line   int // of the call
	callee string
}

var (
	text = regexp.MustCompile(`^TEXT (runtime\.\S+)\(SB\)`)
	line = regexp.MustCompile(`^  \S+\.go:(\d+)\t`)
	call = regexp.MustCompile(`\tCALL (runtime\.\S+)\(SB\)`)
)

// One call in so many is hot. If all of them are, code that must not grow its stack uses too much of it.
const part = 7

// edges lists the calls of the wanted functions, or if random is given, calls that it chooses.
func edges(binary string, random *rand.Rand) ([]edge, error) {
	wanted := map[string]bool{}
	for _, name := range strings.Fields(hot) {
		wanted["runtime."+name] = true
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	// A copy of procresize by Go 1.21 may not show the number of Ps: gotrace refuses such a program.
	wanted["runtime.procresize"] = !strings.HasPrefix(info.GoVersion, "go1.21")
	out, err := exec.Command("go", "tool", "objdump", "-s", `^runtime\.`, binary).Output()
	if err != nil {
		return nil, err
	}
	var found []edge
	caller, start := "", 0
	for scan := bufio.NewScanner(strings.NewReader(string(out))); scan.Scan(); {
		if m := text.FindStringSubmatch(scan.Text()); m != nil {
			caller, start = m[1], 0
			continue
		}
		m := line.FindStringSubmatch(scan.Text())
		if m == nil {
			continue
		}
		at, _ := strconv.Atoi(m[1])
		if start == 0 {
			start = at
		}
		if m := call.FindStringSubmatch(scan.Text()); m != nil && (random == nil && wanted[m[1]] || random != nil && random.Intn(part) == 0) {
			found = append(found, edge{caller, start, at, m[1]})
		}
	}
	return found, nil
}

// message builds a protocol buffer message.
type message []byte

func (m *message) varint(v uint64) {
	for ; v >= 0x80; v >>= 7 {
		*m = append(*m, byte(v)|0x80)
	}
	*m = append(*m, byte(v))
}

func (m *message) number(field int, v uint64) {
	m.varint(uint64(field) << 3)
	m.varint(v)
}

func (m *message) bytes(field int, b []byte) {
	m.varint(uint64(field)<<3 | 2)
	m.varint(uint64(len(b)))
	*m = append(*m, b...)
}

// profile is a message Profile of pprof's profile.proto.
type profile struct {
	message
	strings   map[string]uint64
	functions map[string]uint64
	locations uint64
}

func (p *profile) text(s string) uint64 {
	if i, ok := p.strings[s]; ok {
		return i
	}
	i := uint64(len(p.strings))
	p.strings[s] = i
	p.bytes(6, []byte(s))
	return i
}

func (p *profile) valueType(field int, kind, unit string) {
	var v message
	v.number(1, p.text(kind))
	v.number(2, p.text(unit))
	p.bytes(field, v)
}

func (p *profile) function(name string, start int) uint64 {
	if id, ok := p.functions[name]; ok {
		return id
	}
	id := uint64(len(p.functions) + 1)
	p.functions[name] = id
	var f message
	f.number(1, id)
	f.number(2, p.text(name))
	f.number(3, p.text(name))
	f.number(5, uint64(start))
	p.bytes(5, f)
	return id
}

func (p *profile) location(function uint64, line int) uint64 {
	p.locations++
	var l, m message
	l.number(1, function)
	l.number(2, uint64(line))
	m.number(1, p.locations)
	m.number(3, p.locations)
	m.bytes(4, l)
	p.bytes(4, m)
	return p.locations
}

func (p *profile) sample(leaf, caller uint64) {
	var s message
	for _, id := range []uint64{leaf, caller} {
		s.number(1, id)
	}
	for _, v := range []uint64{1, 10000000} {
		s.number(2, v)
	}
	p.bytes(2, s)
}

func main() {
	var random *rand.Rand
	if len(os.Args) == 3 {
		if seed, err := strconv.ParseInt(os.Args[2], 10, 64); err == nil {
			random = rand.New(rand.NewSource(seed))
		}
	}
	if len(os.Args) != 2 && random == nil {
		fmt.Fprintln(os.Stderr, "usage: hotprofile BINARY [SEED] >PROFILE")
		os.Exit(2)
	}
	all, err := edges(os.Args[1], random)
	if err != nil || len(all) == 0 {
		fmt.Fprintf(os.Stderr, "hotprofile: %s: no calls found: %v\n", os.Args[1], err)
		os.Exit(1)
	}
	p := &profile{strings: map[string]uint64{}, functions: map[string]uint64{}}
	p.text("")
	p.valueType(1, "samples", "count")
	p.valueType(1, "cpu", "nanoseconds")
	p.valueType(11, "cpu", "nanoseconds")
	p.number(12, 10000000)
	for _, e := range all {
		leaf := p.location(p.function(e.callee, 1), 1)
		p.sample(leaf, p.location(p.function(e.caller, e.start), e.line))
	}
	os.Stdout.Write(p.message)
	fmt.Fprintf(os.Stderr, "hotprofile: %d calls\n", len(all))
}
