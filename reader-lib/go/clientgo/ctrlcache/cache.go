// SPDX-License-Identifier: Apache-2.0

package ctrlcache

import (
	"context"
	"errors"
	"fmt"
	"time"

	"informer"
	"informer/clientgo"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

var _ cache.NewCacheFunc = New

// New makes a cache over informerd's. config is used for discovery alone, and only if options have no Mapper.
func New(config *rest.Config, options cache.Options) (cache.Cache, error) {
	return NewWith()(config, options)
}

// NewWith is New with a socket, a handle or an amount of values kept of one's own: clientgo.WithSocket, WithHandle,
// WithCacheBytes. What cache.Options say, too (namespaces, selectors, transforms), they alone say.
func NewWith(with ...clientgo.Option) cache.NewCacheFunc {
	return func(config *rest.Config, options cache.Options) (cache.Cache, error) {
		if options.NewInformer != nil {
			return nil, errors.New("the informers are of the node's cache: NewInformer cannot be set")
		}
		var err error
		if options.Mapper == nil {
			if options.Mapper, err = mapperOf(config, options); err != nil {
				return nil, err
			}
		}
		shared, err := clientgo.Share(with...)
		if err != nil {
			return nil, err
		}
		options.NewInformer = newInformer(shared)
		options.HTTPClient = unsent
		inner, err := cache.New(unsentConfig(), options)
		if err != nil {
			return nil, err
		}
		return nodeCache{inner}, nil
	}
}

// mapperOf the API server, as controller-runtime makes it.
func mapperOf(config *rest.Config, options cache.Options) (meta.RESTMapper, error) {
	config = rest.CopyConfig(config)
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	httpClient := options.HTTPClient
	if httpClient == nil {
		var err error
		if httpClient, err = rest.HTTPClientFor(config); err != nil {
			return nil, fmt.Errorf("could not create HTTP client from config: %w", err)
		}
	}
	return apiutil.NewDynamicRESTMapper(config, httpClient)
}

// A nodeCache is controller-runtime's.
type nodeCache struct{ cache.Cache }

// List goes by an index also where no namespace and field is asked for. Else controller-runtime would call Indexer.List,
// which returns no error: a list that failed would look as if nothing was there.
func (c nodeCache) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	var all client.ListOptions
	all.ApplyOptions(options)
	if all.Namespace == "" && all.FieldSelector == nil {
		all.FieldSelector = fields.OneTermEqualSelector(everything, "")
	}
	return c.Cache.List(ctx, list, &all)
}

// NeedLeaderElection lets a manager start the cache before it is the leader.
func (c nodeCache) NeedLeaderElection() bool { return false }

// newInformer makes, for controller-runtime, the informer of what a ListerWatcher lists.
func newInformer(shared clientgo.Option) func(toolscache.ListerWatcher, runtime.Object, time.Duration,
	toolscache.Indexers) toolscache.SharedIndexInformer {
	return func(lw toolscache.ListerWatcher, example runtime.Object, resync time.Duration,
		indexers toolscache.Indexers) toolscache.SharedIndexInformer {
		asked, err := askedBy(lw)
		if err == nil {
			err = asked.check()
		}
		if err != nil {
			return failing(err, example, resync, indexers)
		}
		return named{clientgo.NewSharedIndexInformer(asked.resource, example, resync, indexers, shared,
			clientgo.WithNamespace(asked.namespace), clientgo.WithTweakListOptions(func(list *metav1.ListOptions) {
				list.LabelSelector, list.FieldSelector = asked.labels, asked.fields
			}))}
	}
}

// check the selectors: an informer cannot be made with those that nobody understands.
func (r request) check() error {
	_, err := informer.CompileLabelSelector(r.labels)
	_, err2 := informer.CompileFieldSelector(r.fields)
	return errors.Join(err, err2)
}

// failing is an informer that does not sync, and says why again and again: as of a server that refuses the list.
func failing(err error, example runtime.Object, resync time.Duration,
	indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	return toolscache.NewSharedIndexInformer(&toolscache.ListWatch{
		ListWithContextFunc:  func(context.Context, metav1.ListOptions) (runtime.Object, error) { return nil, err },
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return nil, err },
	}, example, resync, indexers)
}
