// SPDX-License-Identifier: Apache-2.0

package informer

import "errors"

// Turns an item of the feed into changes. "Told" and "absent" are what the keys say.
//
//	item, what is known            selected: yes                       no
//	present, absent                Added                               -
//	present, told                  Updated, old unknown                Deleted, final state unknown
//	present, told in this version  -                                   Deleted, final state unknown
//	present, another was told      Deleted of that one, then as absent
//	gone, absent                   -                                   -
//	gone, told                     Deleted                             Deleted, final state unknown
//	added                          Added                               -
//	updated, told                  Updated                             Deleted with the old state
//	updated, told before that      Updated, old unknown                Deleted, final state unknown
//	updated, not told              Added                               -
//	deleted, told                  Deleted                             Deleted
//
// If another object of that name was told, an added, updated or deleted item tells that one's Deleted first. In
// an episode from a stored cursor, an absent object that is gone, deleted or not selected gets a Deleted, too:
// an earlier process may have been told of it, without acknowledging that.
//
// Everything known of an object is read and validated before it is told. If the arena is taken back meanwhile,
// the loop may have been unable to read the object: an episode on the next arena tells it again.

type knownState uint8

const (
	knownAbsent  knownState = iota
	knownPresent            // this object was told
	knownOther              // another object of that name was told
	knownBehind             // it was told, but not in the state before this change
)

// A subject is what is known of an item's object before it is told.
type subject struct {
	key, namespace, name string
	uid                  identity
	version              uint64
	known                knownState
	before               known
}

var errNothing = errors.New("nothing to tell")

// lookAt reads an object's key, and looks up what is known of it.
func (w *Watch) lookAt(at where) (s subject, err error) {
	p := w.feed.snap.p
	err = p.do(func() {
		d := decoder{&p.view, at.at}
		s.namespace, s.name = string(d.head(tagName+1)), string(d.head(tagName))
		s.uid, s.version = identityOf(d.head(tagName+2)), hashOf(d.head(tagVersion))
	})
	if s.key = s.name; s.namespace != "" {
		s.key = s.namespace + "/" + s.name
	}
	before, told := w.keys[s.key]
	if s.before = before; told {
		s.known = knownOther
		if before.uid == s.uid {
			s.known = knownPresent
		}
	}
	return s, err
}

// mayHaveBeenTold: in an episode from a stored cursor, objects that were created after it may have been told.
func (w *Watch) mayHaveBeenTold() bool { return !w.feed.caughtUp && w.feed.unsure }

func (w *Watch) object(part int, at where) Object {
	return Object{s: w.feed.snap, at: at.at, end: at.end, def: w.feed.binding.parts[part].def, tomb: at.tomb}
}

// selects tells whether the watch's selectors match.
func (w *Watch) selects(part int, at where) (is bool, err error) {
	p := w.feed.snap.p
	if len(w.labels.requirements) > 0 || len(w.fields.terms) > 0 {
		if err = p.do(func() {
			d := decoder{&p.view, at.at}
			body := span{at.at + uint64(d.u16(at.at+objBodyOffset)), at.end}
			is = w.labels.matches(&d, body) && w.fields.matches(&d, body)
		}); err != nil || !is {
			return false, err
		}
	}
	if w.sub.options.Filter == nil {
		return true, nil
	}
	is = w.sub.options.Filter(w.object(part, at))
	return is, p.validate()
}

// take tells an item. An error: it could not be read.
func (w *Watch) take(t *telling, it *item) error {
	switch it.kind {
	case itemBegin:
		return w.takeBegin(t)
	case itemCaughtUp:
		w.keysShort, w.sweep = false, true
		if w.resyncing {
			w.pending = append(w.pending, ResyncEnd)
		}
		return nil
	case itemListed:
		return nil
	case itemStatus:
		return w.takeStatus(t, it.ref, false)
	}
	at := it.now
	if it.kind == itemGone || it.kind == itemDeleted {
		at = it.before
	}
	selected, err := w.selects(it.part, at)
	if err != nil {
		return err
	}
	s, err := w.lookAt(at)
	if err != nil {
		return err
	}
	present := selected
	switch it.kind {
	case itemPresent:
		err = w.tellPresent(t, it, selected, &s)
	case itemGone:
		present, err = false, w.tellGone(t, it, selected, &s)
	case itemAdded:
		err = w.tellAdded(t, it, selected, &s)
	case itemUpdated:
		err = w.tellUpdated(t, it, selected, &s)
	default:
		present, err = false, w.tellDeleted(t, it, selected, &s)
	}
	return w.conclude(it, err, present, &s)
}

