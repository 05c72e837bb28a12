// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"errors"
	"fmt"
	"math/bits"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A mapping is an arena, our slot and the eventfd, as the broker passed them. It alone owns the memory: all
// else holds offsets. It is unmapped when it is retired and its last pin has been given back.
//
// Protocol: shm-layout/PROTOCOLS.md, Pin, Drop and Revoke.
type mapping struct {
	arena []byte // address space up to max_bytes; beyond `checked` there is only that
	slot  []byte
	file  *os.File // the arena
	event *os.File
	conn  *net.UnixConn // it protects our pins, so it stays open as long as they do; nil: an orphan

	generation  uint64
	incarnation [16]byte
	hash        hashKey
	verifier    *verifier // nil: tags are not checked

	resources atomic.Pointer[table]
	// what ByAddress and Services search
	pods, services, nodes, slices *Resource

	checked atomic.Uint64 // bytes that the file is known to have
	fenced  atomic.Uint32 // for acquire()
	lost    atomic.Bool   // informerd's connection ended
	// taken has a bit for each pin that is in use; retiredBit: no pin is taken any more.
	taken atomic.Uint64
	pins  [pinCells]pin

	unanswered [queuesMax]int // SUBSCRIBEs, by the queue's number; with core.mu

	memoBytes int64
	known     atomic.Pointer[remembered] // what Decode remembers; nil: it has not been called yet

	mu    sync.Mutex
	holds int // rings
	gone  bool
}

const (
	retiredBit = 1 << pinCells
	hugePage   = 2 << 20
)

// A pin is a cell of the slot, and the root that it protects.
type pin struct {
	m      *mapping
	bit    uint64 // in taken
	cell   *uint64
	serial atomic.Uint64 // of the snapshot that has the pin, or will have it. Each has its own
	view   view
	root   uint64 // offset of the root's payload
	count  uint64 // of its resources
	seq    uint64
	epoch  uint64
	table  uint64
}

func word32(b []byte, at int) *uint32 { return (*uint32)(unsafe.Pointer(&b[at])) }
func word64(b []byte, at int) *uint64 { return (*uint64)(unsafe.Pointer(&b[at])) }

func (m *mapping) state() uint32      { return atomic.LoadUint32(word32(m.arena, hState)) }
func (m *mapping) superseded() uint64 { return atomic.LoadUint64(word64(m.arena, hSupersededBy)) }
func (m *mapping) closed() bool       { return atomic.LoadUint32(word32(m.slot, slotClosed)) != 0 }
func (m *mapping) close()             { atomic.StoreUint32(word32(m.slot, slotClosed), 1) }

// checkHeader checks a copy of the header, and what the file has.
func checkHeader(h raw, state uint32, committed, fileBytes uint64) error {
	major, minor := h.u16(hMajor), h.u16(hMinor)
	switch {
	case state == stateIncomplete:
		return fmt.Errorf("the arena is incomplete: its writer is still building it: %w", ErrNotReady)
	case string(h[:8]) != "INFARENA":
		return fmt.Errorf("the arena is damaged: no informer arena (magic): %w", ErrCorrupt)
	case h.u32(hByteOrder) != 0x01020304:
		return fmt.Errorf("the arena was written on a machine of another byte order: %w", ErrLayout)
	case major != layoutMajor || minor > layoutMinor:
		upgrade := "the program (its informer package)"
		if major < layoutMajor {
			upgrade = "informerd"
		}
		return fmt.Errorf("the arena has layout %d.%d, this program knows %d.%d: upgrade %s: %w", major, minor,
			layoutMajor, layoutMinor, upgrade, ErrLayout)
	case h.u64(hIncompatible) != 0:
		return fmt.Errorf("the arena uses a layout feature that this program does not know: upgrade it: %w",
			ErrLayout)
	case h.u64(hFingerprint) != fingerprint:
		return fmt.Errorf("the arena was built with other sizes: install program and daemon from one release: %w",
			ErrLayout)
	case state > stateRevoked:
		return fmt.Errorf("the arena is damaged: unknown state word: %w", ErrCorrupt)
	case h.u64(hMaxBytes) < headerBytes || h.u64(hMaxBytes) > (refMax+1)*refUnit:
		return fmt.Errorf("the arena is damaged: impossible maximum size: %w", ErrCorrupt)
	case committed > fileBytes || committed > h.u64(hMaxBytes):
		return fmt.Errorf("the arena is damaged: it claims more bytes than its file has: %w", ErrCorrupt)
	}
	return nil
}

