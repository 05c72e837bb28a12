// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"encoding/binary"
	"encoding/hex"
)

// An identity is a UID: a UUID as the API server writes them, or a hash of another text. The zero value: none.
type identity struct {
	bits [16]byte
	uuid bool
}

// dashes are where a UUID's text has them.
var dashes = [4]int{8, 13, 18, 23}

func identityOf(uid []byte) (id identity) {
	if len(uid) == 36 {
		var digits [32]byte
		at := digits[:0]
		from := 0
		for _, dash := range dashes {
			at, from = append(at, uid[from:dash]...), dash+1
		}
		at = append(at, uid[from:]...)
		if _, err := hex.Decode(id.bits[:], at); err == nil {
			id.uuid = true
			if id.String() == string(uid) {
				return id
			}
		}
	}
	id = identity{}
	binary.LittleEndian.PutUint64(id.bits[:], hashOf(uid))
	return id
}

// String is the UID; "" for a hash.
func (id identity) String() string {
	if !id.uuid {
		return ""
	}
	var text [36]byte
	from := 0
	digits := hex.AppendEncode(nil, id.bits[:])
	at := text[:0]
	for _, dash := range dashes {
		n := dash - len(at)
		at = append(append(at, digits[from:from+n]...), '-')
		from += n
	}
	return string(append(at, digits[from:]...))
}
