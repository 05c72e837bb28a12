// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A LabelSelector is a compiled label selector, in the API's own syntax: app=web,tier in (a,b),env!=prod,
// release,!canary,weight>5. Any number of goroutines may use one.
type LabelSelector struct {
	requirements []requirement
	equality     string // "key=value", as the index of labels has it; "": there is none
}

type operator uint8

const (
	opExists operator = iota
	opAbsent
	opIn
	opNotIn
	opAbove
	opBelow
)

type requirement struct {
	op     operator
	key    string
	print  byte
	values []string
	bound  int64
}

type selectorParser struct {
	text string
	at   int
}

func (p *selectorParser) fail(why string) error {
	if !p.atEnd() && !isWord(p.text[p.at]) && strings.IndexByte(",()><=!", p.text[p.at]) < 0 {
		why = "a character that has no place in a selector"
	}
	return fmt.Errorf("selector %q, byte %d: %s: %w", p.text, p.at, why, ErrSyntax)
}

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func isWord(c byte) bool { return isAlnum(c) || strings.IndexByte("-_./", c) >= 0 }

func (p *selectorParser) skipBlanks() {
	for p.at < len(p.text) && strings.IndexByte(" \t\n\r", p.text[p.at]) >= 0 {
		p.at++
	}
}

func (p *selectorParser) atEnd() bool {
	p.skipBlanks()
	return p.at == len(p.text)
}

func (p *selectorParser) isNext(text string) bool {
	p.skipBlanks()
	return strings.HasPrefix(p.text[p.at:], text)
}

func (p *selectorParser) accept(text string) bool {
	is := p.isNext(text)
	if is {
		p.at += len(text)
	}
	return is
}

// word is the word that comes next; "": none.
func (p *selectorParser) word() string {
	p.skipBlanks()
	end := p.at
	for end < len(p.text) && isWord(p.text[end]) {
		end++
	}
	return p.text[p.at:end]
}

func isLabelName(t string) bool {
	return len(t) > 0 && len(t) <= 63 && isAlnum(t[0]) && isAlnum(t[len(t)-1]) && !strings.Contains(t, "/")
}

// isLabelKey: [prefix/]name; the prefix is a DNS subdomain.
func isLabelKey(t string) bool {
	prefix, name, cut := strings.Cut(t, "/")
	if !cut {
		return isLabelName(t)
	}
	if prefix == "" || len(prefix) > 253 {
		return false
	}
	before := byte('.')
	for i := 0; i < len(prefix); i++ {
		c := prefix[i]
		if c == '_' || c >= 'A' && c <= 'Z' ||
			(c == '.' || c == '-') && (before == '.' || c == '.' && before == '-') {
			return false
		}
		before = c
	}
	return before != '.' && before != '-' && isLabelName(name)
}

func (p *selectorParser) value(r *requirement) error {
	value := p.word()
	if value != "" && !isLabelName(value) {
		return p.fail("no label value: at most 63 letters, digits, '-', '_', '.', beginning and ending with a " +
			"letter or digit")
	}
	p.at += len(value)
	r.values = append(r.values, value)
	return nil
}

func (p *selectorParser) set(r *requirement) error {
	if !p.accept("(") {
		return p.fail("expected '(' after in or notin")
	}
	for {
		if err := p.value(r); err != nil {
			return err
		}
		if !p.accept(",") {
			break
		}
	}
	if !p.accept(")") {
		return p.fail("expected ',' or ')'")
	}
	return nil
}

func (p *selectorParser) limit(r *requirement) (err error) {
	bound := p.word()
	if r.bound, err = strconv.ParseInt(bound, 10, 64); err != nil {
		return p.fail("expected an integer after '>' or '<'")
	}
	if !isLabelName(bound) {
		return p.fail("an integer that no label can have as its value: it begins with '-'")
	}
	p.at += len(bound)
	return nil
}