func fileBytes(f *os.File) (uint64, error) {
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !st.Mode().IsRegular() {
		return 0, fmt.Errorf("the arena that informerd passed is no file: %w", ErrCorrupt)
	}
	return uint64(st.Size()), nil
}

// newMapping maps what the broker passed. It takes over files and connection, also on failure.
func newMapping(arena, slot, event *os.File, conn *net.UnixConn) (*mapping, error) {
	m := &mapping{file: arena, event: event, conn: conn, pods: &Resource{name: "pods.v1"},
		services: &Resource{name: "services.v1"}, nodes: &Resource{name: "nodes.v1"},
		slices: &Resource{name: "endpointslices.discovery.k8s.io"}}
	defer slot.Close()
	err := m.mapArena()
	if err == nil {
		err = m.mapSlot(slot)
	}
	if err != nil {
		m.unmap()
		return nil, err
	}
	for i := range m.pins {
		m.pins[i].m, m.pins[i].bit = m, 1<<i
		m.pins[i].cell = word64(m.slot, slotCells+64*i)
	}
	return m, nil
}

func (m *mapping) mapArena() error {
	bytes, err := fileBytes(m.file)
	if err != nil {
		return err
	}
	if bytes < headerBytes {
		return fmt.Errorf("the arena is shorter than its header: %w", ErrCorrupt)
	}
	fd := int(m.file.Fd())
	shared, err := unix.Mmap(fd, 0, headerBytes, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("cannot map the arena's header: %w", err)
	}
	// other processes may write it, so it is copied once; a state that is not INCOMPLETE comes with all
	// else
	state := atomic.LoadUint32(word32(shared, hState))
	committed := atomic.LoadUint64(word64(shared, hCommitted))
	header := append(raw(nil), shared[:hTag]...)
	unix.Munmap(shared)
	if err = checkHeader(header, state, committed, bytes); err != nil {
		return err
	}
	if m.arena, err = mapAligned(fd, uintptr(header.u64(hMaxBytes))); err != nil {
		return fmt.Errorf("cannot reserve %d bytes of address space for the arena (ulimit -v?): %w",
			header.u64(hMaxBytes), err)
	}
	m.generation = header.u64(hGeneration)
	copy(m.incarnation[:], header[hIncarnation:])
	m.hash = newHashKey(header[hHashKey : hHashKey+16])
	m.checked.Store(committed)
	return nil
}

