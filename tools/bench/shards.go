// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// shards: logs of loads with 64 Ps, played as if machines of 64 and 256 CPUs
// had made them (tools/bench/shards.c).
func (b *bench) shards() {
	player, err := filepath.Abs("build/bench-shards")
	fail(err)
	os.Setenv("GOMAXPROCS", "64")
	defer os.Unsetenv("GOMAXPROCS")
	var logs []string
	for _, name := range []string{"pingpong", "http", "gc", "syscalls"} {
		raw := filepath.Join(b.dir, name)
		l := b.start(name)
		end := b.watch([]int{3}, b.gotrace, "-p", l.pidText(), "-o", filepath.Join(b.dir, "trace"), "--raw", raw)
		if name == "http" {
			drive(l.address, 0, b.length)
		} else {
			time.Sleep(b.length)
		}
		fail(end())
		l.end()
		logs = append(logs, raw)
	}
	out, err := exec.Command(player, logs...).CombinedOutput()
	fmt.Printf("== one log, several rings\n%s", out)
	fail(err)
}
