// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"syscall"
	"time"
)

// httpLoad: a server on loopback and clients with keep-alive, some requests slow.
func httpLoad(opt *options) {
	var (
		mu    sync.Mutex
		seen  = map[string]int{}
		queue = make(chan string, 4)
	)
	go func() {
		for path := range queue {
			mu.Lock()
			seen[path]++
			mu.Unlock()
		}
	}()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		queue <- r.URL.Path
		if r.URL.Path == "/slow" {
			time.Sleep(5 * time.Millisecond)
		}
		w.Write(bytes.ToUpper(body))
	}))
	for i := 0; i < or(opt.count, 8); i++ {
		client := &http.Client{Transport: &http.Transport{}, Timeout: 10 * time.Second}
		go func() {
			for n := 0; ; n++ {
				path := [...]string{"/a", "/b", "/slow"}[n%3]
				answer, err := client.Post(fmt.Sprintf("http://%s%s", listener.Addr(), path), "text/plain",
					bytes.NewReader(make([]byte, 512)))
				check(err)
				io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
				time.Sleep(500 * time.Microsecond)
			}
		}()
	}
}

// syscalls: calls that block for long (sysmon takes the P away), for a moment, and not at all.
func syscalls(opt *options) {
	for i := 0; i < or(opt.count, 3); i++ {
		rawPipe()
		pollPipe()
	}
	go func() {
		for n := 0; ; n++ {
			pause := syscall.NsecToTimespec(int64(time.Duration(20<<(n%11)) * time.Microsecond))
			syscall.Nanosleep(&pause, nil)
		}
	}()
	go files()
	go func() {
		for {
			var stat syscall.Stat_t
			for i := 0; i < 50; i++ {
				syscall.Stat("/", &stat)
			}
			time.Sleep(time.Millisecond)
		}
	}()
}

// rawPipe: a reader that blocks in read(2) itself, without the poller.
func rawPipe() {
	var fds [2]int
	check(syscall.Pipe(fds[:]))
	go func() {
		buffer := make([]byte, 64)
		for {
			syscall.Read(fds[0], buffer)
		}
	}()
	go func() {
		for {
			syscall.Write(fds[1], []byte("x"))
			time.Sleep(3 * time.Millisecond)
		}
	}()
}

// pollPipe: a reader that the poller parks.
func pollPipe() {
	r, w, err := os.Pipe()
	check(err)
	go io.Copy(io.Discard, r)
	go func() {
		for {
			w.Write(make([]byte, 4096))
			time.Sleep(2 * time.Millisecond)
		}
	}()
}

// files: writes, syncs, reads back and removes.
func files() {
	dir, err := os.MkdirTemp("", "gotrace-target")
	check(err)
	// The directory is removed at once; the file remains open by its descriptor.
	file, err := os.CreateTemp(dir, "data")
	check(err)
	check(os.Remove(file.Name()))
	check(os.Remove(dir))
	block := make([]byte, 32<<10)
	for {
		file.WriteAt(block, 0)
		file.Sync()
		file.ReadAt(block, 0)
		time.Sleep(5 * time.Millisecond)
	}
}
