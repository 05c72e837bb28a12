// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"bytes"
	"crypto/subtle"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A verifier checks each block's tag when the block is first touched. It remembers, by ref, the tags that it has
// checked: a block whose memory was reused has another tag and is checked again. Goroutines share it.
type verifier struct {
	content, block []byte // keys
	damaged        atomic.Bool
	checked        [1 << verifierBits]struct{ ref, tag atomic.Uint64 }
}

const (
	verifierBits   = 14 // 256 KiB
	keysBytes      = 32 // content and block key
	masterBytes    = 32 // of the key file
	shortcutTagged = 8
)

// check returns whether the block at an offset has the right tag. word is the copy of its type and length by
// which its bounds were checked.
//
// Two goroutines may store different entries in one place. A mixed pair (ref of one block, tag of the other)
// matches neither block, and costs one more check.
func (v *verifier) check(a *view, ref, word uint32) bool {
	off := uint64(ref) * refUnit
	entry := &v.checked[ref*2654435761>>(32-verifierBits)]
	tag := a.u64(off)
	if entry.ref.Load() == uint64(ref) && entry.tag.Load() == tag {
		return true
	}
	if !v.fits(a, off, word, tag) {
		v.damaged.Store(true)
		return false
	}
	entry.ref.Store(uint64(ref))
	entry.tag.Store(tag)
	return true
}

// fits returns whether the block at an offset has this tag.
func (v *verifier) fits(a *view, off uint64, word uint32, tag uint64) bool {
	covered := uint64(word & 0xfffffff)
	if word>>28 == blockShortcut {
		covered = min(covered, shortcutTagged)
	}
	hash := sipHash(v.content, a.raw[off+blockHead:off+blockHead+covered])
	var head [24]byte
	native.PutUint64(head[:], off)
	native.PutUint32(head[8:], word)
	native.PutUint32(head[12:], a.u32(off+12))
	copy(head[16:], hash[:])
	sum := sipHash(v.block, head[:])
	return native.Uint64(sum[:]) == tag
}

// verify has the mapping's blocks checked with these keys.
func (m *mapping) verify(keys []byte) {
	keys = bytes.Clone(keys)
	m.verifier = &verifier{content: keys[:16], block: keys[16:]}
}

// A keyFile is what the key file is for: the keys of blocks, and what no block's tag covers.
type keyFile struct{ id, blocks, root []byte }

// readKeyFile reads SOCKET.key, which must belong to a user and be closed to others.
func readKeyFile(socket string, owner uint32) (*keyFile, error) {
	path := socket + ".key"
	file, st, err := openPlain(path)
	if err != nil {
		return nil, fmt.Errorf("nothing can be verified: key file %s: %w", path, err)
	}
	defer file.Close()
	master, err := io.ReadAll(io.LimitReader(file, masterBytes+1))
	switch {
	case err != nil:
	case st.Uid != owner || st.Mode&0o77 != 0:
		err = fmt.Errorf("it belongs to user %d, with mode %#o: %w", st.Uid, st.Mode&0o7777, os.ErrPermission)
	case len(master) != masterBytes:
		err = fmt.Errorf("it is not %d bytes long: %w", masterBytes, unix.EINVAL)
	}
	if err != nil {
		return nil, fmt.Errorf("nothing can be verified: key file %s: %w", path, err)
	}
	id := blake2b{length: 16, key: []byte("informer key id")}
	return &keyFile{id.sum(master), deriveKey(master, 1, "infblock"), deriveKey(master, 2, "inf_root")}, nil
}

// checkRoot checks what no block's tag covers, the header's identity and the root, of an arena that nobody writes.
func (m *mapping) checkRoot(keys *keyFile) error {
	header := view{raw: raw(m.arena[:headerBytes])}
	sum := blake2b{length: 32, key: keys.root}
	if !bytes.Equal(keys.id, header.raw[hKeyID:hKeyID+16]) {
		return fmt.Errorf("the arena that informerd left was made with another key file: %w", ErrCorrupt)
	}
	if subtle.ConstantTimeCompare(sum.sum(header.raw[:hTag]), header.raw[hTag:hTag+32]) == 0 {
		return fmt.Errorf("the arena that informerd left is damaged: the tag of its header is wrong: %w", ErrCorrupt)
	}
	s, err := m.begin(false)
	if err != nil {
		return fmt.Errorf("the arena that informerd left is damaged: %w", ErrCorrupt)
	}
	defer s.End()
	_, err = read(s, func(p *pin) (none struct{}, err error) {
		offset := p.root - blockHead
		end := p.root + uint64(p.view.u32(offset+8)&0xfffffff)
		covered := native.AppendUint64(bytes.Clone(p.view.raw[p.root+32:end]), offset)
		covered = append(covered, header.raw[hHashKey:hHashKey+16]...)
		if subtle.ConstantTimeCompare(sum.sum(covered), p.view.raw[p.root:p.root+32]) == 0 {
			err = fmt.Errorf("the arena that informerd left is damaged: the tag of its root is wrong: %w", ErrCorrupt)
		}
		return none, err
	})
	return err
}
