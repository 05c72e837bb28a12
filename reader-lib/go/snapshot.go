// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"errors"
	"runtime/debug"
	"time"
)

// A Snapshot shows all resources and indexes of one commit. It is a small value: copy it freely; all copies
// end together. The zero Snapshot is ended.
type Snapshot struct {
	p      *pin
	serial uint64
}

// Begin begins a snapshot of the newest commit. End it soon. Errors: ErrNotReady (not attached), ErrBusy (63
// are open), ErrCorrupt, ErrClosed. Costs two atomic exchanges, and no system call.
func (inf *Informer) Begin() (Snapshot, error) {
	for {
		m := inf.current.Load()
		if m == nil {
			if inf.closed.Load() {
				return Snapshot{}, ErrClosed
			}
			return Snapshot{}, ErrNotReady
		}
		s, err := m.begin(false)
		if err == nil || !errors.Is(err, errRetired) {
			return s, err
		}
	}
}

// View begins a snapshot, calls f with it, and ends it, also when f panics. Returns f's error.
func (inf *Informer) View(f func(Snapshot) error) error {
	s, err := inf.Begin()
	if err != nil {
		return err
	}
	defer s.End()
	return f(s)
}

// End ends the snapshot. Ending it again does nothing.
func (s Snapshot) End() {
	if s.p != nil && s.p.serial.CompareAndSwap(s.serial, s.serial+1) {
		s.p.free()
	}
}

// open returns the snapshot's pin.
func (s Snapshot) open() (*pin, error) {
	if s.p == nil || s.p.serial.Load() != s.serial {
		return nil, ErrClosed
	}
	return s.p, nil
}

// read runs f, which reads the arena, and validates what it read. For what is called most, Get and AppendText,
// the same is written out.
func read[T any](s Snapshot, f func(p *pin) (T, error)) (result T, err error) {
	p, err := s.open()
	if err != nil {
		return result, err
	}
	old := debug.SetPanicOnFault(true)
	defer p.guard(old, &err)
	return f(p)
}

// A Moment says which version a snapshot shows.
type Moment struct {
	Generation uint64    // of the arena; a new generation may begin with any epoch
	Epoch      uint64    // number of the commit; grows by 1 within a generation
	Seq        uint64    // number of the last change of any resource; grows while Lineage is the same
	Lineage    [16]byte  // of Seq
	Committed  time.Time // when it was published
}

// Moment says which version the snapshot shows.
func (s Snapshot) Moment() (Moment, error) {
	return read(s, func(p *pin) (moment Moment, err error) {
		moment = Moment{Generation: p.m.generation, Epoch: p.epoch, Seq: p.seq,
			Committed: time.Unix(0, int64(p.view.u64(p.root+rootWallNS)))}
		copy(moment.Lineage[:], p.view.raw[p.root+rootLineage:])
		return moment, nil
	})
}

// Read calls f, in which texts that Lent methods returned may be read. If their memory was taken back
// meanwhile, Read returns ErrExpired, and what f read may be zeros; if the memory is gone, f ends there.
func (s Snapshot) Read(f func()) (err error) {
	p, err := s.open()
	if err != nil {
		return err
	}
	old := debug.SetPanicOnFault(true)
	defer p.guardRead(old, &err)
	f()
	return nil
}
