// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"unsafe"
)

// object checks an OBJECT's head and returns where its payload begins and ends.
func (a *view) object(ref uint32) (at, end uint64) {
	at, end = a.block(ref, blockObject, objKey)
	body := uint64(a.u16(at + objBodyOffset))
	if objKey+uint64(a.raw[at+objNamespaceLength])+uint64(a.u16(at+objNameLength))+uint64(a.raw[at+objUIDLength])+
		uint64(a.raw[at+objVersionLength]) > body || body >= end-at {
		corrupt()
	}
	return at, end
}

// isOfKey tells whether the object at `at` has this key.
func (a *view) isOfKey(at uint64, namespace, name string) bool {
	m, n := uint64(a.raw[at+objNamespaceLength]), uint64(a.u16(at+objNameLength))
	key := at + objKey
	return m == uint64(len(namespace)) && n == uint64(len(name)) &&
		string(a.raw[key:key+m]) == namespace && string(a.raw[key+m:key+m+n]) == name
}

// cells is where a shortcut's cells begin, and how many there are; 0: there is none.
func (a *view) cells(ref uint32, kind uint32, width uint64) (at, count uint64) {
	if ref == 0 || a.verifier != nil { // cells have no tag
		return 0, 0
	}
	payload, end := a.block(ref, blockShortcut, 8)
	count = uint64(a.u32(payload))
	at = (payload + 8 + 63) &^ 63
	if a.u32(payload+4) != kind || count < 8 || count&(count-1) != 0 || at+count*width > end {
		corrupt()
	}
	return at, count
}

// byShortcut finds the object with this key through the table of hints; 0: search the tries.
// Steps: PROTOCOLS.md, Shortcut, and S2' of Revoke.
func (p *pin) byShortcut(table uint32, hash uint64, namespace, name string) (at, end uint64) {
	a := &p.view
	cells, count := a.cells(table, 1, 8)
	if count == 0 {
		return 0, 0
	}
	bucket := cells + (hash&(count/8-1))*64
	_ = a.raw[bucket+63]
	for i := uint64(0); i < 64; i += 8 {
		cell := atomic.LoadUint64((*uint64)(unsafe.Pointer(&a.raw[bucket+i]))) // S2
		if cell>>32 != hash>>32 || cell == 0 {
			continue
		}
		if p.m.closed() { // S2'
			corrupt()
		}
		at, end = a.object(uint32(cell))
		if a.u64(at+objSeq) <= p.seq && a.isOfKey(at, namespace, name) { // S3
			return at, end
		}
	}
	return 0, 0
}

// ordinal is the object with this ordinal, by the resource's trie.
func (a *view) ordinal(trie uint32, ordinal uint32) (at, end uint64) {
	leaf := a.search(trie, uint64(ordinal))
	if leaf == 0 || leaf&immediate != 0 {
		corrupt()
	}
	at, end = a.object(leaf)
	if a.u32(at+objOrdinal) != ordinal {
		corrupt()
	}
	return at, end
}

// get finds the object with this key in a part.
func (p *pin) get(resource uint64, hash uint64, namespace, name string) (at, end uint64, ok bool) {
	a := &p.view
	if at, end = p.byShortcut(a.u32(resource+resByKey), hash, namespace, name); at != 0 {
		return at, end, true
	}
	leaf := a.search(a.u32(resource+resIdentity), hash)
	if leaf == 0 {
		return 0, 0, false
	}
	ok = a.leafLinks(leaf, func(link uint32) bool {
		if link&immediate == 0 {
			corrupt()
		}
		at, end = a.ordinal(a.u32(resource+resOrdinals), link&^immediate)
		return a.isOfKey(at, namespace, name)
	})
	return at, end, ok
}

// Get gets an object by its key; the namespace is "" for a cluster-scoped object. Errors: ErrNotFound,
// ErrNoResource, ErrNotReady (informerd still asks the API server what it serves), ErrExpired, ErrCorrupt,
// ErrClosed. Allocates nothing, but when it meets the resource in an arena for the first time. If the resource is
// on demand, informerd is then asked to cache it; WaitSynced waits until it does.
func (s Snapshot) Get(r *Resource, namespace, name string) (o Object, err error) {
	p, err := s.open()
	if err != nil {
		return Object{}, err
	}
	old := debug.SetPanicOnFault(true)
	defer p.guard(old, &err)
	b, err := p.bind(r)
	if err != nil {
		return Object{}, err
	}
	hash := p.m.hash.object(namespace, name)
	for i := range b.parts {
		resource, _, ok := p.resourceAt(b.parts[i].position)
		if !ok {
			corrupt()
		}
		if at, end, ok := p.get(resource, hash, namespace, name); ok {
			return Object{s: s, at: at, end: end, def: b.parts[i].def}, nil
		}
	}
	return Object{}, ErrNotFound
}

// GetKey is Get by "namespace/name", or by "name" for a cluster-scoped object.
func (s Snapshot) GetKey(r *Resource, key string) (Object, error) {
	slash := max(strings.IndexByte(key, '/'), 0)
	if slash == 0 {
		return s.Get(r, "", key)
	}
	return s.Get(r, key[:slash], key[slash+1:])
}

// noIndex names the indexes that there are.
func (def *definition) noIndex(name string) error {
	var names []string
	for i := range def.indexes {
		names = append(names, def.indexes[i].name)
	}
	return fmt.Errorf("%s has no index %q: %w; it has %s", def.resource, name, ErrNoIndex,
		strings.Join(names, ", "))
}

func (def *definition) index(name string) (int, *indexDef, error) {
	for i := range def.indexes {
		if def.indexes[i].name == name {
			return i, &def.indexes[i], nil
		}
	}
	return 0, nil, def.noIndex(name)
}
