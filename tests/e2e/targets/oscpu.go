// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"runtime/debug"
	"syscall"
	"time"
	"unsafe"
)

func init() {
	modes["busy"] = busy
	modes["faults"] = faults
}

// busy: goroutines that never rest.
func busy(opt *options) {
	for i := 0; i < or(opt.count, 1); i++ {
		go spinForever()
	}
}

func spinForever() {
	for {
		cpuSink.Add(cpuWork(100000))
	}
}

const (
	faultPages = 1 << 14
	faultTakes = 2 * time.Millisecond
)

// From linux/userfaultfd.h.
type uffdAPI struct{ api, features, ioctls uint64 }
type uffdRange struct{ start, length, mode, result uint64 }

const (
	uffdMagic    = 0xaa
	uffdioAPI    = 0xc018aa3f
	uffdRegister = 0xc020aa00
	uffdZeroPage = 0xc020aa04
	uffdMissing  = 1
	uffdMessage  = 32
	uffdAddress  = 16 // in a message
)

func uffdCall(fd int, what uintptr, argument unsafe.Pointer) {
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), what, uintptr(argument)); errno != 0 {
		panic("userfaultfd: " + errno.Error())
	}
}

// faults: a goroutine touches pages that arrive late. There is no garbage collection: it would wait for the
// goroutine, and the goroutine that provides the page would wait for the collection.
func faults(*options) {
	debug.SetGCPercent(-1)
	size := faultPages * syscall.Getpagesize()
	memory, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(err)
	}
	fd, _, errno := syscall.Syscall(sysUserfaultfd, syscall.O_CLOEXEC, 0, 0)
	if errno != 0 {
		panic("userfaultfd: " + errno.Error())
	}
	uffdCall(int(fd), uffdioAPI, unsafe.Pointer(&uffdAPI{api: uffdMagic}))
	uffdCall(int(fd), uffdRegister, unsafe.Pointer(&uffdRange{uint64(uintptr(unsafe.Pointer(&memory[0]))), uint64(size), uffdMissing, 0}))
	go bringPages(int(fd))
	go touchPages(memory)
}

func bringPages(fd int) {
	page := uint64(syscall.Getpagesize())
	message := make([]byte, uffdMessage)
	for {
		if n, err := syscall.Read(fd, message); err != nil || n != uffdMessage {
			continue
		}
		rest := syscall.NsecToTimespec(int64(faultTakes))
		syscall.Nanosleep(&rest, nil)
		address := *(*uint64)(unsafe.Pointer(&message[uffdAddress]))
		uffdCall(fd, uffdZeroPage, unsafe.Pointer(&uffdRange{address &^ (page - 1), page, 0, 0}))
	}
}

func touchPages(memory []byte) {
	for i := 0; ; i = (i + syscall.Getpagesize()) % len(memory) {
		memory[i]++
	}
}
