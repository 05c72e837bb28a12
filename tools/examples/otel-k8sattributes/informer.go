// SPDX-License-Identifier: Apache-2.0

// Package kube's informer.go, in place of that of OpenTelemetry's k8sattributesprocessor v1.1.0: the same functions, whose
// informers read the node's cache, and not the API server. The clients are not used. $INFORMER_SOCKET says where the cache is.
//
//	cp informer.go .../processor/k8sattributesprocessor/internal/kube/
//
// informerd caches pods, and of namespaces, nodes, replicasets.apps, deployments.apps, statefulsets.apps, daemonsets.apps,
// jobs.batch and cronjobs.batch those of which the processor extracts something.
package kube

import (
	"sync"
	"time"

	api_v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"informer/clientgo"
)

const kubeSystemNamespace = "kube-system"

// These make an informer: of pods, of namespaces, of one kind of workload.
type (
	InformerProvider          func(kubernetes.Interface, string, labels.Selector, fields.Selector) cache.SharedInformer
	InformerProviderNamespace func(metadata.Interface) cache.SharedInformer
	InformerProviderWorkload  func(client metadata.Interface, namespace string) cache.SharedInformer
)

// all informers read through one handle.
var all = sync.OnceValues(func() (clientgo.Option, error) { return clientgo.Share() })

func newInformer(group, resource string, example runtime.Object, period time.Duration, namespace string, ls labels.Selector,
	fs fields.Selector) cache.SharedInformer {
	shared, err := all()
	if err != nil {
		panic(err) // $INFORMER_SOCKET is too long for a socket's path
	}
	gvr := schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}
	return clientgo.NewSharedIndexInformer(gvr, example, period, nil, shared, clientgo.WithNamespace(namespace),
		clientgo.WithTweakListOptions(func(list *metav1.ListOptions) {
			list.LabelSelector, list.FieldSelector = ls.String(), fs.String()
		}))
}

func newMetadataInformer(group, resource, namespace, name string, period time.Duration) cache.SharedInformer {
	fs := fields.Everything()
	if name != "" {
		fs = fields.OneTermEqualSelector("metadata.name", name)
	}
	return newInformer(group, resource, &metav1.PartialObjectMetadata{}, period, namespace, labels.Everything(), fs)
}

func newSharedInformer(_ kubernetes.Interface, namespace string, ls labels.Selector, fs fields.Selector,
	period time.Duration) cache.SharedInformer {
	return newInformer("", "pods", &api_v1.Pod{}, period, namespace, ls, fs)
}

func newKubeSystemSharedInformer(_ metadata.Interface, period time.Duration) cache.SharedInformer {
	return newMetadataInformer("", "namespaces", "", kubeSystemNamespace, period)
}

func newNamespaceSharedInformer(_ metadata.Interface, period time.Duration) cache.SharedInformer {
	return newMetadataInformer("", "namespaces", "", "", period)
}

func newNodeSharedInformer(_ metadata.Interface, node string, period time.Duration) cache.SharedInformer {
	return newMetadataInformer("", "nodes", "", node, period)
}

func newReplicaSetSharedInformer(_ metadata.Interface, namespace string, period time.Duration) cache.SharedInformer {
	return newMetadataInformer("apps", "replicasets", namespace, "", period)
}

func newDeploymentSharedInformer(_ metadata.Interface, namespace string, period time.Duration) cache.SharedInformer {
	return newMetadataInformer("apps", "deployments", namespace, "", period)
}

func newStatefulSetSharedInformer(_ metadata.Interface, namespace string, period time.Duration) cache.SharedInformer {
	return newMetadataInformer("apps", "statefulsets", namespace, "", period)
}

func newDaemonSetSharedInformer(_ metadata.Interface, namespace string, period time.Duration) cache.SharedInformer {
	return newMetadataInformer("apps", "daemonsets", namespace, "", period)
}

func newJobSharedInformer(_ metadata.Interface, namespace string, period time.Duration) cache.SharedInformer {
	return newMetadataInformer("batch", "jobs", namespace, "", period)
}

func newCronJobSharedInformer(_ metadata.Interface, namespace string, period time.Duration) cache.SharedInformer {
	return newMetadataInformer("batch", "cronjobs", namespace, "", period)
}
