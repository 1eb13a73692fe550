// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

//go:build goexperiment.synctest && !go1.25

package main

import (
	"testing"
	"testing/synctest"
)

func inBubble(t *testing.T, f func(*testing.T)) { synctest.Run(func() { f(t) }) }
