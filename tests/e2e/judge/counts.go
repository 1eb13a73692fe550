// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
)

// account is something that a flat format (v0, go 1.5 to go 1.21) and one with generations both report, each
// with its own events.
type account struct {
	flat, generations []string
	since             int      // Go release of the first flat format that has it; 0 = v0
	before            int      // that of the first that no longer has it; 0 = none
	edges             bool     // what was open or running when the trace began or ended counts in one of them only
	maybe             []string // events with generations, each of which may stand for one more there
}

var accounts = []account{
	{[]string{"GoStart", "GoStartLabel"}, []string{"GoStart", "GoSwitch", "GoSwitchDestroy"}, 0, 0, true, nil},
	{[]string{"GoEnd"}, []string{"GoDestroy", "GoSwitchDestroy"}, 0, 0, false, nil},
	{[]string{"GoSched", "GoPreempt"}, []string{"GoStop"}, 0, 0, true, nil},
	{[]string{"GoStop", "GoSleep", "GoBlock", "GoBlockSend", "GoBlockRecv", "GoBlockSelect", "GoBlockSync",
		"GoBlockCond", "GoBlockNet", "GoBlockGC"}, []string{"GoBlock", "GoSwitch"}, 0, 0, false, nil},
	// A goroutine that is created waiting is runnable in a flat format, and is not woken before it first
	// runs.
	{[]string{"GoUnblock"}, []string{"GoUnblock", "GoSwitch", "GoSwitchDestroy"}, 0, 0, false,
		[]string{"GoCreateBlocked"}},
	{[]string{"GoSysCall"}, []string{"GoSyscallBegin"}, 0, 0, false, nil},
	{[]string{"GoSysExit"}, []string{"GoSyscallEndBlocked"}, 0, 0, true, nil},
	// A P that the end of one call takes from another call continues without a stop and a start.
	{[]string{"ProcStart"}, []string{"ProcStart"}, 0, 0, true, []string{"ProcSteal"}},
	{[]string{"ProcStop"}, []string{"ProcStop", "ProcSteal"}, 0, 0, false, []string{"ProcSteal"}},
	{[]string{"GCStart"}, []string{"GCBegin"}, 0, 0, true, nil},
	{[]string{"GCDone"}, []string{"GCEnd"}, 0, 0, true, nil},
	{[]string{"GCSweepStart"}, []string{"GCSweepBegin"}, 0, 0, true, nil},
	{[]string{"GCSweepDone"}, []string{"GCSweepEnd"}, 0, 0, true, nil},
	{[]string{"HeapAlloc"}, []string{"HeapAlloc"}, 0, 0, false, nil},
	{[]string{"HeapGoal"}, []string{"HeapGoal"}, 0, 0, false, nil},
	{[]string{"GCMarkAssistStart"}, []string{"GCMarkAssistBegin"}, 9, 0, true, nil},
	{[]string{"GCMarkAssistDone"}, []string{"GCMarkAssistEnd"}, 9, 0, true, nil},
	{[]string{"STWStart"}, []string{"STWBegin"}, 21, 0, false, nil},
	{[]string{"STWDone"}, []string{"STWEnd"}, 21, 0, false, nil},
	{[]string{"UserTaskCreate"}, []string{"UserTaskBegin"}, 11, 0, false, nil},
	{[]string{"UserTaskEnd"}, []string{"UserTaskEnd"}, 11, 0, false, nil},
	{[]string{"UserRegion"}, []string{"UserRegionBegin", "UserRegionEnd"}, 11, 0, false, nil},
	{[]string{"UserLog"}, []string{"UserLog"}, 11, 0, false, nil},
	{[]string{"CPUSample"}, []string{"CPUSample"}, 19, 0, false, nil},
	// Earlier formats do not have what later formats have.
	{[]string{"GCMarkAssistStart", "GCMarkAssistDone"}, nil, 0, 9, false, nil},
	{[]string{"STWStart", "STWDone", "GCScanStart", "GCScanDone"}, nil, 0, 10, false, nil},
	{[]string{"UserTaskCreate", "UserTaskEnd", "UserRegion", "UserLog"}, nil, 0, 11, false, nil},
	{[]string{"CPUSample"}, nil, 0, 19, false, nil},
}

