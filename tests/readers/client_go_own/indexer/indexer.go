// SPDX-License-Identifier: Apache-2.0

// Package indexer has an Indexer for client-go's own tests of listers: what they write goes to the API server, what
// they read is an informer's.
package indexer

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"informer/clientgo"
	"informer/clientgo/sim"
)

type indexer struct {
	cache.Indexer
	source *sim.FakeControllerSource
}

// New makes an Indexer of a resource, which is emptied. Objects are of the example's type, and have nothing that the API
// server gave them.
func New(example runtime.Object, gvr schema.GroupVersionResource, indexers cache.Indexers) cache.Indexer {
	sim.Empty(gvr)
	informer := clientgo.NewSharedIndexInformer(gvr, example, 0, indexers, clientgo.WithTransform(asWritten))
	go informer.RunWithContext(context.Background())
	if !cache.WaitForCacheSync(context.Background().Done(), informer.HasSynced) {
		panic("the informer does not sync")
	}
	return &indexer{informer.GetIndexer(), sim.NewSource(gvr)}
}

func asWritten(object any) (any, error) {
	made, err := meta.Accessor(object)
	if err != nil {
		return nil, err
	}
	made.SetResourceVersion("")
	made.SetUID("")
	made.SetGeneration(0)
	made.SetCreationTimestamp(metav1.Time{})
	return object, nil
}

// Add returns when the Indexer has the object.
func (x *indexer) Add(object any) error {
	x.source.Add(object.(runtime.Object).DeepCopyObject())
	x.source.Settle()
	return nil
}
