// SPDX-License-Identifier: Apache-2.0

package clientgo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"informer"

	"k8s.io/client-go/tools/cache"
)

// indexes are an informer's own: by a function's value the keys of the objects that have it. Their functions never
// change: to add one, others are made. A watch of their own keeps them, and each handler's events do, so that a
// handler sees no index that is older than its event.
type indexes struct {
	fns    cache.Indexers
	names  []string           // of those that are kept here
	stop   context.CancelFunc // ends the watch; nil: there is none
	ended  <-chan struct{}    // closed by stop
	synced chan struct{}

	mu      sync.Mutex
	entries map[string]*entry
	byValue []map[string]*group // by the number of a name
}

// An entry is an object as the indexes have it.
type entry struct {
	key    string
	made   informer.Cursor
	groups []*group
}

// A group is the objects that have a value in an index.
type group struct {
	index   int
	value   string
	entries []*entry
}

func newIndexes(fns cache.Indexers) *indexes {
	x := &indexes{fns: fns, synced: make(chan struct{}), entries: map[string]*entry{}}
	for name := range fns {
		if !byNamespace(name) {
			x.names = append(x.names, name)
			x.byValue = append(x.byValue, map[string]*group{})
		}
	}
	return x
}

// with is these indexes and more, all empty.
func (x *indexes) with(more cache.Indexers) (*indexes, error) {
	fns := cache.Indexers{}
	maps.Copy(fns, x.fns)
	for name, fn := range more {
		if fns[name] != nil {
			return nil, fmt.Errorf("indexer conflict: there is an index %q", name)
		}
		fns[name] = fn
	}
	return newIndexes(fns), nil
}

// byNamespace: the arena itself has this index.
func byNamespace(name string) bool { return name == cache.NamespaceIndex }

func (x *indexes) fn(name string) (cache.IndexFunc, error) {
	fn := x.fns[name]
	if fn == nil {
		return nil, fmt.Errorf("there is no index %q", name)
	}
	return fn, nil
}

func (x *indexes) keys(name, value string) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	keys := []string{}
	if i := slices.Index(x.names, name); i >= 0 {
		if g := x.byValue[i][value]; g != nil {
			for _, e := range g.entries {
				keys = append(keys, e.key)
			}
		}
	}
	return keys
}

func (x *indexes) values(name string) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	if i := slices.Index(x.names, name); i >= 0 {
		return slices.Collect(maps.Keys(x.byValue[i]))
	}
	return nil
}

// set has a key under its object's values; object nil: it is gone. What is older than what the indexes have is left
// out.
func (x *indexes) set(key string, object any, made informer.Cursor) error {
	if len(x.names) == 0 {
		return nil
	}
	values := make([][]string, len(x.names))
	for i, name := range x.names {
		if object == nil {
			break
		}
		var err error
		if values[i], err = x.fns[name](object); err != nil {
			return fmt.Errorf("index %q of %s: %w", name, key, err)
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.hasLocked(key, made) {
		return nil
	}
	if old := x.entries[key]; old != nil {
		x.drop(old)
	}
	if object == nil {
		delete(x.entries, key)
		return nil
	}
	e := &entry{key: key, made: made}
	x.entries[key] = e
	for i := range values {
		for _, value := range values[i] {
			e.groups = append(e.groups, x.join(i, value, e))
		}
	}
	return nil
}

// join adds an entry to a value's group.
func (x *indexes) join(index int, value string, e *entry) *group {
	g := x.byValue[index][value]
	if g == nil {
		g = &group{index: index, value: strings.Clone(value)} // a part of the object would keep more of it
		x.byValue[index][g.value] = g
	}
	if n := len(g.entries); n == 0 || g.entries[n-1] != e { // the function may return a value twice
		g.entries = append(g.entries, e)
	}
	return g
}

// has tells whether the indexes have this state of an object, or a newer one.
func (x *indexes) has(key string, made informer.Cursor) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.hasLocked(key, made)
}

func (x *indexes) hasLocked(key string, made informer.Cursor) bool {
	e := x.entries[key]
	return e != nil && e.made.Lineage == made.Lineage && e.made.Seq >= made.Seq
}

// drop removes an entry from its groups.
func (x *indexes) drop(e *entry) {
	for _, g := range e.groups {
		if at := slices.Index(g.entries, e); at >= 0 {
			last := len(g.entries) - 1
			g.entries[at], g.entries[last] = g.entries[last], nil
			g.entries = g.entries[:last]
		}
		if len(g.entries) == 0 {
			delete(x.byValue[g.index], g.value)
		}
	}
}