// mapAligned maps a file for reading at a multiple of 2 MiB, so that the processor can use huge pages for it.
func mapAligned(fd int, bytes uintptr) ([]byte, error) {
	page := uintptr(os.Getpagesize())
	whole := (bytes + page - 1) &^ (page - 1)
	room := whole + hugePage
	reserved, err := unix.MmapPtr(-1, 0, nil, room, unix.PROT_NONE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	before := -uintptr(reserved) & (hugePage - 1)
	start := unsafe.Add(reserved, before)
	_, err = unix.MmapPtr(fd, 0, start, bytes, unix.PROT_READ,
		unix.MAP_SHARED|unix.MAP_NORESERVE|unix.MAP_FIXED)
	if err != nil {
		unix.MunmapPtr(reserved, room)
		return nil, err
	}
	if before > 0 {
		unix.MunmapPtr(reserved, before)
	}
	unix.MunmapPtr(unsafe.Add(start, whole), room-before-whole)
	return unsafe.Slice((*byte)(start), bytes), nil
}

func (m *mapping) mapSlot(slot *os.File) error {
	st, err := slot.Stat()
	if err == nil && st.Size() != slotBytes {
		err = fmt.Errorf("the slot that informerd passed has %d bytes, not %d: %w", st.Size(), slotBytes, ErrLayout)
	}
	if err == nil {
		m.slot, err = unix.Mmap(int(slot.Fd()), 0, slotBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	return err
}

func (m *mapping) unmap() {
	if m.arena != nil {
		unix.MunmapPtr(unsafe.Pointer(&m.arena[0]), uintptr(len(m.arena)))
	}
	if m.slot != nil {
		unix.Munmap(m.slot)
	}
	m.file.Close()
	m.event.Close()
	if m.conn != nil {
		m.conn.Close()
	}
}

// retire lets no new pin be taken, but by rings. The memory goes with the last pin and the last ring.
func (m *mapping) retire() {
	m.taken.Or(retiredBit)
	m.unmapIfUnused()
}

// hold keeps a mapping that is not retired until release.
func (m *mapping) hold() {
	m.mu.Lock()
	m.holds++
	m.mu.Unlock()
}

func (m *mapping) release() {
	m.mu.Lock()
	m.holds--
	m.mu.Unlock()
	m.unmapIfUnused()
}

func (m *mapping) unmapIfUnused() {
	m.mu.Lock()
	unused := m.taken.Load() == retiredBit && m.holds == 0 && !m.gone
	m.gone = m.gone || unused
	m.mu.Unlock()
	if unused {
		m.unmap()
	}
}

// grown compares committed bytes with the file, and returns how many may be touched.
func (m *mapping) grown(committed uint64) uint64 {
	checked := m.checked.Load()
	if committed <= checked {
		return committed
	}
	bytes, err := fileBytes(m.file)
	if err != nil {
		return checked
	}
	committed = min(committed, bytes, uint64(len(m.arena)))
	for checked < committed && !m.checked.CompareAndSwap(checked, committed) {
		checked = m.checked.Load()
	}
	return committed
}

// errRetired: another mapping is current by now.
var errRetired = errors.New("retired")

var errPins = fmt.Errorf("all %d pins of this handle are taken by open snapshots: %w", pinCells, ErrBusy)

// begin pins the newest root. held: by a ring, which holds the mapping, so that it may be retired. Steps:
// PROTOCOLS.md, Pin and Drop.
func (m *mapping) begin(held bool) (Snapshot, error) {
	taken, n := uint64(0), 0
	for {
		taken = m.taken.Load()
		if taken&retiredBit != 0 && !held {
			return Snapshot{}, errRetired
		}
		if n = bits.TrailingZeros64(^(taken | retiredBit)); n == 64 {
			return Snapshot{}, errPins
		}
		if m.taken.CompareAndSwap(taken, taken|1<<n) {
			break
		}
	}
	p := &m.pins[n]
	touched := word64(m.slot, slotTouched)
	if atomic.LoadUint64(touched)>>n&1 == 0 {
		atomic.OrUint64(touched, 1<<n) // R0
	}
	atomic.StoreUint64(p.cell, cellAcquiring) // R1, and a full fence
	if m.closed() {                           // R1'
		p.free()
		return Snapshot{}, ErrNotReady
	}
	newest := atomic.LoadUint64(word64(m.arena, hEpoch)) // R2'
	root := atomic.LoadUint64(word64(m.arena, hRoot))    // R2
	if m.closed() {                                      // R2''
		p.free()
		return Snapshot{}, ErrNotReady
	}
	committed := atomic.LoadUint64(word64(m.arena, hCommitted))
	if committed > m.checked.Load() {
		committed = m.grown(committed)
	}
	p.view = view{raw(m.arena[:committed:committed]), m.verifier}
	if err := p.openRoot(root, newest); err != nil {
		p.free()
		if err == ErrExpired { // revoked since: another arena comes
			err = ErrNotReady
		}
		return Snapshot{}, err
	}
	atomic.StoreUint64(p.cell, p.epoch) // R3
	return Snapshot{p, p.serial.Load()}, nil
}

func (p *pin) openRoot(root, newest uint64) (err error) {
	if root == 0 {
		return ErrNotReady
	}
	old := debug.SetPanicOnFault(true)
	defer p.guard(old, &err)
	if root%refUnit != 0 || root/refUnit > refMax {
		corrupt()
	}
	at, end := p.view.block(uint32(root/refUnit), blockRoot, rootResources)
	p.root, p.count = at, uint64(p.view.u32(at+rootCount))
	p.epoch, p.seq, p.table = p.view.u64(at+rootEpoch), p.view.u64(at+rootSeq), p.view.u64(at+rootTable)
	if p.epoch < epochFirst || p.epoch < newest || p.count > resourcesMax || rootResources+4*p.count > end-at {
		corrupt()
	}
	return nil
}

// free gives the cell back (R4), and unmaps a retired mapping whose last pin it was.
func (p *pin) free() {
	m := p.m
	atomic.StoreUint64(p.cell, cellFree)
	if m.taken.And(^p.bit) == p.bit|retiredBit {
		m.unmapIfUnused()
	}
}

// stretch lets the snapshot touch what the file has now: a queue's entries may refer to newer objects.
func (p *pin) stretch() {
	committed := atomic.LoadUint64(word64(p.m.arena, hCommitted))
	if committed > p.m.checked.Load() {
		committed = p.m.grown(committed)
	}
	if committed > uint64(len(p.view.raw)) {
		p.view = view{raw(p.m.arena[:committed:committed]), p.m.verifier}
	}
}

// do runs f, which reads the arena, and returns what was wrong with its bytes or memory.
func (p *pin) do(f func()) (err error) {
	old := debug.SetPanicOnFault(true)
	defer p.guard(old, &err)
	f()
	return nil
}

// validate is R3': what was read may be zeros if the slot is closed or the arena revoked.
func (p *pin) validate() error {
	acquire(&p.m.fenced)
	if p.m.state() == stateRevoked || p.m.closed() {
		return ErrExpired
	}
	if v := p.m.verifier; v != nil && v.damaged.Load() { // from then on nothing in this arena is trusted
		return ErrCorrupt
	}
	return nil
}

// guardRead is guard for code of the caller's: its own panics go on.
func (p *pin) guardRead(old bool, err *error) {
	debug.SetPanicOnFault(old)
	if fault := recover(); fault != nil {
		// a fault of the mapping has an address in it
		at, ok := fault.(interface{ Addr() uintptr })
		begin := uintptr(unsafe.Pointer(&p.m.arena[0]))
		if !ok || at.Addr() < begin || at.Addr() >= begin+uintptr(len(p.m.arena)) {
			panic(fault)
		}
		*err = ErrCorrupt
	}
	if expired := p.validate(); expired != nil {
		*err = expired
	}
}

// guard ends a call that reads the arena: deferred, with the former SetPanicOnFault. It turns what the
// arena's bytes panicked with into an error, and validates what was read.
func (p *pin) guard(old bool, err *error) {
	debug.SetPanicOnFault(old)
	p.settle(recover(), err)
}

// settle is guard's end, for what was recovered.
func (p *pin) settle(fault any, err *error) {
	switch fault.(type) {
	case nil:
	case corruption, runtime.Error:
		*err = ErrCorrupt
	default:
		panic(fault)
	}
	if expired := p.validate(); expired != nil {
		*err = expired
	}
}

// bootNS is CLOCK_BOOTTIME in nanoseconds.
func bootNS() uint64 {
	var ts unix.Timespec
	unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts)
	return uint64(ts.Nano())
}
