// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// QUEUE and ENTRY (LAYOUT.md)
const (
	queueHead     = 0
	queueBase     = 8
	queueOpenings = 16
	queueState    = 24
	queueEntries  = 4096
	entryBytes    = 24
	entriesMin    = 64
	entriesMax    = 65536
	queueOpen     = 0

	entryAdded   = 1
	entryUpdated = 2
	entryDeleted = 3
	entrySynced  = 4
	entryReset   = 5
	entryStatus  = 6

	queuesMax = 64
)

// A ring is the reader's view of one subscription's queue: filled by informerd, mapped read-only. The reader's
// place in it stands in the slot. One goroutine at a time uses it.
//
// Protocol: shm-layout/PROTOCOLS.md, Queue. Whatever the ring holds, nothing outside it is touched: head is
// accepted only within `capacity` of what was consumed.
type ring struct {
	m        *mapping // its slot has the cursor, its arena what entries refer to; held while the ring lives
	queue    raw
	capacity uint64
	consumed *uint64 // in the slot
	acked    *uint64
	look     ringLook

	next       uint64 // entry to be read next
	stranger   uint64 // one above the last entry of a part that the root lacks, for which a RESYNC began; 0: none
	openings   uint64 // number of the opening whose entries are read; 0: not looked at yet
	rootSeq    uint64 // of the last root that was looked at through the ring
	rootEpoch  uint64
	proven     uint64   // every entry up to this seq was in the ring when the snapshot was taken
	lineage    [16]byte // of the arena; known once it was looked at
	lineageSet bool
	stored     *Cursor // of the named consumer, as informerd knew it; nil: unknown
}

type ringLook struct {
	head, base, openings uint64
	open                 bool
}

type entry struct {
	seq            uint64
	kind, resource uint16
	oldRef, newRef uint32
}

var errQueue = errors.New("informerd passed a queue that makes no sense")

// newRing maps the queue that came with SUBSCRIBED, and takes over the file.
func newRing(m *mapping, p *packet, file *os.File) (*ring, error) {
	defer file.Close()
	number, capacity := p.bytes.u32(16), uint64(p.bytes.u32(20))
	bytes := uint64(queueEntries + entryBytes*capacity)
	st, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if number >= queuesMax || capacity < entriesMin || capacity > entriesMax || capacity&(capacity-1) != 0 ||
		uint64(st.Size()) < bytes {
		return nil, errQueue
	}
	queue, err := unix.Mmap(int(file.Fd()), 0, int(bytes), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("cannot map a queue: %w", err)
	}
	r := &ring{m: m, queue: queue, capacity: capacity,
		consumed: word64(m.slot, slotQueues+64*int(number)),
		acked:    word64(m.slot, slotQueues+64*int(number)+8)}
	if p.bytes.u32(56) != 0 && p.bytes.u64(48) > 0 {
		r.stored = &Cursor{Seq: p.bytes.u64(48)}
		copy(r.stored.Lineage[:], p.bytes[32:48])
	}
	return r, nil
}

func (r *ring) close() {
	unix.Munmap(r.queue)
	r.m.release()
}

// errReopened: the queue reopened meanwhile; look again.
var errReopened = errors.New("reopened")

// see is Q2; the caller has pinned before.
func (r *ring) see() error {
	head := atomic.LoadUint64(word64(r.queue, queueHead))
	state := atomic.LoadUint32(word32(r.queue, queueState))
	openings := atomic.LoadUint64(word64(r.queue, queueOpenings))
	r.look.base = atomic.LoadUint64(word64(r.queue, queueBase))
	r.look.openings = atomic.LoadUint64(word64(r.queue, queueOpenings))
	r.look.head, r.look.open = head, state == queueOpen
	if r.look.openings != openings {
		return errReopened
	}
	if openings == 0 || state > 1 || head-r.next > r.capacity {
		return errQueue
	}
	return nil
}

func (r *ring) entry(n uint64) entry {
	at := queueEntries + entryBytes*(n&(r.capacity-1))
	return entry{r.queue.u64(at), r.queue.u16(at + 8), r.queue.u16(at + 10), r.queue.u32(at + 12),
		r.queue.u32(at + 16)}
}

// consume: everything before `next` is done with (Q5).
func (r *ring) consume() { atomic.StoreUint64(r.consumed, r.next) }

// discard drops the entries that the last look showed (Q3).
func (r *ring) discard() {
	r.next = r.look.head
	r.consume()
}

// usable tells whether what the entries refer to is protected: by our slot, or because no informerd writes
// into that arena any more. After the connection was lost that is unknown until informerd answers again.
func (r *ring) usable(current *mapping) bool {
	state := r.m.state()
	if r.m.closed() || state == stateRevoked {
		return false
	}
	return r.m != current || !r.m.lost.Load() || state == stateStale
}
