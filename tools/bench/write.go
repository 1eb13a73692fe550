// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Figures in documents: a part's output goes between its marks, <!-- bench PART: begin --> and <!-- bench PART: end -->,
// with the tree that it was measured with. tools/doclint.py fails when the code has changed since.

const costs = "docs/costs.md"

// captured runs a part, and returns what it prints, which is shown, too.
func captured(part func()) string {
	shown := os.Stdout
	read, write, err := os.Pipe()
	fail(err)
	os.Stdout = write
	text := make(chan string)
	go func() {
		var all bytes.Buffer
		io.Copy(io.MultiWriter(shown, &all), read)
		text <- all.String()
	}()
	part()
	os.Stdout = shown
	write.Close()
	return <-text
}

// provenance says when, where and on which tree a figure was measured.
func provenance() string {
	tree := must(exec.Command("git", "rev-parse", "--short=12", "HEAD"))
	if must(exec.Command("git", "status", "--porcelain", "--", "bpf", "src")) != "" {
		fail(fmt.Errorf("the code is not committed: its figures would have no name"))
	}
	return fmt.Sprintf("Measured on %s, tree %s, Linux %s, %d CPUs.", time.Now().UTC().Format("2006-01-02"), tree,
		must(exec.Command("uname", "-r")), runtime.NumCPU())
}

// asMarkdown keeps tables, and fences everything else.
func asMarkdown(text string) string {
	var out []string
	fenced := false
	fence := func(on bool) {
		if fenced != on {
			out = append(out, "```")
		}
		fenced = on
	}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if title, found := strings.CutPrefix(line, "== "); found {
			fence(false)
			out = append(out, strings.ToUpper(title[:1])+title[1:]+":", "")
			continue
		}
		fence(!strings.HasPrefix(line, "|"))
		out = append(out, line)
	}
	fence(false)
	return strings.Join(out, "\n")
}

// writeBlock replaces what is between a part's marks in a document.
func writeBlock(document, part, text string) {
	old, err := os.ReadFile(document)
	fail(err)
	begin, end := "<!-- bench "+part+": begin -->\n", "<!-- bench "+part+": end -->"
	before, rest, found := strings.Cut(string(old), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		fail(fmt.Errorf("%s has no marks for %q", document, part))
	}
	fail(os.WriteFile(document, []byte(before+begin+text+"\n"+end+after), 0o644))
}
