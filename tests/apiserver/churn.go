// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
)

// churn changes pods at a rate: of 20 changes 16 are of the status, two of labels,
// one pod is made after another's pattern and one is deleted.
type churn struct {
	pods *store

	mu        sync.Mutex // of what follows
	rate      float64
	remaining uint64
	done      uint64
	running   bool
	stop      context.CancelFunc
}

type podKey struct{ namespace, name string }

func newChurn(pods *store) *churn { return &churn{pods: pods} }

// set starts, changes or (rate 0) stops it; count 0: until it is stopped.
func (c *churn) set(rate float64, count uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop != nil {
		c.stop()
	}
	c.rate, c.remaining, c.running, c.stop = rate, count, rate > 0, nil
	if rate > 0 {
		ctx, stop := context.WithCancel(context.Background())
		c.stop = stop
		go c.run(ctx, rate, count)
	}
}

func (c *churn) run(ctx context.Context, rate float64, count uint64) {
	keys := c.keys(ctx)
	begin := time.Now()
	for made := uint64(0); len(keys) > 0 && (count == 0 || made < count); {
		due := begin.Add(time.Duration(float64(made) / rate * float64(time.Second)))
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(due)):
		}
		if keys = c.change(ctx, keys); ctx.Err() != nil {
			return
		}
		made++
		c.mu.Lock()
		c.done++
		if count > 0 {
			c.remaining = count - made
		}
		c.mu.Unlock()
	}
	c.mu.Lock()
	if ctx.Err() == nil {
		c.running = false
	}
	c.mu.Unlock()
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
func (c *churn) change(ctx context.Context, keys []podKey) []podKey {
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
	case what == 18:
		var like runtime.Object
		if like, err = c.pods.Get(ctx, key.name, &metav1.GetOptions{}); err == nil {
			p := like.DeepCopyObject().(*corev1.Pod)
			p.ObjectMeta = metav1.ObjectMeta{Namespace: p.Namespace, Labels: p.Labels, Name: fmt.Sprintf("churn-%016x", rand.Uint64())}
			if _, err = c.pods.Create(ctx, p, rest.ValidateAllObjectFunc, &metav1.CreateOptions{}); err == nil {
				return append(keys, podKey{p.Namespace, p.Name})
			}
		}
	case len(keys) > 1:
		_, _, _ = c.pods.Delete(ctx, key.name, rest.ValidateAllObjectFunc, &metav1.DeleteOptions{})
		return append(keys[:i], keys[i+1:]...)
	}
	if err != nil {
		return append(keys[:i], keys[i+1:]...)
	}
	return keys
}

func (c *churn) edit(ctx context.Context, door rest.Updater, name string, edit func(*corev1.Pod)) error {
	transform := func(_ context.Context, _, old runtime.Object) (runtime.Object, error) {
		p := old.DeepCopyObject().(*corev1.Pod)
		edit(p)
		return p, nil
	}
	_, _, err := door.Update(ctx, name, rest.DefaultUpdatedObjectInfo(nil, transform),
		rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
	return err
}
