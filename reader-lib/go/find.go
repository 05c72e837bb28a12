// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"runtime/debug"
	"strings"
	"time"
)

// By says by what an object is found.
type By uint8

const (
	ByKey         By = iota // "namespace/name" or "name"
	ByUID                   // metadata.uid
	ByIP                    // pods, also finished ones; hostNetwork pods are skipped
	ByContainerID           // pods; with or without "containerd://"
)

var (
	hostNetworkPath = MustCompilePath("spec.hostNetwork")
	phasePath       = MustCompilePath("status.phase")
)

func (d *decoder) onHostNetwork(body span) bool {
	_, tag, ok := d.follow(body, hostNetworkPath)
	return ok && tag == 2
}

// ownsAddress: a pod answers at an address that is its own, and only until it has ended.
func (d *decoder) ownsAddress(body span) bool {
	if d.onHostNetwork(body) {
		return false
	}
	s, tag, ok := d.follow(body, phasePath)
	if !ok || kindOf(tag) != String {
		return true
	}
	phase := string(d.text(s, tag))
	return phase != "Succeeded" && phase != "Failed"
}

func (d *decoder) hasOwnAddress(body span) bool { return !d.onHostNetwork(body) }

// one finds an object with this value in the index of this role: any, or (newest) the one created last. fits
// tells which count; nil: all.
func (p *pin) one(s Snapshot, b *binding, which role, value string, fits func(*decoder, span) bool,
	newest bool) (best Object, err error) {
	created := uint64(0)
	c := cursor{s: s, binding: b, asked: question{value: value}}
	for c.next < len(b.parts) {
		number := b.parts[c.next].def.role(which)
		if number < 0 {
			return Object{}, b.parts[c.next].def.noIndex("of what is searched for")
		}
		c.index = b.parts[c.next].def.indexes[number].name
		if err = c.beginPart(p); err != nil {
			return Object{}, err
		}
		for at, end, ok := c.step(p); ok; at, end, ok = c.step(p) {
			d := decoder{&p.view, at}
			body := span{at + uint64(d.u16(at+objBodyOffset)), end}
			if now := d.u64(at + objCreatedSeq); now > created && c.wanted(p, at, end) &&
				(fits == nil || fits(&d, body)) {
				best, created = Object{s: s, at: at, end: end, def: c.part.def}, now
				if !newest {
					return best, nil
				}
			}
		}
	}
	if created == 0 {
		return Object{}, ErrNotFound
	}
	return best, nil
}

func (s Snapshot) oneOf(r *Resource, which role, value string, fits func(*decoder, span) bool) (Object, error) {
	return read(s, func(p *pin) (o Object, err error) {
		b, err := p.bind(r)
		if err != nil {
			return Object{}, err
		}
		return p.one(s, b, which, value, fits, false)
	})
}

// GetByUID gets an object by metadata.uid; pods also by the annotation kubernetes.io/config.mirror.
func (s Snapshot) GetByUID(r *Resource, uid string) (Object, error) {
	return s.oneOf(r, roleUID, uid, nil)
}

// PodByIP gets the pod that has this IP address. It skips hostNetwork pods, which share the node's address,
// and finished pods (Succeeded, Failed), whose address may be in use again.
func (s Snapshot) PodByIP(pods *Resource, ip string) (Object, error) {
	return s.oneOf(pods, roleAddress, ip, (*decoder).ownsAddress)
}

// PodByContainerID gets the pod of a container (also init, ephemeral). The id may begin with "containerd://".
func (s Snapshot) PodByContainerID(pods *Resource, id string) (Object, error) {
	return s.oneOf(pods, roleContainer, stripScheme(id), nil)
}

func stripScheme(id string) string {
	if _, bare, cut := strings.Cut(id, "://"); cut {
		return bare
	}
	return id
}

