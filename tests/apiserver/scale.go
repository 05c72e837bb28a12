// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
)

var autoscaling = autoscalingv1.SchemeGroupVersion

// scaleStore is a deployment's /scale: its replicas, as a Scale of their own.
type scaleStore struct{ store *genericregistry.Store }

func (s *scaleStore) New() runtime.Object { return &autoscalingv1.Scale{} }
func (s *scaleStore) Destroy()            {}
func (s *scaleStore) GroupVersionKind(schema.GroupVersion) schema.GroupVersionKind {
	return autoscaling.WithKind("Scale")
}

func (s *scaleStore) Get(ctx context.Context, name string, o *metav1.GetOptions) (runtime.Object, error) {
	d, err := s.store.Get(ctx, name, o)
	if err != nil {
		return nil, err
	}
	return scaleOf(d.(*appsv1.Deployment))
}

func (s *scaleStore) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, _ rest.ValidateObjectFunc,
	_ rest.ValidateObjectUpdateFunc, _ bool, o *metav1.UpdateOptions) (runtime.Object, bool, error) {
	d, _, err := s.store.Update(ctx, name, scaleUpdate{info}, rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, o)
	if err != nil {
		return nil, false, err
	}
	scale, err := scaleOf(d.(*appsv1.Deployment))
	return scale, false, err
}

func (s *scaleStore) ConvertToTable(ctx context.Context, o, how runtime.Object) (*metav1.Table, error) {
	return rest.NewDefaultTableConvertor(autoscaling.WithResource("scales").GroupResource()).ConvertToTable(ctx, o, how)
}

func scaleOf(d *appsv1.Deployment) (*autoscalingv1.Scale, error) {
	selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
	if err != nil {
		return nil, err
	}
	scale := &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Name: d.Name, Namespace: d.Namespace, UID: d.UID, ResourceVersion: d.ResourceVersion,
			CreationTimestamp: d.CreationTimestamp},
		Status: autoscalingv1.ScaleStatus{Replicas: d.Status.Replicas, Selector: selector.String()},
	}
	if d.Spec.Replicas != nil {
		scale.Spec.Replicas = *d.Spec.Replicas
	}
	return scale, nil
}

// scaleUpdate makes of the update of a Scale one of the deployment.
type scaleUpdate struct{ rest.UpdatedObjectInfo }

func (u scaleUpdate) UpdatedObject(ctx context.Context, old runtime.Object) (runtime.Object, error) {
	d := old.DeepCopyObject().(*appsv1.Deployment)
	before, err := scaleOf(d)
	if err != nil {
		return nil, err
	}
	updated, err := u.UpdatedObjectInfo.UpdatedObject(ctx, before)
	if err != nil {
		return nil, err
	}
	scale := updated.(*autoscalingv1.Scale)
	d.ResourceVersion = scale.ResourceVersion
	d.Spec.Replicas = &scale.Spec.Replicas
	return d, nil
}
