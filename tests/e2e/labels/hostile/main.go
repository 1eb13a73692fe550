// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// A program that stores invalid label sets in g.labels, outside of Go's heap, where the collector does not
// look: bad addresses, strings of 1 GB, lists that are longer than their memory, maps whose buckets are a
// loop. `hostile list` uses the form of sets of Go 1.24 and later, `hostile map` that of the releases before.
package main

import (
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"
)

//go:linkname setLabels runtime/pprof.runtime_setProfLabel
func setLabels(labels unsafe.Pointer)

const page = 4096

// memory is followed by a page that cannot be read.
type memory struct {
	bytes []byte
	used  int
}

func newMemory(pages int) *memory {
	bytes, err := syscall.Mmap(-1, 0, (pages+1)*page, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(err)
	}
	syscall.Mprotect(bytes[pages*page:], syscall.PROT_NONE)
	return &memory{bytes: bytes}
}

func (m *memory) base() uintptr { return uintptr(unsafe.Pointer(&m.bytes[0])) }
func (m *memory) end() uintptr  { return m.base() + uintptr(len(m.bytes)) - page }

// words stores words, and returns their address.
func (m *memory) words(words ...uintptr) uintptr {
	at := m.base() + uintptr(m.used)
	for _, word := range words {
		*(*uintptr)(unsafe.Pointer(&m.bytes[m.used])) = word
		m.used += 8
	}
	return at
}

func (m *memory) text(text string) (uintptr, uintptr) {
	at := m.base() + uintptr(m.used)
	m.used += (copy(m.bytes[m.used:], text) + 7) &^ 7
	return at, uintptr(len(text))
}

// maker makes what g.labels points to: a list or a map with these words of strings.
type maker func(m *memory, strings ...uintptr) uintptr

func list(m *memory, strings ...uintptr) uintptr {
	n := uintptr(len(strings) / 4)
	return m.words(m.words(strings...), n, n)
}

// bucket stores eight slots, and the address of the next bucket.
func bucket(m *memory, next uintptr, strings ...uintptr) uintptr {
	hashes := uintptr(0)
	words := make([]uintptr, 34)
	for i := 0; i < len(strings)/4 && i < 8; i++ {
		hashes |= 0x80 << (8 * uint(i))
		copy(words[1+2*i:], strings[4*i:4*i+2])
		copy(words[17+2*i:], strings[4*i+2:4*i+4])
	}
	words[0] = hashes
	words[33] = next
	return m.words(words...)
}

func head(m *memory, count, b, buckets, old uintptr) uintptr {
	return m.words(m.words(count, b<<8, buckets, old, 0, 0))
}

func dictionary(m *memory, strings ...uintptr) uintptr {
	return head(m, uintptr(len(strings)/4), 0, bucket(m, 0, strings...), 0)
}

// badTexts returns sets with bad texts.
func badTexts(m *memory, set maker) (all []uintptr) {
	key, keyLen := m.text("key")
	value, valueLen := m.text("value")
	odd, oddLen := m.text("\xff\xfe\x00\x01\"\\\n\xed\xa0\x80\xf4\x90\x80\x80")
	long, longLen := m.text(string(make([]byte, 1000)))
	for _, strings := range [][]uintptr{
		{key, keyLen, value, 1 << 30},
		{key, 1 << 30, value, 1 << 30},
		{key, ^uintptr(0), value, ^uintptr(0)},
		{key, keyLen, 0, 5},
		{1, 5, value, valueLen},
		{0xffff888000000000, 5, 0x8000000000000000, 5},
		{m.end() - 3, 100, m.end(), 1},
		{m.end() - 3, 3, m.end() - 1, 1},
		{odd, oddLen, odd, oddLen},
		{odd, 0, odd, 0},
		{long, longLen, long, longLen},
		{key, keyLen, value, valueLen, key, keyLen, value, valueLen},
	} {
		all = append(all, set(m, strings...))
	}
	var many []uintptr
	for i := 0; i < 8; i++ {
		many = append(many, long, longLen, long, longLen)
	}
	return append(all, set(m, many...))
}

func badLists(m *memory) []uintptr {
	key, keyLen := m.text("key")
	one := m.words(key, keyLen, key, keyLen)
	loop := m.words(0, 0, 0)
	*(*uintptr)(unsafe.Pointer(loop)) = loop
	*(*uintptr)(unsafe.Pointer(loop + 8)) = 2
	*(*uintptr)(unsafe.Pointer(loop + 16)) = 2
	return []uintptr{
		m.words(one, 1<<40, 1<<40), m.words(one, 5, 1), m.words(one, ^uintptr(0), ^uintptr(0)),
		m.words(0, 1, 1), m.words(m.end()-32, 2, 2), m.words(m.end()-16, 1, 1), m.words(one, 0, 0), loop,
		m.end() - 8, m.end(),
	}
}

func badMaps(m *memory) []uintptr {
	key, keyLen := m.text("key")
	good := []uintptr{key, keyLen, key, keyLen}
	loop := bucket(m, 0, good...)
	*(*uintptr)(unsafe.Pointer(loop + 264)) = loop
	self := m.words(0)
	*(*uintptr)(unsafe.Pointer(self)) = self
	return []uintptr{
		head(m, 1, 255, loop, 0), head(m, 1, 3, loop, 0), head(m, 1<<60, 0, loop, loop), head(m, 1, 0, 1, 1),
		head(m, 1, 0, m.end()-100, 0), head(m, 0, 0, loop, 0), m.words(m.end() - 8), m.words(0), self,
		head(m, 8, 0, bucket(m, m.end()-1, good...), 0), m.end() - 4,
	}
}

func main() {
	m := newMemory(64)
	sets := []uintptr{1, 8, 0xffff888000000000, 0x8000000000000000, ^uintptr(0) &^ 7}
	if os.Args[1] == "list" {
		sets = append(append(sets, badTexts(m, list)...), badLists(m)...)
	} else {
		sets = append(append(sets, badTexts(m, dictionary)...), badMaps(m)...)
	}
	for _, set := range sets {
		set := set
		go func() { // one that keeps it
			setLabels(*(*unsafe.Pointer)(unsafe.Pointer(&set)))
			time.Sleep(time.Hour)
		}()
		go func() { // and one that sets it repeatedly
			for {
				setLabels(*(*unsafe.Pointer)(unsafe.Pointer(&set)))
				time.Sleep(time.Millisecond)
				setLabels(nil)
				time.Sleep(10 * time.Millisecond)
			}
		}()
	}
	time.Sleep(300 * time.Millisecond)
	fmt.Println("ready", len(sets))
	time.Sleep(time.Hour)
}
