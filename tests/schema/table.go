// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A table is what tools/schema/proto_schema.h describes, as it is written and read as text.
type table struct {
	releases []string
	messages map[string]*message
	order    []*message
	kinds    []root
}

type message struct {
	name     string
	fields   []field  // in the order of JSON
	releases []string // of several: that have it, the newest last
	class    int
}

type field struct {
	number int
	name   string
	typ    string
	flags  []string
	in     map[string][]string // the flags in each release that has it, while several are merged
}

type root struct{ apiVersion, kind, message string }

func newTable() *table { return &table{messages: map[string]*message{}} }

func (t *table) add(name string) *message {
	m := &message{name: name}
	t.messages[name] = m
	t.order = append(t.order, m)
	return m
}

func (f field) String() string {
	return strings.Join(append([]string{strconv.Itoa(f.number), f.name, f.typ}, f.flags...), " ")
}

// inner is the message that the type is made of, or "".
func inner(typ string) string {
	s := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(typ, "*"), "map[]"), "list[]"), "[]")
	if strings.HasPrefix(s, `"`) || !strings.Contains(s, ".") {
		return ""
	}
	return s
}

// ---- merging ----

// merge makes one table of those of several releases, the newest last. A field says how it is in the newest release that has it, and from
// which release on that holds, where it makes a difference.
func merge(tables []*table) *table {
	newest := tables[len(tables)-1]
	t := newTable()
	t.kinds = newest.kinds
	for i := len(tables) - 1; i >= 0; i-- {
		t.releases = append(slices.Clone(tables[i].releases), t.releases...)
		for _, m := range tables[i].order {
			if t.messages[m.name] == nil {
				t.add(m.name)
			}
			t.messages[m.name].merge(m, tables[i].releases)
		}
		for _, k := range tables[i].kinds {
			if !slices.Contains(t.kinds, k) {
				t.kinds = append(t.kinds, k)
			}
		}
	}
	for _, m := range t.order {
		for i := range m.fields {
			m.fields[i].note(m)
		}
	}
	return t
}

// merge adds the fields that only an older release has, and notes of each what it was there.
func (m *message) merge(old *message, releases []string) {
	m.releases = append([]string{minor(releases)}, m.releases...)
	for i, f := range old.fields {
		at := slices.IndexFunc(m.fields, func(n field) bool { return n.number == f.number && n.name == f.name })
		if at >= 0 && m.fields[at].typ != f.typ ||
			at < 0 && f.number > 0 && slices.ContainsFunc(m.fields, func(n field) bool { return n.number == f.number }) {
			wrong("%s: field %s was another one in %v", m.name, f, releases)
		}
		if at < 0 {
			for _, before := range old.fields[:i] { // behind what it stood behind
				at = max(at, slices.IndexFunc(m.fields, func(n field) bool { return n.name == before.name }))
			}
			at++
			m.fields = slices.Insert(m.fields, at, field{number: f.number, name: f.name, typ: f.typ, flags: slices.Clone(f.flags), in: map[string][]string{}})
		}
		m.fields[at].in[minor(releases)] = append([]string{}, f.flags...) // (not nil)
	}
}

// prints says whether a field with these flags stands in JSON though it is empty.
func (f field) prints(flags []string) bool {
	can := strings.ContainsAny(f.typ[:1], "*[") || strings.HasPrefix(f.typ, "map[]") || strings.HasPrefix(f.typ, "list[]") ||
		slices.Contains([]string{"string", "bytes", "bool", "int"}, f.typ)
	return f.name != "-" && !slices.Contains(flags, "omitzero") && !(can && slices.Contains(flags, "omitempty"))
}

// note writes into the flags from which release of the message on they hold, and which have the field.
func (f *field) note(m *message) {
	has := func(release string) bool { return f.in[release] != nil }
	first, end := slices.IndexFunc(m.releases, has), len(m.releases)
	for !has(m.releases[end-1]) {
		end--
	}
	prints := false
	for _, release := range m.releases[first:end] {
		if !has(release) {
			wrong("%s.%s: it is not in %s, but before and after", m.name, f.name, release)
		}
		prints = prints || f.prints(f.in[release])
		if !f.prints(f.in[release]) && f.prints(f.flags) {
			wrong("%s.%s: it was left out in %s where it was empty, which the table cannot say", m.name, f.name, release)
		}
	}
	for i, flag := range f.flags {
		// where it changes nothing it may come and go
		without := func(release string) bool {
			return f.prints(f.in[release]) != f.prints(append(slices.Clone(f.in[release]), flag))
		}
		from := end
		for from > first && !without(m.releases[from-1]) {
			from--
		}
		for _, release := range m.releases[first:from] {
			if !without(release) {
				wrong("%s.%s: %s was there in %s, then not, and is again", m.name, f.name, flag, release)
			}
		}
		if from > first {
			f.flags[i] = flag + "=" + m.releases[from]
		}
	}
	// of what is left out where it is empty nothing is to be known: who lacks it does not write it
	if first > 0 && prints {
		f.flags = append(f.flags, "since="+m.releases[first])
	}
	if end < len(m.releases) {
		f.flags = append(f.flags, "gone="+m.releases[end])
	}
}