// counts compares two outputs of `gotrace check --json`, of a flat trace and of one with generations, made
// from the same raw log.
func counts(args []string) error {
	flags := flag.NewFlagSet("counts", flag.ExitOnError)
	taken := flags.Int("taken", 0, "Ps of the first flat trace that were taken from a call without a stop and a start")
	flags.Parse(args)
	args = flags.Args()
	if len(args) != 2 {
		return fmt.Errorf("needs two outputs of gotrace check --json")
	}
	flat, err := readCounts(args[0])
	if err != nil {
		return err
	}
	whole, err := readCounts(args[1])
	if err != nil {
		return err
	}
	if flat.Format == whole.Format {
		return sameCounts(flat, whole, *taken)
	}
	minor := 0
	if flat.Format != "" && flat.Format != "v0" {
		if _, err := fmt.Sscanf(flat.Format, "1.%d", &minor); err != nil {
			return fmt.Errorf("%s: format %q", args[0], flat.Format)
		}
	}
	var wrong []string
	compared := 0
	for _, one := range accounts {
		if minor < one.since || one.before > 0 && minor >= one.before {
			continue
		}
		a, b := flat.sum(one.flat), whole.sum(one.generations)
		slack := 0
		if one.edges {
			slack = whole.Procs
		}
		if a-b > slack || b-a > slack+whole.sum(one.maybe) {
			wrong = append(wrong, fmt.Sprintf("%s %d, %s %d", strings.Join(one.flat, "+"), a,
				strings.Join(one.generations, "+"), b))
		}
		compared += a
	}
	if compared == 0 {
		wrong = append(wrong, "nothing to compare")
	}
	if wrong != nil {
		slices.Sort(wrong)
		return fmt.Errorf("%s", strings.Join(wrong, "; "))
	}
	fmt.Printf("%d events\n", compared)
	return nil
}

// notCounted are records whose numbers may differ in two equivalent files of one format: tables, and what an
// intermediate format cannot represent.
var notCounted = map[string]bool{"Batch": true, "EventBatch": true, "Stack": true, "Stacks": true, "String": true,
	"Strings": true, "Frequency": true, "TimerGoroutine": true, "GCScanStart": true, "GCScanDone": true}

// sameCounts compares two traces of one format, one made from the other. For what was open at the end, the
// thread may show an end; and a P that is taken from a call stops and starts.
func sameCounts(a, b *counted, taken int) error {
	var wrong []string
	compared := 0
	names := map[string]bool{}
	for _, one := range []*counted{a, b} {
		for name := range one.Events {
			names[name] = true
		}
	}
	for name := range names {
		slack := 0
		if name == "GoSysExit" {
			slack = 2 + a.Procs
		}
		m, n := a.Events[name], b.Events[name]
		if name == "ProcStart" || name == "ProcStop" {
			m += taken
		}
		if !notCounted[name] && (n < m || n > m+slack) {
			wrong = append(wrong, fmt.Sprintf("%s %d, %d", name, m, n))
		}
		compared += m
	}
	if compared == 0 {
		wrong = append(wrong, "nothing to compare")
	}
	if wrong != nil {
		slices.Sort(wrong)
		return fmt.Errorf("%s", strings.Join(wrong, "; "))
	}
	fmt.Printf("%d events\n", compared)
	return nil
}

type counted struct {
	Format string
	Procs  int
	Events map[string]int
}

func readCounts(path string) (*counted, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	found := &counted{}
	if err := json.Unmarshal(raw, found); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return found, nil
}

func (c *counted) sum(names []string) int {
	n := 0
	for _, name := range names {
		n += c.Events[name]
	}
	return n
}
