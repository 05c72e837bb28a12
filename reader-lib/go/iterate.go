// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"iter"
	"runtime/debug"
	"sync/atomic"
	"unsafe"
)

// batch is how many objects an iteration locates in one guarded step.
const batch = 32

// A cursor goes through the parts of a resource, one after another. In a part it walks all ordinals, or those
// of one value of an index.
type cursor struct {
	s         Snapshot
	r         *Resource
	index     string // "": all, or what narrow chooses
	asked     question
	namespace string
	selector  *LabelSelector

	binding         *binding
	next            int // of the binding's parts
	part            *part
	resource        uint64
	filter          *indexDef
	filterNamespace bool
	walking         uint8
	fresh           bool
	trie            trieIter
	array, left     uint64 // of postings in an array
	one             uint32 // the only ordinal, with its bit

	found [batch]Object
	count int
}

const (
	walkNothing = iota
	walkAll
	walkOne
	walkArray
	walkTrie
)

// look finds the next objects: none are left if count is 0 afterwards.
func (c *cursor) look() (err error) {
	c.count = 0
	p, err := c.s.open()
	if err != nil {
		return err
	}
	old := debug.SetPanicOnFault(true)
	defer p.guard(old, &err)
	if c.binding == nil {
		if c.binding, err = p.bind(c.r); err != nil {
			return err
		}
	}
	for c.count < batch {
		at, end, ok := c.step(p)
		if ok {
			if c.wanted(p, at, end) {
				c.found[c.count] = Object{s: c.s, at: at, end: end, def: c.part.def}
				c.count++
			}
			continue
		}
		if c.next == len(c.binding.parts) {
			break
		}
		if err = c.beginPart(p); err != nil {
			return err
		}
	}
	return nil
}

func (c *cursor) beginPart(p *pin) error {
	c.part = &c.binding.parts[c.next]
	c.next++
	c.walking, c.fresh, c.filter = walkNothing, true, nil
	resource, _, ok := p.resourceAt(c.part.position)
	if !ok {
		corrupt()
	}
	c.resource = resource
	if c.index == "" {
		return c.narrow(p)
	}
	number, def, err := c.part.def.index(c.index)
	if err != nil {
		return err
	}
	leaf, filter, err := p.indexLeaf(resource, number, def, &c.asked)
	if err != nil || leaf == 0 {
		return err
	}
	if filter {
		c.filter = def
	}
	c.walkLeaf(&p.view, leaf)
	return nil
}

// narrow chooses what to walk. Of two indexes that would do, it takes the one with fewer objects.
func (c *cursor) narrow(p *pin) error {
	leaf := uint32(0)
	c.filterNamespace = c.namespace != ""
	if number := c.part.def.role(roleNamespace); c.namespace != "" && number >= 0 {
		var err error
		leaf, _, err = p.indexLeaf(c.resource, number, &c.part.def.indexes[number], &question{value: c.namespace})
		if err != nil || leaf == 0 {
			return err
		}
		c.filterNamespace = false
	}
	if number := c.part.def.role(roleLabels); c.selector != nil && c.selector.equality != "" && number >= 0 {
		other, _, err := p.indexLeaf(c.resource, number, &c.part.def.indexes[number],
			&question{value: c.selector.equality})
		if err != nil || other == 0 {
			return err
		}
		if leaf == 0 || p.view.leafCount(other) < p.view.leafCount(leaf) {
			leaf = other
			c.filterNamespace = c.namespace != ""
		}
	}
	if leaf != 0 {
		c.walkLeaf(&p.view, leaf)
		return nil
	}
	c.walking = walkAll
	return nil
}

func (c *cursor) walkLeaf(a *view, leaf uint32) {
	if leaf&immediate != 0 {
		c.walking, c.one = walkOne, leaf
		return
	}
	c.left, c.array, _ = a.postings(leaf)
	c.walking = walkArray
	if c.left > postingArrayMax {
		c.walking = walkTrie
	}
}

// step is the next object of the part; ok is false at its end.
func (c *cursor) step(p *pin) (at, end uint64, ok bool) {
	a := &p.view
	switch c.walking {
	case walkAll:
		leaf := c.leaf(a, a.u32(c.resource+resOrdinals))
		if leaf == 0 {
			return 0, 0, false
		}
		if leaf&immediate != 0 {
			corrupt()
		}
		at, end = a.object(leaf)
		return at, end, true
	case walkTrie:
		leaf := c.leaf(a, a.u32(c.array))
		if leaf == 0 {
			return 0, 0, false
		}
		at, end = c.byOrdinal(p, leaf)
		return at, end, true
	case walkOne:
		c.walking = walkNothing
		at, end = c.byOrdinal(p, c.one)
		return at, end, true
	case walkArray:
		if c.left == 0 {
			return 0, 0, false
		}
		at, end = c.byOrdinal(p, a.u32(c.array)|immediate)
		c.array += 4
		c.left--
		return at, end, true
	}
	return 0, 0, false
}

func (c *cursor) leaf(a *view, top uint32) uint32 {
	if c.fresh {
		c.fresh = false
		return c.trie.first(a, top)
	}
	return c.trie.next()
}