// conclude remembers what was told.
func (w *Watch) conclude(it *item, err error, present bool, s *subject) error {
	cut := error(nil)
	if err == nil {
		if cut = w.feed.snap.p.validate(); cut != nil {
			s.version = 0
			if s.before.uid != (identity{}) || s.before.version != 0 {
				s.before.version = 0
				w.keys[s.key] = s.before
			}
			w.feed.resync, w.feed.over, w.feed.again = true, true, true
		}
	} else if !errors.Is(err, errNothing) {
		return err
	}
	if present {
		w.keys[s.key] = known{s.version, w.round, s.uid}
	} else if cut == nil {
		if it.kind != itemGone || s.known != knownOther {
			delete(w.keys, s.key)
		}
	}
	return cut
}

// resyncsByKeys: a RESYNC without its marks: everything present is compared with the keys that were told.
func (w *Watch) resyncsByKeys() bool { return w.feed.walk == walkResync && !w.resyncing }

// exact: the walk's changes follow from the ones before.
func (w *Watch) exact() bool {
	return w.feed.fresh && w.feed.walk != walkCoalesced && !w.resyncsByKeys()
}

// otherGone: another object of that name was told: tell its Deleted. False: the loop was left.
func (w *Watch) otherGone(t *telling, s *subject) bool {
	if s.known == knownAbsent {
		return true
	}
	w.tellKeyGone(t, s.key)
	s.known, s.before = knownAbsent, known{}
	return !t.left
}

var errLeft = errors.New("the loop was left before it was told")

func (w *Watch) tellAdd(t *telling, it *item, s *subject, initial, exact bool) error {
	if !w.notice(t, exact) {
		return errLeft
	}
	t.tell(Change{Kind: Added, Initial: initial, HasObject: true, Object: w.object(it.part, it.now),
		Namespace: s.namespace, Name: s.name})
	return nil
}

func (w *Watch) tellUpdate(t *telling, it *item, s *subject, withOld, exact bool) error {
	if !w.notice(t, exact) {
		return errLeft
	}
	c := Change{Kind: Updated, HasObject: true, Object: w.object(it.part, it.now), Namespace: s.namespace,
		Name: s.name}
	if withOld {
		c.HasOld, c.Old = true, w.object(it.part, it.before)
	}
	t.tell(c)
	return nil
}

func (w *Watch) tellDelete(t *telling, it *item, s *subject, at where, final, exact bool) error {
	if !w.notice(t, exact) {
		return errLeft
	}
	t.tell(Change{Kind: Deleted, FinalStateKnown: final, HasObject: true, Object: w.object(it.part, at),
		Namespace: s.namespace, Name: s.name})
	return nil
}

func (w *Watch) tellPresent(t *telling, it *item, selected bool, s *subject) error {
	exact := w.exact()
	if s.known == knownOther && !w.otherGone(t, s) {
		return errLeft
	}
	switch {
	case selected && s.known == knownAbsent:
		return w.tellAdd(t, it, s, it.initial && !w.resyncsByKeys(), exact)
	case selected && (w.resyncing || s.version == 0 || s.before.version != s.version):
		return w.tellUpdate(t, it, s, false, exact)
	case !selected && (s.known != knownAbsent || w.mayHaveBeenTold()):
		return w.tellDelete(t, it, s, it.now, false, exact && s.known != knownAbsent)
	}
	return errNothing
}

func (w *Watch) tellGone(t *telling, it *item, selected bool, s *subject) error {
	if s.known == knownAbsent && !w.mayHaveBeenTold() || s.known == knownOther {
		return errNothing
	}
	return w.tellDelete(t, it, s, it.before, selected && !it.unseen, w.exact() && s.known != knownAbsent)
}

func (w *Watch) tellAdded(t *telling, it *item, selected bool, s *subject) error {
	if !w.otherGone(t, s) {
		return errLeft
	}
	if !selected {
		return errNothing
	}
	return w.tellAdd(t, it, s, it.initial, true)
}

func (w *Watch) tellUpdated(t *telling, it *item, selected bool, s *subject) error {
	f := &w.feed
	if !f.caughtUp && s.known == knownPresent {
		old, err := w.lookAt(it.before)
		if err != nil {
			return err
		}
		if s.before.version != old.version {
			s.known = knownBehind
		}
	}
	if s.known == knownOther && !w.otherGone(t, s) {
		return errLeft
	}
	switch {
	case s.known == knownPresent && selected:
		return w.tellUpdate(t, it, s, true, true)
	case s.known == knownPresent:
		return w.tellDelete(t, it, s, it.before, true, true)
	case s.known == knownBehind && selected:
		return w.tellUpdate(t, it, s, false, false)
	case s.known == knownBehind:
		return w.tellDelete(t, it, s, it.now, false, false)
	case !selected && w.mayHaveBeenTold():
		return w.tellDelete(t, it, s, it.now, false, false)
	case !selected:
		return errNothing
	}
	// the object changed during the walk that would have told it as initial
	initial := it.initial || !f.caughtUp && f.walk != walkCoalesced && it.createdSeq <= f.goneAfter
	return w.tellAdd(t, it, s, initial, true)
}

