// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

//go:build go1.25

package main

import (
	"testing"
	"testing/synctest"
)

func inBubble(t *testing.T, f func(*testing.T)) { synctest.Test(t, f) }
