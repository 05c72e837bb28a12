// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"bytes"
	"iter"
	"math"
	"strconv"
)

// Kind is a value's kind.
type Kind uint8

const (
	None   Kind = iota // no such value
	Null               // null
	Bool               // true, false
	Int                // fits int64
	Uint               // above the highest int64
	Double             // a float64
	Number             // a number of any other form: its text
	String             // a string
	Array              // an array
	Map                // an object, with fields
)

// A span is where a value's bytes begin, and where the bytes of what holds it end.
type span struct{ at, end uint64 }

// A decoder reads the values of one object, or of one VALUE block.
type decoder struct {
	*view
	own uint64 // the object's payload; 0: none
}

const (
	tagName     = 0x03
	tagVersion  = 0x06
	tagInt      = 0x08
	tagUint     = 0x10
	tagDouble   = 0x11
	tagNumber8  = 0x12
	tagString8  = 0x13
	tagString16 = 0x14
	tagString32 = 0x15
	tagNumber32 = 0x16
	tagRef      = 0x18
	tagArray16  = 0x1a
	tagArray32  = 0x1b
	tagMap16    = 0x1c
	tagMap32    = 0x1d
	tagNoMap    = 0x1e
	tagNoArray  = 0x1f
	tagString0  = 0x40 // to 0x7f: strings of 0 to 63 bytes
)

// texts: from what tag on, how long the head is, and how long the content.
func (d *decoder) content(s span) (head, length uint64) {
	tag := d.raw[s.at]
	switch {
	case tag >= 0x80:
		if tag > 0xbf {
			corrupt()
		}
		return 1, 0
	case tag >= 0x40:
		return 1, uint64(tag - 0x40)
	case tag <= tagVersion, tag == tagNoArray, tag == tagNoMap:
		return 1, 0
	case tag >= tagInt && tag < tagUint:
		return 1, uint64(tag - tagInt + 1)
	}
	switch tag {
	case tagUint, tagDouble:
		return 1, 8
	case tagNumber8, tagString8:
		return 2, uint64(d.raw[s.at+1])
	case tagString16, tagArray16:
		return 3, uint64(d.u16(s.at + 1))
	case tagString32, tagNumber32, tagArray32:
		return 5, uint64(d.u32(s.at + 1))
	case tagRef:
		return 1, 4
	case tagMap16:
		return 7, uint64(d.u16(s.at + 1))
	case tagMap32:
		return 9, uint64(d.u32(s.at + 1))
	}
	corrupt()
	return 0, 0
}

// after is where the value ends.
func (d *decoder) after(s span) uint64 {
	if s.at >= s.end {
		corrupt()
	}
	head, length := d.content(s)
	if head+length > s.end-s.at {
		corrupt()
	}
	return s.at + head + length
}

// resolve follows a reference, cuts the span to the value, and returns its tag.
func (d *decoder) resolve(s span) (span, byte) {
	s.end = d.after(s)
	tag := d.raw[s.at]
	if tag != tagRef {
		return s, tag
	}
	at, end := d.block(d.u32(s.at+1), blockValue, 1)
	s = span{at, end}
	s.end = d.after(s)
	if tag = d.raw[at]; tag == tagRef {
		corrupt()
	}
	return s, tag
}

func kindOf(tag byte) Kind {
	switch {
	case tag >= 0x80:
		return Int
	case tag >= 0x40, tag >= tagName && tag <= tagVersion:
		return String
	case tag >= tagInt && tag < tagUint:
		return Int
	}
	switch tag {
	case 0:
		return Null
	case 1, 2:
		return Bool
	case tagUint:
		return Uint
	case tagDouble:
		return Double
	case tagNumber8, tagNumber32:
		return Number
	case tagString8, tagString16, tagString32:
		return String
	case tagArray16, tagArray32, tagNoArray:
		return Array
	case tagMap16, tagMap32, tagNoMap:
		return Map
	}
	corrupt()
	return None
}

// text is the bytes of a string or Number; they lie in the arena.
func (d *decoder) text(s span, tag byte) []byte {
	if tag >= tagName && tag <= tagVersion {
		return d.head(tag)
	}
	head, length := d.content(s)
	return d.raw[s.at+head : s.at+head+length]
}

// head is a text of the object's head, by the tag that stands for it in the body.
func (d *decoder) head(tag byte) []byte {
	if d.own == 0 {
		corrupt()
	}
	key := d.own + objKey
	namespace := uint64(d.raw[d.own+objNamespaceLength])
	name := uint64(d.u16(d.own + objNameLength))
	end := d.own + uint64(d.u16(d.own+objBodyOffset))
	uid, version := uint64(d.raw[d.own+objUIDLength]), uint64(d.raw[d.own+objVersionLength])
	if key+namespace+name+uid+version > end {
		corrupt()
	}
	switch tag {
	case tagName:
		return d.raw[key+namespace : key+namespace+name]
	case tagName + 1:
		return d.raw[key : key+namespace]
	case tagName + 2:
		return d.raw[end-version-uid : end-version]
	}
	return d.raw[end-version : end]
}

