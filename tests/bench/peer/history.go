// SPDX-License-Identifier: Apache-2.0

package main

// What pods were at each of the server's RVs, by a plain watch of the server that is never allowed a gap.

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"sort"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// state is what a key had.
type state struct {
	uid string
	rv  int64
}

// hash of a key's state: their sum is a whole cache's.
func (s state) hash(key string) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, key, "\x00", s.uid, "\x00", s.rv)
	return h.Sum64()
}

func number(rv string) int64 {
	n, err := strconv.ParseInt(rv, 10, 64)
	die(err)
	return n
}

// change is one of a key; then the sum of all states is that.
type change struct {
	key     string
	rv      int64
	uid     string
	present bool
	sum     uint64
}

// history is of the pods that a selector matches, in order of RVs. Lock: through.mu.
type history struct {
	selector string
	changes  []change
	ways     map[string][]change // of each key
	states   map[string]state
	total    uint64
	told     int
}

func newHistory(selector string) *history {
	return &history{selector: selector, ways: map[string][]change{}, states: map[string]state{}}
}

func (h *history) matches(pod *corev1.Pod) bool {
	return h.selector == "" || pod.Status.Phase == corev1.PodRunning
}

// add is a state of a pod at an RV, or its end.
func (h *history) add(pod *corev1.Pod, present bool) {
	key, now := identity(pod)
	present = present && h.matches(pod)
	before, was := h.states[key]
	if !was && !present {
		return
	}
	if was {
		h.total -= before.hash(key)
		delete(h.states, key)
	}
	if present {
		h.total += now.hash(key)
		h.states[key] = now
	}
	h.told++
	next := change{key, now.rv, now.uid, present, h.total}
	h.changes = append(h.changes, next)
	h.ways[key] = append(h.ways[key], next)
}

// after is the index of the first change beyond an RV.
func (h *history) after(rv int64) int {
	return sort.Search(len(h.changes), func(i int) bool { return h.changes[i].rv > rv })
}

// next change beyond an RV; nil: it is not known.
func (h *history) next(rv int64) *change {
	if i := h.after(rv); i < len(h.changes) {
		return &h.changes[i]
	}
	return nil
}

// sum of all states at an RV.
func (h *history) sum(rv int64) uint64 {
	if i := h.after(rv); i > 0 {
		return h.changes[i-1].sum
	}
	return 0
}

func (h *history) newest() int64 {
	if len(h.changes) == 0 {
		return 0
	}
	return h.changes[len(h.changes)-1].rv
}

// was: the key had this state at its RV; or it had one of that UID before, and has none of it any more at that RV or behind it.
func (h *history) was(e notice) bool {
	way := h.ways[e.key]
	i := sort.Search(len(way), func(i int) bool { return way[i].rv > e.state.rv }) - 1
	if i < 0 {
		return false
	}
	last := way[i]
	if !e.gone {
		return last == change{e.key, e.state.rv, e.state.uid, true, last.sum}
	}
	there := func(c change) bool { return c.present && c.uid == e.state.uid }
	// at its RV, or behind it: who found out by a list that it is gone tells so at the RV before
	isGone := slices.ContainsFunc(way[i:], func(c change) bool { return !there(c) })
	return isGone && slices.ContainsFunc(way[:i+1], there)
}

// follow fills both histories from now on, on a thread of its own.
func (t *through) follow() {
	list, err := t.server.CoreV1().Pods("").List(context.TODO(), metav1.ListOptions{})
	die(err)
	sort.Slice(list.Items, func(i, k int) bool {
		return number(list.Items[i].ResourceVersion) < number(list.Items[k].ResourceVersion)
	})
	for i := range list.Items {
		t.all.add(&list.Items[i], true)
		t.running.add(&list.Items[i], true)
	}
	from := list.ResourceVersion
	go func() {
		for {
			stream, err := t.server.CoreV1().Pods("").Watch(context.TODO(), metav1.ListOptions{ResourceVersion: from})
			if err != nil {
				from = t.goOn(from, err)
				continue
			}
			for event := range stream.ResultChan() {
				if event.Type == watch.Error {
					from = t.goOn(from, apierrors.FromObject(event.Object))
					break
				}
				pod := event.Object.(*corev1.Pod)
				from = pod.ResourceVersion
				t.mu.Lock()
				t.all.add(pod, event.Type != watch.Deleted)
				t.running.add(pod, event.Type != watch.Deleted)
				t.mu.Unlock()
			}
		}
	}()
}

// goOn says where the watch goes on. A server that has forgotten what was before the last change of other objects has missed nothing if its pods
// are those that are known; without its history nothing can be compared.
func (t *through) goOn(from string, err error) string {
	if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		time.Sleep(10 * time.Millisecond)
		return from
	}
	list, listErr := t.server.CoreV1().Pods("").List(context.TODO(), metav1.ListOptions{})
	if listErr != nil {
		return from
	}
	same := len(list.Items) == len(t.all.states)
	for i := range list.Items {
		key, now := identity(&list.Items[i])
		same = same && t.all.states[key] == now
	}
	if !same {
		die(fmt.Errorf("the server's own watch has a gap: %w", err))
	}
	return list.ResourceVersion
}
