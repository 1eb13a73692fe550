// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// A program to be built by garble.
package main

import (
	"fmt"
	"os"
	"time"
)

func main() {
	fmt.Println("ready", os.Getpid())
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}
