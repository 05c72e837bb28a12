// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"reflect"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

var (
	scheme = runtime.NewScheme()
	codecs = serializer.NewCodecFactory(scheme)
)

// resource describes one served resource. Its Go type of k8s.io/api is registered
// as the internal version too, so that nothing has to be converted.
type resource struct {
	gv          schema.GroupVersion
	plural      string
	single      string
	short       []string
	categories  []string
	namespaced  bool
	object      runtime.Object
	list        runtime.Object
	status      bool     // has /status
	fieldLabels []string // field selectors besides name and namespace
	fields      func(runtime.Object) fields.Set
	columns     []metav1.TableColumnDefinition
	row         func(runtime.Object) []any
	rules       *rules // upstream's defaults and validation; nil: every spec is let in
}

var (
	core          = corev1.SchemeGroupVersion
	apps          = appsv1.SchemeGroupVersion
	batch         = batchv1.SchemeGroupVersion
	discovery     = discoveryv1.SchemeGroupVersion
	networking    = networkingv1.SchemeGroupVersion
	authorization = rbacv1.SchemeGroupVersion
	storageGroup  = storagev1.SchemeGroupVersion

	groupVersions = []schema.GroupVersion{core, apps, batch, discovery, networking, authorization, storageGroup}
)

var pods = &resource{gv: core, plural: "pods", single: "pod", short: []string{"po"}, categories: []string{"all"},
	namespaced: true, status: true, object: &corev1.Pod{}, list: &corev1.PodList{}, columns: podColumns, row: podRow,
	fields: podFields, fieldLabels: []string{"spec.nodeName", "spec.restartPolicy", "spec.schedulerName",
		"spec.serviceAccountName", "spec.hostNetwork", "status.phase", "status.podIP", "status.nominatedNodeName"}}

var namespaces = &resource{gv: core, plural: "namespaces", single: "namespace", short: []string{"ns"}, status: true,
	object: &corev1.Namespace{}, list: &corev1.NamespaceList{}, fieldLabels: []string{"status.phase"},
	fields: func(o runtime.Object) fields.Set {
		return fields.Set{"status.phase": string(o.(*corev1.Namespace).Status.Phase)}
	}}

var deployments = &resource{gv: apps, plural: "deployments", single: "deployment", short: []string{"deploy"}, categories: []string{"all"},
	namespaced: true, status: true, object: &appsv1.Deployment{}, list: &appsv1.DeploymentList{}}

var resources = []*resource{
	pods,
	namespaces,
	{gv: core, plural: "services", single: "service", short: []string{"svc"}, categories: []string{"all"}, namespaced: true,
		status: true, object: &corev1.Service{}, list: &corev1.ServiceList{},
		fieldLabels: []string{"spec.clusterIP", "spec.type"},
		fields: func(o runtime.Object) fields.Set {
			s := o.(*corev1.Service)
			return fields.Set{"spec.clusterIP": s.Spec.ClusterIP, "spec.type": string(s.Spec.Type)}
		}},
	{gv: core, plural: "nodes", single: "node", short: []string{"no"}, status: true,
		object: &corev1.Node{}, list: &corev1.NodeList{}, fieldLabels: []string{"spec.unschedulable"},
		fields: func(o runtime.Object) fields.Set {
			return fields.Set{"spec.unschedulable": strconv.FormatBool(o.(*corev1.Node).Spec.Unschedulable)}
		}},
	{gv: core, plural: "configmaps", single: "configmap", short: []string{"cm"}, namespaced: true,
		object: &corev1.ConfigMap{}, list: &corev1.ConfigMapList{}},
	{gv: core, plural: "secrets", single: "secret", namespaced: true,
		object: &corev1.Secret{}, list: &corev1.SecretList{}, fieldLabels: []string{"type"},
		fields: func(o runtime.Object) fields.Set { return fields.Set{"type": string(o.(*corev1.Secret).Type)} }},
	{gv: core, plural: "endpoints", single: "endpoints", short: []string{"ep"}, namespaced: true,
		object: &corev1.Endpoints{}, list: &corev1.EndpointsList{}},
	{gv: core, plural: "events", single: "event", short: []string{"ev"}, namespaced: true,
		object: &corev1.Event{}, list: &corev1.EventList{}, fields: eventFields,
		fieldLabels: []string{"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
			"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason",
			"reportingComponent", "source", "type"}},
	deployments,
	{gv: discovery, plural: "endpointslices", single: "endpointslice", namespaced: true,
		object: &discoveryv1.EndpointSlice{}, list: &discoveryv1.EndpointSliceList{}},
	{gv: core, plural: "serviceaccounts", single: "serviceaccount", short: []string{"sa"}, namespaced: true,
		object: &corev1.ServiceAccount{}, list: &corev1.ServiceAccountList{}},
	{gv: apps, plural: "daemonsets", single: "daemonset", short: []string{"ds"}, categories: []string{"all"}, namespaced: true,
		status: true, object: &appsv1.DaemonSet{}, list: &appsv1.DaemonSetList{}, rules: daemonSetRules},
	{gv: apps, plural: "replicasets", single: "replicaset", short: []string{"rs"}, categories: []string{"all"}, namespaced: true,
		status: true, object: &appsv1.ReplicaSet{}, list: &appsv1.ReplicaSetList{}},
	{gv: batch, plural: "jobs", single: "job", categories: []string{"all"}, namespaced: true,
		status: true, object: &batchv1.Job{}, list: &batchv1.JobList{}},
	{gv: networking, plural: "networkpolicies", single: "networkpolicy", short: []string{"netpol"}, namespaced: true,
		object: &networkingv1.NetworkPolicy{}, list: &networkingv1.NetworkPolicyList{}, rules: networkPolicyRules},
	{gv: authorization, plural: "clusterroles", single: "clusterrole",
		object: &rbacv1.ClusterRole{}, list: &rbacv1.ClusterRoleList{}, rules: clusterRoleRules},
	{gv: authorization, plural: "clusterrolebindings", single: "clusterrolebinding",
		object: &rbacv1.ClusterRoleBinding{}, list: &rbacv1.ClusterRoleBindingList{}, rules: clusterRoleBindingRules},
	{gv: storageGroup, plural: "csidrivers", single: "csidriver",
		object: &storagev1.CSIDriver{}, list: &storagev1.CSIDriverList{}, rules: csiDriverRules},
}

