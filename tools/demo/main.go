// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// Command demo is a small photo service with its clients, all in one process:
// a server on loopback, a pool of workers behind channels, a cache behind a
// lock, files, timers and garbage. It is meant to be traced with gotrace, but
// does not know of it. It has a fault that is common and hard to see from
// outside: the janitor keeps the cache locked while it waits for the network.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/rand"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	clients = 6
	workers = 4
	life    = 5 * time.Minute // ends by itself if nobody stops it
)

// job asks a worker to shrink a picture.
type job struct {
	picture []byte
	done    chan []byte
}

type service struct {
	jobs    chan job
	dir     string
	replica string
	served  atomic.Int64

	mu    sync.RWMutex
	cache map[string][]byte
}

func (s *service) worker() {
	for j := range s.jobs {
		var out bytes.Buffer
		zip := gzip.NewWriter(&out)
		zip.Write(j.picture)
		zip.Close()
		j.done <- out.Bytes()
	}
}

// janitor empties the cache periodically, and has the replica do the same.
func (s *service) janitor() {
	for range time.Tick(100 * time.Millisecond) {
		s.mu.Lock()
		s.cache = map[string][]byte{}
		s.tellReplica("clear")
		s.mu.Unlock()
	}
}

func (s *service) tellReplica(what string) {
	answer, err := http.Post(s.replica, "text/plain", strings.NewReader(what))
	if err == nil {
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
}

// replica stands for another machine, which is 30 ms away.
func replica(w http.ResponseWriter, r *http.Request) {
	time.Sleep(30 * time.Millisecond)
}

func (s *service) thumbnail(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("name")
	s.mu.RLock()
	small, ok := s.cache[name]
	s.mu.RUnlock()
	if !ok {
		picture, err := os.ReadFile(filepath.Join(s.dir, filepath.Base(name)))
		if err != nil {
			http.Error(w, "no such picture", http.StatusNotFound)
			return
		}
		j := job{picture, make(chan []byte)}
		s.jobs <- j
		select {
		case small = <-j.done:
		case <-r.Context().Done():
			go func() { <-j.done }()
			return
		}
		s.mu.Lock()
		s.cache[name] = small
		s.mu.Unlock()
	}
	s.served.Add(1)
	w.Write(small)
}

func (s *service) upload(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	name := fmt.Sprintf("%d", rand.Intn(32))
	if err := os.WriteFile(filepath.Join(s.dir, name), body, 0o600); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	s.served.Add(1)
	json.NewEncoder(w).Encode(map[string]any{"name": name, "sum": fmt.Sprintf("%x", sha256.Sum256(body))})
}

// client uploads and looks, with pauses like those of people, but shorter.
func client(base string) {
	web := &http.Client{Transport: &http.Transport{}, Timeout: 5 * time.Second}
	for n := 0; ; n++ {
		var answer *http.Response
		var err error
		if n%8 == 0 {
			answer, err = web.Post(base+"/upload", "image/raw", bytes.NewReader(picture()))
		} else {
			answer, err = web.Get(fmt.Sprintf("%s/thumbnail?name=%d", base, rand.Intn(32)))
		}
		if err == nil {
			io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
		}
		time.Sleep(time.Duration(rand.Intn(3000)) * time.Microsecond)
	}
}

// picture makes 8 to 40 KiB that compress somewhat.
func picture() []byte {
	pixels := make([]byte, 8<<10+rand.Intn(32<<10))
	for i := range pixels {
		pixels[i] = byte(rand.Intn(1 + i%17))
	}
	return pixels
}

func main() {
	dir, err := os.MkdirTemp("", "gotrace-demo")
	if err != nil {
		log.Fatal(err)
	}
	s := &service{jobs: make(chan job), dir: dir, cache: map[string][]byte{}}
	for i := 0; i < workers; i++ {
		go s.worker()
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/thumbnail", s.thumbnail)
	mux.HandleFunc("/upload", s.upload)
	mux.HandleFunc("/replica", replica)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	s.replica = "http://" + listener.Addr().String() + "/replica"
	go http.Serve(listener, mux)
	go s.janitor()
	for i := 0; i < clients; i++ {
		go client("http://" + listener.Addr().String())
	}
	time.Sleep(500 * time.Millisecond)
	fmt.Printf("ready on %s\n", listener.Addr())

	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	select {
	case <-stop:
	case <-time.After(life):
	}
	os.RemoveAll(dir)
	fmt.Printf("%d requests served\n", s.served.Load())
}
