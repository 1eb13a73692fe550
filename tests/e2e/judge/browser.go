// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// browser is a headless browser, controlled by Chrome's DevTools protocol over a pair of pipes: JSON
// messages, each terminated by a zero byte.
type browser struct {
	command *exec.Cmd
	to      *os.File
	from    *os.File
	answers *bufio.Reader
	said    *strings.Builder
	profile string
	last    int
	session string // the page's
}

// browserCommand opens the viewer's page of a trace and waits until the titles asked for are shown.
func browserCommand(args []string) error {
	set := flag.NewFlagSet("browser", flag.ExitOnError)
	release := set.String("go", "", "the toolchain whose viewer serves; empty is the one on PATH")
	goCommand := set.String("gocmd", "go", "the go command")
	program := set.String("browser", "chromium-headless-shell", "the browser")
	view := set.String("view", "proc", "proc or thread")
	want := set.String("titles", "", "titles of tracks that must be there, separated by commas; with * at the end any that begins so")
	limit := set.Duration("timeout", 2*time.Minute, "for everything")
	set.Parse(args)
	if set.NArg() != 1 || *want == "" {
		return errors.New("needs -titles and one trace")
	}
	return serve(*release, *goCommand, set.Arg(0), *limit, func(v *viewer) error {
		b, err := startBrowser(*program, *limit)
		if err != nil {
			return err
		}
		defer b.stop()
		titles, err := b.titles(v.base+"/trace?view="+*view, strings.Split(*want, ","), *limit)
		if err != nil {
			return fmt.Errorf("%w; the browser said: %.500s", err, b.said)
		}
		fmt.Printf("%d titles: %s\n", len(titles), strings.Join(titles, ", "))
		return nil
	})
}

func startBrowser(program string, limit time.Duration) (*browser, error) {
	theirs, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	from, answers, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	profile, err := os.MkdirTemp("", "gotrace-browser")
	if err != nil {
		return nil, err
	}
	// The browser's own sandbox does not run as root; the only page that it opens is the viewer's.
	command := exec.Command(program, "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
		"--window-size=1600,1200", "--user-data-dir="+profile)
	said := &strings.Builder{}
	command.Stderr = said
	command.ExtraFiles = []*os.File{theirs, answers}
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	b := &browser{command: command, to: to, from: from, answers: bufio.NewReader(from), said: said, profile: profile}
	if err := command.Start(); err != nil {
		os.RemoveAll(profile)
		return nil, err
	}
	theirs.Close()
	answers.Close()
	from.SetReadDeadline(time.Now().Add(limit + 20*time.Second))
	return b, nil
}

func (b *browser) stop() {
	syscall.Kill(-b.command.Process.Pid, syscall.SIGKILL)
	b.command.Wait()
	b.to.Close()
	b.from.Close()
	os.RemoveAll(b.profile)
}

// call sends one command and waits for its answer; other messages of the browser are ignored.
func (b *browser) call(method string, params, result any) error {
	b.last++
	message, err := json.Marshal(struct {
		ID      int    `json:"id"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
		Session string `json:"sessionId,omitempty"`
	}{b.last, method, params, b.session})
	if err != nil {
		return err
	}
	if _, err := b.to.Write(append(message, 0)); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	for {
		raw, err := b.answers.ReadBytes(0)
		if err != nil {
			return fmt.Errorf("%s: no answer: %w", method, err)
		}
		var answer struct {
			ID     int             `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal(raw[:len(raw)-1], &answer); err != nil {
			return err
		}
		if answer.ID != b.last {
			continue
		}
		if answer.Error != nil {
			return fmt.Errorf("%s: %s", method, answer.Error)
		}
		return json.Unmarshal(answer.Result, result)
	}
}

func (b *browser) open(url string) error {
	var made struct {
		ID string `json:"targetId"`
	}
	if err := b.call("Target.createTarget", map[string]any{"url": url}, &made); err != nil {
		return err
	}
	var attached struct {
		Session string `json:"sessionId"`
	}
	err := b.call("Target.attachToTarget", map[string]any{"targetId": made.ID, "flatten": true}, &attached)
	b.session = attached.Session
	return err
}

// The viewer (catapult) puts the title of a track into an element tr-ui-b-heading, that of a process, which
// is a group of tracks, into one of class process-track-name. Elements that are not shown have no rectangles.
// Elements may hide their contents in shadow roots.
const shownTitles = `JSON.stringify((function find(root) {
	let found = [];
	for (const e of Array.from(root.querySelectorAll('*'))) {
		if (e.matches('tr-ui-b-heading, .process-track-name') && e.getClientRects().length)
			found.push(((e.shadowRoot || e).textContent || '').replace(/^[\s▾▸]+/, '').trim());
		else if (e.shadowRoot)
			found = found.concat(find(e.shadowRoot));
	}
	return found.filter(title => title);
})(document))`

func (b *browser) shown() ([]string, error) {
	var result struct {
		Result struct {
			Value string `json:"value"`
		} `json:"result"`
		Exception json.RawMessage `json:"exceptionDetails"`
	}
	if err := b.call("Runtime.evaluate", map[string]any{"expression": shownTitles}, &result); err != nil {
		return nil, err
	}
	if result.Exception != nil {
		return nil, fmt.Errorf("in the page: %s", result.Exception)
	}
	var titles []string
	err := json.Unmarshal([]byte(result.Result.Value), &titles)
	return titles, err
}

// titles returns the titles that the page shows, once all wanted ones are among them.
func (b *browser) titles(url string, want []string, limit time.Duration) ([]string, error) {
	if err := b.open(url); err != nil {
		return nil, err
	}
	for end := time.Now().Add(limit); ; time.Sleep(200 * time.Millisecond) {
		shown, err := b.shown()
		if err != nil {
			return nil, err
		}
		missing := slices.DeleteFunc(slices.Clone(want), func(one string) bool {
			return slices.ContainsFunc(shown, func(title string) bool {
				start, any := strings.CutSuffix(one, "*")
				return title == one || any && strings.HasPrefix(title, start)
			})
		})
		if len(missing) == 0 {
			return shown, nil
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("the page does not show %q, but %q", missing, shown)
		}
	}
}
