// SPDX-License-Identifier: Apache-2.0

package main

// The protobuf that an API server wraps around an object's own bytes, put together without decoding them again.

import (
	"bytes"
	"encoding/binary"
)

var protobufMagic = []byte("k8s\x00")

// appendField of a message: length-delimited, number below 16.
func appendField(to []byte, number int, value []byte) []byte {
	to = append(to, byte(number<<3|2))
	to = binary.AppendUvarint(to, uint64(len(value)))
	return append(to, value...)
}

// envelope is runtime.Unknown of v1: its type, the object, no encoding, no content type.
func envelope(kind string, object []byte) []byte {
	kindAndVersion := appendField(appendField(nil, 1, []byte("v1")), 2, []byte(kind))
	e := appendField(bytes.Clone(protobufMagic), 1, kindAndVersion)
	e = appendField(e, 2, object)
	e = appendField(e, 3, nil)
	return appendField(e, 4, nil)
}

// watchEvent with its length before it, as a watch's frames have.
func watchEvent(eventType string, pod []byte) []byte {
	object := appendField(nil, 1, envelope("Pod", pod))
	event := appendField(appendField(nil, 1, []byte(eventType)), 2, object)
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(event)), uint32(len(event)))
	return append(frame, event...)
}

// podOf a watchEvent: the object's own bytes.
func podOf(event []byte) []byte {
	at := bytes.Index(event, protobufMagic) + len(protobufMagic)
	field := func() []byte {
		length, width := binary.Uvarint(event[at+1:])
		from := at + 1 + width
		at = from + int(length)
		return event[from:at]
	}
	field() // the type
	return field()
}

// initialEventsEnd is the bookmark that ends a watch's list.
func initialEventsEnd(version string) []byte {
	annotation := appendField(appendField(nil, 1, []byte("k8s.io/initial-events-end")), 2, []byte("true"))
	metadata := appendField(appendField(nil, 6, []byte(version)), 12, annotation)
	return watchEvent("BOOKMARK", appendField(nil, 1, metadata))
}

// podList of a version, with a token for what is left.
func podList(version int64, token string, pods [][]byte) []byte {
	metadata := appendField(nil, 1, nil)
	metadata = appendField(metadata, 2, versionText(version))
	metadata = appendField(metadata, 3, []byte(token))
	list := appendField(nil, 1, metadata)
	for _, pod := range pods {
		list = appendField(list, 2, pod)
	}
	return envelope("PodList", list)
}
