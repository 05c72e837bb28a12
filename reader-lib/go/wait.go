// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
)

// waitFor waits until met returns true in a snapshot, or an error that waiting does not mend. `what` ends the
// sentence of a context that ends first. Steps: PROTOCOLS.md, Armed.
func (c *core) waitFor(ctx context.Context, what string, met func(Snapshot) (bool, error)) error {
	inf := &Informer{c}
	var missing error
	for {
		c.mu.Lock()
		news := c.news // before the look, so that what comes after it is not missed
		c.mu.Unlock()
		ok, again, err := inf.look(met)
		switch {
		case ok:
			return nil
		case again:
			continue
		case err != nil && !errors.Is(err, ErrNotReady) && !errors.Is(err, ErrExpired) && !c.later(err):
			return err
		}
		missing = err
		select {
		case <-news:
		case <-ctx.Done():
			return c.timedOut(ctx, what, missing)
		case <-c.ended:
			return ErrClosed
		}
	}
}

// later is true for a resource that the next informerd may cache: this one is gone.
func (c *core) later(err error) bool {
	m := c.current.Load()
	return errors.Is(err, ErrNoResource) && (m == nil || m.lost.Load())
}

func (c *core) timedOut(ctx context.Context, what string, missing error) error {
	c.mu.Lock()
	reason := c.reason
	c.mu.Unlock()
	text := what
	if missing != nil {
		text += ": " + missing.Error()
	}
	if reason != nil {
		text += "; " + reason.Error()
	}
	return fmt.Errorf("still waiting for %s: %w", text, ctx.Err())
}

// look arms the eventfd (A1), and looks at the newest root. again: there is a newer one by now.
func (inf *Informer) look(met func(Snapshot) (bool, error)) (ok, again bool, err error) {
	s, err := inf.Begin()
	if err != nil {
		return false, false, err
	}
	defer s.End()
	m := s.p.m
	atomic.OrUint32(word32(m.slot, slotArmed), armedCommit)      // A1
	if atomic.LoadUint64(word64(m.arena, hEpoch)) != s.p.epoch { // A2
		return false, true, nil
	}
	ok, err = met(s)
	return ok, false, err
}

// WaitAttached waits until an arena is attached.
func (inf *Informer) WaitAttached(ctx context.Context) error {
	return inf.waitFor(ctx, "an arena", func(Snapshot) (bool, error) { return true, nil })
}

// WaitSynced waits until the resources are cached and their first lists are in. Without names: at least one
// resource, and all that are not on demand. It fails at once, with ErrNoResource, if an informerd that runs
// does not cache one of them.
func (inf *Informer) WaitSynced(ctx context.Context, names ...string) error {
	if len(names) == 0 {
		return inf.waitFor(ctx, "the first lists", allSynced)
	}
	resources := make([]*Resource, len(names))
	for i, name := range names {
		resources[i] = inf.Resource(name)
	}
	return inf.waitFor(ctx, "the first list of "+strings.Join(names, ", "), func(s Snapshot) (bool, error) {
		for _, r := range resources {
			if info, err := s.Info(r); err != nil || !info.Synced {
				return false, err
			}
		}
		return true, nil
	})
}

func allSynced(s Snapshot) (bool, error) {
	infos, complete, err := s.Resources()
	if err != nil || !complete {
		return false, err
	}
	for i := range infos {
		if !infos[i].Synced && !infos[i].OnDemand {
			return false, nil
		}
	}
	return len(infos) > 0, nil
}

// WaitCommit waits for a version newer than `seen`; another generation counts as newer.
func (inf *Informer) WaitCommit(ctx context.Context, seen Moment) error {
	return inf.waitFor(ctx, "a commit", func(s Snapshot) (bool, error) {
		now, err := s.Moment()
		return now.Generation != seen.Generation || now.Epoch > seen.Epoch, err
	})
}

func isComparable(version string) bool {
	return version != "" && version[0] != '0' && strings.Trim(version, "0123456789") == ""
}

// isLess compares two resourceVersions as numbers of any length.
func isLess(a, b string) bool { return len(a) < len(b) || len(a) == len(b) && a < b }

// WaitVersion waits until the cached resource is at least as new as a resourceVersion of the API server: "have
// I seen my own write?" Without changes, a resource's version moves by bookmarks, about once a minute.
func (inf *Informer) WaitVersion(ctx context.Context, name, version string) error {
	if !isComparable(version) {
		return fmt.Errorf("%q is no resourceVersion that could be compared: those are digits without leading "+
			"zeros, above 0: %w", version, ErrSyntax)
	}
	r := inf.Resource(name)
	return inf.waitFor(ctx, name+" at version "+version, func(s Snapshot) (bool, error) {
		return s.reached(r, version)
	})
}

// reached tells whether each entry of a resource has got to a version.
func (s Snapshot) reached(r *Resource, version string) (bool, error) {
	return read(s, func(p *pin) (ok bool, err error) {
		b, err := p.bind(r)
		if err != nil {
			return false, err
		}
		for i := range b.parts {
			info := p.info(&b.parts[i])
			if !info.Synced || !isComparable(info.ResourceVersion) || isLess(info.ResourceVersion, version) {
				return false, nil
			}
		}
		return true, nil
	})
}
