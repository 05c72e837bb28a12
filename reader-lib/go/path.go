// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"fmt"
	"slices"
	"strings"
)

// A Path is a compiled path to a field: spec.nodeName, status.podIPs[0].ip, spec.containers[*].image,
// metadata.labels["app.kubernetes.io/name"]. A leading '.' and kubectl's braces are accepted. Any number of
// goroutines may use one.
type Path struct {
	steps []step
	head  byte // the tag of the object's head that the path names; 0: none
	near  int  // 1 + which near string; 0: none
}

type stepKind uint8

const (
	stepName stepKind = iota
	stepElement
	stepAny
)

type step struct {
	name    string
	element uint64
	kind    stepKind
	print   byte
}

const (
	pathStepsMax = 16
	pathTextMax  = 1024
)

type pathParser struct {
	text  string
	at    int
	steps []step
	bytes int
}

func (p *pathParser) refuse(at int, why string) error {
	return fmt.Errorf("path %q, byte %d: %s: %w", p.text, at, why, ErrSyntax)
}

func (p *pathParser) add(s step) error {
	if len(p.steps) == pathStepsMax {
		return p.refuse(p.at, "a path has at most 16 steps")
	}
	if p.bytes += len(s.name); p.bytes > pathTextMax {
		return p.refuse(p.at, "the path is longer than 1,024 bytes")
	}
	s.print = print(s.name)
	p.steps = append(p.steps, s)
	return nil
}

// bare reads a name up to the next '.' or '['. A backslash makes the next character part of the name.
func (p *pathParser) bare(end int) error {
	var name strings.Builder
	start := p.at
	for ; p.at < end && p.text[p.at] != '.' && p.text[p.at] != '['; p.at++ {
		c := p.text[p.at]
		switch {
		case strings.IndexByte(`]{}"'`, c) >= 0:
			return p.refuse(p.at, `this character stands in a name only when the name is quoted: ["..."]`)
		case c == '*':
			return p.refuse(p.at, "write [*] for every element or field")
		case c == '\\':
			if p.at++; p.at == end {
				return p.refuse(p.at, "a backslash needs a character after it")
			}
			c = p.text[p.at]
		}
		name.WriteByte(c)
	}
	if p.at == start {
		return p.refuse(p.at, "a name is expected here")
	}
	return p.add(step{name: name.String()})
}

// bracket reads ["name"], ['name'], [7] or [*].
func (p *pathParser) bracket(end int) error {
	start := p.at
	p.at++
	if p.at == end {
		return p.refuse(start, "this bracket is never closed")
	}
	var s step
	switch c := p.text[p.at]; {
	case c == '"' || c == '\'':
		var name strings.Builder
		quote := p.at
		for p.at++; p.at < end && p.text[p.at] != c; p.at++ {
			if p.text[p.at] == '\\' && p.at+1 < end {
				p.at++
			}
			name.WriteByte(p.text[p.at])
		}
		if p.at >= end {
			return p.refuse(quote, "this quote is never closed")
		}
		p.at++
		s.name = name.String()
	case c == '*':
		p.at++
		s.kind = stepAny
	case c >= '0' && c <= '9':
		s.kind = stepElement
		for ; p.at < end && p.text[p.at] >= '0' && p.text[p.at] <= '9'; p.at++ {
			if s.element = s.element*10 + uint64(p.text[p.at]-'0'); s.element > 1<<32-1 {
				return p.refuse(p.at, "this element number is too large")
			}
		}
	default:
		return p.refuse(p.at, "a quoted name, a number or * is expected in brackets")
	}
	if p.at >= end || p.text[p.at] != ']' {
		return p.refuse(p.at, "] is expected here")
	}
	p.at++
	return p.add(s)
}

func (p *pathParser) parse() error {
	end := len(p.text)
	if end > 0 && p.text[0] == '{' {
		if end < 2 || p.text[end-1] != '}' {
			return p.refuse(0, "the brace at the start is never closed")
		}
		p.at++
		end--
	}
	if p.at == end {
		return p.refuse(p.at, "the path is empty")
	}
	if p.text[p.at] == '$' {
		p.at++
		if p.at < end && p.text[p.at] != '.' && p.text[p.at] != '[' {
			return p.refuse(p.at, ". or [ is expected after $")
		}
	}
	if p.at+1 == end && p.text[p.at] == '.' { // the whole document
		return nil
	}
	if p.at < end && p.text[p.at] != '.' && p.text[p.at] != '[' {
		if err := p.bare(end); err != nil {
			return err
		}
	}
	for p.at < end {
		var err error
		switch {
		case p.text[p.at] == '[':
			err = p.bracket(end)
		case p.text[p.at] != '.':
			err = p.refuse(p.at, ". or [ is expected here")
		default:
			if p.at++; p.at < end && p.text[p.at] == '[' {
				return p.refuse(p.at, "a name is expected here")
			}
			err = p.bare(end)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// CompilePath compiles a path. The error says where and why; errors.Is(err, ErrSyntax).
func CompilePath(text string) (*Path, error) {
	p := pathParser{text: text}
	if err := p.parse(); err != nil {
		return nil, err
	}
	path := &Path{steps: p.steps}
	if len(p.steps) == 2 && p.steps[0].kind == stepName && p.steps[1].kind == stepName {
		switch p.steps[0].name + "." + p.steps[1].name {
		case "metadata.name":
			path.head = tagName
		case "metadata.namespace":
			path.head = tagName + 1
		case "metadata.uid":
			path.head = tagName + 2
		case "metadata.resourceVersion":
			path.head = tagVersion
		case "spec.nodeName":
			path.near = 1
		case "status.phase":
			path.near = 2
		}
	}
	return path, nil
}

// MustCompilePath is CompilePath for paths that are constants: it panics if the path is wrong.
func MustCompilePath(text string) *Path {
	path, err := CompilePath(text)
	if err != nil {
		panic(err)
	}
	return path
}

func (path *Path) same(other *Path) bool { return slices.Equal(path.steps, other.steps) }

// A walk visits all values that a path leads to.
type walk struct {
	*decoder
	left int // items that may still be visited
}

// each calls f with each value, resolved, until f returns true.
func (w *walk) each(s span, steps []step, f func(s span, tag byte) bool) bool {
	s, tag := w.resolve(s)
	if len(steps) == 0 {
		return f(s, tag)
	}
	if steps[0].kind != stepAny {
		next, ok := w.step(s, tag, &steps[0])
		return ok && w.each(next, steps[1:], f)
	}
	for it := w.items(s, tag); ; {
		_, item, ok := it.next()
		if !ok {
			return false
		}
		if w.left--; w.left < 0 {
			corrupt()
		}
		if w.each(item, steps[1:], f) {
			return true
		}
	}
}

func (d *decoder) step(s span, tag byte, step *step) (span, bool) {
	if step.kind == stepElement {
		return d.element(s, tag, step.element)
	}
	return d.field(s, tag, step.name, step.print)
}

// follow is the first value that the path leads to, resolved; ok is false if there is none.
func (d *decoder) follow(s span, path *Path) (found span, tag byte, ok bool) {
	for i := range path.steps {
		if path.steps[i].kind == stepAny {
			w := walk{d, itemsMax}
			ok = w.each(s, path.steps[i:], func(hit span, hitTag byte) bool {
				found, tag = hit, hitTag
				return true
			})
			return found, tag, ok
		}
		at, tag := d.resolve(s)
		if s, ok = d.step(at, tag, &path.steps[i]); !ok {
			return span{}, 0, false
		}
	}
	found, tag = d.resolve(s)
	return found, tag, true
}
