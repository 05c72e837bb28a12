// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"math"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// Forever is the age of a resource whose server was never heard of.
const Forever = time.Duration(math.MaxInt64)

// ResourceInfo is what a snapshot says about a resource.
type ResourceInfo struct {
	Group, Version, Resource, Kind, Singular string
	ShortNames, Indexes                      []string
	Namespace                                string // the only namespace that is cached; "" for all
	LabelSelector, FieldSelector             string
	Namespaced                               bool
	MetadataOnly                             bool // objects have only their metadata
	OnDemand                                 bool // informerd caches it once a reader asks for it
	ResourceVersion                          string
	Synced                                   bool // the first list is in: what is not found does not exist
	Objects                                  uint64
	ChangedSeq                               uint64
	// Every deletion after this seq is remembered, earlier ones perhaps not.
	ForgottenSeq uint64
	// The watch reported each deletion after this resourceVersion, and each is remembered; 0: not known.
	CompleteFrom uint64
	// Time since informerd last heard from the API server on this resource's watch: below 1 minute while the
	// watch works, also without changes; Forever: never.
	Age time.Duration
}

func (p *pin) info(part *part) ResourceInfo {
	at, _, ok := p.resourceAt(part.position)
	if !ok {
		corrupt()
	}
	a, def := &p.view, part.def
	info := ResourceInfo{Group: def.group, Version: def.version, Resource: def.resource, Kind: def.kind,
		Singular: def.singular, ShortNames: def.shortNames, Namespace: def.namespace,
		LabelSelector: def.labelSelector, FieldSelector: def.fieldSelector, Namespaced: def.namespaced,
		MetadataOnly: def.metadataOnly, OnDemand: def.onDemand, ResourceVersion: a.resourceVersion(at),
		Synced: a.u32(at+resState) == stateSynced, Objects: a.u64(at + resObjectCount),
		ChangedSeq: a.u64(at + resChangedSeq), ForgottenSeq: a.u64(at + resFloor),
		CompleteFrom: a.u64(at + resCompleteFrom), Age: Forever}
	for i := range def.indexes {
		info.Indexes = append(info.Indexes, def.indexes[i].name)
	}
	contact := atomic.LoadUint64(word64(p.m.arena, hContact+8*int(part.position)))
	if now := bootNS(); contact != 0 && contact <= now {
		info.Age = time.Duration(now - contact)
	} else if contact != 0 {
		info.Age = 0
	}
	return info
}

func (a *view) resourceVersion(resource uint64) string {
	length := uint64(a.raw[resource+resVersionLength])
	if length > resourceVersionMax {
		corrupt()
	}
	return string(a.raw[resource+resVersion : resource+resVersion+length])
}

// Info is what the snapshot says about a resource. With several entries, as for several namespaces: Objects is
// the sum; Synced is true if all are; Age, ChangedSeq and ForgottenSeq are the highest; ResourceVersion and
// Namespace are ""; CompleteFrom is 0; all else is the first entry's.
func (s Snapshot) Info(r *Resource) (ResourceInfo, error) {
	return read(s, func(p *pin) (info ResourceInfo, err error) {
		b, err := p.bind(r)
		if err != nil {
			return info, err
		}
		info = p.info(&b.parts[0])
		for i := range b.parts[1:] {
			one := p.info(&b.parts[1+i])
			info.Objects += one.Objects
			info.Synced = info.Synced && one.Synced
			info.ChangedSeq = max(info.ChangedSeq, one.ChangedSeq)
			info.ForgottenSeq = max(info.ForgottenSeq, one.ForgottenSeq)
			info.Age = max(info.Age, one.Age)
			info.CompleteFrom, info.ResourceVersion, info.Namespace = 0, "", ""
		}
		return info, nil
	})
}

// Resources are the cached resources, by position. A resource cached for several namespaces may have several
// entries. Entries that discovery has not resolved yet are left out, and complete is false.
func (s Snapshot) Resources() (infos []ResourceInfo, complete bool, err error) {
	p, err := s.open()
	if err != nil {
		return nil, false, err
	}
	old := debug.SetPanicOnFault(true)
	defer p.guard(old, &err)
	definitions, err := p.definitions()
	if err != nil {
		return nil, false, err
	}
	complete = true
	for i, def := range definitions {
		if def == nil {
			complete = false
			continue
		}
		infos = append(infos, p.info(&part{uint64(i), def}))
	}
	return infos, complete, nil
}