// minor is the release of Kubernetes, 1.36, that k8s.io/api's v0.36.6 is of.
func minor(releases []string) string {
	words := strings.Split(releases[0], ".")
	if len(words) != 3 || words[0] != "v0" {
		wrong("%s is no release of k8s.io/api", releases[0])
	}
	return "1." + words[1]
}

func wrong(format string, words ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", words...)
	os.Exit(1)
}

// classify finds messages that read and print alike: those of v1beta1 and v1, mostly.
func (t *table) classify() int {
	for count := 0; ; {
		seen := map[string]int{}
		next := make([]int, len(t.order))
		for i, m := range t.order {
			var b strings.Builder
			for _, f := range m.fields {
				s := inner(f.typ)
				if s == "" {
					fmt.Fprintln(&b, f)
					continue
				}
				fmt.Fprintln(&b, field{f.number, f.name, strings.Replace(f.typ, s, strconv.Itoa(t.messages[s].class), 1), f.flags, nil})
			}
			id, known := seen[b.String()]
			if !known {
				id = len(seen)
				seen[b.String()] = id
			}
			next[i] = id
		}
		for i, m := range t.order {
			m.class = next[i]
		}
		if len(seen) == count {
			return count
		}
		count = len(seen)
	}
}

// reduce keeps one message of each class, and only those that are reached from a kind.
func (t *table) reduce() {
	first := make([]*message, t.classify())
	for _, m := range t.order {
		if first[m.class] == nil {
			first[m.class] = m
		}
	}
	reached := newTable()
	var reach func(name string) string
	reach = func(name string) string {
		m := first[t.messages[name].class]
		if reached.messages[m.name] == nil {
			r := reached.add(m.name)
			for _, f := range m.fields {
				if s := inner(f.typ); s != "" {
					f.typ = strings.TrimSuffix(f.typ, s) + reach(s)
				}
				r.fields = append(r.fields, f)
			}
		}
		return m.name
	}
	for i := range t.kinds {
		t.kinds[i].message = reach(t.kinds[i].message)
	}
	t.messages, t.order = reached.messages, reached.order
}

// ---- text ----

const head = `# What the kinds of k8s.io/api are in protobuf, and what becomes of them in JSON; made of several releases by
# tests/schema, which says how, and not to be edited.
#
#	kind APIVERSION KIND MESSAGE
#	message NAME				its fields, in the order of JSON:
#	NUMBER NAME TYPE [omitempty[=R]] [omitzero[=R]] [since=R] [gone=R]
#
# NAME -: the members of the message stand in the outer object. TYPE in quotes: it is not on the wire, and always
# this text. *T: a zero that is there counts. list[]T: a message {1: T …}, in JSON the bare list. =R: so it is from
# Kubernetes R on, of the releases that have the message; since, gone: the first that has it, and that does not.
# (What nobody prints where it is absent has no since.)
`

func (t *table) write(w io.Writer) {
	b := bufio.NewWriter(w)
	defer b.Flush()
	fmt.Fprint(b, head)
	fmt.Fprintln(b, "releases "+strings.Join(t.releases, " "))
	for _, k := range t.kinds {
		fmt.Fprintln(b, "kind", k.apiVersion, k.kind, k.message)
	}
	for _, m := range t.order {
		fmt.Fprintln(b, "message", m.name)
		for _, f := range m.fields {
			fmt.Fprintln(b, f)
		}
	}
}

func read(file string) *table {
	text, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	t := newTable()
	var m *message
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#" || strings.HasPrefix(line, "#"):
		case words[0] == "releases":
			t.releases = words[1:]
		case words[0] == "kind":
			t.kinds = append(t.kinds, root{words[1], words[2], words[3]})
		case words[0] == "message":
			m = t.add(words[1])
		default:
			number, err := strconv.Atoi(words[0])
			if err != nil {
				panic(file + ": " + line)
			}
			m.fields = append(m.fields, field{number, words[1], words[2], words[3:], nil})
		}
	}
	return t
}
