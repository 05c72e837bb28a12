// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// An orphan is the arena that a dead writer left. Steps: LAYOUT.md, LOCK FILE. All files are input: the lock file
// names the arena's file, so its owner must be this user, root, or anybody if this user is root; the arena's file
// must belong to the same owner, and both must be closed to group and others.
//
// No writer stores into a block of the orphan, except zeros after its state is REVOKED, so pins in it are not
// needed: the slot is memory of our own.

// errStarting: a writer holds the lock, and does not listen.
var errStarting = errors.New("informerd is starting or ending: nobody listens at its socket")

const (
	noteFirstLine = "informer 1"
	notePathMax   = 4096
	noteRounds    = 4 // how often to read the note again, because another writer came and went
)

// A lockNote is what a writer wrote into its lock file.
type lockNote struct {
	arena       string
	incarnation [16]byte
}

// openPlain opens a regular file read-only, and follows no symbolic link. The type is checked before the open,
// because opening a device may act on it, and opening a FIFO may block.
func openPlain(path string) (*os.File, *unix.Stat_t, error) {
	place, err := unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	defer unix.Close(place)
	st := &unix.Stat_t{}
	if err = unix.Fstat(place, st); err != nil {
		return nil, nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, nil, unix.EINVAL
	}
	// that same file, even if another file has its name by now
	fd, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", place), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fd), path), st, nil
}

// readNote reads the note in a lock file.
func readNote(lock *os.File) (note lockNote, err error) {
	text, err := io.ReadAll(io.NewSectionReader(lock, 0, notePathMax+128))
	if err != nil {
		return note, err
	}
	lines := strings.SplitN(string(text), "\n", 5)
	if len(lines) < 4 || lines[0] != noteFirstLine || !strings.HasPrefix(lines[2], "/") ||
		len(lines[2]) >= notePathMax {
		return note, unix.ENOENT
	}
	incarnation, err := hex.DecodeString(lines[3])
	if err != nil || len(incarnation) != len(note.incarnation) {
		return note, unix.ENOENT
	}
	note.arena = lines[2]
	copy(note.incarnation[:], incarnation)
	return note, nil
}

// isHeld tells whether a writer holds the lock.
func isHeld(lock *os.File) (bool, error) {
	whole := unix.Flock_t{Type: unix.F_RDLCK, Whence: io.SeekStart}
	err := unix.FcntlFlock(lock.Fd(), unix.F_OFD_GETLK, &whole)
	return whole.Type != unix.F_UNLCK, err
}

// findOrphan maps what the last writer at one of the handle's places left. Errors: errStarting; unix.ENOENT, there
// is none; unix.EACCES, this user may not open a file; others: the orphan is damaged, or of another layout.
func (c *core) findOrphan() (*mapping, error) {
	result := error(unix.ENOENT)
	for _, place := range c.places {
		m, err := orphanBeside(place.path, c.options.Verify)
		if err == nil {
			return m, nil
		}
		// of two failures, keep errStarting before others, and ENOENT last
		if result == unix.ENOENT || err == errStarting {
			result = err
		}
	}
	return nil, result
}

func orphanBeside(socket string, verify bool) (*mapping, error) {
	lock, st, err := openPlain(socket + ".lock") // O1
	if err == unix.EINVAL {
		err = unix.ENOENT
	}
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	if uid := uint32(os.Geteuid()); st.Mode&0o77 != 0 || st.Uid != uid && st.Uid != 0 && uid != 0 {
		return nil, unix.ENOENT
	}
	note, err := readNote(lock)
	if err != nil {
		return nil, err
	}
	for range noteRounds {
		m, failed := takeOrphan(lock, st.Uid, &note)
		if failed == nil && verify {
			failed = m.verifyOrphan(socket, st.Uid)
		}
		if failed == nil {
			return m, nil
		}
		again, err := readNote(lock)
		if err != nil || again == note {
			return nil, failed
		}
		note = again
	}
	return nil, errStarting
}

// takeOrphan is O2 to O4. O3 comes after O2: it prevents that the lock is free, a writer starts, adopts, publishes
// and reclaims, and then its file is opened.
func takeOrphan(lock *os.File, owner uint32, note *lockNote) (*mapping, error) {
	arena, st, openErr := openPlain(note.arena) // O2
	if openErr == nil && (st.Uid != owner || st.Nlink != 1 || st.Mode&0o77 != 0) {
		arena.Close()
		openErr = unix.ENOENT
	}
	held, err := isHeld(lock) // O3
	if held && err == nil {
		err = errStarting
	}
	switch {
	case err != nil:
		if openErr == nil {
			arena.Close()
		}
		return nil, err
	case openErr == unix.EINVAL:
		return nil, unix.ENOENT
	case openErr != nil:
		return nil, openErr
	}
	m, err := mapOrphan(arena) // O4
	switch {
	case errors.Is(err, ErrNotReady):
		return nil, unix.ENOENT // it is incomplete
	case err != nil:
		return nil, err
	case m.incarnation != note.incarnation || m.state() == stateRevoked:
		m.retire()
		return nil, unix.ENOENT
	}
	m.lost.Store(true)
	return m, nil
}

// mapOrphan maps the arena with a slot and an eventfd of our own. Takes over the file, also on failure.
func mapOrphan(arena *os.File) (*mapping, error) {
	slot, err := unix.MemfdCreate("informer-slot", unix.MFD_CLOEXEC)
	if err != nil {
		arena.Close()
		return nil, fmt.Errorf("cannot make a slot for what informerd left: %w", err)
	}
	slotFile := os.NewFile(uintptr(slot), "informer-slot")
	event, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err == nil {
		err = unix.Ftruncate(slot, slotBytes)
	}
	if err != nil {
		arena.Close()
		slotFile.Close()
		return nil, fmt.Errorf("cannot make a slot for what informerd left: %w", err)
	}
	return newMapping(arena, slotFile, os.NewFile(uintptr(event), "informer-event"), nil)
}

// verifyOrphan has the blocks checked, and checks what no block's tag covers. If that fails, the mapping is gone.
func (m *mapping) verifyOrphan(socket string, owner uint32) error {
	keys, err := readKeyFile(socket, owner)
	if err == nil {
		m.verify(keys.blocks)
		err = m.checkRoot(keys)
	}
	if err != nil {
		m.retire()
	}
	return err
}
