// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"bytes"
	"fmt"
	"slices"
)

// A question is what an index is asked for.
type question struct {
	value  string
	begins bool // values that begin so
}

// filed is the part of a value under which the index files it.
func (def *indexDef) filed(value string) string {
	if def.prefix > 0 && len(value) > def.prefix {
		return value[:def.prefix]
	}
	return value
}

// each calls f with each of an object's values in the index, until f returns true.
func (def *indexDef) each(d *decoder, body span, f func(value []byte) bool) bool {
	for i := range def.rules {
		rule := &def.rules[i]
		if rule.as == "namespace" {
			if namespace := d.head(tagName + 1); len(namespace) > 0 && f(namespace) {
				return true
			}
			continue
		}
		w := walk{d, itemsMax}
		if w.each(body, rule.path.steps, func(s span, tag byte) bool { return rule.hit(d, s, tag, f) }) {
			return true
		}
	}
	return false
}

// scalar is the text of a string, number or boolean; nil for others.
func (d *decoder) scalar(s span, tag byte) []byte {
	switch kindOf(tag) {
	case String:
		return d.text(s, tag)
	case Bool, Int, Uint, Double, Number:
		p := printer{d, limits{1, bytesMax}}
		return p.append([]byte{}, s, 0)
	}
	return nil
}

func short(value []byte, f func(value []byte) bool) bool {
	return len(value) <= indexValueMax && f(value)
}

func (rule *indexRule) hit(d *decoder, s span, tag byte, f func(value []byte) bool) bool {
	switch rule.as {
	case "keyvalue":
		if kindOf(tag) != Map {
			return false
		}
		for it := d.items(s, tag); ; {
			name, item, ok := it.next()
			if !ok {
				return false
			}
			item, tag := d.resolve(item)
			if text := d.scalar(item, tag); text != nil && short(slices.Concat(name, []byte("="), text), f) {
				return true
			}
		}
	case "split":
		if kindOf(tag) == String {
			for part := range bytes.SplitSeq(d.text(s, tag), []byte(rule.separator)) {
				if part = bytes.Trim(part, " \t"); len(part) > 0 && short(part, f) {
					return true
				}
			}
			return false
		}
	case "scheme":
		if kindOf(tag) == String {
			text := d.text(s, tag)
			if text = text[schemeLength(text):]; len(text) > 0 {
				return short(text, f)
			}
			return false
		}
	}
	text := d.scalar(s, tag)
	return text != nil && short(text, f)
}

// schemeLength is the length of a scheme, as in "containerd://"; 0: there is none.
func schemeLength(text []byte) int {
	i := 0
	for i < len(text) && (text[i] >= 'a' && text[i] <= 'z' || text[i] >= 'A' && text[i] <= 'Z' ||
		text[i] >= '0' && text[i] <= '9' || bytes.IndexByte([]byte("+-."), text[i]) >= 0) {
		i++
	}
	if i > 0 && bytes.HasPrefix(text[i:], []byte("://")) {
		return i + 3
	}
	return 0
}

// fits tells whether an object has a value that answers the question.
func (def *indexDef) fits(d *decoder, body span, q *question) bool {
	return def.each(d, body, func(value []byte) bool {
		if q.begins {
			return bytes.HasPrefix(value, bytesOf(q.value))
		}
		return string(value) == q.value
	})
}

// postings is a checked POSTINGS block: its ordinals, or the link of their trie if there are many.
func (a *view) postings(ref uint32) (count, ordinals uint64, value []byte) {
	at, end := a.block(ref, blockPostings, 8)
	count, length := uint64(a.u32(at)), uint64(a.u32(at+4))
	words := count
	if count > postingArrayMax {
		words = 1
	}
	if count == 0 || 8+4*words+length != end-at {
		corrupt()
	}
	return count, at + 8, a.raw[end-length : end]
}

// indexLeaf is the leaf of those of a part's objects that may answer: an ordinal or POSTINGS; 0: none.
// filter: each object must still be compared.
func (p *pin) indexLeaf(resource uint64, number int, def *indexDef, q *question) (leaf uint32, filter bool,
	err error) {
	a := &p.view
	if q.begins && def.prefix == 0 {
		return 0, false, fmt.Errorf("the index %q is not searched by prefix: declare it with a prefix, as in "+
			"informerd --index NAME=RESOURCE:PATH:prefix=12: %w", def.name, ErrNoIndex)
	}
	if q.begins && len(q.value) < def.prefix {
		return 0, false, fmt.Errorf("the index %q is searched by prefixes of %d bytes or more: %w", def.name,
			def.prefix, ErrSyntax)
	}
	if len(q.value) > indexValueMax {
		return 0, false, nil
	}
	if uint64(number) >= uint64(a.u32(resource+resIndexCount)) {
		corrupt()
	}
	filed := def.filed(q.value)
	top := a.search(a.u32(resource+resIndexes+4*uint64(number)), p.m.hash.value(filed))
	if top == 0 {
		return 0, false, nil
	}
	a.leafLinks(top, func(link uint32) bool {
		if link&immediate != 0 {
			at, end := a.ordinal(a.u32(resource+resOrdinals), link&^immediate)
			d := decoder{a, at}
			if def.fits(&d, span{at + uint64(a.u16(at+objBodyOffset)), end}, q) {
				leaf = link
			}
			return leaf != 0
		}
		if _, _, value := a.postings(link); string(value) == filed {
			leaf = link
			filter = def.prefix > 0 && len(q.value) >= def.prefix && (!q.begins || len(q.value) > def.prefix)
		}
		return leaf != 0
	})
	return leaf, filter, nil
}

// leafCount is how many objects a leaf has.
func (a *view) leafCount(leaf uint32) uint64 {
	if leaf&immediate != 0 {
		return 1
	}
	count, _, _ := a.postings(leaf)
	return count
}
