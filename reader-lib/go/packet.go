// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Messages of the broker's socket (LAYOUT.md, PROTOCOL).
const (
	msgHello        = 1
	msgWelcome      = 2
	msgRefused      = 3
	msgStat         = 4
	msgReport       = 5
	msgSubscribe    = 6
	msgSubscribed   = 7
	msgUnsubscribed = 8
	msgUnsubscribe  = 9
	msgWant         = 10

	packetMagic   = 0x31464e49
	packetVersion = 1
	packetHead    = 16
	packetMax     = 65536
	packetFiles   = 3

	helloWantKeys = 1
)

// Why informerd refuses.
const (
	refusedPermission = 1
	refusedFull       = 2
	refusedLayout     = 3
	refusedProtocol   = 4
	refusedBusy       = 5
	refusedConsumer   = 6
)

// native writes the numbers of packets.
var native = binary.NativeEndian

// newPacket is a packet of a type, with so many bytes behind the head.
func newPacket(kind uint16, body int) []byte {
	p := make([]byte, packetHead, packetHead+body)
	native.PutUint32(p, packetMagic)
	native.PutUint16(p[4:], packetVersion)
	native.PutUint16(p[6:], kind)
	native.PutUint32(p[8:], uint32(packetHead+body))
	return p
}

// appendText appends a text in a field of so many bytes, cut to it.
func appendText(p []byte, text string, field int) []byte {
	p = append(p, text[:min(len(text), field)]...)
	return append(p, make([]byte, field-min(len(text), field))...)
}

// A packet that came: its type, all its bytes, and the files that came with it.
type packet struct {
	kind  uint16
	bytes raw
	files []*os.File
}

func (p *packet) close() {
	for _, f := range p.files {
		f.Close()
	}
	p.files = nil
}

var errPacket = errors.New("informerd sent a packet that makes no sense: is it of another release?")

// receive takes one packet; io.EOF: the broker hung up.
func receive(conn *net.UnixConn, buffer []byte) (*packet, error) {
	control := make([]byte, unix.CmsgLen(4*packetFiles))
	n, controlled, flags, _, err := conn.ReadMsgUnix(buffer, control)
	if err != nil {
		return nil, err
	}
	p := &packet{bytes: buffer[:n]}
	messages, err := unix.ParseSocketControlMessage(control[:controlled])
	if err == nil {
		for i := range messages {
			descriptors, rightsErr := unix.ParseUnixRights(&messages[i])
			if rightsErr != nil {
				continue
			}
			for _, fd := range descriptors {
				p.files = append(p.files, os.NewFile(uintptr(fd), "informer"))
			}
		}
	}
	switch {
	case flags&unix.MSG_CTRUNC != 0:
		p.close()
		return nil, fmt.Errorf("cannot take the descriptors that informerd sends: %w", unix.EMFILE)
	case n == 0:
		p.close()
		return nil, io.EOF
	case flags&unix.MSG_TRUNC != 0 || n < packetHead || p.bytes.u32(0) != packetMagic ||
		p.bytes.u16(4) != packetVersion || p.bytes.u32(8) != uint32(n):
		p.close()
		return nil, errPacket
	}
	p.kind = p.bytes.u16(6)
	return p, nil
}

// text is the packet's text, whose length stands at `at`, before it.
func (p *packet) text(at int) string {
	if len(p.bytes) < at+4 {
		return ""
	}
	length := min(uint64(p.bytes.u32(uint64(at))), uint64(len(p.bytes)-at-4))
	return strings.ToValidUTF8(string(p.bytes[at+4:at+4+int(length)]), "?")
}

// refusal is what a REFUSED or UNSUBSCRIBED means; the code and the text's length stand at `at`.
func (p *packet) refusal(at int) error {
	if len(p.bytes) < at+8 {
		return errPacket
	}
	kind := ErrRefused
	switch p.bytes.u32(uint64(at)) {
	case refusedLayout:
		kind = ErrLayout
	case refusedBusy:
		kind = ErrNotReady
	}
	return fmt.Errorf("informerd refused this reader: %s: %w", p.text(at+4), kind)
}