// Find finds a present object, else the last state of one that was deleted and is remembered: then
// Object.Deletion tells when. By ByIP it finds the pod that answers there, else the newest one. Errors: as
// Get; ErrNoIndex.
func (s Snapshot) Find(r *Resource, by By, value string) (o Object, err error) {
	p, err := s.open()
	if err != nil {
		return Object{}, err
	}
	if by == ByContainerID {
		value = stripScheme(value)
	}
	switch by {
	case ByKey:
		o, err = s.GetKey(r, value)
	case ByUID:
		o, err = s.GetByUID(r, value)
	case ByIP:
		o, err = s.PodByIP(r, value)
	case ByContainerID:
		o, err = s.PodByContainerID(r, value)
	}
	if err != ErrNotFound {
		return o, err
	}
	old := debug.SetPanicOnFault(true)
	defer p.guard(old, &err)
	b, err := p.bind(r)
	if err != nil {
		return Object{}, err
	}
	if by == ByIP {
		if o, err = p.one(s, b, roleAddress, value, (*decoder).hasOwnAddress, true); err != ErrNotFound {
			return o, err
		}
	}
	newest := uint64(0)
	for i := range b.parts {
		p.findDeleted(&b.parts[i], by, &question{value: value}, func(tomb, at, end uint64) bool {
			seq := p.view.u64(tomb + tombSeq)
			if seq > newest {
				newest, o = seq, Object{s: s, at: at, end: end, def: b.parts[i].def, tomb: tomb}
			}
			return false
		})
	}
	if newest == 0 {
		return Object{}, ErrNotFound
	}
	return o, nil
}

// findDeleted calls f with the tombstones of a part that answer, until f returns true.
func (p *pin) findDeleted(part *part, by By, q *question, f func(tomb, at, end uint64) bool) {
	const kind = 0x9e3779b97f4a7c15
	a := &p.view
	resource, _, ok := p.resourceAt(part.position)
	if !ok {
		corrupt()
	}
	var def *indexDef
	var hash uint64
	namespace, name, cut := strings.Cut(q.value, "/")
	if by == ByKey {
		if !cut || namespace == "" {
			namespace, name = "", q.value
		}
		hash = p.m.hash.object(namespace, name)
	} else {
		def = &part.def.indexes[part.def.role(roleUID+role(by-ByUID))]
		if len(q.value) > indexValueMax {
			return
		}
		hash = p.m.hash.value(def.filed(q.value)) ^ uint64(by)*kind
	}
	leaf := a.search(a.u32(resource+resDeleted), hash)
	if leaf == 0 {
		return
	}
	a.leafLinks(leaf, func(link uint32) bool {
		tomb, _ := a.block(link, blockTombstone, tombBytes)
		at, end := a.object(a.u32(tomb + tombObject))
		d := decoder{a, at}
		body := span{at + uint64(a.u16(at+objBodyOffset)), end}
		answers := false
		if by == ByKey {
			answers = a.isOfKey(at, namespace, name)
		} else {
			answers = def.fits(&d, body, q) && (by != ByIP || !d.onHostNetwork(body))
		}
		return answers && f(tomb, at, end)
	})
}

// Deletion is what is known of an object's deletion.
type Deletion struct {
	Time time.Time
	Seq  uint64
	Seen bool // the watch reported it; else the object was only found to be gone, and its last state is known
}

// Deleted tells whether the object was deleted: what its methods return is its last state.
func (o Object) Deleted() bool { return o.tomb != 0 }

// Deletion tells of the object's deletion. ErrNotFound: it is present.
func (o Object) Deletion() (Deletion, error) {
	return read(o.s, func(p *pin) (deletion Deletion, err error) {
		if o.tomb == 0 {
			return Deletion{}, ErrNotFound
		}
		a := &p.view
		return Deletion{time.Unix(0, int64(a.u64(o.tomb+tombWallNS))), a.u64(o.tomb + tombSeq),
			a.u32(o.tomb+tombFlags)&tombUnseen == 0}, nil
	})
}
