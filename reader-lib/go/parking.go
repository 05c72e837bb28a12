// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"errors"
	"sync"
	"time"
)

// What a turn does at most, so that its snapshot soon ends.
const (
	changesATurn = 1024
	looksATurn   = 256
	pinDelay     = 10 * time.Millisecond // until a pin is asked for again
)

type parkingName struct {
	resource string
	by       By
}

// A parking wakes callers whose keys can be found. It has a goroutine while there are callers.
//
// A turn opens the newest version, compares what changed since the last turn with the keys, and looks up those
// that are new or were in a change. A caller that is woken looks for itself, in a snapshot of its own.
//
// Invariant: each key that is not `fresh` was looked up in a version not older than `walked`, so every change that
// may bring its object is still to be compared with it.
type parking struct {
	core     *core
	resource *Resource
	by       By
	poke     chan struct{} // there is a new key, or none any more

	mu      sync.Mutex
	keys    map[string]*parkedKey
	fresh   []*parkedKey // to be looked up; also ones that are gone
	running bool

	// of the goroutine
	binding *binding // of the last turn
	walked  uint64   // changes up to this seq were compared with the keys
}

// A parkedKey is waited for by one or more callers.
type parkedKey struct {
	text    string
	woken   chan struct{} // closed once the callers shall look
	callers int           // 0: it is gone
	fresh   bool
}

func newParking(c *core, r *Resource, by By) *parking {
	return &parking{core: c, resource: r, by: by, poke: make(chan struct{}, 1), keys: map[string]*parkedKey{}}
}

// wait until the key can be found, or an error other than "not yet" is met: the caller looks for itself.
func (pk *parking) wait(ctx context.Context, text string) error {
	key := pk.join(text)
	select {
	case <-key.woken:
		return nil
	case <-ctx.Done():
		pk.leave(key)
		return ctx.Err()
	case <-pk.core.ended:
		return ErrClosed
	}
}

func (pk *parking) join(text string) *parkedKey {
	pk.mu.Lock()
	defer pk.mu.Unlock()
	key := pk.keys[text]
	if key == nil {
		key = &parkedKey{text: text, woken: make(chan struct{}), fresh: true}
		pk.keys[text] = key
		pk.fresh = append(pk.fresh, key)
		pk.tell()
	}
	key.callers++
	if !pk.running {
		pk.running = true
		go pk.run()
	}
	return key
}

func (pk *parking) leave(key *parkedKey) {
	pk.mu.Lock()
	defer pk.mu.Unlock()
	if key.callers--; key.callers == 0 && pk.keys[key.text] == key {
		delete(pk.keys, key.text)
		if len(pk.keys) == 0 {
			pk.tell()
		}
	}
}

func (pk *parking) tell() {
	select {
	case pk.poke <- struct{}{}:
	default:
	}
}

// ---- the goroutine

func (pk *parking) run() {
	inf, c := &Informer{pk.core}, pk.core
	for pk.goesOn() {
		c.mu.Lock()
		news := c.news // before the look, so that what comes after it is not missed
		c.mu.Unlock()
		more := false
		_, again, err := inf.look(func(s Snapshot) (_ bool, err error) {
			more, err = pk.turn(s)
			return false, err
		})
		if again || more {
			continue
		}
		var timer <-chan time.Time
		if errors.Is(err, ErrBusy) {
			timer = time.After(pinDelay)
		}
		select {
		case <-news:
		case <-pk.poke:
		case <-timer:
		case <-c.ended:
			return
		}
	}
}

// goesOn ends the goroutine if there are no keys.
func (pk *parking) goesOn() bool {
	pk.mu.Lock()
	defer pk.mu.Unlock()
	if len(pk.keys) == 0 {
		pk.running, pk.binding, pk.fresh = false, nil, nil
	}
	return pk.running
}

