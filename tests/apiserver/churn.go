// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
)

// churn changes pods at a rate: of 20 changes 16 are of the status, two of labels, and two make a pod after
// another's pattern, or delete one where that makes them more than there were.
type churn struct {
	pods *store

	mu        sync.Mutex // of what follows
	rate      float64
	remaining uint64
	done      uint64
	running   bool
	stop      context.CancelFunc
	commits   []commit
}

// commit is when a stamped change was in the store, by its resource version.
type commit struct {
	rv string
	us int64
}

// Writers of stamped changes. One that waits for etcd makes some 500 a second; those that wait together share a turn of raft.
const hands = 32

type podKey struct{ namespace, name string }

func newChurn(pods *store) *churn { return &churn{pods: pods} }

// set starts, changes or (rate 0) stops it; count 0: until it is stopped. With the name of an annotation all
// changes write into it when they were made: updates, or with a prefix new pods default/PREFIX-0, -1 and so on.
func (c *churn) set(rate float64, count uint64, annotation, create string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop != nil {
		c.stop()
	}
	c.rate, c.remaining, c.running, c.stop, c.commits = rate, count, rate > 0, nil, nil
	if rate > 0 {
		ctx, stop := context.WithCancel(context.Background())
		c.stop = stop
		if annotation != "" {
			go c.runStamped(ctx, rate, count, annotation, create)
		} else {
			go c.run(ctx, rate, count)
		}
	}
}

func (c *churn) run(ctx context.Context, rate float64, count uint64) {
	keys := c.keys(ctx)
	most := len(keys)
	pace := newPace(rate)
	for made := uint64(0); len(keys) > 0 && (count == 0 || made < count); made++ {
		if !pace.wait(ctx, made) {
			return
		}
		if keys = c.change(ctx, keys, most); !c.count(ctx) {
			return
		}
	}
	c.end(ctx)
}

// runStamped makes stamped changes by many hands, and as many as were asked for: a pod that cannot be changed
// is given up for another.
func (c *churn) runStamped(ctx context.Context, rate float64, count uint64, annotation, create string) {
	keys := c.keys(ctx)
	due := make(chan uint64)
	var working sync.WaitGroup
	for range hands {
		working.Go(func() {
			for nth := range due {
				change := func(like podKey) error { return c.stamp(ctx, like, annotation) }
				if create != "" {
					change = func(like podKey) error { return c.create(ctx, like, annotation, fmt.Sprintf("%s-%d", create, nth)) }
				}
				for change(keys[rand.IntN(len(keys))]) != nil && ctx.Err() == nil {
				}
				c.count(ctx)
			}
		})
	}
	pace := newPace(rate)
	for asked := uint64(0); len(keys) > 0 && (count == 0 || asked < count) && pace.wait(ctx, asked); asked++ {
		due <- asked
	}
	close(due)
	working.Wait()
	c.end(ctx)
}

// pace says when each of many is due; late ones follow at once.
type pace struct {
	begin time.Time
	rate  float64
}

func newPace(rate float64) pace { return pace{time.Now(), rate} }

// wait until the nth, from 0, is due; false: it is over.
func (p pace) wait(ctx context.Context, n uint64) bool {
	due := p.begin.Add(time.Duration(float64(n) / p.rate * float64(time.Second)))
	select {
	case <-ctx.Done():
		return false
	case <-time.After(time.Until(due)):
		return true
	}
}

// count a change; false: it is over.
func (c *churn) count(ctx context.Context) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() != nil {
		return false
	}
	c.done++
	if c.remaining > 0 {
		c.remaining--
	}
	return true
}

func (c *churn) end(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() == nil {
		c.running = false
	}
}

func (c *churn) keys(ctx context.Context) (keys []podKey) {
	list, err := c.pods.List(request.WithNamespace(ctx, ""), &internalversion.ListOptions{})
	if err != nil {
		return nil
	}
	for i := range list.(*corev1.PodList).Items {
		p := &list.(*corev1.PodList).Items[i]
		keys = append(keys, podKey{p.Namespace, p.Name})
	}
	return keys
}

// change makes one change. One that fails, as on a pod that a test deleted, makes none: the key goes.
func (c *churn) change(ctx context.Context, keys []podKey, most int) []podKey {
	i := rand.IntN(len(keys))
	key := keys[i]
	ctx = request.WithNamespace(ctx, key.namespace)
	var err error
	switch what := rand.IntN(20); {
	case what < 16:
		err = c.edit(ctx, c.pods.status, key.name, func(p *corev1.Pod) {
			p.Status.Message = fmt.Sprintf("churn %x", rand.Uint32())
		})
	case what < 18:
		err = c.edit(ctx, c.pods, key.name, func(p *corev1.Pod) {
			p.Labels = map[string]string{"app": p.Labels["app"], "churn": fmt.Sprintf("%x", rand.Uint32())}
		})
	case len(keys) <= most:
		var like runtime.Object
		if like, err = c.pods.Get(ctx, key.name, &metav1.GetOptions{}); err == nil {
			p := like.DeepCopyObject().(*corev1.Pod)
			p.ObjectMeta = metav1.ObjectMeta{Namespace: p.Namespace, Labels: p.Labels, Name: fmt.Sprintf("churn-%016x", rand.Uint64())}
			if _, err = c.pods.Create(ctx, p, rest.ValidateAllObjectFunc, &metav1.CreateOptions{}); err == nil {
				return append(keys, podKey{p.Namespace, p.Name})
			}
		}
	default:
		_, _, _ = c.pods.Delete(ctx, key.name, rest.ValidateAllObjectFunc, &metav1.DeleteOptions{})
		return append(keys[:i], keys[i+1:]...)
	}
	if err != nil {
		return append(keys[:i], keys[i+1:]...)
	}
	return keys
}

func now() string { return strconv.FormatInt(time.Now().UnixNano(), 10) }

func (c *churn) stamp(ctx context.Context, key podKey, annotation string) error {
	o, err := c.update(request.WithNamespace(ctx, key.namespace), c.pods, key.name, func(p *corev1.Pod) {
		if p.Annotations == nil {
			p.Annotations = map[string]string{}
		}
		p.Annotations[annotation] = now()
	})
	if err != nil {
		return err
	}
	made := commit{o.(*corev1.Pod).ResourceVersion, time.Now().UnixMicro()}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.commits = append(c.commits, made)
	return nil
}

// create makes a pod after another's pattern.
func (c *churn) create(ctx context.Context, like podKey, annotation, name string) error {
	o, err := c.pods.Get(request.WithNamespace(ctx, like.namespace), like.name, &metav1.GetOptions{})
	if err != nil {
		return err
	}
	p := o.DeepCopyObject().(*corev1.Pod)
	p.ObjectMeta = metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name, Labels: p.Labels,
		Annotations: map[string]string{annotation: now()}}
	_, err = c.pods.Create(request.WithNamespace(ctx, p.Namespace), p, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
	return err
}

func (c *churn) edit(ctx context.Context, door rest.Updater, name string, edit func(*corev1.Pod)) error {
	_, err := c.update(ctx, door, name, edit)
	return err
}

func (c *churn) update(ctx context.Context, door rest.Updater, name string, edit func(*corev1.Pod)) (runtime.Object, error) {
	transform := func(_ context.Context, _, old runtime.Object) (runtime.Object, error) {
		p := old.DeepCopyObject().(*corev1.Pod)
		edit(p)
		return p, nil
	}
	o, _, err := door.Update(ctx, name, rest.DefaultUpdatedObjectInfo(nil, transform),
		rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
	return o, err
}
