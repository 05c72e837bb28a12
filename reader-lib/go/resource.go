// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"fmt"
	"strings"
	"sync/atomic"
)

// A Resource is a resource's name. It stays valid over commits and generations, and belongs to no handle.
type Resource struct {
	name  string
	bound atomic.Pointer[binding]
}

// Resource is a name as in kubectl, in any case: pods, po, Pod, pods.v1, deployments.apps,
// deployments.v1.apps. Whether informerd caches it, lookups tell.
func (inf *Informer) Resource(name string) *Resource { return &Resource{name: name} }

// String is the name.
func (r *Resource) String() string { return r.name }

// A binding is what a name means while an arena's table of resources is the same.
type binding struct {
	m     *mapping
	table uint64
	parts []part
}

// A part is one of the root's resources.
type part struct {
	position uint64
	def      *definition
}

// A definition is a copy of a descriptor.
type definition struct {
	group, version, resource, kind, singular, namespace, labelSelector, fieldSelector string
	shortNames                                                                        []string
	namespaced, metadataOnly, onDemand                                                bool
	indexes                                                                           []indexDef
	roles                                                                             [roles]int // numbers of indexes; -1: none
}

type indexDef struct {
	name   string
	prefix int // 0: none
	rules  []indexRule
}

type indexRule struct {
	path      *Path
	as        string
	separator string
}

// resourceAt is where the root's resource of this position is; ok is false if it is not resolved yet.
func (p *pin) resourceAt(position uint64) (at, end uint64, ok bool) {
	if position >= p.count {
		corrupt()
	}
	ref := p.view.u32(p.root + rootResources + 4*position)
	if ref == 0 {
		return 0, 0, false
	}
	at, end = p.view.block(ref, blockResource, resIndexes)
	if resIndexes+4*uint64(p.view.u32(at+resIndexCount)) > end-at {
		corrupt()
	}
	return at, end, true
}

// A document reads fields of a VALUE block by name.
type document struct {
	decoder
	top span
}

func (p *pin) document(ref uint32) document {
	at, end := p.view.block(ref, blockValue, 1)
	return document{decoder{view: &p.view}, span{at, end}}
}

func (d *document) stringIn(outer span, name string) string {
	s, tag, ok := d.in(outer, name)
	if !ok {
		return ""
	}
	if kindOf(tag) != String {
		corrupt()
	}
	return string(d.text(s, tag))
}

func (d *document) string(name string) string { return d.stringIn(d.top, name) }

func (d *document) bool(name string, otherwise bool) bool {
	_, tag, ok := d.in(d.top, name)
	if !ok {
		return otherwise
	}
	return tag == 2
}

func (p *pin) definition(position uint64) *definition {
	at, _, ok := p.resourceAt(position)
	if !ok {
		return nil
	}
	d := p.document(p.view.u32(at + resDescriptor))
	def := &definition{
		group: d.string("group"), version: d.string("version"), resource: d.string("resource"),
		kind: d.string("kind"), singular: d.string("singular"), namespace: d.string("namespace"),
		labelSelector: d.string("labelSelector"), fieldSelector: d.string("fieldSelector"),
		namespaced: d.bool("namespaced", true), metadataOnly: d.bool("metadataOnly", false),
		onDemand: d.bool("onDemand", false),
	}
	for s, tag := range d.elements(d.top, "shortNames") {
		def.shortNames = append(def.shortNames, string(d.text(s, tag)))
	}
	for s := range d.elements(d.top, "indexes") {
		index := indexDef{name: d.stringIn(s, "name")}
		if number, tag, ok := d.in(s, "prefix"); ok {
			index.prefix = int(d.integer(number, tag))
		}
		for s := range d.elements(s, "rules") {
			rule := indexRule{as: d.stringIn(s, "as"), separator: d.stringIn(s, "separator")}
			var err error
			if rule.as != "namespace" {
				if rule.path, err = CompilePath(d.stringIn(s, "path")); err != nil {
					corrupt()
				}
			}
			index.rules = append(index.rules, rule)
		}
		def.indexes = append(def.indexes, index)
	}
	def.findRoles()
	return def
}

