// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"informer"
)

func watch(t *testing.T, inf *informer.Informer, options *informer.WatchOptions) *informer.Watch {
	t.Helper()
	w, err := inf.Watch("pods", options)
	must(t, err)
	t.Cleanup(w.Close)
	return w
}

func timeout(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// until ranges over changes until one is wanted.
func until(t *testing.T, w *informer.Watch, wanted func(informer.Change) bool) {
	t.Helper()
	for change, err := range w.All(timeout(t)) {
		must(t, err)
		if wanted(change) {
			return
		}
	}
}

func isSynced(change informer.Change) bool { return change.Kind == informer.Synced }

func TestALoopThatWasLeftGoesOnWhereItWas(t *testing.T) {
	inf := real(t)
	w := watch(t, inf, nil)
	told := map[string]uint64{}
	for done := false; !done; { // a loop for each change
		until(t, w, func(change informer.Change) bool {
			key := change.Namespace + "/" + change.Name
			switch change.Kind {
			case informer.Added:
				if _, twice := told[key]; twice {
					t.Error("added twice:", key)
				}
				told[key] = change.Object.Seq()
			case informer.Updated:
				if !change.HasOld || change.Old.Seq() != told[key] {
					t.Error("another old state:", key, told[key], change.Old.Seq())
				}
				told[key] = change.Object.Seq()
			case informer.Deleted:
				if _, known := told[key]; !known {
					t.Error("deleted, but not told:", key)
				}
				delete(told, key)
			case informer.Synced:
				done = true
			}
			return true
		})
	}
	if len(told) < 200 {
		t.Error("only", len(told), "objects")
	}
}

func TestAFilterSelects(t *testing.T) {
	inf := real(t)
	filter := func(o informer.Object) bool {
		name, _ := o.Name()
		return strings.HasSuffix(name, "a") || strings.HasSuffix(name, "b")
	}
	w := watch(t, inf, &informer.WatchOptions{Filter: filter})
	until(t, w, func(change informer.Change) bool {
		if change.Name != "" && !strings.HasSuffix(change.Name, "a") && !strings.HasSuffix(change.Name, "b") {
			t.Error(change.Name)
		}
		return isSynced(change)
	})
}

func TestAWatchEndsWithItsContextAndItsHandle(t *testing.T) {
	inf := real(t)
	w := watch(t, inf, nil)
	until(t, w, isSynced)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	for _, err := range w.All(ctx) {
		if err != nil {
			wants(t, context.DeadlineExceeded, "All", err)
		}
	}
	ended := make(chan error)
	go func() {
		var last error
		for _, err := range w.All(context.Background()) {
			last = err
		}
		ended <- last
	}()
	time.Sleep(20 * time.Millisecond)
	must(t, inf.Close())
	wants(t, informer.ErrClosed, "All after Close", <-ended)
}

func TestWatchesAreLimited(t *testing.T) {
	inf := real(t)
	var watches []*informer.Watch
	for range 64 {
		watches = append(watches, watch(t, inf, nil))
	}
	_, err := inf.Watch("pods", nil)
	wants(t, informer.ErrBusy, "the 65th", err)
	if strings.Contains(err.Error(), "snapshot") {
		t.Error("snapshots are not the reason:", err)
	}
	watches[10].Close()
	w := watch(t, inf, nil)
	until(t, w, isSynced)
	_, err = inf.Watch("pods", &informer.WatchOptions{LabelSelector: "="})
	wants(t, informer.ErrSyntax, "a selector", err)
}

func TestManyWatchesAtOnce(t *testing.T) {
	inf := real(t)
	var watches sync.WaitGroup
	for range 6 {
		w := watch(t, inf, nil)
		watches.Add(1)
		go func() {
			defer watches.Done()
			changes := 0
			for change, err := range w.All(timeout(t)) {
				if err != nil {
					t.Error(err)
					return
				}
				if change.HasObject {
					if _, err = change.Object.Unstructured(); err != nil && !errors.Is(err, informer.ErrExpired) {
						t.Error(err)
						return
					}
				}
				if changes++; changes > 500 {
					return
				}
			}
		}()
	}
	watches.Wait()
}

func TestAWatchLeavesNothingMapped(t *testing.T) {
	inf := real(t)
	for range 3 {
		w := watch(t, inf, nil)
		until(t, w, isSynced)
		w.Close()
	}
	must(t, inf.Close())
	if text := maps(t); strings.Contains(text, "informer") && strings.Contains(text, "memfd:informer") {
		t.Errorf("left: %s", text)
	}
}
