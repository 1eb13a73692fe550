// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// Calls of functions with arguments of all kinds, each printed as gotrace shows it.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"
)

type address struct {
	Scheme string
	Path   string
}

type base struct {
	Tenant int32
}

type request struct {
	base
	Method string
	URL    *address
	Size   uint16
	Body   []byte
	Next   *request
}

type server struct {
	name string
	hits int
}

type pair struct {
	left, right int
}

var out sync.Mutex

func say(format string, args ...interface{}) {
	out.Lock()
	fmt.Printf(format+"\n", args...)
	out.Unlock()
}

// cut returns what gotrace shows of a text that is longer than it reads.
func cut(text string) string {
	if len(text) <= 200 {
		return strconv.Quote(text)
	}
	quoted := strconv.Quote(text[:200])
	return quoted[:len(quoted)-1] + "…\""
}

//go:noinline
func handle(id int, name string, ok bool, body []byte) int {
	say("main.handle id=%d name=%s ok=%v body=%d", id, cut(name), ok, len(body))
	return id + len(name)
}

//go:noinline
func (s *server) serve(r *request, code uint8) int {
	say("main.(*server).serve r.URL.Path=%q r.Tenant=%d size=%d code=%d", r.URL.Path, r.Tenant, r.Size, code)
	s.hits++
	return s.hits
}

//go:noinline
func (s *server) follow(r *request) int {
	say("main.(*server).follow s.name=%q s.hits=%d method=%q body=%d", s.name, s.hits, r.Next.Method, len(r.Next.Body))
	return s.hits
}

// Arguments that do not fit into registers are on the stack.
//
//go:noinline
func many(a, b, c, d, e, f, g, h int, name string, x float64, last int16) int {
	say("main.many h=%d name=%q last=%d", h, name, last)
	return a + b + c + d + e + f + g + h
}

//go:noinline
func composite(p pair, list [2]int, one [1]string, face interface{}, last int64) int64 {
	say("main.composite p.right=%d last=%d", p.right, last)
	return last + int64(list[0])
}

//go:noinline
func (p pair) sum(more int) int {
	say("main.pair.sum p.left=%d recv.right=%d more=%d", p.left, p.right, more)
	return p.left + p.right + more
}

//go:noinline
func odd(text string, expected string) {
	say("main.odd text=%s", expected)
}

func oddTexts() {
	type header struct {
		data uintptr
		len  int
	}
	buffer := strings.Repeat("y", 8192)
	data := (*header)(unsafe.Pointer(&buffer)).data
	show := func(h header, expected string) {
		odd(*(*string)(unsafe.Pointer(&h)), expected)
	}
	long := "\"" + strings.Repeat("y", 200) + "…\""
	show(header{data, 1 << 30}, long)
	show(header{data, 1 << 62}, long)
	show(header{data, -1}, long)
	show(header{data, 0}, "\"\"")
	show(header{0x7fff00000000, 5}, "?")
	show(header{0xdead000000000000, 5}, "?")
	show(header{0, 0}, "\"\"")
	odd("a\"b\\c\n\x1b[31m\xff", `"a\"b\\c\n\x1b[31m\xff"`)
}

func work(from, to int, done chan<- bool) {
	s := &server{name: "srv-" + strconv.Itoa(from)}
	for i := from; i < to; i++ {
		r := &request{base{int32(-i)}, "GET", &address{"http", "/p/" + strconv.Itoa(i)}, uint16(i), nil, nil}
		handle(i*7-3, strings.Repeat("n", i%300)+strconv.Itoa(i), i%2 == 0, make([]byte, i))
		s.serve(r, uint8(i))
		s.follow(&request{Next: &request{Method: "M" + strconv.Itoa(i), Body: make([]byte, i%17)}})
		many(1, 2, 3, 4, 5, 6, 7, i, "m"+strconv.Itoa(i), 1.5, int16(-i))
		composite(pair{i, -i}, [2]int{1, 2}, [1]string{"one"}, i, int64(i)<<40)
		pair{i, 2 * i}.sum(-i)
	}
	done <- true
}

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	done := make(chan bool)
	time.Sleep(300 * time.Millisecond)
	for i := 0; i < 4; i++ {
		go work(i*n, (i+1)*n, done)
	}
	for i := 0; i < 4; i++ {
		<-done
	}
	oddTexts()
	time.Sleep(100 * time.Millisecond)
}
