// SPDX-License-Identifier: Apache-2.0

package clientgo

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"time"

	"informer"

	"k8s.io/client-go/tools/cache"
)

// ErrReadOnly is what a store's writing methods return: informerd alone writes.
var ErrReadOnly = errors.New("this store shows informerd's cache, and is read-only")

// A scope is what of a resource an informer shows.
type scope struct {
	inf       *informer.Informer
	resource  *informer.Resource
	namespace string
	labels    *informer.LabelSelector
	fields    *informer.FieldSelector
	selects   bool // labels or fields are more than everything
	*objects
}

func (s *scope) read(f func(snap informer.Snapshot) error) error { return Read(s.inf, f) }

// Read calls f with a snapshot of the newest commit; again if it expires meanwhile, so f begins anew each time. Where
// all pins of the handle are taken by other goroutines, it waits up to 10 s for one. Returns f's error.
func Read(handle *informer.Informer, f func(snap informer.Snapshot) error) error {
	const pause, most = 100 * time.Microsecond, 10 * time.Second
	for waited := time.Duration(0); ; {
		err := handle.View(f)
		switch {
		case errors.Is(err, informer.ErrExpired):
		case errors.Is(err, informer.ErrBusy) && waited < most:
			time.Sleep(pause)
			waited += pause
		default:
			return err
		}
	}
}

// holds tells whether the informer shows this object.
func (s *scope) holds(o informer.Object) (bool, error) {
	if !s.selects {
		return true, nil
	}
	if ok, err := s.labels.Matches(o); err != nil || !ok {
		return false, err
	}
	return s.fields.Matches(o)
}