// near is a copy of a field that follows the key: 0 spec.nodeName, 1 status.phase. False: look into the body.
func (d *decoder) near(which int) ([]byte, bool) {
	if d.raw[d.own+objFlags]&objHasNear == 0 {
		return nil, false
	}
	end := d.own + uint64(d.u16(d.own+objBodyOffset))
	at := d.own + objKey + uint64(d.raw[d.own+objNamespaceLength]) + uint64(d.u16(d.own+objNameLength))
	for ; which > 0; which-- {
		at += 1 + uint64(d.raw[at])
	}
	length := uint64(d.raw[at])
	if at+1+length > end {
		corrupt()
	}
	return d.raw[at+1 : at+1+length], length > 0
}

func (d *decoder) integer(s span, tag byte) int64 {
	if tag >= 0x80 {
		return int64(tag - 0x80)
	}
	n, width := uint64(0), uint64(tag-tagInt)+1
	for i := uint64(0); i < width; i++ {
		n |= uint64(d.raw[s.at+1+i]) << (8 * d.place(i, width))
	}
	return int64(n<<(64-8*width)) >> (64 - 8*width)
}

// place is the rank of byte i of a native number of `width` bytes.
func (d *decoder) place(i, width uint64) uint64 {
	if littleEndian {
		return i
	}
	return width - 1 - i
}

var littleEndian = raw{1, 0}.u16(0) == 1

// ---- arrays and objects

// An items steps through an array or object.
type items struct {
	d     *decoder
	rest  span
	left  uint64 // of an object: names not yet seen
	names uint64 // where the ref of the next name stands
}

// shape is where a SHAPE's fingerprints and its refs of names begin, and how many there are.
func (d *decoder) shape(ref uint32) (prints, names, count uint64) {
	at, end := d.block(ref, blockShape, 4)
	count = uint64(d.u32(at))
	prints = at + 4
	names = prints + (count+3)&^3
	if count > end-at || names+4*count > end {
		corrupt()
	}
	return prints, names, count
}

func (d *decoder) items(s span, tag byte) items {
	it := items{d: d}
	switch tag {
	case tagArray16, tagArray32:
		head, _ := d.content(s)
		it.rest = span{s.at + head, s.end}
	case tagMap16, tagMap32:
		head, _ := d.content(s)
		it.rest = span{s.at + head, s.end}
		_, it.names, it.left = d.shape(d.u32(s.at + head - 4))
	}
	return it
}

// next is the next item; of an object also its name, which lies in the arena.
func (it *items) next() (name []byte, item span, ok bool) {
	if it.rest.at == it.rest.end {
		if it.left != 0 {
			corrupt()
		}
		return nil, span{}, false
	}
	if it.names != 0 {
		if it.left == 0 {
			corrupt()
		}
		name = it.d.blockText(it.d.u32(it.names))
		it.names += 4
		it.left--
	}
	end := it.d.after(it.rest)
	item = span{it.rest.at, end}
	it.rest.at = end
	return name, item, true
}

// blockText is the string in a VALUE block.
func (d *decoder) blockText(ref uint32) []byte {
	at, end := d.block(ref, blockValue, 1)
	s := span{at, end}
	s.end = d.after(s)
	tag := d.raw[at]
	if kindOf(tag) != String || tag <= tagVersion {
		corrupt()
	}
	return d.text(s, tag)
}

// print is a name's fingerprint: the low byte of its FNV-1a 32.
func print(name string) byte {
	h := uint32(0x811c9dc5)
	for i := 0; i < len(name); i++ {
		h = (h ^ uint32(name[i])) * 0x01000193
	}
	return byte(h)
}

// field is an object's field of this name and fingerprint.
func (d *decoder) field(s span, tag byte, name string, mark byte) (span, bool) {
	if tag != tagMap16 && tag != tagMap32 {
		return span{}, false
	}
	head, _ := d.content(s)
	prints, names, count := d.shape(d.u32(s.at + head - 4))
	for i := uint64(0); i < count; i++ {
		more := bytes.IndexByte(d.raw[prints+i:prints+count], mark)
		if more < 0 {
			break
		}
		i += uint64(more)
		if string(d.blockText(d.u32(names+4*i))) != name {
			continue
		}
		rest := span{s.at + head, s.end}
		for ; i > 0; i-- {
			rest.at = d.after(rest)
		}
		rest.end = d.after(rest)
		return rest, true
	}
	return span{}, false
}

func (d *decoder) element(s span, tag byte, i uint64) (span, bool) {
	if tag != tagArray16 && tag != tagArray32 {
		return span{}, false
	}
	it := d.items(s, tag)
	for {
		_, item, ok := it.next()
		if !ok || i == 0 {
			return item, ok
		}
		i--
	}
}

// ---- fields by name

