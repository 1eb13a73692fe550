// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"time"
)

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// serve starts one of the services, whose name begins with the word, and prints "ready PID ONLY_FULL METRICS REQUEST". For each line
// "RATE LENGTH" on standard input it is loaded, and "ANSWERS PER_SECOND" printed. It ends with standard input.
func (b *bench) serve(name string) {
	for _, one := range services {
		if !strings.HasPrefix(one.name, name) {
			continue
		}
		if !installed(one.needs) {
			fmt.Println("missing", one.needs)
			return
		}
		s := one.start(b)
		if s == nil {
			fmt.Println("missing", name)
			return
		}
		defer s.end()
		fmt.Println("ready", s.pid, s.onlyFull, orDash(s.metrics), orDash(s.request))
		for words := bufio.NewScanner(os.Stdin); words.Scan(); {
			var rate float64
			var text string
			_, err := fmt.Sscan(words.Text(), &rate, &text)
			fail(err)
			length, err := time.ParseDuration(text)
			fail(err)
			got := s.load(rate, length)
			fmt.Println(got.n, got.perSecond)
		}
		return
	}
	fail(fmt.Errorf("no service %q", name))
}
