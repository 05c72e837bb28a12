// SPDX-License-Identifier: Apache-2.0

package coredns

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"informer"
	"informer/clientgo"

	"github.com/coredns/coredns/plugin/kubernetes"
	"github.com/coredns/coredns/plugin/kubernetes/object"
	clog "github.com/coredns/coredns/plugin/pkg/log"

	api "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

var log = clog.NewWithPlugin(name)

// A source is what kubernetes's handler asks for objects: its dnsController. Which objects an answer is about, informerd's
// indexes tell. The objects are kubernetes's own, made when they are asked for; clientgo keeps those used last.
type source struct {
	handle                                *informer.Informer
	services, namespaces, pods, endpoints *kind // pods, endpoints nil: not asked for
	ctx                                   context.Context
	stop                                  context.CancelFunc

	mu                 sync.Mutex
	internal, external serial
}

// A kind is the objects of one resource.
type kind struct {
	handle   *informer.Informer
	resource *informer.Resource
	informer cache.SharedIndexInformer
}

// A serial is when the resources behind a zone changed last, as far as somebody asked.
type serial struct {
	changed uint64 // number of their last change
	at      int64
}

func newSource(s stanza) (*source, error) {
	handle, err := informer.Attach(nil)
	if err != nil {
		return nil, err
	}
	share, err := clientgo.Share(clientgo.WithHandle(handle))
	if err != nil {
		return nil, err
	}
	d := &source{handle: handle}
	d.ctx, d.stop = context.WithCancel(context.Background())
	of := func(gvr schema.GroupVersionResource, example runtime.Object, labels, fields string,
		convert func(metav1.Object) (metav1.Object, error)) *kind {
		narrow := func(list *metav1.ListOptions) { list.LabelSelector, list.FieldSelector = labels, fields }
		transform := func(o any) (any, error) {
			theirs, ok := o.(metav1.Object)
			if !ok {
				return nil, fmt.Errorf("%T has no metadata", o)
			}
			return convert(theirs)
		}
		name := strings.TrimSuffix(gvr.Resource+"."+gvr.Version+"."+gvr.Group, ".")
		return &kind{handle, handle.Resource(name),
			clientgo.NewSharedIndexInformer(gvr, example, 0, nil, share, clientgo.WithTweakListOptions(narrow),
				clientgo.WithTransform(transform))}
	}
	core := api.SchemeGroupVersion
	d.services = of(core.WithResource("services"), &api.Service{}, s.labels, "", object.ToService)
	d.namespaces = of(core.WithResource("namespaces"), &api.Namespace{}, s.namespaceLabels, "", object.ToNamespace)
	if s.verified {
		d.pods = of(core.WithResource("pods"), &api.Pod{}, s.labels,
			"status.phase!=Succeeded,status.phase!=Failed,status.phase!=Unknown", toPod)
	}
	if !s.noEndpoints {
		convert := object.EndpointSliceToEndpoints
		if s.zonal {
			convert = object.EndpointSliceToEndpointsWithZones
		}
		d.endpoints = of(discovery.SchemeGroupVersion.WithResource("endpointslices"), &discovery.EndpointSlice{},
			s.labels, "", convert)
	}
	return d, nil
}

// toPod keeps the addresses of a pod that terminates.
func toPod(o metav1.Object) (metav1.Object, error) {
	o.SetDeletionTimestamp(nil)
	return object.ToPod(o)
}

func (d *source) kinds() []*kind {
	all := []*kind{d.services, d.namespaces, d.pods, d.endpoints}
	return slices.DeleteFunc(all, func(k *kind) bool { return k == nil })
}

// Run until Stop.
func (d *source) Run() {
	var running sync.WaitGroup
	for _, k := range d.kinds() {
		running.Go(func() { k.informer.RunWithContext(d.ctx) })
	}
	running.Wait()
	d.handle.Close()
}

func (d *source) Stop() error {
	d.stop()
	return nil
}

func (d *source) HasSynced() bool {
	return !slices.ContainsFunc(d.kinds(), func(k *kind) bool { return !k.informer.HasSynced() })
}

// ---- objects

// A search gives objects of a resource.
type search func(informer.Snapshot, *informer.Resource) iter.Seq2[informer.Object, error]

// with is the objects that an index of informerd has under a value.
func with(index, value string) search {
	return func(s informer.Snapshot, r *informer.Resource) iter.Seq2[informer.Object, error] {
		return s.ByIndex(r, index, value)
	}
}

// get is the object with this key. Errors are logged.
func get[T any](k *kind, key string) (t T, ok bool) {
	value, _, err := k.informer.GetStore().GetByKey(key)
	if err != nil {
		log.Errorf("%s: %v", k.resource, err)
	}
	t, ok = value.(T)
	return t, ok
}

