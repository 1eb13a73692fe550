// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// bigMain prints what the loads print, so that it is started like them.
const bigMain = `package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {
	for i := range 100000 {
		go func() { functions[i%%len(functions)](make(chan int)) }()
	}
	go func() {
		a, b := make(chan int), make(chan int)
		go func() { for v := range a { b <- v } }()
		for { a <- 1; <-b }
	}()
	fmt.Println("ready")
	for words := bufio.NewScanner(os.Stdin); words.Scan(); {
	}
}

var functions = []func(chan int) int{%s}
`

// buildBig makes a program of about 100 MB out of very many functions, with 100,000 goroutines.
func (b *bench) buildBig() string {
	const files, each = 120, 1000
	dir := filepath.Join(b.dir, "big")
	fail(os.MkdirAll(dir, 0o755))
	var names strings.Builder
	for f := range files {
		var code strings.Builder
		code.WriteString("package main\n\nimport \"fmt\"\n")
		for k := range each {
			name := fmt.Sprintf("function%dOfFile%dWithANameAsLongAsNamesAre", k, f)
			fmt.Fprintf(&code, "\nfunc %s(c chan int) int {\n\ts := fmt.Sprint(%d, c, len(c), cap(c))\n\tif len(s) > 3 {\n"+
				"\t\tfmt.Fprintf(nil2{}, \"%%s %%d %%v\", s, len(s), c)\n\t}\n\treturn <-c + len(s) + %d\n}\n", name, k, f)
			fmt.Fprintf(&names, "%s, ", name)
		}
		fail(os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.go", f)), []byte(code.String()), 0o644))
	}
	fail(os.WriteFile(filepath.Join(dir, "main.go"), fmt.Appendf(nil, bigMain, names.String()), 0o644))
	fail(os.WriteFile(filepath.Join(dir, "nil.go"), []byte("package main\n\ntype nil2 struct{}\n\n"+
		"func (nil2) Write(p []byte) (int, error) { return len(p), nil }\n"), 0o644))
	fail(os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module big\n\ngo 1.22\n"), 0o644))
	path := filepath.Join(b.dir, "big-program")
	command := exec.Command("go", "build", "-buildvcs=false", "-o", path, ".")
	command.Dir = dir
	command.Env = append(os.Environ(), "GOTOOLCHAIN=go1.26.8", "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		fail(fmt.Errorf("the big program: %w: %s", err, out))
	}
	info, err := os.Stat(path)
	fail(err)
	fmt.Printf("# the big program has %d MB\n", info.Size()/1000000)
	return path
}
