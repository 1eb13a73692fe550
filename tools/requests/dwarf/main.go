// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// Command dwarf prints the offsets of fields in a Go program, from its DWARF. It reads lines of type and path
// from its standard input, and prints them with offsets, as fields.c does.
package main

import (
	"bufio"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"os"
	"strings"
)

// structs returns the struct types of these names.
func structs(data *dwarf.Data, names map[string]bool) map[string]*dwarf.StructType {
	found := map[string]*dwarf.StructType{}
	for reader := data.Reader(); ; {
		entry, err := reader.Next()
		if err != nil || entry == nil {
			return found
		}
		if entry.Tag == dwarf.TagSubprogram {
			reader.SkipChildren()
		}
		name, _ := entry.Val(dwarf.AttrName).(string)
		if entry.Tag != dwarf.TagStructType || !names[name] {
			continue
		}
		if t, err := data.Type(entry.Offset); err == nil {
			found[name], _ = t.(*dwarf.StructType)
		}
	}
}

func peel(t dwarf.Type) dwarf.Type {
	for {
		alias, ok := t.(*dwarf.TypedefType)
		if !ok {
			return t
		}
		t = alias.Type
	}
}

func offsets(t *dwarf.StructType, path string) (string, bool) {
	var list []string
	at := int64(0)
	for _, name := range strings.Split(path, ".") {
		var field *dwarf.StructField
		for _, one := range t.Field {
			if one.Name == name {
				field = one
			}
		}
		if field == nil {
			return "", false
		}
		at += field.ByteOffset
		next := peel(field.Type)
		if pointer, ok := next.(*dwarf.PtrType); ok {
			next = peel(pointer.Type)
			if inner, ok := next.(*dwarf.StructType); ok && !strings.HasSuffix(path, name) {
				list = append(list, fmt.Sprint(at))
				at, t = 0, inner
				continue
			}
		}
		if inner, ok := next.(*dwarf.StructType); ok {
			t = inner
		}
	}
	return strings.Join(append(list, fmt.Sprint(at)), ","), true
}

func main() {
	file, err := elf.Open(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	data, err := file.DWARF()
	if err != nil {
		fmt.Fprintln(os.Stderr, os.Args[1], err)
		os.Exit(1)
	}
	var wanted [][]string
	names := map[string]bool{}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Fields(lines.Text())
		wanted = append(wanted, words)
		names[words[0]] = true
	}
	found := structs(data, names)
	for _, words := range wanted {
		if t := found[words[0]]; t != nil {
			if list, ok := offsets(t, words[1]); ok {
				fmt.Println(words[0], words[1], list)
			}
		}
	}
}