var operators = []struct {
	text  string
	op    operator
	parse func(*selectorParser, *requirement) error
}{
	{"==", opIn, (*selectorParser).value}, {"=", opIn, (*selectorParser).value},
	{"!=", opNotIn, (*selectorParser).value}, {"in", opIn, (*selectorParser).set},
	{"notin", opNotIn, (*selectorParser).set}, {">", opAbove, (*selectorParser).limit},
	{"<", opBelow, (*selectorParser).limit},
}

func (p *selectorParser) requirement() (r requirement, err error) {
	absent := !p.isNext("!=") && p.accept("!")
	if r.key = p.word(); r.key == "" {
		return r, p.fail("expected a label key")
	}
	if !isLabelKey(r.key) {
		return r, p.fail("no label key: [prefix/]name, the name at most 63 letters, digits, '-', '_', '.'")
	}
	p.at += len(r.key)
	r.print = print(r.key)
	if absent {
		r.op = opAbsent
		return r, nil
	}
	if p.atEnd() || p.isNext(",") {
		return r, nil
	}
	word := p.word()
	for i := range operators {
		if o := &operators[i]; word == o.text || word == "" && p.isNext(o.text) {
			p.at += len(o.text)
			r.op = o.op
			return r, o.parse(p, &r)
		}
	}
	return r, p.fail("expected =, ==, !=, in, notin, >, <, ',' or the end")
}

// CompileLabelSelector compiles a label selector; "" matches all. The error says where and why;
// errors.Is(err, ErrSyntax).
func CompileLabelSelector(text string) (*LabelSelector, error) {
	p := selectorParser{text: text}
	selector := &LabelSelector{}
	if p.atEnd() {
		return selector, nil
	}
	for {
		r, err := p.requirement()
		if err != nil {
			return nil, err
		}
		selector.requirements = append(selector.requirements, r)
		if r.op == opIn && len(r.values) == 1 && selector.equality == "" {
			selector.equality = r.key + "=" + r.values[0]
		}
		if !p.accept(",") {
			break
		}
	}
	if !p.atEnd() {
		return nil, p.fail("expected ',' or the end")
	}
	return selector, nil
}

func (r *requirement) matches(label []byte, present bool) bool {
	switch r.op {
	case opExists:
		return present
	case opAbsent:
		return !present
	case opIn, opNotIn:
		in := present && slices.Contains(r.values, string(label))
		return in == (r.op == opIn)
	}
	number, err := strconv.ParseInt(string(label), 10, 64)
	if !present || err != nil {
		return false
	}
	if r.op == opAbove {
		return number > r.bound
	}
	return number < r.bound
}

func (selector *LabelSelector) matches(d *decoder, body span) bool {
	labels, tag, ok := d.follow(body, labelsPath)
	for i := range selector.requirements {
		r := &selector.requirements[i]
		var label []byte
		present := false
		if ok {
			if s, found := d.field(labels, tag, r.key, r.print); found {
				s, tag := d.resolve(s)
				if present = kindOf(tag) == String; present {
					label = d.text(s, tag)
				}
			}
		}
		if !r.matches(label, present) {
			return false
		}
	}
	return true
}

// Matches tells whether the selector matches an object.
func (selector *LabelSelector) Matches(o Object) (matches bool, err error) {
	return o.test(selector.matches)
}

func (o *Object) test(f func(d *decoder, body span) bool) (bool, error) {
	return read(o.s, func(p *pin) (is bool, err error) {
		d := o.decoder(p)
		return f(&d, o.body(&d)), nil
	})
}

// A FieldSelector is a compiled field selector: path=value, path==value, path!=value, joined by commas, on any
// path: spec.nodeName=n1,status.phase!=Running. An absent field counts as "". Any number of goroutines may use
// one.
type FieldSelector struct{ terms []fieldTerm }

type fieldTerm struct {
	path    *Path
	value   string
	differs bool // !=
}

