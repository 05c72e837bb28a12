// SPDX-License-Identifier: Apache-2.0

package main

// Parked keys: what a goroutine's caller is promised. The suite has what all languages answer.

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"informer"
)

func nothing(informer.Object) error { return nil }

// present is the UID of a pod that is there.
func present(t *testing.T, inf *informer.Informer) (uid string) {
	t.Helper()
	must(t, inf.View(func(snap informer.Snapshot) (err error) {
		uid, err = scheduled(t, snap, inf.Resource("pods")).UID()
		return err
	}))
	return uid
}

// quiet waits until this process has next to nothing to do.
func quiet(t *testing.T) {
	t.Helper()
	for end, before := time.Now().Add(20*time.Second), processorTime(t); ; {
		time.Sleep(100 * time.Millisecond)
		spent := processorTime(t) - before
		if before += spent; spent < 20*time.Millisecond {
			return
		}
		if time.Now().After(end) {
			t.Fatal("it is never quiet: ", spent)
		}
	}
}

func processorTime(t *testing.T) time.Duration {
	var usage unix.Rusage
	must(t, unix.Getrusage(unix.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// A crowd waits for keys that nothing has.
type crowd struct {
	leave context.CancelFunc
	all   sync.WaitGroup
	mu    sync.Mutex
	ends  map[string]int // what Await returned, by the error's name
}

func gather(inf *informer.Informer, by informer.By, count int) *crowd {
	ctx, cancel := context.WithCancel(context.Background())
	c := &crowd{leave: cancel, ends: map[string]int{}}
	pods := inf.Resource("pods")
	for i := range count {
		c.all.Add(1)
		go func() {
			defer c.all.Done()
			err := inf.Await(ctx, pods, by, fmt.Sprintf("nothing-%d", i), nothing)
			end := fmt.Sprint(err)
			for _, known := range []error{context.Canceled, informer.ErrClosed} {
				if errors.Is(err, known) {
					end = known.Error()
				}
			}
			c.mu.Lock()
			c.ends[end]++
			c.mu.Unlock()
		}()
	}
	return c
}

// ended checks how all of the crowd ended.
func (c *crowd) ended(t *testing.T, count int, wanted error) {
	t.Helper()
	c.all.Wait()
	if c.ends[wanted.Error()] != count {
		t.Errorf("not %d times %q: %v", count, wanted, c.ends)
	}
}

func TestACommitLooksUpOnlyTheKeysThatItNames(t *testing.T) {
	inf := real(t)
	const count, commits = 20000, 15
	c := gather(inf, informer.ByUID, count)
	quiet(t)
	pods := inf.Resource("pods")
	began := time.Now()
	must(t, inf.View(func(snap informer.Snapshot) error {
		for i := range count {
			if _, err := snap.Find(pods, informer.ByUID, fmt.Sprintf("nothing-%d", i)); err != informer.ErrNotFound {
				return err
			}
		}
		return nil
	}))
	all := time.Since(began)
	before := processorTime(t)
	for range commits { // objects change all the time
		var seen informer.Moment
		must(t, inf.View(func(snap informer.Snapshot) (err error) {
			seen, err = snap.Moment()
			return err
		}))
		must(t, inf.WaitCommit(timeout(t), seen))
	}
	spent := processorTime(t) - before
	t.Logf("%d keys: %v of processor time for each of %d commits; %v to look all up", count, spent/commits, commits, all)
	if spent > commits*all/4 {
		t.Errorf("%v for %d commits, and %v to look up all keys", spent, commits, all)
	}
	c.leave()
	c.ended(t, count, context.Canceled)
}

func TestOneGoroutineWaitsForAllKeysAndEndsWithThem(t *testing.T) {
	inf := real(t)
	quiet(t)
	before := runtime.NumGoroutine()
	for range 2 {
		c := gather(inf, informer.ByContainerID, 1000)
		quiet(t)
		if extra := runtime.NumGoroutine() - before - 1000; extra != 1 {
			t.Errorf("%d goroutines wait for 1000 keys", extra)
		}
		c.leave()
		c.ended(t, 1000, context.Canceled)
		eventually(t, "its goroutine stays", func() bool { return runtime.NumGoroutine() <= before })
	}
}

func TestCloseEndsAllWhoAwait(t *testing.T) {
	for i := range 10 {
		inf := real(t)
		c := gather(inf, informer.By(i%4), 500)
		if i%2 == 0 {
			quiet(t)
		}
		must(t, inf.Close())
		c.ended(t, 500, informer.ErrClosed)
		wants(t, informer.ErrClosed, "Await after Close", inf.Await(timeout(t), inf.Resource("pods"), informer.ByUID, "x", nothing))
	}
}

// Some callers leave while the object appears: the others get it, each once.
func TestWhoLeavesTakesNobodyAlong(t *testing.T) {
	inf := real(t)
	widgets := inf.Resource("widgets")
	for round := range 5 {
		name := fmt.Sprintf("awaited-%d-%d", round, time.Now().UnixNano())
		var all sync.WaitGroup
		var found, left atomic.Int32
		for i := range 200 {
			all.Add(1)
			ctx := timeout(t)
			if i%2 == 1 {
				short, cancel := context.WithTimeout(ctx, time.Duration(rand.Intn(60))*time.Millisecond)
				defer cancel()
				ctx = short
			}
			go func() {
				defer all.Done()
				calls := 0
				err := inf.Await(ctx, widgets, informer.ByKey, "default/"+name, func(o informer.Object) error {
					calls++
					got, err := o.Name()
					if got != name {
						t.Error("another object:", got)
					}
					return err
				})
				switch {
				case err == nil && calls == 1:
					found.Add(1)
				case i%2 == 1 && errors.Is(err, context.DeadlineExceeded) && calls == 0:
					left.Add(1)
				default:
					t.Error(i, calls, err)
				}
			}()
		}
		time.Sleep(time.Duration(rand.Intn(30)) * time.Millisecond)
		ask(t, "POST", "/apis/example.com/v1/namespaces/default/widgets",
			`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"`+name+`","namespace":"default"}}`)
		all.Wait()
		if found.Load() < 100 {
			t.Error(found.Load(), "found it,", left.Load(), "left")
		}
	}
}

func TestAwaitSaysWhatItWaitedFor(t *testing.T) {
	inf := real(t)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	for _, wanted := range []struct{ resource, text string }{{"pods", "there is no such object"}, {"gadgets", "does not cache"}} {
		err := inf.Await(ctx, inf.Resource(wanted.resource), informer.ByKey, "a/b", nothing)
		wants(t, context.DeadlineExceeded, "Await", err)
		if !strings.Contains(err.Error(), wanted.resource+` with the key "a/b"`) || !strings.Contains(err.Error(), wanted.text) {
			t.Error(err)
		}
	}
	// what is there is found even then
	must(t, inf.Await(ctx, inf.Resource("pods"), informer.ByUID, present(t, inf), nothing))
	for _, key := range []string{"", strings.Repeat("x", 4097)} {
		wants(t, informer.ErrSyntax, "a key", inf.Await(ctx, inf.Resource("pods"), informer.ByUID, key, nothing))
	}
	wants(t, informer.ErrSyntax, "a kind of key", inf.Await(ctx, inf.Resource("pods"), informer.By(4), "x", nothing))
	wants(t, informer.ErrNoIndex, "an address of widgets", inf.Await(timeout(t), inf.Resource("widgets"), informer.ByIP, "10.0.0.1", nothing))
}

func TestTheCallersFunctionDecides(t *testing.T) {
	inf := real(t)
	pods, uid := inf.Resource("pods"), present(t, inf)
	mine := fmt.Errorf("mine: %w", informer.ErrNotFound)
	for range 20 {
		calls := 0
		err := inf.Await(timeout(t), pods, informer.ByUID, uid, func(informer.Object) error { calls++; return mine })
		if err != mine || calls != 1 {
			t.Error(err, calls)
		}
		func() {
			defer func() {
				if recover() != "mine" {
					t.Error("its panic was swallowed")
				}
			}()
			inf.Await(timeout(t), pods, informer.ByUID, uid, func(informer.Object) error { panic("mine") })
		}()
	}
	must(t, inf.Await(timeout(t), pods, informer.ByUID, uid, nothing))
}

func TestThoseAnsweredAtOnceLeavePinsToOthers(t *testing.T) {
	inf := real(t)
	pods, uid := inf.Resource("pods"), present(t, inf)
	var all sync.WaitGroup
	var reading atomic.Int32
	release := make(chan struct{})
	for range 200 {
		all.Add(1)
		go func() {
			defer all.Done()
			err := inf.Await(context.Background(), pods, informer.ByUID, uid, func(informer.Object) error {
				reading.Add(1)
				<-release
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}()
	}
	eventually(t, "nobody reads", func() bool { return reading.Load() >= 8 })
	quiet(t)
	for range 50 {
		begin(t, inf)
	}
	wants(t, context.DeadlineExceeded, "an Await behind those", inf.Await(short(t), pods, informer.ByUID, "x", nothing))
	close(release)
	all.Wait()
}

func short(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

func TestAwaitWaitsForAPin(t *testing.T) {
	inf := real(t)
	pods, uid := inf.Resource("pods"), present(t, inf)
	c := gather(inf, informer.ByUID, 100)
	quiet(t)
	var snaps []informer.Snapshot
	for range 63 {
		snap, err := inf.Begin()
		if err != nil { // the parking's goroutine has one for a moment
			break
		}
		snaps = append(snaps, snap)
	}
	wants(t, context.DeadlineExceeded, "Await without a pin", inf.Await(short(t), pods, informer.ByUID, uid, nothing))
	result := make(chan error)
	go func() { result <- inf.Await(timeout(t), pods, informer.ByUID, uid, nothing) }()
	for _, snap := range snaps {
		snap.End()
	}
	must(t, <-result)
	c.leave()
	c.ended(t, 100, context.Canceled)
}

func TestAHandleIsNotCollectedWhileSomebodyAwaits(t *testing.T) {
	name := fmt.Sprintf("kept-%d", time.Now().UnixNano())
	result := make(chan error)
	go func() {
		inf, err := informer.Attach(&informer.Options{Socket: os.Getenv("SOCKET")})
		if err == nil {
			err = inf.Await(timeout(t), inf.Resource("widgets"), informer.ByKey, "default/"+name, nothing)
		}
		result <- err
	}()
	for range 20 {
		runtime.GC()
		time.Sleep(5 * time.Millisecond)
	}
	ask(t, "POST", "/apis/example.com/v1/namespaces/default/widgets",
		`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"`+name+`","namespace":"default"}}`)
	must(t, <-result)
	eventually(t, "it is not collected afterwards", func() bool { return arenas(t) == 0 })
}

func TestADamagedArenaEndsAwait(t *testing.T) {
	broker := newBroker(t)
	inf := attach(t, broker.place)
	c := gather(inf, informer.ByUID, 10)
	quiet(t)
	must(t, broker.arena.Truncate(8192))
	wants(t, informer.ErrCorrupt, "Await", inf.Await(timeout(t), inf.Resource("pods"), informer.ByUID, "x", nothing))
	c.leave()
	c.ended(t, 10, context.Canceled)
}

func TestVerify(t *testing.T) {
	broker := newBroker(t)
	inf := attach(t, broker.place)
	snap := begin(t, inf)
	verified, err := snap.Verify()
	if err != nil || verified.Blocks < 1000 || verified.Tags != 0 {
		t.Error(verified, err)
	}
	must(t, broker.arena.Truncate(8192))
	_, err = snap.Verify()
	var damage *informer.Damage
	if wants(t, informer.ErrCorrupt, "memory that is gone", err); !errors.As(err, &damage) || damage.Offset < 8192 || damage.What == "" {
		t.Error(err)
	}
	broker.setState(3)
	_, err = snap.Verify()
	if wants(t, informer.ErrExpired, "a revoked arena", err); errors.As(err, &damage) {
		t.Error(err)
	}
	snap.End()
	_, err = snap.Verify()
	wants(t, informer.ErrClosed, "what was ended", err)
}
