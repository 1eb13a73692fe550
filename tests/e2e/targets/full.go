// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// The full modes do one thing as fast as they can, and count their turns.
func init() {
	for name, start := range map[string]func(opt *options, turns *atomic.Int64){
		"full-pingpong": fullPingpong,
		"full-http":     fullHTTP,
		"full-syscalls": fullSyscalls,
	} {
		modes[name] = counted(start)
	}
}

// counted gives a mode its counter: the first word of the file $TURNS, where a meter outside of this program reads it.
func counted(start func(opt *options, turns *atomic.Int64)) mode {
	return func(opt *options) {
		turns := new(atomic.Int64)
		if path := os.Getenv("TURNS"); path != "" {
			file, err := os.OpenFile(path, os.O_RDWR, 0)
			check(err)
			memory, err := syscall.Mmap(int(file.Fd()), 0, 8, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
			check(err)
			turns = (*atomic.Int64)(unsafe.Pointer(&memory[0]))
		}
		start(opt, turns)
	}
}

// fullPingpong: two goroutines hand a token to and fro, without a pause.
func fullPingpong(opt *options, turns *atomic.Int64) {
	for i := 0; i < or(opt.count, 1); i++ {
		ping, pong := make(chan struct{}), make(chan struct{})
		go func() {
			for range ping {
				pong <- struct{}{}
			}
		}()
		go func() {
			for {
				ping <- struct{}{}
				<-pong
				turns.Add(1)
			}
		}()
	}
}

// fullSyscalls: quick system calls on every CPU.
func fullSyscalls(_ *options, turns *atomic.Int64) {
	for i := 0; i < runtime.GOMAXPROCS(0); i++ {
		go func() {
			var stat syscall.Stat_t
			for {
				syscall.Stat("/", &stat)
				turns.Add(1)
			}
		}()
	}
}

// fullHTTP: a server on loopback, and clients that ask again as soon as they have an answer.
func fullHTTP(opt *options, turns *atomic.Int64) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write(make([]byte, 2048))
	}))
	for i := 0; i < or(opt.count, 8); i++ {
		client := &http.Client{Transport: &http.Transport{}}
		go func() {
			for {
				answer, err := client.Get("http://" + listener.Addr().String() + "/")
				check(err)
				io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
				turns.Add(1)
			}
		}()
	}
}