// path parses a path, up to its operator.
func (p *selectorParser) path(term *fieldTerm) (err error) {
	start := p.at
	for p.at < len(p.text) && strings.IndexByte("=!,", p.text[p.at]) < 0 {
		bracket := p.text[p.at] == '['
		if p.text[p.at] == '\\' && p.at+1 < len(p.text) {
			p.at++
		}
		p.at++
		if bracket && p.at < len(p.text) && (p.text[p.at] == '"' || p.text[p.at] == '\'') {
			p.skipQuoted()
		}
	}
	text := strings.TrimRight(p.text[start:p.at], " \t\n\r")
	if text == "" {
		return p.refuse("expected a path")
	}
	if term.path, err = CompilePath(text); err != nil {
		return fmt.Errorf("field selector %q: %w", p.text, err)
	}
	if p.at < len(p.text) && p.text[p.at] == '!' {
		term.differs = true
		p.at++
	}
	if p.at == len(p.text) || p.text[p.at] != '=' {
		if term.differs {
			return p.refuse("expected '=' after '!'")
		}
		return p.refuse("expected =, == or != after the path")
	}
	p.at++
	if !term.differs && p.at < len(p.text) && p.text[p.at] == '=' {
		p.at++
	}
	return nil
}

// skipQuoted skips from the quote of ["..."] past the closing one; if there is none, CompilePath reports it.
func (p *selectorParser) skipQuoted() {
	quote := p.text[p.at]
	for p.at++; p.at < len(p.text) && p.text[p.at] != quote; p.at++ {
		if p.text[p.at] == '\\' {
			p.at++
		}
	}
	p.at = min(p.at+1, len(p.text))
}

// fieldValue parses a value, in which a backslash makes ',', '=' or another backslash part of it.
func (p *selectorParser) fieldValue(term *fieldTerm) error {
	var value strings.Builder
	for ; p.at < len(p.text) && p.text[p.at] != ','; p.at++ {
		if p.text[p.at] == '=' {
			return p.refuse(`an '=' in a value is written \=`)
		}
		if p.text[p.at] == '\\' {
			if p.at+1 == len(p.text) || strings.IndexByte(`,=\`, p.text[p.at+1]) < 0 {
				return p.refuse(`a backslash stands before ',', '=' or another one only; by itself it is written \\`)
			}
			p.at++
		}
		value.WriteByte(p.text[p.at])
	}
	term.value = value.String()
	return nil
}

func (p *selectorParser) refuse(why string) error {
	return fmt.Errorf("field selector %q, byte %d: %s: %w", p.text, p.at, why, ErrSyntax)
}

// CompileFieldSelector compiles a field selector; "" matches all. The error says where and why;
// errors.Is(err, ErrSyntax).
func CompileFieldSelector(text string) (*FieldSelector, error) {
	selector := &FieldSelector{}
	for p := (&selectorParser{text: text}); ; p.at++ {
		p.skipBlanks()
		if p.at < len(p.text) && p.text[p.at] != ',' {
			var term fieldTerm
			err := p.path(&term)
			if err == nil {
				err = p.fieldValue(&term)
			}
			if err != nil {
				return nil, err
			}
			selector.terms = append(selector.terms, term)
		}
		if p.at == len(p.text) {
			return selector, nil
		}
	}
}

// equals compares a value with the term's.
func (term *fieldTerm) equals(d *decoder, s span, tag byte) bool {
	switch kindOf(tag) {
	case Null:
		return term.value == ""
	case Array, Map:
		return false
	}
	return string(d.scalar(s, tag)) == term.value
}

// is tells whether one of the values at the path equals the term's; an absent field counts as "".
func (term *fieldTerm) is(d *decoder, body span) bool {
	w, found := walk{d, itemsMax}, false
	equal := w.each(body, term.path.steps, func(s span, tag byte) bool {
		found = true
		return term.equals(d, s, tag)
	})
	return equal || !found && term.value == ""
}

func (selector *FieldSelector) matches(d *decoder, body span) bool {
	for i := range selector.terms {
		if selector.terms[i].is(d, body) == selector.terms[i].differs {
			return false
		}
	}
	return true
}

// Matches tells whether the selector matches an object.
func (selector *FieldSelector) Matches(o Object) (matches bool, err error) {
	return o.test(selector.matches)
}