// turn looks up what this version may have brought. more: another turn is due at once.
func (pk *parking) turn(s Snapshot) (more bool, err error) {
	more, err = pk.follow(s)
	if err != nil && isYetToCome(err) {
		return false, err
	}
	if err != nil { // the keys are looked up all the same, and the callers meet what is damaged
		pk.touchAll()
	}
	for range looksATurn {
		key := pk.nextFresh()
		if key == nil {
			return more, nil
		}
		_, err = s.Find(pk.resource, pk.by, key.text)
		switch {
		case errors.Is(err, ErrNotFound):
			key.fresh = false
		case err != nil && isYetToCome(err):
			pk.putBack(key)
			return false, err
		default:
			pk.wake(key)
		}
	}
	return true, nil
}

func (pk *parking) nextFresh() *parkedKey {
	pk.mu.Lock()
	defer pk.mu.Unlock()
	for n := len(pk.fresh); n > 0; n-- {
		key := pk.fresh[n-1]
		pk.fresh = pk.fresh[:n-1]
		if key.callers > 0 {
			return key
		}
	}
	return nil
}

func (pk *parking) putBack(key *parkedKey) {
	pk.mu.Lock()
	pk.fresh = append(pk.fresh, key)
	pk.mu.Unlock()
}

func (pk *parking) wake(key *parkedKey) {
	pk.mu.Lock()
	defer pk.mu.Unlock()
	if pk.keys[key.text] == key {
		delete(pk.keys, key.text)
	}
	close(key.woken)
}

// ---- what changed

// touch has a key looked up again. pk.mu is held.
func (pk *parking) touch(key *parkedKey) {
	if key != nil && !key.fresh {
		key.fresh = true
		pk.fresh = append(pk.fresh, key)
	}
}

func (pk *parking) touchAll() {
	pk.mu.Lock()
	defer pk.mu.Unlock()
	for _, key := range pk.keys {
		pk.touch(key)
	}
}

// follow touches the keys that changes since the last turn have. All keys, if the table of resources is another one,
// as in another arena, or there are more changes than keys.
func (pk *parking) follow(s Snapshot) (more bool, err error) {
	all := false
	more, err = read(s, func(p *pin) (bool, error) {
		b, err := p.bind(pk.resource)
		if err != nil {
			return false, err
		}
		pk.mu.Lock()
		count := uint64(len(pk.keys))
		pk.mu.Unlock()
		switch {
		case b != pk.binding, p.seq-pk.walked > count && p.anyValued(b, pk.walked):
			all = true
		case p.anyValued(b, pk.walked):
			return pk.followChanges(p, b), nil
		}
		pk.binding, pk.walked = b, p.seq
		return false, nil
	})
	if all {
		pk.touchAll()
	}
	return more, err
}

// anyValued tells whether some object could be found by a new value after a seq. Mostly none could: a change of a
// status brings no UID, name, address or container ID.
func (p *pin) anyValued(b *binding, after uint64) bool {
	for i := range b.parts {
		resource, _, ok := p.resourceAt(b.parts[i].position)
		if !ok {
			corrupt()
		}
		if p.view.u64(resource+resValuedSeq) > after {
			return true
		}
	}
	return false
}

// followChanges: more is true if it did not come to the end of the changes.
func (pk *parking) followChanges(p *pin, b *binding) (more bool) {
	pk.mu.Lock()
	defer pk.mu.Unlock()
	var walk bySeq
	walk.start(p, b, pk.walked)
	walked := pk.walked
	for range changesATurn {
		found, ok := walk.next()
		if !ok {
			pk.walked = p.seq
			return false
		}
		pk.touchKeysOf(p, &b.parts[found.part], &found)
		walked = found.seq
	}
	pk.walked = walked
	return true
}

// touchKeysOf touches the keys by which an object is found. pk.mu is held.
func (pk *parking) touchKeysOf(p *pin, part *part, found *found) {
	d := decoder{&p.view, found.at}
	if pk.by == ByKey {
		key := string(d.head(tagName))
		if namespace := d.head(tagName + 1); len(namespace) > 0 {
			key = string(namespace) + "/" + key
		}
		pk.touch(pk.keys[key])
		return
	}
	number := part.def.role(roleUID + role(pk.by-ByUID))
	if number < 0 {
		return // each look says so
	}
	body := span{found.at + uint64(d.u16(found.at+objBodyOffset)), found.end}
	part.def.indexes[number].each(&d, body, func(value []byte) bool {
		pk.touch(pk.keys[string(value)])
		return false
	})
}
