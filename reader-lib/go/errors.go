// SPDX-License-Identifier: Apache-2.0

package informer

import "errors"

// What a call may fail with. Compare with errors.Is; the error itself is a sentence with the particulars.
var (
	// Nothing is there yet: informerd does not run, has not published, or still asks the API server what
	// it serves. Wait with WaitSynced.
	ErrNotReady = errors.New("nothing is there yet: is informerd running, and is this its socket?")
	// This handle has as many snapshots (63) or watches (64) as it can have: end those that are no longer needed.
	ErrBusy = errors.New("end those that are no longer needed")
	// The arena holds bytes that make no sense. Run informerctl verify, and restart informerd.
	ErrCorrupt = errors.New("the arena holds bytes that make no sense")
	// There is no such object, field or value in this snapshot.
	ErrNotFound = errors.New("there is no such object, field or value in this snapshot")
	// informerd does not cache this resource: name it as kubectl does, or add it with informerd --resource.
	ErrNoResource = errors.New("informerd does not cache this resource")
	// The IDs of several containers begin so.
	ErrAmbiguous = errors.New("the IDs of several containers begin so")
	// This resource has no such index: declare it with informerd --index.
	ErrNoIndex = errors.New("this resource has no such index")
	// The snapshot was held for so long that its memory was taken back, or informerd dropped this reader.
	// End it and begin another.
	ErrExpired = errors.New("the snapshot has expired: its memory was taken back")
	// The arena has a layout that this package may not read; the sentence says what to upgrade.
	ErrLayout = errors.New("the arena has a layout that this program may not read")
	// informerd refused this reader; the error has its sentence.
	ErrRefused = errors.New("informerd refused this reader")
	// A path or selector could not be understood; the error says where.
	ErrSyntax = errors.New("the text could not be understood")
	// The value is of another kind than the one asked for.
	ErrType = errors.New("the value is of another kind than the one asked for")
	// The snapshot has been ended, or the handle closed.
	ErrClosed = errors.New("the snapshot or handle is closed")
)
