// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestPlainName(t *testing.T) {
	for text, want := range map[string]string{
		"main":                        "main",
		"shop::Queue<int, 4>::take()": "shop::Queue<int,4>::take",
		"f(std::vector<int> const&)":  "f",
		"std::function<void (int)>::operator()(int) const":   "std::function<void(int)>::operator{call}",
		"(anonymous namespace)::hide(char)":                  "{anonymous}::hide",
		"msort_with_tmp.part.0":                              "msort_with_tmp",
		"__new_sem_wait_slow64.constprop.0":                  "__new_sem_wait_slow64",
		"std::__invoke_impl<void, void (*)()>(void (*&&)())": "std::__invoke_impl<void,void(*)()>",
		"parked_mode()::{lambda()#4}::operator()() const":    "parked_mode",
	} {
		if got := plainName(text); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}

func TestDebuggerStacks(t *testing.T) {
	text := "[New LWP 7]\nthread 7\nframe poll\nframe work(int)\nframe start_thread\nframe clone3\n" +
		"thread 6\nframe pause\nframe ??\nframe ?? of a library\nframe __libc_start_main_impl\nframe ??\n"
	want := [][]string{{"poll", "work"}, {"pause", "??"}}
	if got := gdbStacks(text); !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}

func TestStacksAgree(t *testing.T) {
	set := &stackSet{seen: map[string]bool{}}
	set.add([]string{"read(3: pipe)", "read", "consume", "consumer [reader]"})
	for text, want := range map[string]bool{
		"__GI___libc_read < consume < consumer": true,
		"read < ?? < consumer":                  true,
		"read < consumer":                       false,
		"write < consume < consumer":            false,
		"read < consume < consumer < main":      false,
	} {
		if _, got := set.find(strings.Split(text, " < ")); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestDemand(t *testing.T) {
	d, err := parseDemand("blocks;root=^main;reason=^pipe$;least=75;min=2")
	if err != nil {
		t.Fatal(err)
	}
	if !d.is("root", "main [x]") || d.is("reason", "pipes") || !d.is("stack", "anything") {
		t.Error("matches wrongly")
	}
	for range 3 {
		d.count(true, "")
	}
	if err := d.judge(); err != nil {
		t.Error(err)
	}
	d.count(false, "network")
	if err := d.judge(); err != nil {
		t.Error("75 % are enough:", err)
	}
	d.count(false, "network")
	if d.judge() == nil {
		t.Error("60 % are not enough")
	}
	for _, bad := range []string{"blocks;root", "blocks;root=(", "blocks;min=x"} {
		if _, err := parseDemand(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestBooks(t *testing.T) {
	most := limits{run: 0.01, wait: 0.05, switches: 0.01, tick: 4_000_000, wake: 4_000, leave: 5_000, least: 20_000_000}
	ours := ledger{run: 1_000_000_000, wait: 400_000_000, voluntary: 1000, forced: 50, wakes: 1000, quick: 30_000_000}
	for name, one := range map[string]struct {
		kernel ledger
		stolen int64
		good   bool
	}{
		"the same":                {ledger{run: 1_000_000_000, wait: 400_000_000, voluntary: 1000, forced: 50}, 0, true},
		"quick starts as running": {ledger{run: 1_030_000_000, wait: 370_000_000, voluntary: 1000, forced: 50}, 0, true},
		"too long on the CPU":     {ledger{run: 1_060_000_000, wait: 400_000_000, voluntary: 1000, forced: 50}, 0, false},
		"too short on the CPU":    {ledger{run: 940_000_000, wait: 400_000_000, voluntary: 1000, forced: 50}, 0, false},
		"that was stolen":         {ledger{run: 940_000_000, wait: 400_000_000, voluntary: 1000, forced: 50}, 60_000_000, true},
		"too long in the queue":   {ledger{run: 1_000_000_000, wait: 450_000_000, voluntary: 1000, forced: 50}, 0, false},
		"switches are missing":    {ledger{run: 1_000_000_000, wait: 400_000_000, voluntary: 1020, forced: 50}, 0, false},
		"preemptions are missing": {ledger{run: 1_000_000_000, wait: 400_000_000, voluntary: 1000, forced: 53}, 0, false},
	} {
		if wrong := ours.against(one.kernel, one.stolen, most); (wrong == nil) != one.good {
			t.Errorf("%s: %v", name, wrong)
		}
	}
}

func TestPerfTurns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "switches")
	line := func(time, prev, state, next string) string {
		return " [000] " + time + ": sched:sched_switch: prev_comm=a b prev_pid=" + prev + " prev_prio=120 prev_state=" +
			state + " ==> next_comm=c next_pid=" + next + " next_prio=120\n"
	}
	text := line("1.000000000", "0", "R", "7") + line("1.100000000", "7", "S", "8") + line("1.300000000", "8", "R+", "7") +
		" [001] 1.350000000: sched:sched_waking: comm=x pid=7 prio=120 target_cpu=000\n" + line("1.400000000", "7", "D", "0")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := perfTurns(path, 1_050_000_000, 1_350_000_000)
	if err != nil {
		t.Fatal(err)
	}
	if got := *list[7]; got.run != 100_000_000 || got.voluntary != 1 || got.forced != 0 {
		t.Errorf("thread 7: %+v", got)
	}
	if got := *list[8]; got.run != 200_000_000 || got.voluntary != 0 || got.forced != 1 {
		t.Errorf("thread 8: %+v", got)
	}
}
