// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

// more is where presets of other libraries have their requests.
func more() {}
