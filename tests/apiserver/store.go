// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/names"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// store is a resource's generic registry store, with the names kubectl knows it by.
type store struct {
	*genericregistry.Store
	resource *resource
	status   *statusStore // nil: it has no /status
}

func (s *store) ShortNames() []string { return s.resource.short }
func (s *store) Categories() []string { return s.resource.categories }

func newStore(r *resource, o *options, getter generic.RESTOptionsGetter) (*store, error) {
	gr := schema.GroupResource{Group: r.gv.Group, Resource: r.plural}
	st := strategy{ObjectTyper: scheme, NameGenerator: names.SimpleNameGenerator, resource: r, storeStatus: o.storeStatus}
	g := &genericregistry.Store{
		NewFunc:                   r.newObject,
		NewListFunc:               r.newList,
		DefaultQualifiedResource:  gr,
		SingularQualifiedResource: schema.GroupResource{Group: r.gv.Group, Resource: r.single},
		CreateStrategy:            st,
		UpdateStrategy:            st,
		DeleteStrategy:            st,
		ReturnDeletedObject:       r.plural == "pods" || r.plural == "services",
		TableConvertor:            tables{rest.NewDefaultTableConvertor(gr), r},
	}
	if r.status {
		g.ResetFieldsStrategy = st
	}
	how := &generic.StoreOptions{RESTOptions: getter, AttrFunc: r.attributes}
	if r == pods {
		if o.gracefulPods {
			g.DeleteStrategy = gracefulPods{st}
		}
		// as upstream: the watches of one node are found without asking all
		node := func(o runtime.Object) string { return o.(*corev1.Pod).Spec.NodeName }
		how.TriggerFunc = map[string]storage.IndexerFunc{"spec.nodeName": node}
	}
	if err := g.CompleteWithOptions(how); err != nil {
		return nil, err
	}
	s := &store{Store: g, resource: r}
	if r.status {
		of := *g
		st.ofStatus = true
		of.UpdateStrategy, of.ResetFieldsStrategy = st, st
		s.status = &statusStore{&of}
	}
	return s, nil
}

// attributes are what selectors see of an object.
func (r *resource) attributes(o runtime.Object) (labels.Set, fields.Set, error) {
	m, err := meta.Accessor(o)
	if err != nil {
		return nil, nil, err
	}
	set := fields.Set{"metadata.name": m.GetName()}
	if r.namespaced {
		set["metadata.namespace"] = m.GetNamespace()
	}
	if r.fields != nil {
		for k, v := range r.fields(o) {
			set[k] = v
		}
	}
	return m.GetLabels(), set, nil
}

// strategy lets every spec in, unless the resource has rules: upstream's rules for
// metadata apply.
type strategy struct {
	runtime.ObjectTyper
	names.NameGenerator
	resource    *resource
	storeStatus bool // POST sets .status
	ofStatus    bool // this is the strategy of /status
}

func (s strategy) NamespaceScoped() bool { return s.resource.namespaced }

func status(o runtime.Object) reflect.Value { return reflect.ValueOf(o).Elem().FieldByName("Status") }

func (s strategy) PrepareForCreate(_ context.Context, o runtime.Object) {
	if s.resource.status && !s.storeStatus {
		status(o).SetZero()
	}
	switch o := o.(type) {
	case *corev1.Pod:
		if o.Status.Phase == "" {
			o.Status.Phase = corev1.PodPending
		}
	case *corev1.Namespace:
		o.Status.Phase = corev1.NamespaceActive
	}
}

// PrepareForUpdate takes the status from one side and the rest from the other.
func (s strategy) PrepareForUpdate(_ context.Context, o, old runtime.Object) {
	if !s.resource.status {
		return
	}
	if !s.ofStatus {
		status(o).Set(status(old))
		return
	}
	m, err := meta.Accessor(o)
	if err != nil {
		return
	}
	managed, rv := m.GetManagedFields(), m.GetResourceVersion()
	said := reflect.New(status(o).Type()).Elem()
	said.Set(status(o))
	reflect.ValueOf(o).Elem().Set(reflect.ValueOf(old.DeepCopyObject()).Elem())
	status(o).Set(said)
	m.SetManagedFields(managed)
	m.SetResourceVersion(rv)
}

func (s strategy) Validate(_ context.Context, o runtime.Object) field.ErrorList {
	return s.resource.rules.check(o)
}
func (strategy) ValidateUpdate(context.Context, runtime.Object, runtime.Object) field.ErrorList {
	return nil
}
func (s strategy) WarningsOnCreate(ctx context.Context, o runtime.Object) []string {
	return s.resource.rules.warn(ctx, o)
}
func (strategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}
func (strategy) Canonicalize(runtime.Object)    {}
func (strategy) AllowCreateOnUpdate() bool      { return false }
func (strategy) AllowUnconditionalUpdate() bool { return true }

// GetResetFields names what this door does not let through, for managedFields.
func (s strategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	closed := fieldpath.NewSet(fieldpath.MakePathOrDie("status"))
	if s.ofStatus {
		closed = fieldpath.NewSet(fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("metadata", "labels"))
	}
	return map[fieldpath.APIVersion]*fieldpath.Set{fieldpath.APIVersion(s.resource.gv.String()): closed}
}

// gracefulPods is the pod strategy's rule of graceful deletion.
type gracefulPods struct{ strategy }

func (gracefulPods) CheckGracefulDelete(_ context.Context, o runtime.Object, how *metav1.DeleteOptions) bool {
	if how == nil {
		return false
	}
	pod, period := o.(*corev1.Pod), int64(30) // a cluster writes the 30 into the spec at create
	if how.GracePeriodSeconds != nil {
		period = *how.GracePeriodSeconds
	} else if pod.Spec.TerminationGracePeriodSeconds != nil {
		period = *pod.Spec.TerminationGracePeriodSeconds
	}
	if pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		period = 0
	}
	how.GracePeriodSeconds = &period
	return true
}

// statusStore is /status: it is read and updated, nothing else.
type statusStore struct{ store *genericregistry.Store }

func (s *statusStore) New() runtime.Object { return s.store.New() }
func (s *statusStore) Destroy()            {}
func (s *statusStore) Get(ctx context.Context, name string, o *metav1.GetOptions) (runtime.Object, error) {
	return s.store.Get(ctx, name, o)
}
func (s *statusStore) Update(ctx context.Context, name string, object rest.UpdatedObjectInfo, create rest.ValidateObjectFunc,
	update rest.ValidateObjectUpdateFunc, _ bool, o *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return s.store.Update(ctx, name, object, create, update, false, o)
}
func (s *statusStore) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return s.store.GetResetFields()
}
func (s *statusStore) ConvertToTable(ctx context.Context, o, how runtime.Object) (*metav1.Table, error) {
	return s.store.ConvertToTable(ctx, o, how)
}
