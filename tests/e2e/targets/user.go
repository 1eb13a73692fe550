// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/trace"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

func init() {
	modes["user"] = user
	modes["usertruth"] = userTruth
}

// A notebook records what one goroutine did; nil: it is not requested. Tasks go by their names.
type notebook struct {
	lines []string
	began []time.Time
}

func (n *notebook) note(format string, args ...any) {
	if n != nil {
		n.lines = append(n.lines, fmt.Sprintf(format, args...))
	}
}

func (n *notebook) begin(name, task string) {
	if n != nil {
		n.note("begin %q %q", name, task)
		n.began = append(n.began, time.Now())
	}
}

func (n *notebook) end(name string) {
	if n != nil {
		last := len(n.began) - 1
		n.note("end %q %d", name, time.Since(n.began[last]))
		n.began = n.began[:last]
	}
}

// A job is a goroutine's share of a task.
type job struct {
	name  string
	ctx   context.Context
	task  string
	notes *notebook
}

func (j *job) in(kind string) string { return j.name + "/" + kind }

// deferred ends its region as the documentation recommends.
func (j *job) deferred(depth int) {
	defer j.notes.end(j.in("deferred"))
	defer trace.StartRegion(j.ctx, j.in("deferred")).End()
	j.notes.begin(j.in("deferred"), j.task)
	spin(20 * time.Microsecond)
	if depth > 0 {
		j.deferred(depth - 1)
	}
}

// opened leaves the end to its caller.
func (j *job) opened() *trace.Region {
	r := trace.StartRegion(j.ctx, j.in("handed"))
	j.notes.begin(j.in("handed"), j.task)
	return r
}

// closed ends a region in a deferred function literal, after a panic.
func (j *job) closed() {
	r := trace.StartRegion(j.ctx, j.in("panicked"))
	j.notes.begin(j.in("panicked"), j.task)
	defer func() {
		recover()
		j.notes.end(j.in("panicked"))
		r.End()
	}()
	panic("as it should")
}

// ended calls End through a method value.
func (j *job) ended() {
	end := trace.StartRegion(j.ctx, j.in("value")).End
	j.notes.begin(j.in("value"), j.task)
	hold(&end)
	j.notes.end(j.in("value"))
	end()
}

//go:noinline
func hold(*func()) {}

// regions makes regions in all ways, nested, and over a blocking wait.
func (j *job) regions() {
	outer := trace.StartRegion(j.ctx, j.in("outer"))
	j.notes.begin(j.in("outer"), j.task)
	j.deferred(2)
	handed := j.opened()
	trace.WithRegion(j.ctx, j.in("with"), func() {
		j.notes.begin(j.in("with"), j.task)
		inner := trace.StartRegion(j.ctx, j.in("inner"))
		j.notes.begin(j.in("inner"), j.task)
		time.Sleep(200 * time.Microsecond)
		j.notes.end(j.in("inner"))
		inner.End()
		j.notes.end(j.in("with"))
	})
	j.notes.end(j.in("handed"))
	handed.End()
	j.closed()
	j.ended()
	background := trace.StartRegion(context.Background(), j.in("background"))
	j.notes.begin(j.in("background"), "")
	j.notes.end(j.in("background"))
	background.End()
	j.notes.end(j.in("outer"))
	outer.End()
}

type userKey struct{}

// errand is a task with a subtask, whose regions are on two goroutines, and logs.
func errand(name string, size int, notes [2]*notebook) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ctx, task := trace.NewTask(ctx, name+" task")
	notes[0].note("task %q %q", name+" task", "")
	trace.Log(ctx, name, strings.Repeat("m", size))
	notes[0].note("log %q %q %d", name+" task", name, min(size, 1024))
	one := &job{name + ".a", context.WithValue(ctx, userKey{}, 1), name + " task", notes[0]}
	one.regions()

	sub, subtask := trace.NewTask(context.WithoutCancel(one.ctx), name+" subtask")
	notes[0].note("task %q %q", name+" subtask", name+" task")
	done := make(chan bool)
	go func() {
		two := &job{name + ".b", sub, name + " subtask", notes[1]}
		two.regions()
		trace.Log(sub, "", "an empty category")
		notes[1].note("log %q %q %d", two.task, "", 17)
		subtask.End()
		notes[1].note("done %q", two.task)
		close(done)
	}()
	<-done
	task.End()
	notes[0].note("done %q", one.task)
}

// user makes annotations until the program ends.
func user(opt *options) {
	for i := 0; i < or(opt.count, 3); i++ {
		go func() {
			for n := 0; ; n++ {
				errand(fmt.Sprint("user", i), 1000+n%50, [2]*notebook{}) // both sides of the limit
				time.Sleep(time.Millisecond)
			}
		}()
	}
}

// untouched returns the text in a page of a file that this program has not touched.
func untouched(text string) string {
	const size, at = 1 << 20, 700_000
	file, err := os.CreateTemp("", "untouched")
	check(err)
	defer file.Close()
	check(os.Remove(file.Name()))
	check(file.Truncate(size))
	_, err = file.WriteAt([]byte(text), at)
	check(err)
	memory, err := syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	check(err)
	return unsafe.String(&memory[at], len(text))
}

// farName begins a region whose name is in memory that nothing has read.
func farName(notes *notebook) {
	const name = "from a far page"
	region := trace.StartRegion(context.Background(), untouched(name))
	notes.begin(name, "")
	notes.end(name)
	region.End()
}

// userTruth waits for SIGUSR2, does a fixed number of errands, each on
// goroutines of its own, four at a time, and prints what each goroutine did.
func userTruth(opt *options) {
	usr2 := make(chan os.Signal, 1)
	signal.Notify(usr2, syscall.SIGUSR2)
	go func() {
		<-usr2
		var all sync.WaitGroup
		notes := make([][2]*notebook, or(opt.count, 60))
		for i := range notes {
			notes[i] = [2]*notebook{{}, {}}
			all.Add(1)
			go func() {
				defer all.Done()
				errand(fmt.Sprint("errand", i), 1000+i, notes[i])
			}()
			if i%4 == 3 {
				all.Wait()
			}
		}
		all.Wait()
		far := [2]*notebook{{}, {}}
		notes = append(notes, far)
		all.Add(2)
		for _, one := range far {
			go func() {
				defer all.Done()
				trace.Log(context.Background(), fmt.Sprintf("far %p", one), "")
				one.note("log %q %q %d", "", fmt.Sprintf("far %p", one), 0)
				farName(one)
			}()
		}
		all.Wait()
		for _, pair := range notes {
			for _, one := range pair {
				fmt.Printf("goroutine\n%s\n", strings.Join(one.lines, "\n"))
			}
		}
		fmt.Println("all printed")
	}()
}
