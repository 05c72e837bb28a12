// SPDX-License-Identifier: Apache-2.0

//go:build !without_ours

package main

// Go's reader of informerd's cache, asked as client-go's indexer and codec are.

import (
	"context"
	"math/rand"
	"runtime"
	"sync/atomic"

	"informer"
	"informer/clientgo"

	corev1 "k8s.io/api/core/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	sproto "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/scheme"
)

type ours struct {
	inf  *informer.Informer
	pods *informer.Resource
	keys []string // in random order
	at   int
}

var nodeNamePath = informer.MustCompilePath("spec.nodeName")

// factoryOver informerd's cache.
func factoryOver(socket string) informers.SharedInformerFactory {
	return clientgo.NewSharedInformerFactoryWithOptions(nil, 0, clientgo.WithSocket(socket))
}

func attachOurs(socket string) *ours {
	inf, err := informer.Attach(&informer.Options{Socket: socket, DecodeBytes: 16 << 20})
	die(err)
	die(inf.WaitSynced(context.Background(), "pods"))
	o := &ours{inf: inf, pods: inf.Resource("pods")}
	all := []string{}
	die(inf.View(func(snap informer.Snapshot) error {
		for pod, err := range snap.All(o.pods) {
			die(err)
			namespace, err := pod.Namespace()
			die(err)
			name, err := pod.Name()
			die(err)
			all = append(all, namespace+"/"+name)
		}
		return nil
	}))
	rnd := rand.New(rand.NewSource(1))
	for i := 0; i < 1<<19; i++ {
		o.keys = append(o.keys, string([]byte(all[rnd.Intn(len(all))])))
	}
	return o
}

// get as rounds.get, each look-up in a snapshot of its own: ns a look-up.
func (o *ours) get(ops int) float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var text [256]byte
	n, s := len(o.keys), 0
	t := threadNs()
	for i := 0; i < ops; i++ {
		snap, err := o.inf.Begin()
		if err != nil {
			panic(err)
		}
		pod, err := snap.GetKey(o.pods, o.keys[o.at])
		if err != nil {
			panic("miss " + o.keys[o.at])
		}
		node, err := pod.AppendText(text[:0], nodeNamePath)
		snap.End()
		if err == nil { // else no node has it yet
			s += len(node) + int(node[0])
		}
		if o.at++; o.at == n {
			o.at = 0
		}
	}
	d := threadNs() - t
	atomic.AddInt64(&sink, int64(s))
	return float64(d) / float64(ops)
}

// typed is ns a pod: from the arena, and by client-go's protobuf codec from the same pods' bytes.
func (o *ours) typed(pods int) (float64, float64) {
	rounds := max(1, 5000/pods)
	gvk := schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	codec := sproto.NewSerializer(scheme.Scheme, scheme.Scheme)
	var theirs [][]byte
	var mine []informer.Object
	snap, err := o.inf.Begin()
	die(err)
	defer snap.End()
	for _, key := range o.keys[:pods] {
		object, err := snap.GetKey(o.pods, key)
		die(err)
		pod := &corev1.Pod{}
		die(object.Decode(pod))
		pod.Kind, pod.APIVersion = "Pod", "v1"
		bytes, err := apiruntime.Encode(codec, pod)
		die(err)
		mine, theirs = append(mine, object), append(theirs, bytes)
	}
	run := func(decode func(i int) error) float64 {
		runtime.GC()
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		t := threadNs()
		for range rounds {
			for i := range pods {
				die(decode(i))
			}
		}
		return float64(threadNs()-t) / float64(rounds*pods)
	}
	return run(func(i int) error { return mine[i].Decode(&corev1.Pod{}) }), run(func(i int) error {
		_, _, err := codec.Decode(theirs[i], &gvk, nil)
		return err
	})
}

// watchOurs starts a loop over a watch, and returns how many pods it was told of when that has synced.
func watchOurs(socket string, sink *eventSink) int {
	inf, err := informer.Attach(&informer.Options{Socket: socket})
	die(err)
	watch, err := inf.Watch("pods", nil)
	die(err)
	path := informer.MustCompilePath("metadata.annotations[\"" + madeAnnotation + "\"]")
	synced := make(chan int)
	go func() {
		pods := 0
		for change, err := range watch.All(context.Background()) {
			die(err)
			switch change.Kind {
			case informer.Synced:
				synced <- pods
			case informer.Added, informer.Updated:
				if change.Initial {
					pods++
					continue
				}
				text, err := change.Object.Text(path)
				die(err)
				sink.take(text)
			}
		}
	}()
	return <-synced
}
