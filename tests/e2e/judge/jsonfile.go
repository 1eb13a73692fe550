// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// jsonCommand checks that a file is exactly one JSON object. With a PATH like losses.ring_full it prints the
// value there.
func jsonCommand(args []string) error {
	if len(args) < 1 || len(args) > 2 {
		return fmt.Errorf("needs FILE and perhaps PATH")
	}
	file, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer file.Close()
	decoder := json.NewDecoder(file)
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return fmt.Errorf("%s: more than one JSON value", args[0])
	}
	var value any = object
	if len(args) == 2 {
		for _, key := range strings.Split(args[1], ".") {
			inner, ok := value.(map[string]any)
			if !ok {
				return fmt.Errorf("%s: nothing at %s", args[0], args[1])
			}
			if value, ok = inner[key]; !ok {
				return fmt.Errorf("%s: nothing at %s", args[0], args[1])
			}
		}
	}
	return json.NewEncoder(os.Stdout).Encode(value)
}