// found is what a search gives and fits, by now. Errors are logged.
func found[T any](k *kind, where search, fits func(T) bool) (result []T) {
	if k == nil {
		return nil
	}
	keys, err := k.keys(where)
	if err != nil {
		log.Errorf("%s: %v", k.resource, err)
	}
	for _, key := range keys {
		if t, ok := get[T](k, key); ok && fits(t) {
			result = append(result, t)
		}
	}
	return result
}

func (k *kind) keys(where search) (keys []string, err error) {
	err = clientgo.Read(k.handle, func(s informer.Snapshot) error {
		keys = nil
		for o, err := range where(s, k.resource) {
			if err != nil {
				return err
			}
			name, err := o.Name()
			if err != nil {
				return err
			}
			namespace, err := o.Namespace()
			if err != nil {
				return err
			}
			keys = append(keys, namespace+"/"+name)
		}
		return nil
	})
	return keys, err
}

func all[T any](k *kind) []T {
	return found(k, informer.Snapshot.All, func(T) bool { return true })
}

func (d *source) ServiceList() []*object.Service     { return all[*object.Service](d.services) }
func (d *source) EndpointsList() []*object.Endpoints { return all[*object.Endpoints](d.endpoints) }

// SvcIndex is the service of NAME.NAMESPACE.
func (d *source) SvcIndex(key string) []*object.Service {
	name, namespace, _ := strings.Cut(key, ".")
	if service, ok := get[*object.Service](d.services, namespace+"/"+name); ok {
		return []*object.Service{service}
	}
	return nil
}

func (d *source) SvcIndexReverse(ip string) []*object.Service {
	return found(d.services, with("address", ip), func(s *object.Service) bool {
		return slices.Contains(s.ClusterIPs, ip)
	})
}

func (d *source) SvcExtIndexReverse(ip string) []*object.Service {
	return found(d.services, with("address", ip), func(s *object.Service) bool {
		return slices.Contains(s.ExternalIPs, ip)
	})
}

func (d *source) PodIndex(ip string) []*object.Pod {
	return found(d.pods, with("podIP", ip), func(p *object.Pod) bool { return slices.Contains(p.PodIPs, ip) })
}

// EpIndex is the endpoint slices of the service NAME.NAMESPACE.
func (d *source) EpIndex(key string) []*object.Endpoints {
	name, namespace, _ := strings.Cut(key, ".")
	selector, err := informer.CompileLabelSelector(discovery.LabelServiceName + "=" + name)
	if err != nil { // it is nobody's name
		return nil
	}
	of := func(s informer.Snapshot, r *informer.Resource) iter.Seq2[informer.Object, error] {
		return s.Select(r, namespace, selector)
	}
	return found(d.endpoints, of, func(e *object.Endpoints) bool { return e.Index == key })
}

func (d *source) EpIndexReverse(ip string) []*object.Endpoints {
	return found(d.endpoints, with("address", ip), func(e *object.Endpoints) bool {
		return slices.Contains(e.IndexIP, ip)
	})
}

func (d *source) GetNamespaceByName(name string) (*object.Namespace, error) {
	if namespace, ok := get[*object.Namespace](d.namespaces, name); ok {
		return namespace, nil
	}
	return nil, fmt.Errorf("there is no namespace %s", name)
}

// What kubernetes asks for multicluster alone, or never.

func (d *source) ServiceImportList() []*object.ServiceImport       { return nil }
func (d *source) SvcImportIndex(string) []*object.ServiceImport    { return nil }
func (d *source) McEpIndex(string) []*object.MultiClusterEndpoints { return nil }
func (d *source) GetNodeByName(context.Context, string) (*api.Node, error) {
	return nil, errors.ErrUnsupported
}

// Modified is a zone's serial: when it was seen first, in seconds since 1970, that services, or those and their
// endpoints, had changed.
func (d *source) Modified(mode kubernetes.ModifiedMode) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if mode == kubernetes.ModifiedExternal {
		return d.external.now(d.services)
	}
	return d.internal.now(d.services, d.endpoints)
}

func (s *serial) now(kinds ...*kind) int64 {
	var changed uint64
	for _, k := range kinds {
		if k == nil {
			continue
		}
		if err := clientgo.Read(k.handle, func(snapshot informer.Snapshot) error {
			info, err := snapshot.Info(k.resource)
			changed = max(changed, info.ChangedSeq)
			return err
		}); err != nil {
			return s.at
		}
	}
	if changed != s.changed {
		s.changed, s.at = changed, time.Now().Unix()
	}
	return s.at
}
