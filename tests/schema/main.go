// SPDX-License-Identifier: Apache-2.0

// Makes tools/schema/kubernetes.schema of the Go types of k8s.io/api: of one release (walk), or of what it made of several (merge, the
// newest last). make.sh calls it with each release in turn. And it makes objects of these types for tests (objects.go, compare.go).
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
)

func main() {
	switch {
	case len(os.Args) == 3 && os.Args[1] == "walk":
		t := walk()
		t.releases = os.Args[2:]
		t.write(os.Stdout)
	case len(os.Args) >= 3 && os.Args[1] == "merge":
		var tables []*table
		for _, file := range os.Args[2:] {
			tables = append(tables, read(file))
		}
		t := merge(tables)
		t.reduce()
		t.write(os.Stdout)
	case len(os.Args) == 4 && (os.Args[1] == "objects" || os.Args[1] == "documents"):
		seed, err1 := strconv.ParseUint(os.Args[2], 10, 64)
		count, err2 := strconv.Atoi(os.Args[3])
		if err1 != nil || err2 != nil {
			usage()
		}
		b := bufio.NewWriter(os.Stdout)
		if os.Args[1] == "objects" {
			objects(b, seed, count)
		} else {
			documents(b, seed, count)
		}
		b.Flush()
	case len(os.Args) >= 4 && os.Args[1] == "golden":
		seed, _ := strconv.ParseUint(os.Args[2], 10, 64)
		b := bufio.NewWriter(os.Stdout)
		golden(b, seed, os.Args[3:])
		b.Flush()
	case len(os.Args) >= 3 && os.Args[1] == "pods":
		b := bufio.NewWriter(os.Stdout)
		pods(b, os.Args[2:])
		b.Flush()
	case len(os.Args) == 4 && os.Args[1] == "compare":
		compare(os.Args[2], os.Args[3])
	default:
		usage()
	}
}

func usage() {
	fmt.Fprintln(os.Stderr, `usage: schema walk RELEASE | schema merge FILE...
       schema objects SEED COUNT | schema pods FILE... | schema compare RECORDS PRINTED | schema documents SEED COUNT
       schema golden SEED KIND...`)
	os.Exit(2)
}