// A table is what an arena's resources are, by position, while its number is the same. nil: not resolved yet.
type table struct {
	number      uint64
	definitions []*definition
}

func (p *pin) definitions() ([]*definition, error) {
	if t := p.m.resources.Load(); t != nil && t.number == p.table && uint64(len(t.definitions)) == p.count {
		return t.definitions, nil
	}
	t := &table{p.table, make([]*definition, p.count)}
	for i := range p.count {
		t.definitions[i] = p.definition(i)
	}
	if err := p.validate(); err != nil { // what was read from zeros is not remembered
		return nil, err
	}
	p.m.resources.Store(t)
	return t.definitions, nil
}

// ofKind gets an object by its kind and key. A cluster-scoped kind ignores the namespace. ErrNoResource: the
// kind is not cached.
func (p *pin) ofKind(s Snapshot, group, kind, namespace, name string) (Object, error) {
	definitions, err := p.definitions()
	if err != nil {
		return Object{}, err
	}
	err = ErrNoResource
	for i, def := range definitions {
		if def == nil || def.kind != kind || def.group != group {
			continue
		}
		if !def.namespaced {
			namespace = ""
		}
		resource, _, ok := p.resourceAt(uint64(i))
		if !ok {
			corrupt()
		}
		if at, end, ok := p.get(resource, p.m.hash.object(namespace, name), namespace, name); ok {
			return Object{s: s, at: at, end: end, def: def}, nil
		}
		err = ErrNotFound
	}
	return Object{}, err
}

// means is true if this name, cut at its first dot, names the resource: "resource", "resource.group",
// "resource.version", "resource.version.group".
func (def *definition) means(name string) bool {
	head, tail, cut := strings.Cut(name, ".")
	found := strings.EqualFold(head, def.resource) || strings.EqualFold(head, def.singular) ||
		strings.EqualFold(head, def.kind)
	for _, short := range def.shortNames {
		found = found || strings.EqualFold(head, short)
	}
	if !found || !cut {
		return found
	}
	return def.group != "" && strings.EqualFold(tail, def.group) ||
		def.group == "" && strings.EqualFold(tail, def.version) ||
		strings.EqualFold(tail, def.version+"."+def.group)
}

func (def *definition) same(other *definition) bool {
	return def.group == other.group && def.version == other.version && def.resource == other.resource
}

// bind returns what the resource's name means in this snapshot. The core group comes before others; among
// them the first entry wins.
func (p *pin) bind(r *Resource) (*binding, error) {
	if b := r.bound.Load(); b != nil && b.m == p.m && b.table == p.table {
		return b, nil
	}
	return p.bindAnew(r)
}

func (p *pin) bindAnew(r *Resource) (*binding, error) {
	b := &binding{m: p.m, table: p.table}
	var chosen *definition
	more, names := false, []string(nil)
	definitions, err := p.definitions()
	if err != nil {
		return nil, err
	}
	for _, def := range definitions {
		if def == nil {
			more = true
			continue
		}
		names = append(names, def.resource)
		if def.means(r.name) && (chosen == nil || chosen.group != "" && def.group == "") {
			chosen = def
		}
	}
	if chosen == nil && more {
		return nil, ErrNotReady
	}
	if chosen == nil {
		return nil, fmt.Errorf("%s: %w; it caches %s", r.name, ErrNoResource, strings.Join(names, ", "))
	}
	for i, def := range definitions {
		if def != nil && def.same(chosen) {
			b.parts = append(b.parts, part{uint64(i), def})
		}
	}
	if chosen.onDemand {
		go p.m.want(chosen) // a lookup does not wait for the socket
	}
	r.bound.Store(b)
	return b, nil
}
