// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// awaitReaders is how many callers of Await read at once: many may be answered by one commit, and a handle has 63
// pins.
const awaitReaders = 8

// Await waits until an object is found by a key, as Find finds it, and calls f with the object: for an agent that
// meets a container, a Pod's UID or an address before the API server tells of it. What is there already, or was
// deleted and is remembered (Object.Deleted tells), is found at once. The object and its snapshot are valid within f,
// which should be quick, and must not call Await. Returns f's error.
//
// Thousands may wait: one goroutine waits for all keys of a resource and kind, and of a commit's changes it compares
// each with the keys. informerd does nothing for it.
//
// Other errors: ctx's; ErrNoIndex (informerd has no index by which such a key is found), ErrSyntax (no key, or one
// above 4,096 bytes), ErrCorrupt, ErrClosed. A resource that is not cached is waited for.
func (inf *Informer) Await(ctx context.Context, r *Resource, by By, key string, f func(Object) error) error {
	if by == ByContainerID {
		key = stripScheme(key)
	}
	if by > ByContainerID || key == "" || len(key) > indexValueMax {
		return fmt.Errorf("a key of %d bytes: 1 to %d can be found: %w", len(key), indexValueMax, ErrSyntax)
	}
	for missing := error(nil); ; {
		found, err := inf.findNow(ctx, r, by, key, f)
		switch {
		case found:
			return err
		case errors.Is(err, ErrBusy):
			missing, err = err, inf.pause(ctx)
		case isYetToCome(err):
			missing, err = err, inf.parkingOf(r, by).wait(ctx, key)
		}
		if err != nil && err == ctx.Err() {
			return inf.timedOut(ctx, fmt.Sprintf("%s with the key %q", r.name, key), missing)
		}
		if err != nil {
			return err
		}
	}
}

// isYetToCome is true for what a later commit, or another informerd, may mend.
func isYetToCome(err error) bool {
	return errors.Is(err, ErrNotFound) || errors.Is(err, ErrNotReady) || errors.Is(err, ErrNoResource) ||
		errors.Is(err, ErrExpired)
}

// findNow calls f with the object if it is there.
func (inf *Informer) findNow(ctx context.Context, r *Resource, by By, key string, f func(Object) error) (found bool,
	err error) {
	select {
	case inf.reading <- struct{}{}: // even if ctx has ended
	default:
		select {
		case inf.reading <- struct{}{}:
		case <-ctx.Done():
			return false, ctx.Err()
		case <-inf.ended:
			return false, ErrClosed
		}
	}
	defer func() { <-inf.reading }()
	err = inf.View(func(s Snapshot) error {
		o, err := s.Find(r, by, key)
		if err != nil {
			return err
		}
		found = true
		return f(o)
	})
	return found, err
}

// pause until a pin may be free.
func (c *core) pause(ctx context.Context) error {
	select {
	case <-time.After(pinDelay):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.ended:
		return ErrClosed
	}
}

// parkingOf is the handle's parking for such keys.
func (c *core) parkingOf(r *Resource, by By) *parking {
	name := parkingName{r.name, by}
	c.mu.Lock()
	defer c.mu.Unlock()
	pk := c.parkings[name]
	if pk == nil {
		// a Resource of its own: only this parking's goroutine binds it
		pk = newParking(c, &Resource{name: r.name}, by)
		c.parkings[name] = pk
	}
	return pk
}
