// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podapi "k8s.io/kubernetes/pkg/api/pod"
	appsapi "k8s.io/kubernetes/pkg/apis/apps"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	appsvalidation "k8s.io/kubernetes/pkg/apis/apps/validation"
	networkingapi "k8s.io/kubernetes/pkg/apis/networking"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	networkingvalidation "k8s.io/kubernetes/pkg/apis/networking/validation"
	rbacapi "k8s.io/kubernetes/pkg/apis/rbac"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	rbacspecs "k8s.io/kubernetes/pkg/apis/rbac/validation"
	storageapi "k8s.io/kubernetes/pkg/apis/storage"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	storagevalidation "k8s.io/kubernetes/pkg/apis/storage/validation"
	"k8s.io/kubernetes/pkg/capabilities"
)

// kube-apiserver's --allow-privileged, which a cluster with CSI drivers has
func init() { capabilities.Setup(true, 0) }

// rules are a cluster's own for a kind: the object is defaulted, converted to k8s.io/kubernetes' internal
// type, and validated there. What is stored stays as it was sent.
type rules struct {
	validate func(runtime.Object) field.ErrorList
	warnings func(context.Context, runtime.Object) []string // nil: none
}

var daemonSetRules = &rules{
	validate: func(o runtime.Object) field.ErrorList {
		ds := o.(*appsapi.DaemonSet)
		return appsvalidation.ValidateDaemonSet(ds, podapi.GetValidationOptionsFromPodTemplate(&ds.Spec.Template, nil))
	},
	warnings: func(ctx context.Context, o runtime.Object) []string {
		return podapi.GetWarningsForPodTemplate(ctx, field.NewPath("spec", "template"), &o.(*appsapi.DaemonSet).Spec.Template, nil)
	},
}

var networkPolicyRules = &rules{validate: func(o runtime.Object) field.ErrorList {
	return networkingvalidation.ValidateNetworkPolicy(o.(*networkingapi.NetworkPolicy), networkingvalidation.NetworkPolicyValidationOptions{})
}}

var clusterRoleRules = &rules{validate: func(o runtime.Object) field.ErrorList {
	return rbacspecs.ValidateClusterRole(o.(*rbacapi.ClusterRole), rbacspecs.ClusterRoleValidationOptions{})
}}

var clusterRoleBindingRules = &rules{validate: func(o runtime.Object) field.ErrorList {
	return rbacspecs.ValidateClusterRoleBinding(o.(*rbacapi.ClusterRoleBinding))
}}

var csiDriverRules = &rules{validate: func(o runtime.Object) field.ErrorList {
	return storagevalidation.ValidateCSIDriver(o.(*storageapi.CSIDriver))
}}

// internal is a cluster's own form of an object, with defaults.
func internal(o runtime.Object) (runtime.Object, error) {
	o = o.DeepCopyObject()
	legacyscheme.Scheme.Default(o)
	return legacyscheme.Scheme.UnsafeConvertToVersion(o, runtime.InternalGroupVersioner)
}

func (r *rules) check(o runtime.Object) field.ErrorList {
	if r == nil {
		return nil
	}
	in, err := internal(o)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	return r.validate(in)
}

func (r *rules) warn(ctx context.Context, o runtime.Object) []string {
	if r == nil || r.warnings == nil {
		return nil
	}
	in, err := internal(o)
	if err != nil {
		return nil // check says so
	}
	return r.warnings(ctx, in)
}