func (w *Watch) tellDeleted(t *telling, it *item, selected bool, s *subject) error {
	// the final state, unless it is not selected: then the last state that is
	at := it.before
	if selected && it.now.at != it.before.at {
		final, err := w.selects(it.part, it.now)
		if err != nil {
			return err
		}
		if final {
			at = it.now
		}
	}
	switch {
	case s.known == knownOther:
		if !w.otherGone(t, s) {
			return errLeft
		}
		return errNothing
	case s.known == knownAbsent && !w.mayHaveBeenTold():
		return errNothing
	}
	exact := s.known == knownPresent && (w.feed.caughtUp || s.before.version == s.version)
	return w.tellDelete(t, it, s, at, selected && !it.unseen, exact)
}

// takeBegin: a walk begins; an episode, if it is fresh.
func (w *Watch) takeBegin(t *telling) error {
	f, p := &w.feed, w.feed.snap.p
	var statuses []uint32
	if err := p.do(func() {
		for i := range f.binding.parts {
			if at, _, ok := p.resourceAt(f.binding.parts[i].position); ok {
				if status := p.view.u32(at + resStatus); status != 0 {
					statuses = append(statuses, status)
				}
			}
		}
	}); err != nil {
		return err
	}
	for _, status := range statuses {
		if err := w.takeStatus(t, status, true); err != nil || t.left {
			return err
		}
	}
	if !f.fresh {
		return nil
	}
	w.round++
	// The keys that an earlier process was told are unknown: what the RESYNC does not tell is gone.
	if f.walk == walkResync && w.keysShort {
		clear(w.keys)
		w.pending = append(w.pending, ResyncBegin)
		w.coalescing, w.syncedTold = false, false
	}
	if f.unsure {
		return w.seedKeys()
	}
	return nil
}

// seedKeys fills the keys for a consumer that goes on from a stored cursor: what it was told before.
func (w *Watch) seedKeys() error {
	f, p := &w.feed, w.feed.snap.p
	clear(w.keys)
	var walk bySeq
	if err := p.do(func() { walk.start(p, f.binding, 0) }); err != nil {
		return err
	}
	for {
		var at found
		more, wanted := false, false
		if err := p.do(func() {
			if at, more = walk.next(); more {
				wanted = p.view.u64(at.at+objCreatedSeq) <= f.from && !(at.gone && at.seq <= f.from) && f.wants(&p.view, at.at)
			}
		}); err != nil || !more {
			return err
		}
		if !wanted {
			continue
		}
		// if it changed after the cursor, the state told is unknown; else it was told if it is selected
		place := where{at.at, at.end, at.tomb}
		if at.seq <= f.from {
			if selected, err := w.selects(at.part, place); err != nil || !selected {
				if err != nil {
					return err
				}
				continue
			}
		}
		s, err := w.lookAt(place)
		if err != nil {
			return err
		}
		if at.seq > f.from {
			s.version = 0
		}
		w.keys[s.key] = known{s.version, w.round, s.uid}
	}
}

// takeStatus tells the status of the Reflector. onlyNews: not if it was told already, or is a recovery.
func (w *Watch) takeStatus(t *telling, ref uint32, onlyNews bool) error {
	p := w.feed.snap.p
	var status WatchStatus
	var hash uint64
	if err := p.do(func() {
		d := p.document(ref)
		status = WatchStatus{Recovered: d.bool("recovered", false), Reason: d.string("reason"), Message: d.string("message")}
		if s, tag, ok := d.in(d.top, "code"); ok && kindOf(tag) == Int {
			status.Code = int(d.integer(s, tag))
		}
		printer := newPrinter(&d.decoder)
		hash = hashOf(printer.append(nil, d.top, 0))
	}); err != nil {
		return err
	}
	if onlyNews && (status.Recovered || hash == w.statusSeen) {
		return nil
	}
	w.statusSeen = hash
	if status.Recovered {
		status = WatchStatus{Recovered: true}
	}
	t.tell(Change{Kind: Trouble, Status: status})
	return nil
}