// in is an object's field of this name, resolved.
func (d *decoder) in(outer span, name string) (span, byte, bool) {
	outer, tag := d.resolve(outer)
	s, ok := d.field(outer, tag, name, print(name))
	if !ok {
		return span{}, 0, false
	}
	s, tag = d.resolve(s)
	return s, tag, true
}

// textIn is a string; it lies in the arena. nil: it is absent or no string.
func (d *decoder) textIn(outer span, name string) []byte {
	s, tag, ok := d.in(outer, name)
	if !ok || kindOf(tag) != String {
		return nil
	}
	return d.text(s, tag)
}

// flagIn is a boolean; `otherwise` if it is absent or no boolean.
func (d *decoder) flagIn(outer span, name string, otherwise bool) bool {
	_, tag, ok := d.in(outer, name)
	if !ok || tag != 1 && tag != 2 {
		return otherwise
	}
	return tag == 2
}

// elements are those of an array field, resolved; none if it is absent or no array.
func (d *decoder) elements(outer span, name string) iter.Seq2[span, byte] {
	return func(yield func(span, byte) bool) {
		s, tag, ok := d.in(outer, name)
		if !ok || kindOf(tag) != Array {
			return
		}
		for it := d.items(s, tag); ; {
			_, item, more := it.next()
			if !more || !yield(d.resolve(item)) {
				return
			}
		}
	}
}

// ---- JSON

const hexDigits = "0123456789abcdef"

func appendJSONText(to []byte, text []byte) []byte {
	to = append(to, '"')
	from := 0
	for i, c := range text {
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		to = append(to, text[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			to = append(to, '\\', c)
		case '\b':
			to = append(to, '\\', 'b')
		case '\f':
			to = append(to, '\\', 'f')
		case '\n':
			to = append(to, '\\', 'n')
		case '\r':
			to = append(to, '\\', 'r')
		case '\t':
			to = append(to, '\\', 't')
		default:
			to = append(to, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(to, text[from:]...), '"')
}

// appendDouble writes the fewest of 15 to 17 digits that bring a float64 back, and a point or an exponent.
func appendDouble(to []byte, n float64) []byte {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		corrupt() // JSON has none, so no decoder made one
	}
	at := len(to)
	for digits := 15; ; digits++ {
		to = strconv.AppendFloat(to[:at], n, 'g', digits, 64)
		if back, _ := strconv.ParseFloat(string(to[at:]), 64); back == n || digits == 17 {
			break
		}
	}
	if bytes.ContainsAny(to[at:], ".e") {
		return to
	}
	return append(to, '.', '0')
}

// limits are what one call may still do: a damaged arena may refer to itself, or to a large string many times.
type limits struct {
	left int    // values that may be visited
	room uint64 // bytes of what is made
}

const (
	itemsMax = 1 << 22
	bytesMax = 1 << 28
)

func (l *limits) visit(count int) {
	if l.left -= count; l.left < 0 {
		corrupt()
	}
}

func (l *limits) take(bytes uint64) {
	if bytes > l.room {
		corrupt()
	}
	l.room -= bytes
}

// A printer appends values as JSON.
type printer struct {
	*decoder
	limits
}

func newPrinter(d *decoder) printer { return printer{d, limits{itemsMax, bytesMax}} }

// text is the bytes of a string or Number; they lie in the arena.
func (p *printer) text(s span, tag byte) []byte {
	text := p.decoder.text(s, tag)
	p.take(uint64(len(text)))
	return text
}

func (p *printer) append(to []byte, s span, depth int) []byte {
	s, tag := p.resolve(s)
	if p.visit(1); depth > valueDepthMax {
		corrupt()
	}
	switch kindOf(tag) {
	case Null:
		return append(to, "null"...)
	case Bool:
		return strconv.AppendBool(to, tag == 2)
	case Int:
		return strconv.AppendInt(to, p.integer(s, tag), 10)
	case Uint:
		return strconv.AppendUint(to, p.u64(s.at+1), 10)
	case Double:
		return appendDouble(to, math.Float64frombits(p.u64(s.at+1)))
	case Number:
		text := p.text(s, tag)
		for _, c := range text {
			if bytes.IndexByte([]byte("0123456789-+.eE"), c) < 0 {
				corrupt()
			}
		}
		return append(to, text...)
	case String:
		return appendJSONText(to, p.text(s, tag))
	case Array:
		return append(p.appendItems(append(to, '['), s, tag, depth), ']')
	default:
		return append(p.appendItems(append(to, '{'), s, tag, depth), '}')
	}
}

func (p *printer) appendItems(to []byte, s span, tag byte, depth int) []byte {
	it, begin := p.items(s, tag), len(to)
	for {
		name, item, ok := it.next()
		if !ok {
			return to
		}
		if len(to) > begin {
			to = append(to, ',')
		}
		if it.names != 0 {
			p.take(uint64(len(name)))
			to = append(appendJSONText(to, name), ':')
		}
		to = p.append(to, item, depth+1)
	}
}