// get is the value of a key; nil: there is none.
func (s *scope) get(key string) (value any, err error) {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil || s.namespace != "" && namespace != s.namespace {
		return nil, nil // client-go's stores do not have such a key, either
	}
	err = s.read(func(snap informer.Snapshot) error {
		value = nil
		o, err := snap.Get(s.resource, namespace, name)
		if errors.Is(err, informer.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if ok, err := s.holds(o); err != nil || !ok {
			return err
		}
		value, err = s.of(o)
		return err
	})
	return value, err
}

// present ranges over the objects that the informer shows, in one namespace or ("") in all of the informer's.
func (s *scope) present(snap informer.Snapshot, namespace string) iter.Seq2[informer.Object, error] {
	if s.namespace != "" {
		if namespace != "" && namespace != s.namespace {
			return func(func(informer.Object, error) bool) {}
		}
		namespace = s.namespace
	}
	all := snap.Select(s.resource, namespace, s.labels)
	if !s.selects {
		return all
	}
	return func(yield func(informer.Object, error) bool) {
		for o, err := range all {
			ok := err != nil
			if !ok {
				ok, err = s.fields.Matches(o)
			}
			if (ok || err != nil) && !yield(o, err) {
				return
			}
		}
	}
}

func (s *scope) list(namespace string) (values []any, err error) {
	err = s.read(func(snap informer.Snapshot) error {
		values = nil
		for o, err := range s.present(snap, namespace) {
			if err != nil {
				return err
			}
			value, err := s.of(o)
			if err != nil {
				return err
			}
			values = append(values, value)
		}
		return nil
	})
	return values, err
}

func keyOf(o informer.Object) (string, error) {
	namespace, err := o.Namespace()
	if err != nil {
		return "", err
	}
	name, err := o.Name()
	return cache.ObjectName{Namespace: namespace, Name: name}.String(), err
}

func (s *scope) keys(namespace string) (keys []string, err error) {
	err = s.read(func(snap informer.Snapshot) error {
		keys = nil
		for o, err := range s.present(snap, namespace) {
			if err != nil {
				return err
			}
			key, err := keyOf(o)
			if err != nil {
				return err
			}
			keys = append(keys, key)
		}
		return nil
	})
	return keys, err
}

// ---- cache.Indexer

// A store is the informer's Indexer. Reading methods without an error in their signature give nothing, and log,
// if the cache cannot be read.
type store struct {
	*scope
	informer *sharedInformer
}

var _ cache.Indexer = (*store)(nil)

func (s *store) Add(any) error                        { return ErrReadOnly }
func (s *store) Update(any) error                     { return ErrReadOnly }
func (s *store) Delete(any) error                     { return ErrReadOnly }
func (s *store) Replace([]any, string) error          { return ErrReadOnly }
func (s *store) Resync() error                        { return nil }
func (s *store) Bookmark(string)                      {}
func (s *store) LastStoreSyncResourceVersion() string { return s.informer.LastSyncResourceVersion() }

func (s *store) List() []any {
	values, err := s.list("")
	if !s.unready(err) {
		s.informer.complain(err)
	}
	return values
}

func (s *store) ListKeys() []string {
	keys, err := s.keys("")
	if !s.unready(err) {
		s.informer.complain(err)
	}
	return keys
}

func (s *store) Get(object any) (any, bool, error) {
	key, err := cache.MetaNamespaceKeyFunc(object)
	if err != nil {
		return nil, false, cache.KeyError{Obj: object, Err: err}
	}
	return s.GetByKey(key)
}

func (s *store) GetByKey(key string) (any, bool, error) {
	value, err := s.get(key)
	if s.unready(err) { // as a store that has not synced
		err = nil
	}
	return value, value != nil, err
}

// unready: nothing is there yet, as in client-go's store before it has synced. Afterwards it is an error: the objects
// are not gone.
func (s *store) unready(err error) bool {
	return !s.informer.HasSynced() && (errors.Is(err, informer.ErrNotReady) || errors.Is(err, informer.ErrNoResource))
}

func (s *store) Index(name string, object any) ([]any, error) {
	fn, err := s.informer.indexes.Load().fn(name)
	if err != nil {
		return nil, err
	}
	values, err := fn(object)
	if err != nil {
		return nil, err
	}
	found, seen := []any{}, map[string]bool{}
	for _, value := range values {
		keys, err := s.IndexKeys(name, value)
		if err != nil {
			return nil, err
		}
		keys = slices.DeleteFunc(keys, func(key string) bool { return seen[key] })
		for _, key := range keys {
			seen[key] = true
		}
		if found, err = s.appendStill(found, fn, value, keys); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// appendStill appends the objects of keys that have this value still: an object may be newer than the index.
func (s *store) appendStill(to []any, fn cache.IndexFunc, value string, keys []string) ([]any, error) {
	for _, key := range keys {
		object, err := s.get(key)
		if err != nil {
			return nil, err
		}
		if object == nil {
			continue
		}
		if now, err := fn(object); err == nil && slices.Contains(now, value) {
			to = append(to, object)
		}
	}
	return to, nil
}

func (s *store) IndexKeys(name, value string) ([]string, error) {
	x := s.informer.indexes.Load()
	if _, err := x.fn(name); err != nil {
		return nil, err
	}
	if byNamespace(name) {
		return s.keys(value)
	}
	return x.keys(name, value), nil
}

func (s *store) ByIndex(name, value string) ([]any, error) {
	x := s.informer.indexes.Load()
	fn, err := x.fn(name)
	if err != nil {
		return nil, err
	}
	if byNamespace(name) {
		return s.list(value)
	}
	return s.appendStill([]any{}, fn, value, x.keys(name, value))
}

func (s *store) ListIndexFuncValues(name string) []string {
	if !byNamespace(name) {
		return s.informer.indexes.Load().values(name)
	}
	values := map[string]bool{}
	for _, key := range s.ListKeys() {
		namespace, _, _ := cache.SplitMetaNamespaceKey(key)
		values[namespace] = true
	}
	return slices.Collect(maps.Keys(values))
}

func (s *store) GetIndexers() cache.Indexers           { return maps.Clone(s.informer.indexes.Load().fns) }
func (s *store) AddIndexers(more cache.Indexers) error { return s.informer.AddIndexers(more) }
