// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
)

// compare ends the program with 1 unless the items of the JSON of all records are, one after the other, the lines
// of a file: the same documents, numbers and texts.
func compare(records, printed string) {
	in, err := os.Open(records)
	if err != nil {
		panic(err)
	}
	text, err := os.ReadFile(printed)
	if err != nil {
		panic(err)
	}
	lines, n, r := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")), 0, bufio.NewReader(in)
	for {
		what, err := part(r)
		if err == io.EOF {
			break
		}
		list, err1 := part(r)
		_, err2 := part(r)
		var items struct{ Items []json.RawMessage }
		if err != nil || err1 != nil || err2 != nil || json.Unmarshal(list, &items) != nil {
			panic(records + ": no records")
		}
		for i, item := range items.Items {
			if n == len(lines) || !reflect.DeepEqual(document(item), document(lines[n])) {
				fmt.Printf("%s, item %d\n%s\n", what, i, item)
				if n < len(lines) {
					fmt.Printf("%s\n", lines[n])
				}
				os.Exit(1)
			}
			n++
		}
	}
	if n != len(lines) || n == 0 {
		fmt.Printf("%d items, %d were printed\n", n, len(lines))
		os.Exit(1)
	}
	fmt.Printf("%d objects, the same as printed\n", n)
}

// document is what a text says, without the kind and apiVersion that stand in an object of its own file.
func document(text []byte) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		return err.Error()
	}
	delete(v, "kind")
	delete(v, "apiVersion")
	return plain(v)
}

// plain has a number that is no integer as what it is worth: 2.50 is 2.5.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = plain(v[key])
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			f, err := v.Float64()
			if err != nil {
				return err.Error()
			}
			return f
		}
	}
	return v
}

func part(r io.Reader) ([]byte, error) {
	var length uint32
	if err := binary.Read(r, binary.LittleEndian, &length); err != nil {
		return nil, err
	}
	b := make([]byte, length)
	_, err := io.ReadFull(r, b)
	return b, err
}