func init() {
	// The first of a builder's functions registers the types. Those behind it are defaults and conversions of k8s.io/kubernetes
	// (rules.go), which are not for this scheme.
	for _, b := range []runtime.SchemeBuilder{corev1.SchemeBuilder, appsv1.SchemeBuilder, batchv1.SchemeBuilder, discoveryv1.SchemeBuilder,
		networkingv1.SchemeBuilder, rbacv1.SchemeBuilder, storagev1.SchemeBuilder, autoscalingv1.SchemeBuilder /* for /scale */} {
		utilruntime.Must(b[0](scheme))
	}
	scheme.AddKnownTypes(schema.GroupVersion{Group: autoscaling.Group, Version: runtime.APIVersionInternal}, &autoscalingv1.Scale{})
	for _, r := range resources {
		scheme.AddKnownTypes(schema.GroupVersion{Group: r.gv.Group, Version: runtime.APIVersionInternal}, r.object, r.list)
		if len(r.fieldLabels) > 0 {
			utilruntime.Must(scheme.AddFieldLabelConversionFunc(r.gv.WithKind(r.kind()), r.fieldLabel))
		}
	}
	for _, gv := range groupVersions {
		utilruntime.Must(scheme.SetVersionPriority(gv))
	}
}

func (r *resource) kind() string              { return reflect.TypeOf(r.object).Elem().Name() }
func (r *resource) newObject() runtime.Object { return fresh(r.object) }
func (r *resource) newList() runtime.Object   { return fresh(r.list) }

func fresh(o runtime.Object) runtime.Object {
	return reflect.New(reflect.TypeOf(o).Elem()).Interface().(runtime.Object)
}

// fieldLabel says whether a field selector's label is one of this resource.
func (r *resource) fieldLabel(label, value string) (string, string, error) {
	known := label == "metadata.name" || (r.namespaced && label == "metadata.namespace")
	for _, l := range r.fieldLabels {
		known = known || l == label
	}
	if !known {
		return "", "", fmt.Errorf("field label not supported: %s", label)
	}
	return label, value, nil
}

// find says which resource objects of a kind belong to; nil: none that is served.
func find(apiVersion, kind string) *resource {
	for _, r := range resources {
		if r.gv.String() == apiVersion && r.kind() == kind {
			return r
		}
	}
	return nil
}

func podFields(o runtime.Object) fields.Set {
	p := o.(*corev1.Pod)
	ip := ""
	if len(p.Status.PodIPs) > 0 {
		ip = p.Status.PodIPs[0].IP
	}
	return fields.Set{
		"spec.nodeName":            p.Spec.NodeName,
		"spec.restartPolicy":       string(p.Spec.RestartPolicy),
		"spec.schedulerName":       p.Spec.SchedulerName,
		"spec.serviceAccountName":  p.Spec.ServiceAccountName,
		"spec.hostNetwork":         strconv.FormatBool(p.Spec.HostNetwork),
		"status.phase":             string(p.Status.Phase),
		"status.podIP":             ip,
		"status.nominatedNodeName": p.Status.NominatedNodeName,
	}
}

func eventFields(o runtime.Object) fields.Set {
	e := o.(*corev1.Event)
	source := e.Source.Component
	if source == "" {
		source = e.ReportingController
	}
	return fields.Set{
		"involvedObject.kind":            e.InvolvedObject.Kind,
		"involvedObject.namespace":       e.InvolvedObject.Namespace,
		"involvedObject.name":            e.InvolvedObject.Name,
		"involvedObject.uid":             string(e.InvolvedObject.UID),
		"involvedObject.apiVersion":      e.InvolvedObject.APIVersion,
		"involvedObject.resourceVersion": e.InvolvedObject.ResourceVersion,
		"involvedObject.fieldPath":       e.InvolvedObject.FieldPath,
		"reason":                         e.Reason,
		"reportingComponent":             e.ReportingController,
		"source":                         source,
		"type":                           e.Type,
	}
}
