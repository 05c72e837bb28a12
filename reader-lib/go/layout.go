// SPDX-License-Identifier: Apache-2.0

package informer

// The arena's layout (shm-layout/LAYOUT.md): sizes and offsets of the fields that this package reads.

const (
	layoutMajor = 1
	layoutMinor = 0

	headerBytes = 8192
	slotBytes   = 8192
	blockHead   = 16
	refUnit     = 16
	refMax      = 1<<31 - 1
	immediate   = 1 << 31 // of a link: an ordinal

	trieShiftTop       = 60
	postingArrayMax    = 128
	resourceVersionMax = 63
	indexValueMax      = 4096
	resourcesMax       = 256
	valueDepthMax      = 128
)

// header
const (
	hMagic         = 0
	hMajor         = 8
	hMinor         = 10
	hByteOrder     = 12
	hIncompatible  = 16
	hFingerprint   = 32
	hGeneration    = 40
	hIncarnation   = 48
	hMaxBytes      = 64
	hHashKey       = 88
	hKeyID         = 104
	hTag           = 224
	hRoot          = 256
	hEpoch         = 264
	hCommitted     = 320
	hState         = 384
	hSupersededBy  = 392
	hHeartbeat     = 448
	hServerRelease = 456
	hContact       = 4096
)

// header.state
const (
	stateIncomplete = 0
	stateLive       = 1
	stateStale      = 2
	stateRevoked    = 3
)

// block types
const (
	blockRoot      = 1
	blockResource  = 2
	blockNode      = 3
	blockObject    = 4
	blockValue     = 5
	blockShape     = 6
	blockPostings  = 7
	blockCollision = 8
	blockTombstone = 9
	blockConsumers = 10
	blockShortcut  = 11
)

// ROOT
const (
	rootEpoch     = 32
	rootSeq       = 40
	rootLineage   = 48
	rootBootNS    = 64
	rootWallNS    = 72
	rootCount     = 80
	rootConsumers = 84
	rootTable     = 88
	rootResources = 96
)

// RESOURCE
const (
	resDescriptor    = 0
	resState         = 4
	resObjectCount   = 8
	resNextOrdinal   = 16
	resChangedSeq    = 24
	resFloor         = 32
	resCompleteFrom  = 40
	resVersionLength = 80
	resVersion       = 81
	resIdentity      = 144
	resOrdinals      = 148
	resBySeq         = 152
	resDeleted       = 156
	resByKey         = 160
	resByOrdinal     = 164
	resStatus        = 168
	resIndexCount    = 172
	resValuedSeq     = 176
	resIndexes       = 184

	stateListing = 1
	stateSynced  = 2
)

// OBJECT
const (
	objSeq             = 0
	objCreatedSeq      = 8
	objKeyHash         = 16
	objOrdinal         = 24
	objResource        = 28
	objNamespaceLength = 30
	objFlags           = 31
	objNameLength      = 32
	objBodyOffset      = 34
	objUIDLength       = 36
	objVersionLength   = 37
	objKey             = 38

	objHasNear = 1
)

// TOMBSTONE
const (
	tombSeq    = 0
	tombBootNS = 8
	tombWallNS = 16
	tombObject = 24
	tombFlags  = 28
	tombBytes  = 32

	tombUnseen = 1
)

// CONSUMERS
const consumerBytes = 128

// SLOT
const (
	slotArmed   = 0
	slotClosed  = 4
	slotTouched = 8
	slotCells   = 64
	slotQueues  = 4096

	pinCells      = 63
	cellFree      = 0
	cellAcquiring = 1
	epochFirst    = 2
	armedCommit   = 1
	armedQueue    = 2
)

// The sizes that both sides must agree on (LAYOUT.md, HEADER).
var fingerprint = func() uint64 {
	hash := uint64(0xcbf29ce484222325)
	for _, size := range []uint32{headerBytes, blockHead, rootResources, resIndexes, 8, 8, objKey, slotBytes,
		8, refUnit, postingArrayMax, trieShiftTop, resourceVersionMax} {
		for shift := 0; shift < 32; shift += 8 {
			hash = (hash ^ uint64(size>>shift&0xff)) * 0x100000001b3
		}
	}
	return hash
}()