// byOrdinal is the object with an ordinal, by the table of hints, else by the trie.
func (c *cursor) byOrdinal(p *pin, link uint32) (at, end uint64) {
	a := &p.view
	if link&immediate == 0 {
		corrupt()
	}
	ordinal := link &^ immediate
	cells, count := a.cells(a.u32(c.resource+resByOrdinal), 2, 4)
	if uint64(ordinal) < count {
		cell := atomic.LoadUint32((*uint32)(unsafe.Pointer(&a.raw[cells+4*uint64(ordinal)]))) // S2
		if p.m.closed() {                                                                     // S2'
			corrupt()
		}
		if cell != 0 {
			at, end = a.object(cell)
			if a.u32(at+objOrdinal) == ordinal && a.u64(at+objSeq) <= p.seq { // S3
				return at, end
			}
		}
	}
	return a.ordinal(a.u32(c.resource+resOrdinals), ordinal)
}

func (c *cursor) wanted(p *pin, at, end uint64) bool {
	d := decoder{&p.view, at}
	body := span{at + uint64(d.u16(at+objBodyOffset)), end}
	if c.filter != nil && !c.filter.fits(&d, body, &c.asked) {
		return false
	}
	if c.filterNamespace && string(d.head(tagName+1)) != c.namespace {
		return false
	}
	return c.selector == nil || c.selector.matches(&d, body)
}

func (c *cursor) seq() iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		c := *c
		for {
			if err := c.look(); err != nil {
				yield(Object{}, err)
				return
			}
			for i := range c.count {
				if !yield(c.found[i], nil) {
					return
				}
			}
			if c.count < batch {
				return
			}
		}
	}
}

// All ranges over all objects of a resource. The order is unspecified, but the same for the same snapshot. An
// error comes last, with the zero Object.
func (s Snapshot) All(r *Resource) iter.Seq2[Object, error] { return (&cursor{s: s, r: r}).seq() }

// InNamespace ranges over a namespace's objects, as All.
func (s Snapshot) InNamespace(r *Resource, namespace string) iter.Seq2[Object, error] {
	return s.Select(r, namespace, nil)
}

// ByIndex ranges over the objects that have this value in the index of this name, as All.
func (s Snapshot) ByIndex(r *Resource, index, value string) iter.Seq2[Object, error] {
	return (&cursor{s: s, r: r, index: index, asked: question{value: value}}).seq()
}

// ByIndexPrefix ranges over the objects that have a value in the index that begins with a prefix, as All. The
// index must be declared with a prefix, and then of as many bytes or fewer, as containerID of pods (12).
func (s Snapshot) ByIndexPrefix(r *Resource, index, prefix string) iter.Seq2[Object, error] {
	return (&cursor{s: s, r: r, index: index, asked: question{prefix, true}}).seq()
}

// Select ranges over the objects that a label selector (nil: all) matches, in one namespace or ("") in all,
// as All. An index narrows the search: by namespace, or by an equality in the selector.
func (s Snapshot) Select(r *Resource, namespace string, selector *LabelSelector) iter.Seq2[Object, error] {
	return (&cursor{s: s, r: r, namespace: namespace, selector: selector}).seq()
}

// CountByIndex is how many objects ByIndex would give. Only an index with a prefix touches them.
func (s Snapshot) CountByIndex(r *Resource, index, value string) (uint64, error) {
	return read(s, func(p *pin) (count uint64, err error) {
		b, err := p.bind(r)
		if err != nil {
			return 0, err
		}
		c := cursor{s: s, r: r, index: index, asked: question{value: value}, binding: b}
		for c.next < len(b.parts) {
			if err = c.beginPart(p); err != nil {
				return 0, err
			}
			if c.filter == nil && (c.walking == walkArray || c.walking == walkTrie) {
				count += c.left
				continue
			}
			for at, end, ok := c.step(p); ok; at, end, ok = c.step(p) {
				if c.wanted(p, at, end) {
					count++
				}
			}
		}
		return count, nil
	})
}

// What some indexes are for, whatever their names.
type role uint8

const (
	roleNamespace role = iota
	roleLabels
	roleUID
	roleAddress
	roleContainer
	roles
)

// role is the number of the first index for this; -1: there is none.
func (def *definition) role(which role) int { return def.roles[which] }

func (def *definition) findRoles() {
	for which := range roles {
		def.roles[which] = -1
		for i := range def.indexes {
			if def.roles[which] < 0 && def.indexes[i].has(which) {
				def.roles[which] = i
			}
		}
	}
}

func (def *indexDef) has(which role) bool {
	for i := range def.rules {
		rule := &def.rules[i]
		switch which {
		case roleNamespace:
			if rule.as == "namespace" {
				return true
			}
		case roleContainer:
			if rule.as == "scheme" {
				return true
			}
		case roleLabels:
			if rule.as == "keyvalue" && rule.path.same(labelsPath) {
				return true
			}
		case roleUID:
			if rule.as == "string" && rule.path.same(uidPath) {
				return true
			}
		case roleAddress:
			if rule.as == "string" && rule.path.same(addressPath) {
				return true
			}
		}
	}
	return false
}

var (
	labelsPath  = MustCompilePath("metadata.labels")
	uidPath     = MustCompilePath("metadata.uid")
	versionPath = MustCompilePath("metadata.resourceVersion")
	addressPath = MustCompilePath("status.podIPs[*].ip")
)
