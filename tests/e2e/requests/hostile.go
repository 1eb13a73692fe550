// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"database/sql"
	"strings"
	"time"
	"unsafe"
)

// text makes a string of any address and length, which nothing in this program reads.
func text(address, length uintptr) string {
	header := [2]uintptr{address, length}
	return *(*string)(unsafe.Pointer(&header))
}

// hostile runs statements that are long, or that cannot be read; each is also prepared.
func hostile() {
	db, err := sql.Open("fake", "")
	if err != nil {
		panic(err)
	}
	defer db.Close()
	long := strings.Repeat("LONG ", 1<<30/5)
	for _, statement := range []string{long, text(0xdead0000, 1<<40), text(0, 1<<62), text(^uintptr(0)-64, 100),
		"SELECT 'a\nb\tc\x1b[31m\xff'"} {
		since := time.Now()
		rows, err := db.Query(statement)
		if err == nil {
			rows.Close()
		}
		count("hostile", "-", since)
		stmt := prepare(db.Prepare(statement))
		since = time.Now()
		rows, err = stmt.Query("")
		if err == nil {
			rows.Close()
		}
		count("hostile", "-", since)
		stmt.Close()
	}
}
